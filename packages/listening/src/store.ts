import type { Queryable } from '@millrace/database/database';
import type { ClaimedPoll, PollKey } from '@millrace/polling/store';
import { ORGANISATION_PAUSED } from '@millrace/runtime/paused';

/** Nothing is received in test mode: a message that was taken from a queue would be missing elsewhere. */
const IN_TEST_MODE = 'EXISTS (SELECT FROM workflows t WHERE t.id = workflow_id AND t.is_test_mode)';

type Claim = Pick<ClaimedPoll, 'workflow_id' | 'node_id' | 'claim'>;

/**
 * Claims the listener that has waited the longest, those of organisations with the fewest connections in this process first.
 * @param running connections of this process, by organisation
 * @param full organisations that have their share
 */
export async function claimListener(
  db: Queryable,
  running: ReadonlyMap<number, number>,
  full: readonly number[],
  leaseMs: number,
): Promise<ClaimedPoll | undefined> {
  const [row] = await db.query<ClaimedPoll>(
    `UPDATE polls p SET claim = claim + 1, leased_until = now() + $4::double precision * interval '1 millisecond'
     FROM workflows w
     WHERE w.id = p.workflow_id AND (p.workflow_id, p.node_id) = (
       SELECT workflow_id, node_id FROM polls
       WHERE listens AND next_poll_at <= now() AND (leased_until IS NULL OR leased_until <= now())
         AND organisation_id <> ALL ($3::bigint[]) AND NOT ${ORGANISATION_PAUSED} AND NOT ${IN_TEST_MODE}
       ORDER BY coalesce((SELECT r.count FROM unnest($1::bigint[], $2::integer[]) AS r (id, count)
         WHERE r.id = organisation_id), 0), next_poll_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING p.workflow_id, p.node_id, p.organisation_id, p.claim, w.name, w.version, w.is_test_mode, p.position, p.is_primed,
       p.unacknowledged, p.failures, p.is_told`,
    [[...running.keys()], [...running.values()], full, leaseMs],
  );
  return row;
}

/** Tells the triggers of all workflows apart. */
export function keyOf({ workflow_id: id, node_id: nodeId }: PollKey): string {
  return `${id} ${nodeId}`;
}

/**
 * Renews the leases of connections. A claim that was just given back isn't taken again: nobody would receive until that lease ended.
 * @returns the keys of the triggers whose connections may go on
 */
export async function renewListeners(
  db: Queryable,
  held: readonly Claim[],
  leaseMs: number,
): Promise<Set<string>> {
  const rows = await db.query<PollKey>(
    `UPDATE polls SET leased_until = now() + $3::double precision * interval '1 millisecond'
     WHERE (workflow_id, node_id, claim) IN (SELECT * FROM unnest($1::bigint[], $4::text[], $2::bigint[]))
       AND next_poll_at IS NOT NULL AND leased_until IS NOT NULL AND NOT ${ORGANISATION_PAUSED} AND NOT ${IN_TEST_MODE}
     RETURNING workflow_id, node_id`,
    [
      held.map(({ workflow_id: id }) => id),
      held.map(({ claim }) => claim),
      leaseMs,
      held.map(({ node_id: nodeId }) => nodeId),
    ],
  );
  return new Set(rows.map(keyOf));
}

/** What a claimed listener starts now; undefined if it is claimed by another process, or stopped. */
export async function readClaimed(
  db: Queryable,
  { workflow_id: id, node_id: nodeId, claim }: Claim,
): Promise<ClaimedPoll | undefined> {
  const [row] = await db.query<ClaimedPoll>(
    `SELECT p.workflow_id, p.node_id, p.organisation_id, p.claim, w.name, w.version, w.is_test_mode, p.position, p.is_primed,
       p.unacknowledged, p.failures, p.is_told
     FROM polls p JOIN workflows w ON w.id = p.workflow_id
     WHERE p.workflow_id = $1 AND p.node_id = $3 AND p.claim = $2 AND p.next_poll_at IS NOT NULL`,
    [id, claim, nodeId],
  );
  return row;
}

