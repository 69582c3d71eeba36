import type { Queryable } from '@millrace/database/database';
import { rowSet } from '@millrace/database/row-set';
import type { CellRate } from '@millrace/engine';

/** What a start waits for: one row of start_rates or start_debounces. */
export interface StartKey {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly keyHash: Buffer;
}

/** A key with the rate of its newest start. */
export interface RatedKey extends StartKey {
  readonly rate: CellRate;
}

/** The locked row of a rate. Times are microseconds since 1970, by the database's clock. */
export interface LockedRate {
  readonly workflow_id: number;
  readonly key_hash: Buffer;
  readonly due_us: number;
  readonly waiting: number;
  readonly last_seq: number;
  readonly now_us: number;
}

const RATED_KEYS = rowSet<RatedKey>({
  organisation_id: ['bigint', (key) => key.organisationId],
  workflow_id: ['bigint', (key) => key.workflowId],
  key_hash: ['bytea', (key) => key.keyHash],
  interval_us: ['bigint', (key) => key.rate.intervalUs],
  tolerance_us: ['bigint', (key) => key.rate.toleranceUs],
});

/** Locks the rows of rates until the end of the transaction, in the order of their keys, creating those that don't exist. */
export async function lockRates(tx: Queryable, keys: readonly RatedKey[]): Promise<LockedRate[]> {
  return tx.query<LockedRate>(
    `INSERT INTO start_rates AS r (${RATED_KEYS.list()}, due_at)
     SELECT ${RATED_KEYS.list('k')}, 'epoch' FROM ${RATED_KEYS.sql} AS k (${RATED_KEYS.list()})
     ORDER BY k.workflow_id, k.key_hash
     ON CONFLICT (workflow_id, key_hash) DO UPDATE
       SET interval_us = EXCLUDED.interval_us, tolerance_us = EXCLUDED.tolerance_us
     RETURNING workflow_id, key_hash, (extract(epoch FROM due_at) * 1000000)::bigint AS due_us, waiting, last_seq,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us`,
    RATED_KEYS.values(keys),
    'lock_start_rates',
  );
}

/** What a batch of starts changes in a locked rate. */
export interface RateChange extends StartKey {
  readonly dueUs: number;
  readonly held: number;
}

const RATE_CHANGES = rowSet<RateChange>({
  workflow_id: ['bigint', (change) => change.workflowId],
  key_hash: ['bytea', (change) => change.keyHash],
  due_us: ['bigint', (change) => change.dueUs],
  held: ['bigint', (change) => change.held],
});

/** A start at its place in the queue of its rate. */
export interface QueuedStart extends StartKey {
  readonly executionId: number;
  readonly seq: number;
}

const QUEUED_STARTS = rowSet<QueuedStart>({
  workflow_id: ['bigint', (start) => start.workflowId],
  key_hash: ['bytea', (start) => start.keyHash],
  seq: ['bigint', (start) => start.seq],
  execution_id: ['bigint', (start) => start.executionId],
  organisation_id: ['bigint', (start) => start.organisationId],
});

/** Stores the changes to locked rates. Workers are notified if a queue got its first start. */
export async function recordRates(
  tx: Queryable,
  changes: readonly RateChange[],
  held: readonly QueuedStart[],
): Promise<void> {
  await tx.query(
    `WITH changed AS (
       UPDATE start_rates r SET due_at = 'epoch'::timestamptz + c.due_us * interval '1 microsecond',
         waiting = r.waiting + c.held, last_seq = r.last_seq + c.held
       FROM ${RATE_CHANGES.sql} AS c (${RATE_CHANGES.list()})
       WHERE r.workflow_id = c.workflow_id AND r.key_hash = c.key_hash
       RETURNING c.held > 0 AND r.waiting = c.held AS is_first
     )
     SELECT pg_notify('millrace_queue', '') FROM changed WHERE is_first LIMIT 1`,
    RATE_CHANGES.values(changes),
    'record_start_rates',
  );
  if (held.length === 0) return;
  await tx.query(
    `INSERT INTO held_starts (${QUEUED_STARTS.list()})
     SELECT ${QUEUED_STARTS.list('h')} FROM ${QUEUED_STARTS.sql} AS h (${QUEUED_STARTS.list()})`,
    QUEUED_STARTS.values(held),
    'insert_held_starts',
  );
}

