import type { AlertChannel, AlertKind, AlertLanguage } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { type JsonText, type StoredError, stringifyJson } from '@millrace/engine';
import type { Message } from '@millrace/messages';

/** A rule with something to tell, whose next message may be sent now as far as its interval is concerned. */
export interface TellingRule {
  readonly id: number;
  readonly organisation_id: number;
  readonly quiet_from: number | null;
  readonly quiet_to: number | null;
  /** Of the organisation; null: UTC. */
  readonly time_zone: string | null;
  /** Messages of the organisation in the last hour. */
  readonly sent_this_hour: number;
  readonly now_ms: number;
}

/** Locked until the transaction ends. */
export async function lockTellingRules(tx: Queryable, limit: number): Promise<TellingRule[]> {
  return tx.query<TellingRule>(
    `SELECT r.id, r.organisation_id, r.quiet_from, r.quiet_to, s.time_zone,
       (extract(epoch FROM now()) * 1000)::double precision AS now_ms,
       (SELECT count(*) FROM alert_messages m WHERE m.organisation_id = r.organisation_id AND NOT m.is_test
         AND m.created_at > now() - interval '1 hour') AS sent_this_hour
     FROM alert_rules r LEFT JOIN organisation_settings s ON s.organisation_id = r.organisation_id
     WHERE r.id IN (SELECT rule_id FROM alert_incidents WHERE message_id IS NULL)
       AND r.is_enabled AND r.next_message_at <= now()
     ORDER BY r.next_message_at, r.id LIMIT $1 FOR NO KEY UPDATE OF r SKIP LOCKED`,
    [limit],
  );
}

/** Makes one message of what waits for a rule, and says when the next one may follow. */
export async function insertMessage(tx: Queryable, ruleId: number): Promise<void> {
  await tx.query(
    `WITH made AS (
       INSERT INTO alert_messages (organisation_id, rule_id, rule_name, kind, channel, occurrences)
       SELECT r.organisation_id, r.id, r.name, r.kind, r.channel,
         (SELECT coalesce(sum(occurrences), 0) FROM alert_incidents WHERE rule_id = r.id AND message_id IS NULL)
       FROM alert_rules r WHERE r.id = $1 RETURNING id
     ), told AS (
       UPDATE alert_incidents SET message_id = (SELECT id FROM made) WHERE rule_id = $1 AND message_id IS NULL
     )
     UPDATE alert_rules SET next_message_at = now() + group_seconds * interval '1 second' WHERE id = $1`,
    [ruleId],
  );
}

export async function postponeMessage(tx: Queryable, ruleId: number, until: Date): Promise<void> {
  await tx.query('UPDATE alert_rules SET next_message_at = $2 WHERE id = $1', [ruleId, until]);
}

/** Records a test of a rule that this process sends itself. */
export async function insertTestMessage(
  tx: Queryable,
  ruleId: number,
  claimMs: number,
): Promise<ClaimedMessage> {
  return queryRow<ClaimedMessage>(
    tx,
    `WITH made AS (
       INSERT INTO alert_messages (organisation_id, rule_id, rule_name, kind, channel, is_test, occurrences, attempts, claim,
         claimed_until)
       SELECT organisation_id, id, name, kind, channel, true, 0, 1, 1, now() + $2::double precision * interval '1 millisecond'
       FROM alert_rules WHERE id = $1 RETURNING *
     )
     SELECT m.id, m.organisation_id, m.attempts, m.claim, m.is_test, m.created_at, m.occurrences, m.rule_id, m.rule_name,
       m.kind, r.channel, r.target, r.language, r.threshold, r.seconds
     FROM made m JOIN alert_rules r ON r.id = m.rule_id`,
    [ruleId, claimMs],
  );
}

/** A message that this process may send until its claim ends, with the rule as it is now. */
export interface ClaimedMessage {
  readonly id: number;
  readonly organisation_id: number;
  /** This one included. */
  readonly attempts: number;
  readonly claim: number;
  readonly is_test: boolean;
  readonly created_at: Date;
  readonly occurrences: number;
  /** Null: the rule was deleted. */
  readonly rule_id: number | null;
  readonly rule_name: string;
  readonly kind: AlertKind;
  readonly channel: AlertChannel;
  /** JSON text. */
  readonly target: string;
  readonly language: AlertLanguage;
  readonly threshold: number | null;
  readonly seconds: number | null;
}

/**
 * Claims the message that has been due for the longest, of an organisation that has no other one under way: a slow server of one
 * must not hold up the others.
 */
export async function claimMessage(db: Queryable, claimMs: number): Promise<ClaimedMessage | undefined> {
  const [row] = await db.query<ClaimedMessage>(
    `WITH claimed AS (
       UPDATE alert_messages SET claim = claim + 1, attempts = attempts + 1,
         claimed_until = now() + $1::double precision * interval '1 millisecond'
       WHERE id = (
         SELECT m.id FROM alert_messages m
         WHERE m.status = 'pending' AND m.due_at <= now() AND (m.claimed_until IS NULL OR m.claimed_until <= now())
           AND NOT EXISTS (SELECT FROM organisations p WHERE p.id = m.organisation_id AND p.paused_at IS NOT NULL)
           AND NOT EXISTS (SELECT FROM alert_messages o WHERE o.organisation_id = m.organisation_id
             AND o.status = 'pending' AND o.claimed_until > now())
         ORDER BY m.due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING *
     )
     SELECT m.id, m.organisation_id, m.attempts, m.claim, m.is_test, m.created_at, m.occurrences, m.rule_id, m.rule_name,
       m.kind, coalesce(r.channel, m.channel) AS channel, coalesce(r.target, '{}') AS target,
       coalesce(r.language, 'en') AS language, r.threshold, r.seconds
     FROM claimed m LEFT JOIN alert_rules r ON r.id = m.rule_id`,
    [claimMs],
  );
  return row;
}

