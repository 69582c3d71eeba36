import type { Queryable } from '@millrace/database/database';
import type { JsonText } from '@millrace/engine';
import type { CallbackKind } from './tokens.ts';

/**
 * Who decided: someone with a signed link, under the name they entered, a member in the admin area, or the visitor of a chat. A system
 * administrator needn't be a member.
 */
export type DecidedBy =
  | { readonly via: 'link'; readonly name: string | null }
  | { readonly via: 'member'; readonly member_id: number | null; readonly email: string }
  | { readonly via: 'chat'; readonly session_id: string };

export type Choice = {
  readonly id: string;
  readonly label: string;
};

export interface NewCallback {
  readonly organisationId: number;
  readonly executionId: number;
  readonly nodeId: string;
  readonly iteration: readonly number[];
  readonly tokenHash: Buffer;
  readonly expiresAtMs: number;
  /** What is asked; null for a callback. */
  readonly question: {
    readonly title: string;
    readonly message: string;
    /** JSON text of a list of `{id, label}`. */
    readonly choicesJson: string;
    /** JSON text of a list of fields; null for none. */
    readonly fieldsJson: string | null;
  } | null;
  /** Which of the node's questions it is; absent if there is only one. */
  readonly questionKey?: string;
}

/**
 * Stores a URL; one stored by an earlier attempt of the node is kept, with the later expiry. Nothing is stored for an execution that was
 * deleted: the lock keeps it until this is committed, and deleting it then deletes this, too. A node waits for one of its questions at
 * a time, so an earlier unanswered one is dropped.
 */
export async function putCallback(db: Queryable, callback: NewCallback): Promise<void> {
  const { question, questionKey = '' } = callback;
  await db.query(
    `WITH dropped AS (
       DELETE FROM callbacks WHERE $12::text <> '' AND execution_id = $2 AND node_id = $3 AND iteration = $4::integer[]
         AND kind = $5 AND question <> $12 AND used_at IS NULL
     )
     INSERT INTO callbacks AS c (organisation_id, execution_id, node_id, iteration, kind, token_hash, expires_at, title,
       message, choices, fields, question)
     SELECT $1::bigint, id, $3::text, $4::integer[], $5::text, $6::bytea, to_timestamp($7::double precision / 1000), $8::text,
       $9::text, $10::json, $11::json, $12
     FROM executions WHERE id = $2 FOR KEY SHARE
     ON CONFLICT (token_hash) DO UPDATE SET expires_at = greatest(c.expires_at, EXCLUDED.expires_at)
       WHERE c.used_at IS NULL`,
    [
      callback.organisationId,
      callback.executionId,
      callback.nodeId,
      callback.iteration,
      question === null ? 'callback' : 'approval',
      callback.tokenHash,
      callback.expiresAtMs,
      question?.title ?? null,
      question?.message ?? null,
      question?.choicesJson ?? null,
      question?.fieldsJson ?? null,
      questionKey,
    ],
  );
}

export interface CallbackRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly execution_id: number;
  readonly node_id: string;
  readonly iteration: number[];
  /** Which of the node's questions it is; empty if there is only one. */
  readonly question: string;
  readonly used_at: Date | null;
  readonly is_expired: boolean;
  readonly has_ended: boolean;
  /** Its organisation is paused. */
  readonly is_paused: boolean;
  readonly expires_at: Date;
  /** For approvals; callbacks have none of the following. */
  readonly title: string;
  readonly message: string;
  /** JSON text of a list of `{id, label}`. */
  readonly choices: JsonText<Choice[]>;
  /** JSON text of a list of fields; null for none. */
  readonly fields: string | null;
  readonly decision: string | null;
}

