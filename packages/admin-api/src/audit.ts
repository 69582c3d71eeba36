import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { AnyObject, Closed, Id, Nullable, PageOf, pageQuery, Timestamp } from './forms.ts';

export const AUDIT_ACTORS = ['user', 'member', 'api_key', 'operator', 'service'] as const;
export type AuditActorKind = (typeof AUDIT_ACTORS)[number];

/** What can be recorded: target and action. The log may contain others from earlier versions. */
export type AuditAction =
  | 'ai_data.collection_deleted'
  | 'ai_data.item_deleted'
  | 'alert_rule.changed'
  | 'alert_rule.created'
  | 'alert_rule.deleted'
  | 'alert_rule.tested'
  | 'api_key.issued'
  | 'api_key.locked'
  | 'api_key.revoked'
  | 'api_key.rotated'
  | 'api_key.scope_violation'
  | 'api_key.unlocked'
  | 'audit_log.exported'
  | 'connector.deleted'
  | 'connector.uploaded'
  | 'credential.connected'
  | 'credential.created'
  | 'credential.deleted'
  | 'credential.disconnected'
  | 'credential.key_rotated'
  | 'credential.key_rotation_started'
  | 'credential.secret_given_up'
  | 'credential.tested'
  | 'credential.updated'
  | 'execution.approval_decided'
  | 'execution.cancelled'
  | 'execution.rerun'
  | 'execution.started'
  | 'folder.changed'
  | 'folder.created'
  | 'folder.deleted'
  | 'invitation.accepted'
  | 'invitation.created'
  | 'invitation.revoked'
  | 'member.added'
  | 'member.removed'
  | 'member.role_changed'
  | 'organisation.created'
  | 'organisation.limits_changed'
  | 'organisation.paused'
  | 'organisation.renamed'
  | 'organisation.restored'
  | 'organisation.resumed'
  | 'organisation.share_changed'
  | 'session.ended'
  | 'session.others_ended'
  | 'settings.changed'
  | 'user.address_proved'
  | 'user.password_changed'
  | 'user.recovery_code_used'
  | 'user.recovery_codes_replaced'
  | 'user.removed'
  | 'user.renamed'
  | 'user.second_factor_off'
  | 'user.second_factor_on'
  | 'user.sign_in_failed'
  | 'user.signed_in'
  | 'user.signed_out'
  | 'workflow.archived'
  | 'workflow.changed'
  | 'workflow.created'
  | 'workflow.deleted'
  | 'workflow.memory_forgotten'
  | 'workflow.moved'
  | 'workflow.restored'
  | 'workflow.sample_awaited'
  | 'workflow.sample_written'
  | 'workflow.saved'
  | 'workflow.version_pinned'
  | 'workflow.version_restored'
  | 'workflow.version_unpinned'
  | 'workflow.webhook_regenerated';

/** An action, who performed it and from where. */
export const AuditItem = Closed({
  id: Id,
  occurred_at: Timestamp,
  /** An {@link AuditAction}, or one of an earlier version. */
  action: Type.String(),
  actor: Type.Enum([...AUDIT_ACTORS], { type: 'string' }),
  /** E-mail address of the person, or name of the key; null for operator and service, and after deletion. */
  actor_name: Nullable(Type.String()),
  /** The key acted on, or the acting key. */
  api_key: Nullable(Closed({ id: Id, name: Type.String(), key_id: Type.String(), last_four: Type.String() })),
  /** The member acted on, or the acting member. */
  member: Nullable(Closed({ id: Id, email: Type.String() })),
  source_ip: Nullable(Type.String()),
  request_id: Nullable(Type.String()),
  /** How often it happened: repeated requests of one key beyond its scopes are one entry a day. */
  repeats: Type.Integer({ minimum: 1 }),
  /** When it last happened; null for actions recorded one by one. */
  last_occurred_at: Nullable(Timestamp),
  details: AnyObject,
});
export type AuditItem = Static<typeof AuditItem>;

/**
 * What can be wrong with the chain of an organisation's log: an entry isn't as it was recorded, isn't there any more, or was never
 * recorded by the service; a part of the chain is missing; a place of it isn't the one that was kept elsewhere, or was deleted by retention.
 */
export const AUDIT_PROBLEMS = [
  'entry_changed',
  'entry_missing',
  'entry_added',
  'seal_missing',
  'head_differs',
  'head_dropped',
] as const;
export type AuditProblemKind = (typeof AUDIT_PROBLEMS)[number];

/** The first problem that a verification found, and how many there were. */
export const AuditChainProblem = Closed({
  kind: Type.Enum([...AUDIT_PROBLEMS], { type: 'string' }),
  entry_id: Nullable(Id),
  position: Nullable(Id),
  count: Type.Integer({ minimum: 1 }),
});
export type AuditChainProblem = Static<typeof AuditChainProblem>;

/** How far the log is chained, and when that was verified. */
export const AuditChain = Closed({
  /** Null if it wasn't verified yet. */
  verified_at: Nullable(Timestamp),
  /** Entries that were verified. */
  verified_entries: Type.Integer({ minimum: 0 }),
  problem: Nullable(AuditChainProblem),
  /** Entries in the chain since its beginning, including those that exceeded their retention. */
  length: Type.Integer({ minimum: 0 }),
  /** Hash of the last entry, hex; null as long as the chain is empty. */
  head: Nullable(Type.String()),
});
export type AuditChain = Static<typeof AuditChain>;

const filters = {
  /** Exact match. */
  action: Type.Optional(Type.String({ maxLength: 100 })),
  actor: Type.Optional(Type.Enum([...AUDIT_ACTORS], { type: 'string' })),
  /** Part of the actor's address or name. */
  who: Type.Optional(Type.String({ maxLength: 254 })),
  /** Part of the target's name or address; an id as `#12`. */
  about: Type.Optional(Type.String({ maxLength: 254 })),
  from: Type.Optional(Type.String({ format: 'date-time' })),
  /** Exclusive. */
  to: Type.Optional(Type.String({ format: 'date-time' })),
  /** Part of the source address. */
  ip: Type.Optional(Type.String({ maxLength: 100 })),
};

export const AUDIT_ENDPOINTS = {
  'GET /orgs/:org/audit': {
    access: 'org_admin',
    isExact: true,
    summary: 'What was done in the organisation, newest first',
    query: Closed({ ...pageQuery, ...filters }),
    response: PageOf(AuditItem),
  },
  'GET /orgs/:org/audit/actions': {
    access: 'org_admin',
    summary: 'The actions that occur in the log',
    response: Closed({ items: Type.Array(Type.String()) }),
  },
  'GET /orgs/:org/audit/chain': {
    access: 'org_admin',
    summary: 'When the log was last compared with its chain of hashes, and whether it was as recorded',
    response: AuditChain,
  },
  'GET /orgs/:org/audit/csv': {
    access: 'org_admin',
    summary: 'The filtered log for spreadsheets; cells that would be formulas start with an apostrophe',
    query: Closed(filters),
    file: 'text/csv',
  },
  'GET /orgs/:org/audit/jsonl': {
    access: 'org_admin',
    summary: 'The filtered log, one JSON object per line',
    query: Closed(filters),
    file: 'application/jsonl',
  },
} as const satisfies Endpoints;