/** Gives back a claim without an attempt. */
export async function releaseMessage(
  db: Queryable,
  { id, claim }: Pick<ClaimedMessage, 'id' | 'claim'>,
): Promise<void> {
  await db.query(
    `UPDATE alert_messages SET claimed_until = NULL, attempts = attempts - 1
     WHERE id = $1 AND claim = $2 AND status = 'pending'`,
    [id, claim],
  );
}

/** What became of an attempt; `retryMs`: in how long it is tried again, null: it ended. */
export interface AttemptOutcome {
  /** Null: it was sent. */
  readonly error: { readonly code: string; readonly message: Message } | null;
  readonly retryMs: number | null;
}

/** Stores the outcome of an attempt, unless another process has claimed the message since. */
export async function finishAttempt(
  db: Queryable,
  { id, claim }: Pick<ClaimedMessage, 'id' | 'claim'>,
  { error, retryMs }: AttemptOutcome,
): Promise<boolean> {
  const rows = await db.query(
    `UPDATE alert_messages SET claimed_until = NULL, error = $3,
       status = CASE WHEN $3::json IS NULL THEN 'sent' WHEN $4::double precision IS NULL THEN 'failed' ELSE 'pending' END,
       ended_at = CASE WHEN $3::json IS NULL OR $4::double precision IS NULL THEN now() END,
       due_at = now() + coalesce($4::double precision, 0) * interval '1 millisecond'
     WHERE id = $1 AND claim = $2 AND status = 'pending' RETURNING id`,
    [id, claim, error === null ? null : stringifyJson(error), retryMs],
  );
  return rows.length > 0;
}

/** What a message tells about, the most frequent first. */
export interface IncidentRow {
  readonly message_id: number;
  readonly subject: string;
  readonly name: string;
  readonly workflow_id: number | null;
  readonly execution_id: number | null;
  /** Null unless an execution failed. */
  readonly error: JsonText<StoredError> | null;
  readonly occurrences: number;
  readonly first_at: Date;
  readonly last_at: Date;
}

/** At most `limit` of each message. */
export async function listIncidents(
  db: Queryable,
  messageIds: readonly number[],
  limit: number,
): Promise<IncidentRow[]> {
  return db.query<IncidentRow>(
    `SELECT i.* FROM unnest($1::bigint[]) AS m (id) CROSS JOIN LATERAL (
       SELECT message_id, subject, name, workflow_id, execution_id, error, occurrences, first_at, last_at
       FROM alert_incidents WHERE message_id = m.id ORDER BY occurrences DESC, id LIMIT $2) i`,
    [messageIds, limit],
  );
}

export async function countIncidents(db: Queryable, messageId: number): Promise<number> {
  const row = await queryRow<{ count: number }>(
    db,
    'SELECT count(*) AS count FROM alert_incidents WHERE message_id = $1',
    [messageId],
  );
  return row.count;
}

/** A message as the history shows it. */
export interface MessageRow {
  readonly id: number;
  readonly rule_id: number | null;
  readonly rule_name: string;
  readonly kind: AlertKind;
  readonly channel: AlertChannel;
  readonly is_test: boolean;
  readonly occurrences: number;
  readonly status: 'pending' | 'sent' | 'failed';
  readonly attempts: number;
  readonly due_at: Date;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  /** Of the last attempt; null unless it failed. */
  readonly error: JsonText<StoredError> | null;
}

/** Messages below an id, latest first; null: from the latest. */
export async function listMessagesBelow(
  db: Queryable,
  organisationId: number,
  belowId: number | null,
  limit: number,
): Promise<MessageRow[]> {
  return db.query<MessageRow>(
    `SELECT id, rule_id, rule_name, kind, channel, is_test, occurrences, status, attempts, due_at, created_at, ended_at, error
     FROM alert_messages WHERE organisation_id = $1 AND ($2::bigint IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [organisationId, belowId, limit],
  );
}

/** Old messages with what they reported, and what was noticed long ago. */
export async function pruneAlerts(tx: Queryable, days: number, limit: number): Promise<number> {
  const messages = await tx.query(
    `DELETE FROM alert_messages WHERE id IN (
       SELECT id FROM alert_messages WHERE created_at < now() - $1::double precision * interval '1 day'
       ORDER BY created_at LIMIT $2)
     RETURNING id`,
    [days, limit],
  );
  const marks = await tx.query(
    `DELETE FROM alert_marks WHERE (rule_id, mark) IN (
       SELECT rule_id, mark FROM alert_marks WHERE created_at < now() - 5 * $1::double precision * interval '1 day'
       ORDER BY created_at LIMIT $2)
     RETURNING rule_id`,
    [days, limit],
  );
  // Of rules that went with their workflow.
  await tx.query('DELETE FROM alert_incidents WHERE rule_id IS NULL AND message_id IS NULL');
  return Math.max(messages.length, marks.length);
}
