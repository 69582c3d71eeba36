import { randomBytes } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import type { ClaimRoom } from './data-budget.ts';
import { CLAIMED, type ClaimedRow, firstOf, type LimitedTurn } from './lease-statements.ts';
import { ORGANISATION_PAUSED } from './paused.ts';
import { DATA_BYTES, HAS_ROOM, roomFrom, roomValues, WEIGHED } from './room-statements.ts';
import {
  type ClaimShares,
  FITS,
  HELD,
  NEXT_FIRST,
  ROUND,
  shareValues,
  TAKEN_OF_TURN,
  URGENT_FIRST,
} from './share-statements.ts';

/** Workflows processed per round; further ones with a limit and runnable work wait for the next. */
const MAX_WORKFLOWS = 50;
/** Length of a SHA-256. */
const KEY_BYTES = 32;

interface LimitedClaim {
  readonly workerId: string;
  readonly limit: number;
  readonly maxCrashedAttempts: number;
  readonly shares: ClaimShares;
  readonly room: ClaimRoom;
  /** A random key, where the walk over a workflow's keys starts. */
  readonly firstKey: Buffer;
}

/**
 * Leases runnable work of workflows with `max_concurrency` or `concurrency`, oldest first per workflow and key and never more than may run
 * at once. Organisations take turns and are limited to their share of the slots, as in {@link claimExecutions}.
 * Call it in a transaction: only one claimer at a time locks the workflow's row, and running executions are counted by a
 * later statement, which sees what the previous claimer leased.
 */
export async function claimLimited(
  tx: Queryable,
  workerId: string,
  limit: number,
  maxCrashedAttempts: number,
  shares: ClaimShares,
  room: ClaimRoom,
): Promise<(ClaimedRow & LimitedTurn)[]> {
  const claim = { workerId, limit, maxCrashedAttempts, shares, room, firstKey: randomBytes(KEY_BYTES) };
  const workflows = await lockWorkflowsWithWork(tx, claim);
  if (workflows.length === 0) return [];
  const workflowIds = workflows.map(({ id }) => id);
  return claimOfLocked(tx, workflowIds, claim);
}

const ROOM = roomFrom(16);
const QUEUED =
  "status = 'queued' AND max_concurrency IS NOT NULL AND on_limit IS NULL AND held_until IS NULL";
const DUE = "status = 'waiting_async' AND max_concurrency IS NOT NULL AND wake_at <= now()";

/** How many executions of workflow `w` that carry a limit are running. */
const RUNNING = `(SELECT count(*) AS running FROM executions
         WHERE workflow_id = w.id AND status = 'running' AND max_concurrency IS NOT NULL) r`;

/** How many of them have the key of `k`. */
const RUNNING_WITH_KEY = `(SELECT count(*) AS running_with_key FROM executions
         WHERE workflow_id = w.id AND concurrency_key = k.concurrency_key AND status = 'running'
           AND max_concurrency IS NOT NULL) n`;

/** The first queued execution of workflow `w` with the next key. */
function nextKey(from: string): string {
  return `(SELECT concurrency_key, id, concurrency_limit FROM executions
           WHERE ${QUEUED} AND workflow_id = w.id AND ${from} ORDER BY concurrency_key, id LIMIT 1)`;
}

function walkKeys(name: string, start: string, upTo: string, limit: string): string {
  return `${name} (concurrency_key, id, concurrency_limit, place) AS (
         SELECT f.*, 1 FROM ${nextKey(start)} f
         UNION ALL
         SELECT n.*, p.place + 1
         FROM ${name} p CROSS JOIN LATERAL ${nextKey(`concurrency_key > p.concurrency_key${upTo}`)} n
         WHERE p.place < ${limit} + r.running
       )`;
}

/**
 * The keys of workflow `w` with queued executions of which at least one may run, and how many: `limit` of them, oldest first. The walk from
 * key to key visits as many as are running and `limit` more, so it finds one that isn't full if there is one. If more keys wait, it starts
 * somewhere else (`first`) each time.
 */
