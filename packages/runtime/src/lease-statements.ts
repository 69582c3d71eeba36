import { hostname } from 'node:os';
import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { rowSet } from '@millrace/database/row-set';
import { type Lease, storeError } from '@millrace/engine';
import { message } from '@millrace/messages';
import type { ClaimRoom } from './data-budget.ts';
import { ORGANISATION_PAUSED } from './paused.ts';
import { DATA_BYTES, HAS_ROOM, roomFrom, roomValues, WEIGHED } from './room-statements.ts';
import {
  ALLOWED,
  type ClaimShares,
  FITS,
  HELD,
  HOLDERS,
  NEXT_FIRST,
  OLDEST_FIRST,
  ROUND,
  shareValues,
  TAKEN_OF_TURN,
  URGENT_FIRST,
} from './share-statements.ts';

export async function insertWorker(db: Queryable, workerId: string, leaseMs: number): Promise<void> {
  await db.query(
    `INSERT INTO workers (id, host, pid, started_at, heartbeat_at, lease_expires_at)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), clock_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (id) DO NOTHING`,
    [workerId, hostname(), process.pid, leaseMs],
  );
}

/** Returns no row if the lease has expired; it can't be renewed then. */
export async function renewWorkerLease(
  db: Queryable,
  workerId: string,
  leaseMs: number,
): Promise<{ id: string }[]> {
  return db.query(
    `UPDATE workers SET heartbeat_at = clock_timestamp(),
       lease_expires_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id = $1 AND lease_expires_at > clock_timestamp()
     RETURNING id`,
    [workerId, leaseMs],
    'renew_worker_lease',
  );
}

export async function countLiveWorkers(db: Queryable): Promise<number> {
  const { count } = await queryRow<{ count: number }>(
    db,
    'SELECT count(*)::integer AS count FROM workers WHERE lease_expires_at > clock_timestamp()',
    [],
    'count_live_workers',
  );
  return count;
}

export async function endWorkerLease(db: Queryable, workerId: string): Promise<void> {
  await db.query(
    `UPDATE workers SET lease_expires_at = least(lease_expires_at, clock_timestamp())
     WHERE id = $1
     RETURNING pg_notify('millrace_queue', '')`,
    [workerId],
  );
}

export interface ClaimedRow {
  readonly id: number;
  readonly organisation_id: number;
  readonly workflow_id: number;
  readonly workflow_version: number;
  readonly is_test_mode: boolean;
  readonly input: string;
  readonly started_at: Date;
  readonly traceparent: string | null;
  readonly started_as: number | null;
  readonly timeout_ms: number | null;
  readonly claim: number;
  readonly checkpoint_seq: number;
  readonly signal_seq: number;
  readonly stored_bytes: number;
  /** See `DATA_BYTES`. */
  readonly data_bytes: number;
  /** `failed`: it crashed its worker too often and was ended instead of being leased. */
  readonly status: 'running' | 'failed';
}

/** What a claim returns of the executions `e`. */
export const CLAIMED = `e.id, e.organisation_id, e.workflow_id, e.workflow_version, e.is_test_mode, e.input, e.started_at, e.traceparent, e.started_as,
  e.timeout_ms, e.claim, e.checkpoint_seq, e.signal_seq, e.stored_bytes, greatest(e.kept_bytes, e.stored_bytes) AS data_bytes, e.status`;

/** The position of the walk over organisations, and whether it left something. */
export interface ClaimedTurn {
  /** Order in which the rows were chosen, from 1. */
  readonly turn: number;
  /** How many executions its organisation was given in its turn, including this one; 0 if the turn is over. */
  readonly taken_of_turn: number;
  /** There may be more to claim: this organisation got its part of the claim, or the claim had no room for others. */
  readonly has_more: boolean;
  /** It was taken over from a worker whose lease had expired. */
  readonly crashed: boolean;
}