/** The locked row of a debounce; `execution_id` is null if nothing waits for the key yet. */
export interface LockedDebounce {
  readonly workflow_id: number;
  readonly key_hash: Buffer;
  readonly execution_id: number | null;
  readonly first_us: number;
  readonly now_us: number;
}

const KEYS = rowSet<StartKey>({
  organisation_id: ['bigint', (key) => key.organisationId],
  workflow_id: ['bigint', (key) => key.workflowId],
  key_hash: ['bytea', (key) => key.keyHash],
});

/** Locks the rows of debounces like {@link lockRates}. */
export async function lockDebounces(tx: Queryable, keys: readonly StartKey[]): Promise<LockedDebounce[]> {
  return tx.query<LockedDebounce>(
    `INSERT INTO start_debounces AS d (${KEYS.list()}, first_at, due_at)
     SELECT ${KEYS.list('k')}, clock_timestamp(), 'infinity' FROM ${KEYS.sql} AS k (${KEYS.list()})
     ORDER BY k.workflow_id, k.key_hash
     ON CONFLICT (workflow_id, key_hash) DO UPDATE SET organisation_id = EXCLUDED.organisation_id
     RETURNING workflow_id, key_hash, execution_id, (extract(epoch FROM first_at) * 1000000)::bigint AS first_us,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us`,
    KEYS.values(keys),
    'lock_start_debounces',
  );
}

/** The start that waits from now on, and the rate it joins afterwards. */
export interface DebouncedStart extends StartKey {
  readonly executionId: number;
  readonly dueUs: number;
  readonly rate: RatedKey | null;
}

const DEBOUNCED_STARTS = rowSet<DebouncedStart>({
  workflow_id: ['bigint', (start) => start.workflowId],
  key_hash: ['bytea', (start) => start.keyHash],
  execution_id: ['bigint', (start) => start.executionId],
  due_us: ['bigint', (start) => start.dueUs],
  rate_key_hash: ['bytea', (start) => start.rate?.keyHash],
  rate_interval_us: ['bigint', (start) => start.rate?.rate.intervalUs],
  rate_tolerance_us: ['bigint', (start) => start.rate?.rate.toleranceUs],
});

/** Stores what waits for locked debounces. Workers are notified if something waits that didn't before. */
export async function recordDebounces(tx: Queryable, starts: readonly DebouncedStart[]): Promise<void> {
  await tx.query(
    `WITH before AS (
       SELECT d.workflow_id, d.key_hash, d.execution_id IS NULL AS is_first
       FROM start_debounces d JOIN ${DEBOUNCED_STARTS.sql} AS s (${DEBOUNCED_STARTS.list()}) USING (workflow_id, key_hash)
     ), changed AS (
       UPDATE start_debounces d SET execution_id = s.execution_id,
         due_at = 'epoch'::timestamptz + s.due_us * interval '1 microsecond', rate_key_hash = s.rate_key_hash,
         rate_interval_us = s.rate_interval_us, rate_tolerance_us = s.rate_tolerance_us
       FROM ${DEBOUNCED_STARTS.sql} AS s (${DEBOUNCED_STARTS.list()}) JOIN before b USING (workflow_id, key_hash)
       WHERE d.workflow_id = s.workflow_id AND d.key_hash = s.key_hash
       RETURNING b.is_first
     )
     SELECT pg_notify('millrace_queue', '') FROM changed WHERE is_first LIMIT 1`,
    DEBOUNCED_STARTS.values(starts),
    'record_start_debounces',
  );
}

/** Drops the rows that {@link lockDebounces} made for starts which were not stored after all. */
export async function dropEmptyDebounces(tx: Queryable, keys: readonly StartKey[]): Promise<void> {
  await tx.query(
    `DELETE FROM start_debounces d USING ${KEYS.sql} AS k (${KEYS.list()})
     WHERE d.workflow_id = k.workflow_id AND d.key_hash = k.key_hash AND d.execution_id IS NULL`,
    KEYS.values(keys),
    'drop_start_debounces',
  );
}