/** Records that a connection is there. @param position JSON text; null keeps the one there is */
export async function recordConnected(
  db: Queryable,
  { workflow_id: id, node_id: nodeId, claim }: Claim,
  position: string | null,
): Promise<void> {
  await db.query(
    `UPDATE polls SET position = coalesce($3::json, position), is_primed = true, last_poll_at = now()
     WHERE workflow_id = $1 AND node_id = $4 AND claim = $2`,
    [id, claim, position, nodeId],
  );
}

/** Records that a connection lasts: what went wrong before is over. */
export async function recordSteady(
  db: Queryable,
  { workflow_id: id, node_id: nodeId, claim }: Claim,
): Promise<void> {
  await db.query(
    `UPDATE polls SET failures = 0, last_error = NULL, is_told = false, last_success_at = now()
     WHERE workflow_id = $1 AND node_id = $3 AND claim = $2`,
    [id, claim, nodeId],
  );
}

/** What was stored of one batch of messages. */
export interface StoredBatch {
  /** JSON text; null keeps the one there is. */
  readonly position: string | null;
  /** JSON text of a list; null if the source delivers again what it wasn't told of. */
  readonly unacknowledged: string | null;
  readonly started: number;
  /** JSON text; null if nothing was wrong. */
  readonly error: string | null;
  readonly isTold: boolean;
}

/** Records a batch; the lease stays. The row must be locked. */
export async function recordBatch(
  tx: Queryable,
  { workflow_id: id, node_id: nodeId }: PollKey,
  batch: StoredBatch,
): Promise<void> {
  await tx.query(
    `UPDATE polls SET position = coalesce($2::json, position), unacknowledged = $3::json, last_started = $4::integer,
       started = started + $4::integer, failures = 0, last_error = $5::json, is_told = $6, last_poll_at = now(),
       last_success_at = now()
     WHERE workflow_id = $1 AND node_id = $7`,
    [id, batch.position, batch.unacknowledged, batch.started, batch.error, batch.isTold, nodeId],
  );
}

/** Records why messages that were received have to wait. @param error JSON text */
export async function recordWaiting(
  db: Queryable,
  { workflow_id: id, node_id: nodeId, claim }: Claim,
  error: string,
): Promise<void> {
  await db.query(
    'UPDATE polls SET last_error = $3::json WHERE workflow_id = $1 AND node_id = $4 AND claim = $2',
    [id, claim, error, nodeId],
  );
}

/** Organisations whose listeners wait for a connection, those that have waited the longest first. */
export async function listWaiting(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ organisation_id: number }>(
    `SELECT organisation_id FROM polls
     WHERE listens AND next_poll_at <= now() AND (leased_until IS NULL OR leased_until <= now())
       AND NOT ${ORGANISATION_PAUSED} AND NOT ${IN_TEST_MODE}
     GROUP BY organisation_id ORDER BY min(next_poll_at) LIMIT 100`,
  );
  return rows.map(({ organisation_id: id }) => id);
}

/** Milliseconds until a listener may be claimed; null if there is none. */
export async function readUntilClaimable(db: Queryable): Promise<number | null> {
  const [row] = await db.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM min(greatest(next_poll_at, leased_until)) - now()) * 1000)::double precision AS ms
     FROM polls WHERE listens AND next_poll_at IS NOT NULL AND NOT ${ORGANISATION_PAUSED} AND NOT ${IN_TEST_MODE}`,
  );
  return row?.ms ?? null;
}

/** Gives a claim back, and notifies the processes that may take it. */
export async function releaseListener(
  db: Queryable,
  { workflow_id: id, node_id: nodeId, claim }: Claim,
): Promise<void> {
  await db.query(
    `UPDATE polls SET leased_until = NULL, next_poll_at = now()
     WHERE workflow_id = $1 AND node_id = $3 AND claim = $2 AND next_poll_at IS NOT NULL RETURNING pg_notify('millrace_schedules', '')`,
    [id, claim, nodeId],
  );
}