/** The current state of a URL; it counts as used if another URL of the same wait was. */
export async function readCallback(db: Queryable, callbackId: number): Promise<CallbackRow | undefined> {
  const [row] = await db.query<CallbackRow>(
    `SELECT c.id, c.organisation_id, c.execution_id, c.node_id, c.iteration, c.question, u.used_at, c.expires_at,
       c.expires_at <= clock_timestamp() AS is_expired, e.completed_at IS NOT NULL AS has_ended,
       EXISTS (SELECT FROM organisations p WHERE p.id = c.organisation_id AND p.paused_at IS NOT NULL) AS is_paused,
       c.title, c.message, c.choices, c.fields, u.decision
     FROM callbacks c JOIN executions e ON e.id = c.execution_id
     LEFT JOIN LATERAL (
       SELECT used_at, decision FROM callbacks s
       WHERE s.execution_id = c.execution_id AND s.node_id = c.node_id AND s.iteration = c.iteration
         AND s.kind = c.kind AND s.question = c.question AND s.used_at IS NOT NULL
       LIMIT 1) u ON true
     WHERE c.id = $1`,
    [callbackId],
  );
  return row;
}

export async function findCallback(
  db: Queryable,
  kind: CallbackKind,
  tokenHash: Buffer,
): Promise<{ id: number }[]> {
  return db.query('SELECT id FROM callbacks WHERE kind = $1 AND token_hash = $2', [kind, tokenHash]);
}

/** The same for an approval in the organisation. */
export async function findOwnApproval(
  tx: Queryable,
  organisationId: number,
  approvalId: number,
): Promise<{ id: number }[]> {
  return tx.query("SELECT id FROM callbacks WHERE kind = 'approval' AND organisation_id = $1 AND id = $2", [
    organisationId,
    approvalId,
  ]);
}

/**
 * Locks a URL against other uses until the end of the transaction; read it in a later statement. If the keys changed between
 * two attempts of the node, the wait has another URL, which is locked as well.
 */
export async function lockCallback(tx: Queryable, callbackId: number): Promise<void> {
  await tx.query(
    `SELECT FROM callbacks WHERE (execution_id, node_id, iteration, kind, question) = (
       SELECT execution_id, node_id, iteration, kind, question FROM callbacks WHERE id = $1)
     ORDER BY id FOR NO KEY UPDATE`,
    [callbackId],
  );
}

export async function markUsed(tx: Queryable, callbackId: number): Promise<void> {
  await tx.query('UPDATE callbacks SET used_at = clock_timestamp() WHERE id = $1', [callbackId]);
}

export interface StoredDecision {
  readonly choice: string;
  readonly comment: string;
  /** JSON text. */
  readonly decidedByJson: string;
  /** JSON text; null if nothing was asked for. */
  readonly answersJson: string | null;
  readonly decidedAt: Date;
}

export async function markDecided(
  tx: Queryable,
  approvalId: number,
  decision: StoredDecision,
): Promise<void> {
  await tx.query(
    `UPDATE callbacks SET used_at = $2, decision = $3, comment = $4, decided_by = $5::json, answers = $6::json WHERE id = $1`,
    [
      approvalId,
      decision.decidedAt,
      decision.choice,
      decision.comment,
      decision.decidedByJson,
      decision.answersJson,
    ],
  );
}