function openKeys(limit: string, first: string): string {
  return `(
         WITH RECURSIVE ${walkKeys('later', `concurrency_key >= ${first}`, '', limit)},
         ${walkKeys('earlier', `concurrency_key < ${first}`, ` AND concurrency_key < ${first}`, limit)}
         SELECT * FROM ${firstOf(
           `SELECT k.concurrency_key, k.id,
             coalesce(k.concurrency_limit, ${limit} + n.running_with_key) - n.running_with_key AS places
           FROM (SELECT * FROM later UNION ALL SELECT * FROM earlier) k CROSS JOIN LATERAL ${RUNNING_WITH_KEY}
           WHERE n.running_with_key < coalesce(k.concurrency_limit, n.running_with_key + 1)
           ORDER BY k.id`,
           limit,
         )} o
       )`;
}

const OPEN_KEYS = openKeys('$1::integer', '$2::bytea');
const OPEN_KEYS_OF_LOCKED = openKeys('$11::integer', '$12::bytea');

/** Woken executions of one workflow that a claim checks for ones whose key isn't full. */
const MAX_DUE = 500;

const FIRST_OF_KEY = firstOf(
  `SELECT id, organisation_id, max_concurrency, concurrency_key, concurrency_limit, priority, crashed_attempts >= $14 AS is_suspect
   FROM executions WHERE ${QUEUED} AND workflow_id = w.id AND concurrency_key = k.concurrency_key ORDER BY id`,
  'least(k.places, $11)',
);
const FIRST_IN_TURN = firstOf(
  `SELECT w.id, w.turn, w.taken_of_turn FROM (
     SELECT j.*, ${WEIGHED} FROM (
       SELECT t.*, x.bytes FROM in_turn t LEFT JOIN held h USING (organisation_id)
       CROSS JOIN LATERAL (SELECT ${DATA_BYTES} AS bytes FROM executions WHERE id = t.id) x
       WHERE ${FITS}
     ) j CROSS JOIN room r LEFT JOIN data_held d USING (organisation_id)
   ) w
   WHERE ${HAS_ROOM}
   ORDER BY w.turn`,
  '$11',
);

/**
 * Walks two indexes from workflow to workflow, so one workflow's long queue costs no more than a short one. The executions it finds are read by their ids,
 * also by a plan that was made while there were so few that reading all of them was as good.
 */
function lockWorkflowsWithWork(
  tx: Queryable,
  { limit, firstKey, shares }: LimitedClaim,
): Promise<{ id: number }[]> {
  return tx.query(
    `WITH RECURSIVE queued (workflow_id) AS (
       (SELECT workflow_id FROM executions WHERE ${QUEUED} ORDER BY workflow_id LIMIT 1)
       UNION ALL
       SELECT n.workflow_id FROM queued q CROSS JOIN LATERAL (
         SELECT workflow_id FROM executions WHERE ${QUEUED} AND workflow_id > q.workflow_id ORDER BY workflow_id LIMIT 1) n
     ), waiting (workflow_id, wake_at) AS (
       (SELECT workflow_id, wake_at FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL
        ORDER BY workflow_id, wake_at LIMIT 1)
       UNION ALL
       SELECT n.workflow_id, n.wake_at FROM waiting w CROSS JOIN LATERAL (
         SELECT workflow_id, wake_at FROM executions
         WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL AND workflow_id > w.workflow_id
         ORDER BY workflow_id, wake_at LIMIT 1) n
     ), first AS MATERIALIZED (
       SELECT w.id AS workflow_id, r.running, o.id
       FROM (SELECT workflow_id AS id FROM queued UNION SELECT workflow_id FROM waiting WHERE wake_at <= now()) w
       CROSS JOIN LATERAL ${RUNNING}
       CROSS JOIN LATERAL (
         SELECT min(c.id) AS id FROM (
           SELECT id FROM ${OPEN_KEYS} q
           UNION ALL
           SELECT k.id FROM (
             SELECT id, concurrency_key, concurrency_limit FROM executions
             WHERE ${DUE} AND workflow_id = w.id ORDER BY wake_at LIMIT ${MAX_DUE}
           ) k CROSS JOIN LATERAL ${RUNNING_WITH_KEY}
           WHERE k.concurrency_limit IS NULL OR n.running_with_key < k.concurrency_limit
         ) c
       ) o
     ), with_place AS (
       SELECT f.workflow_id, e.organisation_id, row_number() OVER (PARTITION BY e.organisation_id ORDER BY f.id) AS round
       FROM first f CROSS JOIN LATERAL (SELECT organisation_id, max_concurrency FROM executions WHERE id = f.id OFFSET 0) e
       WHERE e.max_concurrency > f.running AND NOT ${ORGANISATION_PAUSED}
       ORDER BY round, e.organisation_id <= $3, e.organisation_id LIMIT ${MAX_WORKFLOWS}
     )
     SELECT id FROM workflows WHERE id IN (SELECT workflow_id FROM with_place)
     ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`,
    [limit, firstKey, shares.afterOrganisation],
    'hold_limited_workflows',
  );
}