/** A held execution, and the newer one that takes its place. */
export interface Replacement {
  readonly id: number;
  readonly newerId: number;
}

const REPLACEMENTS = rowSet<Replacement>({
  id: ['bigint', (replacement) => replacement.id],
  newer_id: ['bigint', (replacement) => replacement.newerId],
});

/** Cancels held executions in favour of newer ones; those that were cancelled already stay as they are. */
export async function cancelReplaced(tx: Queryable, replacements: readonly Replacement[]): Promise<void> {
  await tx.query(
    `WITH doomed AS MATERIALIZED (
       SELECT e.id, r.newer_id FROM ${REPLACEMENTS.sql} AS r (${REPLACEMENTS.list()}) JOIN executions e USING (id)
       WHERE e.status = 'queued' AND e.held_until IS NOT NULL
       ORDER BY e.id FOR NO KEY UPDATE OF e
     )
     UPDATE executions e SET status = 'cancelled',
       completed_at = greatest(date_trunc('milliseconds', clock_timestamp()), e.created_at),
       cancel_code = 'replaced_by_newer_start', cancelled_for = d.newer_id
     FROM doomed d WHERE e.id = d.id
     RETURNING pg_notify('millrace_executions', e.id || '!'),
       CASE WHEN e.parent_waits THEN pg_notify('millrace_queue', '') END`,
    REPLACEMENTS.values(replacements),
    'cancel_replaced_starts',
  );
}

/** How long until something held may be released, in milliseconds; null if nothing is held. */
export const NEXT_HELD_MS = `(SELECT extract(epoch FROM min(due_at) - clock_timestamp()) * 1000 FROM (
  (SELECT due_at FROM start_rates WHERE waiting > 0 ORDER BY due_at LIMIT 1)
  UNION ALL (SELECT due_at FROM start_debounces ORDER BY due_at LIMIT 1)) d)::double precision`;

/** A debounced start whose wait is over. */
export interface EndedDebounce {
  readonly organisation_id: number;
  readonly workflow_id: number;
  readonly execution_id: number;
  readonly rate_key_hash: Buffer | null;
  readonly rate_interval_us: number;
  readonly rate_tolerance_us: number;
}

/** Takes debounced starts whose wait is over, except those locked by other transactions. */
export async function takeEndedDebounces(tx: Queryable, limit: number): Promise<EndedDebounce[]> {
  return tx.query<EndedDebounce>(
    `WITH ended AS MATERIALIZED (
       SELECT workflow_id, key_hash FROM start_debounces WHERE due_at <= clock_timestamp()
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM start_debounces d USING ended t
     WHERE d.workflow_id = t.workflow_id AND d.key_hash = t.key_hash
     RETURNING d.organisation_id, d.workflow_id, d.execution_id, d.rate_key_hash, d.rate_interval_us, d.rate_tolerance_us`,
    [limit],
    'take_ended_debounces',
  );
}

/** An execution that is held until another time, or no longer. */
export interface Hold {
  readonly executionId: number;
  readonly until: Date | null;
}

const HOLDS = rowSet<Hold>({
  id: ['bigint', (hold) => hold.executionId],
  until: ['timestamptz', (hold) => hold.until],
});

/** Changes until when queued executions are held; those cancelled meanwhile stay as they are. */
export async function holdUntil(tx: Queryable, holds: readonly Hold[]): Promise<void> {
  await tx.query(
    `UPDATE executions e SET held_until = h.until FROM ${HOLDS.sql} AS h (${HOLDS.list()})
     WHERE e.id = h.id AND e.status = 'queued' AND e.held_until IS NOT NULL`,
    HOLDS.values(holds),
    'hold_starts_until',
  );
}

/** The locked row of a rate whose queue may be released from. */
export interface DueRate extends Omit<LockedRate, 'last_seq'> {
  readonly organisation_id: number;
  readonly interval_us: number;
  readonly tolerance_us: number;
}

/** Locks the rates that are due, except those locked by other transactions. */
export async function lockDueRates(tx: Queryable, limit: number): Promise<DueRate[]> {
  return tx.query<DueRate>(
    `SELECT organisation_id, workflow_id, key_hash, (extract(epoch FROM due_at) * 1000000)::bigint AS due_us, waiting,
       interval_us, tolerance_us, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
     FROM start_rates WHERE waiting > 0 AND due_at <= clock_timestamp()
     ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED`,
    [limit],
    'lock_due_rates',
  );
}

