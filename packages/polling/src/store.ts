import type { Queryable } from '@millrace/database/database';
import { ORGANISATION_PAUSED } from '@millrace/runtime/paused';

/** A poll's row that this process has claimed, and the workflow it starts. */
export interface ClaimedPoll {
  readonly workflow_id: number;
  /** Of the trigger. */
  readonly node_id: string;
  readonly organisation_id: number;
  readonly claim: number;
  readonly name: string;
  readonly version: number;
  readonly is_test_mode: boolean;
  /** JSON text; null before the first poll, and where ids are enough. */
  readonly position: string | null;
  readonly is_primed: boolean;
  /** JSON text of a list. */
  readonly unacknowledged: string | null;
  readonly failures: number;
  readonly is_told: boolean;
}

/** The polling of one trigger, as it is stored. */
export interface StoredPolling {
  readonly node_id: string;
  readonly source: Buffer;
  readonly is_active: boolean;
}

/** A workflow's polling as it is stored, locked until the transaction ends. */
export async function lockPolling(tx: Queryable, workflowId: number): Promise<StoredPolling[]> {
  return tx.query<StoredPolling>(
    `SELECT node_id, source, next_poll_at IS NOT NULL AS is_active FROM polls WHERE workflow_id = $1
     ORDER BY node_id FOR UPDATE`,
    [workflowId],
  );
}

/** Which trigger of a workflow. */
export type PollKey = Pick<ClaimedPoll, 'workflow_id' | 'node_id'>;

/**
 * Begins afresh, with the first poll at once, and notifies the processes that poll.
 * @param listens whether a connection is kept instead
 */
export async function beginPolling(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
  source: Buffer,
  listens: boolean,
): Promise<void> {
  await tx.query('DELETE FROM polled_items WHERE workflow_id = $1 AND node_id = $2', [workflowId, nodeId]);
  await tx.query(
    `INSERT INTO polls (workflow_id, node_id, organisation_id, source, next_poll_at, listens)
     SELECT id, $2, organisation_id, $3, now(), $4 FROM workflows WHERE id = $1
     ON CONFLICT (workflow_id, node_id) DO UPDATE SET source = EXCLUDED.source, listens = EXCLUDED.listens, next_poll_at = now(),
       claim = polls.claim + 1, leased_until = NULL, position = NULL, is_primed = false, unacknowledged = NULL, last_poll_at = NULL,
       last_success_at = NULL, last_started = 0, started = 0, failures = 0, last_error = NULL, is_told = false
     RETURNING pg_notify('millrace_schedules', '')`,
    [workflowId, nodeId, source, listens],
  );
}

/** Ends a trigger's polling. What runs is fenced off by the claim; whoever listens is notified, to close the connection. */
export async function stopPolling(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
): Promise<void> {
  await tx.query(
    `UPDATE polls SET next_poll_at = NULL, leased_until = NULL, claim = claim + 1
     WHERE workflow_id = $1 AND node_id = $2
     RETURNING CASE WHEN listens THEN pg_notify('millrace_schedules', '') END`,
    [workflowId, nodeId],
  );
}

/** Makes a listener connect again from where it is, with its new settings, and notifies. */
export async function reconnect(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
): Promise<void> {
  await tx.query(
    `UPDATE polls SET claim = claim + 1, leased_until = NULL, next_poll_at = now()
     WHERE workflow_id = $1 AND node_id = $2 RETURNING pg_notify('millrace_schedules', '')`,
    [workflowId, nodeId],
  );
}

/** Stops triggers that are gone, and forgets what they found. Their rows go a day later: until then a poll may still run. */
export async function deletePolling(
  tx: Queryable,
  workflowId: number,
  nodeIds: readonly string[],
): Promise<void> {
  await tx.query('DELETE FROM polled_items WHERE workflow_id = $1 AND node_id = ANY ($2)', [
    workflowId,
    nodeIds,
  ]);
  await tx.query(
    `DELETE FROM polls WHERE workflow_id = $1 AND node_id = ANY ($2) AND next_poll_at IS NULL
       AND coalesce(last_poll_at, now()) < now() - interval '1 day'`,
    [workflowId, nodeIds],
  );
  await tx.query(
    `UPDATE polls SET next_poll_at = NULL, leased_until = NULL, claim = claim + 1
     WHERE workflow_id = $1 AND node_id = ANY ($2) AND next_poll_at IS NOT NULL
     RETURNING CASE WHEN listens THEN pg_notify('millrace_schedules', '') END`,
    [workflowId, nodeIds],
  );
}