/** The same for a claim by concurrency limits, which takes nothing over and looks at every organisation. */
export type LimitedTurn = Pick<ClaimedTurn, 'turn' | 'taken_of_turn'>;

/** Code of executions that crashed their worker too often. */
export const WORKER_CRASHED = 'worker_crashed';

/**
 * Leases runnable work: queued and woken executions, and those of workers whose lease expired. The latter count one crash
 * each and fail at `maxCrashedAttempts`. Nothing is claimed for a worker whose own lease is not valid.
 *
 * Organisations take turns, and each one's executions are claimed by priority and then age, or in some claims by age alone. None is claimed
 * for an organisation that holds its share of the slots; what was running already is exempt.
 *
 * A crash counts for everything its worker was running, because nobody can tell which execution caused it. So a worker runs
 * at most one execution with one attempt left, and no innocent one fails alongside a guilty one.
 *
 * Executions with much data are claimed one at a time, and only if there is room.
 *
 * Nothing of a paused organisation is claimed.
 *
 * Work with a concurrency limit on its workflow is left to {@link claimLimited}. A lost execution of that kind takes no
 * further slot: its row has been running all the time.
 *
 * Planning takes several times as long as running, so the plan is kept (docs/adr/0104-claims-keep-their-plan.md).
 *
 * @param limit at most {@link MAX_CLAIMED}
 */