/** How many of a locked rate's queue may be released. */
export interface Release extends StartKey {
  readonly count: number;
}

const RELEASES = rowSet<Release>({
  workflow_id: ['bigint', (release) => release.workflowId],
  key_hash: ['bytea', (release) => release.keyHash],
  count: ['bigint', (release) => release.count],
});

/** What was released from one queue, and how many rows left it, including those of cancelled executions. */
export interface Released {
  readonly workflow_id: number;
  readonly key_hash: Buffer;
  readonly released: number;
  readonly gone: number;
}

/** Maximum cancelled executions that one release skips; the next one continues after them. */
const MAX_SKIPPED = 50;

/** Releases the first starts of locked rates' queues. Cancelled ones leave the queue with them, and don't count. */
export async function releaseStarts(tx: Queryable, releases: readonly Release[]): Promise<Released[]> {
  return tx.query<Released>(
    `WITH seen AS MATERIALIZED (
       SELECT h.*, k.count, EXISTS (
         SELECT FROM executions e WHERE e.id = h.execution_id AND e.status = 'queued' AND e.held_until IS NOT NULL
       ) AS is_live
       FROM ${RELEASES.sql} AS k (${RELEASES.list()}) CROSS JOIN LATERAL (
         SELECT * FROM held_starts WHERE workflow_id = k.workflow_id AND key_hash = k.key_hash ORDER BY seq LIMIT k.count + $4
       ) h
     ), taken AS MATERIALIZED (
       SELECT * FROM (
         SELECT *, count(*) FILTER (WHERE is_live) OVER (PARTITION BY workflow_id, key_hash ORDER BY seq) AS place FROM seen
       ) s WHERE place <= count
     ), gone AS (
       DELETE FROM held_starts h USING taken t
       WHERE h.workflow_id = t.workflow_id AND h.key_hash = t.key_hash AND h.seq = t.seq
     ), freed AS (
       UPDATE executions SET held_until = NULL
       WHERE id IN (SELECT execution_id FROM taken WHERE is_live) AND status = 'queued'
     )
     SELECT workflow_id, key_hash, count(*) FILTER (WHERE is_live) AS released, count(*) AS gone
     FROM taken GROUP BY workflow_id, key_hash`,
    [...RELEASES.values(releases), MAX_SKIPPED],
    'release_starts',
  );
}

/** What a release changes in a locked rate. */
export interface ReleasedRate extends StartKey {
  readonly dueUs: number;
  readonly gone: number;
}

const RELEASED_RATES = rowSet<ReleasedRate>({
  workflow_id: ['bigint', (rate) => rate.workflowId],
  key_hash: ['bytea', (rate) => rate.keyHash],
  due_us: ['bigint', (rate) => rate.dueUs],
  gone: ['bigint', (rate) => rate.gone],
});

export async function recordReleases(tx: Queryable, rates: readonly ReleasedRate[]): Promise<void> {
  await tx.query(
    `UPDATE start_rates r SET due_at = 'epoch'::timestamptz + c.due_us * interval '1 microsecond',
       waiting = r.waiting - c.gone
     FROM ${RELEASED_RATES.sql} AS c (${RELEASED_RATES.list()})
     WHERE r.workflow_id = c.workflow_id AND r.key_hash = c.key_hash`,
    RELEASED_RATES.values(rates),
    'record_releases',
  );
}

/** Deletes rates whose queue is empty and whose next start wouldn't have to wait: no row means the same. */
export async function pruneStartRates(tx: Queryable, limit: number): Promise<number> {
  const rows = await tx.query(
    `WITH idle AS MATERIALIZED (
       SELECT workflow_id, key_hash FROM start_rates
       WHERE waiting = 0 AND due_at <= clock_timestamp() - interval '1 second'
       ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM start_rates r USING idle i WHERE r.workflow_id = i.workflow_id AND r.key_hash = i.key_hash
     RETURNING r.workflow_id`,
    [limit],
  );
  return rows.length;
}