/** Makes the next poll due now, and notifies. @param nodeId null: of all triggers @returns false if nothing polls */
export async function hastenPoll(tx: Queryable, workflowId: number, nodeId: string | null): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE polls SET next_poll_at = now()
     WHERE workflow_id = $1 AND ($2::text IS NULL OR node_id = $2) AND next_poll_at IS NOT NULL
     RETURNING pg_notify('millrace_schedules', '')`,
    [workflowId, nodeId],
  );
  return rows.length > 0;
}

/**
 * Claims the poll that has been due the longest, those of organisations without a running one first.
 * @param running organisations that this process is polling for
 * @param full those that have their share of this process
 */
export async function claimDuePoll(
  db: Queryable,
  {
    running,
    full,
    leaseMs,
  }: { readonly running: readonly number[]; readonly full: readonly number[]; readonly leaseMs: number },
): Promise<ClaimedPoll | undefined> {
  const [row] = await db.query<ClaimedPoll>(
    `UPDATE polls p SET claim = claim + 1, leased_until = now() + $3::double precision * interval '1 millisecond'
     FROM workflows w
     WHERE w.id = p.workflow_id AND (p.workflow_id, p.node_id) = (
       SELECT workflow_id, node_id FROM polls
       WHERE NOT listens AND next_poll_at <= now() AND (leased_until IS NULL OR leased_until <= now())
         AND organisation_id <> ALL ($2::bigint[]) AND NOT ${ORGANISATION_PAUSED}
       ORDER BY organisation_id = ANY ($1::bigint[]), next_poll_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING p.workflow_id, p.node_id, p.organisation_id, p.claim, w.name, w.version, w.is_test_mode, p.position, p.is_primed,
       p.unacknowledged, p.failures, p.is_told`,
    [running, full, leaseMs],
  );
  return row;
}

/** Locks a claimed poll until the transaction ends. @returns false if it is no longer claimed by this one */
export async function lockClaimed(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId, claim }: PollKey & Pick<ClaimedPoll, 'claim'>,
): Promise<boolean> {
  const rows = await tx.query(
    'SELECT FROM polls WHERE workflow_id = $1 AND node_id = $2 AND claim = $3 AND next_poll_at IS NOT NULL FOR UPDATE',
    [workflowId, nodeId, claim],
  );
  return rows.length > 0;
}

/** Of these items, those that were found before. The poll must be locked. */
export async function findKnown(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
  hashes: readonly Buffer[],
): Promise<Buffer[]> {
  const rows = await tx.query<{ item_hash: Buffer }>(
    'SELECT item_hash FROM polled_items WHERE workflow_id = $1 AND node_id = $2 AND item_hash = ANY ($3::bytea[])',
    [workflowId, nodeId, hashes],
  );
  return rows.map((row) => row.item_hash);
}

/** Records that items were found now; a time that is less than a day old stays. */
export async function recordItems(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId, organisation_id: organisationId }: ClaimedPoll,
  hashes: readonly Buffer[],
): Promise<void> {
  await tx.query(
    `INSERT INTO polled_items AS i (workflow_id, node_id, organisation_id, item_hash)
     SELECT $1, $2, $3, hash FROM unnest($4::bytea[]) AS n (hash)
     ON CONFLICT (workflow_id, node_id, item_hash) DO UPDATE SET seen_at = now() WHERE i.seen_at < now() - interval '1 day'`,
    [workflowId, nodeId, organisationId, hashes],
  );
}

/** What a successful poll leaves. */
export interface PollOutcome {
  /** JSON text; null keeps the one there is. */
  readonly position: string | null;
  readonly isPrimed: boolean;
  /** JSON text of a list; null if there is nobody to tell. */
  readonly unacknowledged: string | null;
  readonly started: number;
  readonly delayMs: number;
  /** JSON text; null if nothing was wrong. */
  readonly error: string | null;
  readonly isTold: boolean;
}

/** Records a successful poll. The poll must be locked. */
export async function finishPoll(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
  outcome: PollOutcome,
): Promise<void> {
  await tx.query(
    `UPDATE polls SET position = coalesce($2::json, position), is_primed = is_primed OR $3, unacknowledged = $4::json,
       last_started = $5::integer, started = started + $5::integer, failures = 0, last_error = $6::json, is_told = $7,
       last_poll_at = now(), last_success_at = now(),
       next_poll_at = now() + $8::double precision * interval '1 millisecond', leased_until = NULL
     WHERE workflow_id = $1 AND node_id = $9`,
    [
      workflowId,
      outcome.position,
      outcome.isPrimed,
      outcome.unacknowledged,
      outcome.started,
      outcome.error,
      outcome.isTold,
      outcome.delayMs,
      nodeId,
    ],
  );
}

/** Records a failed poll; it is repeated after the delay. The poll must be locked. */
export async function failPoll(
  tx: Queryable,
  { workflow_id: workflowId, node_id: nodeId }: PollKey,
  failed: { readonly error: string; readonly delayMs: number; readonly isTold: boolean },
): Promise<void> {
  await tx.query(
    `UPDATE polls SET failures = failures + 1, last_error = $2::json, is_told = $4, last_poll_at = now(), leased_until = NULL,
       next_poll_at = now() + $3::double precision * interval '1 millisecond'
     WHERE workflow_id = $1 AND node_id = $5`,
    [workflowId, failed.error, failed.delayMs, failed.isTold, nodeId],
  );
}

/** Records that the source knows of all items that were started. */
export async function recordAcknowledged(
  db: Queryable,
  { workflow_id: workflowId, node_id: nodeId, claim }: PollKey & Pick<ClaimedPoll, 'claim'>,
): Promise<void> {
  await db.query(
    'UPDATE polls SET unacknowledged = NULL WHERE workflow_id = $1 AND node_id = $2 AND claim = $3',
    [workflowId, nodeId, claim],
  );
}

/** Gives a claim back; the poll is due again after the delay. */
export async function releasePoll(
  db: Queryable,
  { workflow_id: workflowId, node_id: nodeId, claim }: PollKey & Pick<ClaimedPoll, 'claim'>,
  delayMs: number,
): Promise<void> {
  await db.query(
    `UPDATE polls SET leased_until = NULL, next_poll_at = now() + $3::double precision * interval '1 millisecond'
     WHERE workflow_id = $1 AND claim = $2 AND next_poll_at IS NOT NULL AND node_id = $4`,
    [workflowId, claim, delayMs, nodeId],
  );
}

/** Milliseconds until a poll is due or a lease has ended; null if there is none. */
export async function readUntilDue(db: Queryable): Promise<number | null> {
  const [row] = await db.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM min(greatest(next_poll_at, leased_until)) - now()) * 1000)::double precision AS ms
     FROM polls WHERE NOT listens AND next_poll_at IS NOT NULL AND NOT ${ORGANISATION_PAUSED}`,
  );
  return row?.ms ?? null;
}