export async function claimExecutions(
  db: Queryable,
  workerId: string,
  limit: number,
  maxCrashedAttempts: number,
  shares: ClaimShares,
  room: ClaimRoom,
): Promise<(ClaimedRow & ClaimedTurn)[]> {
  const explanation = message('run.worker_crashed', { count: maxCrashedAttempts });
  const error = { code: WORKER_CRASHED, message: explanation, nodeId: null };
  return db.query(
    `WITH RECURSIVE ${HELD}, ${ROOM}, ${QUEUED_AFTER}, ${QUEUED_BEFORE},
     queued_of AS MATERIALIZED (
       ${QUEUED_PARTS}
     ), queued AS MATERIALIZED (
       SELECT e.id, o.organisation_id, e.priority, e.bytes,
         o.part < o.allowed AND count(*) OVER (PARTITION BY o.organisation_id) = o.part AS has_more
       FROM queued_of o CROSS JOIN LATERAL (
         ${MAX_URGENT}
         UNION ALL
         (SELECT s.* FROM unnest(ARRAY[0, 1, 2]) AS p (priority) CROSS JOIN LATERAL ${OLDEST} s ORDER BY id LIMIT o.part)
       ) e
     ), due AS MATERIALIZED (
       ${DUE_FIRST}
     ), waiting_of (organisation_id) AS (
       SELECT f.* FROM ${FIRST_WAITING} f WHERE (SELECT count(*) FROM due) = $12
       UNION ALL
       SELECT n.* FROM waiting_of w CROSS JOIN LATERAL ${NEXT_WAITING} n
     ), due_of AS MATERIALIZED (
       ${DUE_PARTS}
     ), woken AS MATERIALIZED (
       SELECT e.id, o.organisation_id, e.priority, e.bytes,
         o.part < o.allowed AND count(*) OVER (PARTITION BY o.organisation_id) = o.part AS has_more
       FROM due_of o CROSS JOIN LATERAL ${WOKEN} e
     ), lost AS MATERIALIZED (
       SELECT e.* FROM workers w CROSS JOIN LATERAL ${LOST} e
       WHERE w.lease_expires_at <= clock_timestamp()
     ), suspect_given_back AS MATERIALIZED (
       SELECT id, organisation_id, ${DATA_BYTES} AS bytes FROM executions
       WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $14 AND max_concurrency IS NULL
         AND (status = 'queued' OR (status = 'waiting_async' AND wake_at <= now())) AND NOT ${ORGANISATION_PAUSED}
       ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
     ), suspect_lost AS MATERIALIZED (
       SELECT e.* FROM workers w CROSS JOIN LATERAL (
         SELECT id, organisation_id, ${DATA_BYTES} AS bytes FROM executions
         WHERE worker_id = w.id AND status = 'running' AND crashed_attempts + 1 = $14 AND NOT ${ORGANISATION_PAUSED}
         ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED
       ) e
       WHERE w.lease_expires_at <= clock_timestamp()
     ), suspect AS (
       SELECT * FROM (
         SELECT *, false AS crashed FROM suspect_given_back UNION ALL SELECT *, true FROM suspect_lost
       ) s
       WHERE NOT EXISTS (
         SELECT FROM executions
         WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $14 AND worker_id = $11
       )
       ORDER BY id LIMIT 1
     ), candidate AS (
       SELECT *, row_number() OVER (PARTITION BY organisation_id ORDER BY is_exempt DESC, ${URGENT_FIRST}) AS nth
       FROM (
         SELECT id, organisation_id, priority, bytes, has_more, false AS crashed, false AS is_exempt FROM queued
         UNION ALL SELECT id, organisation_id, priority, bytes, has_more, false, false FROM woken
         UNION ALL SELECT id, organisation_id, 0, bytes, false, true, true FROM lost
         UNION ALL SELECT id, organisation_id, 0, bytes, false, crashed, true FROM suspect
       ) c
       WHERE NOT ${ORGANISATION_PAUSED}
     ), in_turn AS (
       SELECT c.*, ${TAKEN_OF_TURN}, row_number() OVER (
         ORDER BY is_exempt DESC, ${ROUND}, ${NEXT_FIRST}, nth) AS turn
       FROM candidate c LEFT JOIN held h USING (organisation_id)
     ), judged AS (
       SELECT c.*, is_exempt OR (${FITS}) AS fits
       FROM in_turn c LEFT JOIN held h USING (organisation_id)
     ), weighed AS (
       SELECT j.*, ${WEIGHED} FROM judged j CROSS JOIN room r LEFT JOIN data_held d USING (organisation_id) WHERE fits
     ), chosen AS (
       SELECT id, crashed, turn, taken_of_turn, has_more OR (SELECT bool_or(NOT fits) FROM judged) AS has_more
       FROM weighed WHERE ${HAS_ROOM} ORDER BY turn LIMIT $12
     )
     UPDATE executions e SET
       status = CASE WHEN t.is_poison THEN 'failed' ELSE 'running' END,
       worker_id = CASE WHEN NOT t.is_poison THEN $11::uuid END,
       claim = e.claim + 1,
       crashed_attempts = e.crashed_attempts + c.crashed::integer,
       wake_at = NULL,
       started_at = coalesce(e.started_at, date_trunc('milliseconds', now())),
       completed_at = CASE WHEN t.is_poison
         THEN greatest(date_trunc('milliseconds', clock_timestamp()), e.started_at) END,
       error = CASE WHEN t.is_poison THEN $15::json END
     FROM chosen c JOIN executions x USING (id)
     CROSS JOIN LATERAL (SELECT c.crashed AND x.crashed_attempts + 1 >= $13 AS is_poison) t
     WHERE e.id = c.id AND EXISTS (SELECT FROM workers WHERE id = $11 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}, c.turn, c.taken_of_turn, c.has_more, c.crashed`,
    [
      ...shareValues(shares),
      workerId,
      limit,
      maxCrashedAttempts,
      Math.max(maxCrashedAttempts - 1, 1),
      JSON.stringify(storeError(error)),
      ...roomValues(room),
    ],
    'claim_executions',
  );
}

/** Maximum executions of one claim, so that other workers get their share of a backlog. */
export const MAX_CLAIMED = 50;

