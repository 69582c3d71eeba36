import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { AnyObject, Closed, Id, Nullable, PageOf, pageQuery, Timestamp } from './forms.ts';

export const AUDIT_ACTORS = ['user', 'member', 'api_key', 'operator', 'service'] as const;
export type AuditActorKind = (typeof AUDIT_ACTORS)[number];

/** Something that was done, by whom and from where. */
export const AuditItem = Closed({
  id: Id,
  occurred_at: Timestamp,
  /** What it is about and what was done to it: `api_key.revoked`. */
  action: Type.String(),
  actor: Type.Enum([...AUDIT_ACTORS], { type: 'string' }),
  /** E-mail address of the person, or name of the key; null for operator and service, and when it is gone. */
  actor_name: Nullable(Type.String()),
  /** The key it is about, or that did it. */
  api_key: Nullable(Closed({ id: Id, name: Type.String(), key_id: Type.String() })),
  /** The member it is about, or who did it. */
  member: Nullable(Closed({ id: Id, email: Type.String() })),
  source_ip: Nullable(Type.String()),
  request_id: Nullable(Type.String()),
  details: AnyObject,
});
export type AuditItem = Static<typeof AuditItem>;

const filters = {
  /** Exactly this one. */
  action: Type.Optional(Type.String({ maxLength: 100 })),
  actor: Type.Optional(Type.Enum([...AUDIT_ACTORS], { type: 'string' })),
  /** Part of the address or name of who did it. */
  who: Type.Optional(Type.String({ maxLength: 254 })),
  from: Type.Optional(Type.String({ format: 'date-time' })),
  /** Up to, not with. */
  to: Type.Optional(Type.String({ format: 'date-time' })),
  /** Part of the address it came from. */
  ip: Type.Optional(Type.String({ maxLength: 100 })),
};

export const AUDIT_ENDPOINTS = {
  'GET /orgs/:org/audit': {
    access: 'org_admin',
    summary: 'What was done in the organisation, latest first',
    query: Closed({ ...pageQuery, ...filters }),
    answer: PageOf(AuditItem),
  },
  'GET /orgs/:org/audit/actions': {
    access: 'org_admin',
    summary: 'The actions that stand in the log',
    answer: Closed({ items: Type.Array(Type.String()) }),
  },
  'GET /orgs/:org/audit/csv': {
    access: 'org_admin',
    summary: 'The filtered log for spreadsheets; cells that would be formulas begin with an apostrophe',
    query: Closed(filters),
    file: 'text/csv',
  },
  'GET /orgs/:org/audit/jsonl': {
    access: 'org_admin',
    summary: 'The filtered log, one JSON object a line',
    query: Closed(filters),
    file: 'application/jsonl',
  },
} as const satisfies Endpoints;