function claimOfLocked(
  tx: Queryable,
  workflowIds: readonly number[],
  claim: LimitedClaim,
): Promise<(ClaimedRow & LimitedTurn)[]> {
  const { workerId, limit, maxCrashedAttempts, shares } = claim;
  return tx.query(
    `WITH ${HELD}, ${ROOM}, looked_at AS MATERIALIZED (
       SELECT w.id AS workflow_id, r.running, c.*
       FROM unnest($13::bigint[]) AS w (id)
       CROSS JOIN LATERAL ${RUNNING}
       CROSS JOIN LATERAL (
         SELECT q.* FROM ${OPEN_KEYS_OF_LOCKED} k CROSS JOIN LATERAL ${FIRST_OF_KEY} q
         UNION ALL
         (SELECT id, organisation_id, max_concurrency, concurrency_key, concurrency_limit, priority, crashed_attempts >= $14
          FROM executions WHERE ${DUE} AND workflow_id = w.id
          ORDER BY wake_at LIMIT ${MAX_DUE})
       ) c
     ), key AS MATERIALIZED (
       SELECT w.id AS workflow_id, k.concurrency_key, n.running_with_key
       FROM (SELECT DISTINCT workflow_id AS id, concurrency_key FROM looked_at) w
       CROSS JOIN LATERAL (SELECT w.concurrency_key) k
       CROSS JOIN LATERAL ${RUNNING_WITH_KEY}
     ), in_order AS (
       SELECT c.*, k.running_with_key, row_number() OVER (PARTITION BY c.workflow_id, c.concurrency_key ORDER BY c.id) AS place_of_key
       FROM looked_at c JOIN key k USING (workflow_id, concurrency_key)
     ), candidate AS MATERIALIZED (
       SELECT *, row_number() OVER (PARTITION BY workflow_id ORDER BY id) AS place,
         row_number() OVER (PARTITION BY is_suspect ORDER BY id) AS place_of_kind,
         -- Executions under a limit keep their order, with the priority of the first.
         first_value(priority) OVER (PARTITION BY workflow_id, concurrency_key ORDER BY id) AS shared_priority
       FROM in_order
       WHERE (concurrency_limit IS NULL OR running_with_key + place_of_key <= concurrency_limit) AND NOT ${ORGANISATION_PAUSED}
     ), in_turn AS (
       SELECT c.*, ${TAKEN_OF_TURN}, row_number() OVER (ORDER BY ${ROUND}, ${NEXT_FIRST}, nth) AS turn FROM (
         SELECT id, organisation_id, row_number() OVER (PARTITION BY organisation_id ORDER BY ${URGENT_FIRST}) AS nth
         FROM (
           SELECT id, organisation_id, shared_priority AS priority FROM candidate
           WHERE running + place <= max_concurrency
             -- A worker runs at most one execution with one attempt left, as in claimExecutions.
             AND (NOT is_suspect OR (place_of_kind = 1 AND NOT EXISTS (
               SELECT FROM executions
               WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $14 AND worker_id = $15)))
         ) p
       ) c LEFT JOIN held h USING (organisation_id)
     ), chosen AS MATERIALIZED (
       SELECT e.id, f.turn, f.taken_of_turn
       FROM ${FIRST_IN_TURN} f JOIN executions e USING (id)
       WHERE (e.status = 'queued' OR (e.status = 'waiting_async' AND e.wake_at <= now()))
       ORDER BY e.id FOR UPDATE OF e SKIP LOCKED
     )
     UPDATE executions e SET
       status = 'running',
       worker_id = $15::uuid,
       claim = e.claim + 1,
       wake_at = NULL,
       started_at = coalesce(e.started_at, date_trunc('milliseconds', now()))
     FROM chosen c
     WHERE e.id = c.id AND EXISTS (SELECT FROM workers WHERE id = $15 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}, c.turn, c.taken_of_turn`,
    [
      ...shareValues(shares),
      limit,
      claim.firstKey,
      workflowIds,
      Math.max(maxCrashedAttempts - 1, 1),
      workerId,
      ...roomValues(claim.room),
    ],
    'claim_limited_executions',
  );
}