const ROOM = roomFrom(16);
/** Can be claimed by {@link claimExecutions}: not started yet, or given back. */
export const QUEUED = "status = 'queued' AND max_concurrency IS NULL AND held_until IS NULL";
export const WAITING = "status = 'waiting_async' AND max_concurrency IS NULL";
/** Can be claimed by {@link claimExecutions}: its wait is over. */
export const DUE = `${WAITING} AND wake_at <= now()`;

/**
 * The first `limit` of ordered rows. A kept plan is made for an unknown limit, which PostgreSQL takes for a tenth of all rows, so an upper
 * bound is given, too. Rows beyond the limit are neither read nor locked.
 */
export function firstOf(rows: string, limit: string, lock = ''): string {
  return `(SELECT * FROM (${rows} LIMIT ${MAX_CLAIMED} ${lock}) f LIMIT ${limit})`;
}

const LOCKED = 'FOR UPDATE SKIP LOCKED';
const OF_ORGANISATION = 'organisation_id = o.organisation_id AND crashed_attempts < $14';
const MAX_URGENT = firstOf(
  `SELECT id, priority, ${DATA_BYTES} AS bytes FROM executions WHERE ${QUEUED} AND ${OF_ORGANISATION} ORDER BY priority DESC, id`,
  `CASE WHEN ${OLDEST_FIRST} THEN 0 ELSE o.part END`,
  LOCKED,
);
/** The oldest of one priority. */
const OLDEST = firstOf(
  `SELECT id, priority, ${DATA_BYTES} AS bytes FROM executions
   WHERE ${QUEUED} AND priority = p.priority AND ${OF_ORGANISATION} ORDER BY id`,
  `CASE WHEN ${OLDEST_FIRST} THEN o.part ELSE 0 END`,
  LOCKED,
);
const DUE_FIRST = firstOf(`SELECT id, organisation_id FROM executions WHERE ${DUE} ORDER BY wake_at`, '$12');
const WOKEN = firstOf(
  `SELECT id, priority, ${DATA_BYTES} AS bytes FROM executions WHERE ${DUE} AND ${OF_ORGANISATION} ORDER BY wake_at`,
  'o.part',
  LOCKED,
);
const LOST = firstOf(
  `SELECT id, organisation_id, ${DATA_BYTES} AS bytes FROM executions
   WHERE worker_id = w.id AND status = 'running' AND crashed_attempts + 1 <> $14 AND NOT ${ORGANISATION_PAUSED} ORDER BY id`,
  '$12',
  LOCKED,
);

/** The next organisation after the given one that has such work: one probe of an index that starts with it. */
function nextOrganisation(work: string, after: string): string {
  return `(SELECT organisation_id FROM executions
           WHERE ${work} AND organisation_id > ${after} ORDER BY organisation_id LIMIT 1)`;
}

/** The organisations with such work in order, as many as can have a turn: those that hold slots may get none. */
function walk(name: string, work: string, after: string, upTo: string): string {
  return `${name} (organisation_id, place) AS (
       SELECT organisation_id, 1 FROM ${nextOrganisation(work, after)} f WHERE ${upTo}
       UNION ALL
       SELECT n.organisation_id, w.place + 1
       FROM ${name} w CROSS JOIN LATERAL ${nextOrganisation(work, 'w.organisation_id')} n
       WHERE ${upTo.replace('organisation_id', 'n.organisation_id')} AND w.place < $12::integer + ${HOLDERS}
     )`;
}

/**
 * How many executions each organisation may be given: `allowed` by its share of the slots if it were alone, and
 * `part` of what this claim takes. In the order of their turns.
 */
function partsOf(organisations: string): string {
  const parts = `SELECT organisation_id, allowed,
         least(ceil($12::numeric * weight / sum(weight) OVER ()), allowed)::bigint AS part
       FROM (
         SELECT o.organisation_id, coalesce(h.weight, 1) AS weight, ${ALLOWED} AS allowed
         FROM (${organisations}) o LEFT JOIN held h USING (organisation_id)
         ORDER BY ${NEXT_FIRST}
       ) a
       WHERE allowed > 0`;
  return firstOf(parts, '$12');
}