/** A workflow's polling as it is shown. */
export interface PollingRow {
  /** Whether a connection is kept. */
  readonly listens: boolean;
  readonly is_test_mode: boolean;
  readonly next_poll_at: Date | null;
  readonly is_polling: boolean;
  readonly last_poll_at: Date | null;
  readonly last_success_at: Date | null;
  readonly last_started: number;
  readonly started: number;
  readonly failures: number;
  /** JSON text. */
  readonly last_error: string | null;
}

/** @param nodeId null: of any trigger */
export async function findPolling(
  db: Queryable,
  organisationId: number,
  workflowId: number,
  nodeId: string | null,
): Promise<PollingRow | undefined> {
  const [row] = await db.query<PollingRow>(
    `SELECT listens, (SELECT w.is_test_mode FROM workflows w WHERE w.id = workflow_id) AS is_test_mode, next_poll_at, coalesce(leased_until > now(), false) AS is_polling, last_poll_at, last_success_at, last_started, started, failures,
       last_error
     FROM polls WHERE organisation_id = $1 AND workflow_id = $2 AND ($3::text IS NULL OR node_id = $3)
     ORDER BY next_poll_at IS NULL, node_id LIMIT 1`,
    [organisationId, workflowId, nodeId],
  );
  return row;
}

/**
 * Deletes what no poll has found for so many days, or for a day where a connection is kept, as queues repeat soon what they repeat. Counted to
 * the last successful poll: while a source can't be read, what it lists isn't forgotten.
 */
export async function pruneItems(tx: Queryable, days: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM polled_items i USING (
       SELECT o.workflow_id, o.node_id, o.item_hash FROM polled_items o
       JOIN polls p ON p.workflow_id = o.workflow_id AND p.node_id = o.node_id
       WHERE o.seen_at < now() - CASE WHEN p.listens THEN 1 ELSE $1::double precision END * interval '1 day'
         AND o.seen_at < p.last_success_at - CASE WHEN p.listens THEN 1 ELSE $1::double precision END * interval '1 day'
       ORDER BY o.seen_at LIMIT $2
     ) old
     WHERE i.workflow_id = old.workflow_id AND i.node_id = old.node_id AND i.item_hash = old.item_hash RETURNING i.workflow_id`,
    [days, limit],
  );
  return rows.length;
}