/** A pending approval, for lists. */
export interface PendingApprovalRow {
  readonly id: number;
  readonly execution_id: number;
  readonly workflow_id: number;
  readonly display_name: string;
  readonly is_test_mode: boolean;
  readonly node_id: string;
  readonly iteration: number[];
  /** Which of the node's questions it is; empty if there is only one. */
  readonly question: string;
  readonly title: string;
  readonly message: string;
  /** JSON text of a list of `{id, label}`. */
  readonly choices: JsonText<Choice[]>;
  /** JSON text of a list of fields; null for none. */
  readonly fields: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Columns of a {@link PendingApprovalRow} `c` with its execution `e`. */
const APPROVAL_COLUMNS = `c.id, c.execution_id, e.workflow_id, e.display_name, e.is_test_mode, c.node_id, c.iteration, c.question, c.title,
  c.message, c.choices, c.fields, c.created_at, c.expires_at`;

/** A wait `c` of an execution `e` that can still end: neither it nor a later one of the same wait was used. */
const IS_OPEN = `c.used_at IS NULL AND c.expires_at > now() AND e.completed_at IS NULL AND NOT EXISTS (
  SELECT FROM callbacks s WHERE s.execution_id = c.execution_id AND s.node_id = c.node_id
    AND s.iteration = c.iteration AND s.kind = c.kind AND s.question = c.question AND (s.used_at IS NOT NULL OR s.id > c.id))`;

/** A page of the approvals someone may decide now, with ids below `belowId`, newest first. */
export async function listPendingApprovals(
  tx: Queryable,
  organisationId: number,
  belowId: number,
  limit: number,
): Promise<PendingApprovalRow[]> {
  return tx.query<PendingApprovalRow>(
    `SELECT ${APPROVAL_COLUMNS} FROM callbacks c JOIN executions e ON e.id = c.execution_id
     WHERE c.kind = 'approval' AND c.organisation_id = $1 AND c.id < $2 AND ${IS_OPEN}
     ORDER BY c.id DESC LIMIT $3`,
    [organisationId, belowId, limit],
  );
}

/** What an execution is waiting for: an approval, or a call to a URL, which has no question. */
export type OpenWaitRow = PendingApprovalRow & { readonly kind: CallbackKind };

/** Of one execution. */
const MAX_WAITS = 100;

/** What may be decided or called now in one execution, in the order of creation. */
export async function listOpenWaits(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<OpenWaitRow[]> {
  return tx.query<OpenWaitRow>(
    `SELECT c.kind, ${APPROVAL_COLUMNS} FROM callbacks c JOIN executions e ON e.id = c.execution_id
     WHERE c.organisation_id = $1 AND c.execution_id = $2 AND ${IS_OPEN}
     ORDER BY c.id LIMIT $3`,
    [organisationId, executionId, MAX_WAITS],
  );
}

/** Nobody decided in time. */
export interface UndecidedApprovalRow extends PendingApprovalRow {
  readonly decided_by: null;
}

export interface DecidedApprovalRow extends PendingApprovalRow {
  readonly decision: string;
  readonly comment: string;
  /** JSON text of `{via: link, name}`, `{via: member, member_id, email}` or `{via: chat, session_id}`. */
  readonly decided_by: JsonText<DecidedBy>;
  /** JSON text of the values by name; null if nothing was asked for. */
  readonly answers: string | null;
  readonly used_at: Date;
}

/** Questions of one execution that were answered, or that nobody answered in time; latest first. */
export async function listDecisions(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): Promise<(DecidedApprovalRow | UndecidedApprovalRow)[]> {
  return tx.query<DecidedApprovalRow | UndecidedApprovalRow>(
    `SELECT ${APPROVAL_COLUMNS}, c.decision, c.comment, c.decided_by, c.answers, c.used_at
     FROM callbacks c JOIN executions e ON e.id = c.execution_id
     WHERE c.kind = 'approval' AND c.organisation_id = $1 AND c.execution_id = $2
       AND (c.used_at IS NOT NULL OR c.expires_at <= least(now(), e.completed_at) AND NOT EXISTS (
         SELECT FROM callbacks s WHERE s.execution_id = c.execution_id AND s.node_id = c.node_id
           AND s.iteration = c.iteration AND s.kind = c.kind AND s.question = c.question
           AND (s.used_at IS NOT NULL OR s.id > c.id)))
     ORDER BY c.id DESC LIMIT $3`,
    [organisationId, executionId, MAX_WAITS],
  );
}

/** A page of the decided approvals, with ids below `belowId`, newest first. */
export async function listDecidedApprovals(
  tx: Queryable,
  organisationId: number,
  belowId: number,
  limit: number,
): Promise<DecidedApprovalRow[]> {
  return tx.query<DecidedApprovalRow>(
    `SELECT ${APPROVAL_COLUMNS}, c.decision, c.comment, c.decided_by, c.answers, c.used_at
     FROM callbacks c JOIN executions e ON e.id = c.execution_id
     WHERE c.kind = 'approval' AND c.used_at IS NOT NULL AND c.organisation_id = $1 AND c.id < $2
     ORDER BY c.id DESC LIMIT $3`,
    [organisationId, belowId, limit],
  );
}