const QUEUED_AFTER = walk('next', QUEUED, '$8', 'true');
const QUEUED_BEFORE = walk('first', QUEUED, '0', 'organisation_id <= $8');
const QUEUED_PARTS = partsOf('SELECT organisation_id FROM next UNION ALL SELECT organisation_id FROM first');
const FIRST_WAITING = nextOrganisation(WAITING, '0');
const NEXT_WAITING = nextOrganisation(WAITING, 'w.organisation_id');
const DUE_PARTS = partsOf(`SELECT organisation_id FROM due UNION SELECT w.organisation_id FROM waiting_of w
         WHERE EXISTS (SELECT FROM executions WHERE ${DUE} AND organisation_id = w.organisation_id)`);

/** Ids of the executions that are leased to the worker. */
export async function listLeased(db: Queryable, workerId: string): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `SELECT id FROM executions WHERE worker_id = $1 AND status = 'running'`,
    [workerId],
    'list_leased',
  );
  return rows.map(({ id }) => id);
}

/**
 * Reclaims executions that are leased to the worker without its knowledge: rows whose insert or claim was stored while
 * its reply was lost. The raised claim fences out any late write under the old one.
 */
export async function adoptExecutions(
  db: Queryable,
  workerId: string,
  ids: readonly number[],
): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `UPDATE executions e SET claim = claim + 1
     WHERE worker_id = $1 AND status = 'running' AND id = ANY($2::bigint[])
       AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}`,
    [workerId, ids],
  );
}

/**
 * Moves what a process's lost registrations still lease to its new one, under raised claims. The process is alive, so this
 * isn't a crash. Executions another worker has taken over in the meantime stay there.
 * @param suspects are left: taking them over counts a crash
 */
export async function inheritExecutions(
  db: Queryable,
  workerId: string,
  formerIds: readonly string[],
  suspects: readonly number[],
): Promise<void> {
  await db.query(
    `UPDATE executions SET worker_id = $1, claim = claim + 1
     WHERE worker_id = ANY($2::uuid[]) AND status = 'running' AND id <> ALL($3::bigint[])
       AND EXISTS (SELECT FROM workers WHERE id = $1 AND lease_expires_at > clock_timestamp())`,
    [workerId, formerIds, suspects],
  );
}

const LEASES = rowSet<Lease>({
  id: ['bigint', (lease) => lease.executionId],
  worker_id: ['uuid', (lease) => lease.workerId],
  claim: ['integer', (lease) => lease.claim],
});

/** Ids of those executions whose lease is no longer the given one. */
export async function findLostLeases(db: Queryable, leases: readonly Lease[]): Promise<{ id: number }[]> {
  return db.query(
    `SELECT l.id FROM ${LEASES.sql} AS l (${LEASES.list()})
     WHERE NOT EXISTS (
       SELECT FROM executions e
       WHERE e.id = l.id AND e.worker_id = l.worker_id AND e.claim = l.claim AND e.status = 'running'
     )`,
    LEASES.values(leases),
  );
}

/**
 * Undoes the crash that was counted when another worker took these over from a live one, whose new registration this is. Call it once per
 * lease, after the rest was inherited: until then, others may take over more of them.
 */
export async function uncountCrashes(
  db: Queryable,
  workerId: string,
  leases: readonly Lease[],
): Promise<void> {
  await db.query(
    `UPDATE executions e SET crashed_attempts = e.crashed_attempts - 1
     FROM ${LEASES.sql} AS l (${LEASES.list()})
     WHERE e.id = l.id AND e.claim > l.claim AND e.worker_id IS DISTINCT FROM l.worker_id
       AND e.worker_id IS DISTINCT FROM $4 AND e.crashed_attempts > 0 AND e.completed_at IS NULL`,
    [...LEASES.values(leases), workerId],
  );
}
