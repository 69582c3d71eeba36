import type { Queryable } from '@millrace/database/database';
import { CLAIMED, type ClaimedRow, type ClaimedTurn } from './lease-statements.ts';
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

/**
 * Leases runnable work of workflows with `max_concurrency`, oldest first per workflow and never more than may run at once.
 * Organisations take turns and are held to their share of the slots, as in the other way of claiming.
 * Call it in a transaction: only one claimer at a time locks the workflow's row, and running executions are counted by a
 * later statement, which sees what the previous claimer leased.
 */
export async function claimLimited(
  tx: Queryable,
  workerId: string,
  limit: number,
  maxCrashedAttempts: number,
  shares: ClaimShares,
): Promise<(ClaimedRow & Omit<ClaimedTurn, 'has_more'>)[]> {
  const workflows = await holdWorkflowsWithWork(tx, shares.afterOrganisation);
  if (workflows.length === 0) return [];
  const workflowIds = workflows.map(({ id }) => id);
  return claimOfLocked(tx, workflowIds, { workerId, limit, maxCrashedAttempts, shares });
}

/** Walks two indexes from workflow to workflow, so one workflow's long queue costs no more than a short one. */
function holdWorkflowsWithWork(tx: Queryable, afterOrganisation: number): Promise<{ id: number }[]> {
  return tx.query(
    `WITH RECURSIVE queued (workflow_id, id) AS (
       (SELECT workflow_id, id FROM executions WHERE status = 'queued' AND max_concurrency IS NOT NULL AND held_until IS NULL
        ORDER BY workflow_id, id LIMIT 1)
       UNION ALL
       SELECT n.workflow_id, n.id FROM queued q CROSS JOIN LATERAL (
         SELECT workflow_id, id FROM executions
         WHERE status = 'queued' AND max_concurrency IS NOT NULL AND held_until IS NULL AND workflow_id > q.workflow_id
         ORDER BY workflow_id, id LIMIT 1) n
     ), waiting (workflow_id, id, wake_at) AS (
       (SELECT workflow_id, id, wake_at FROM executions WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL
        ORDER BY workflow_id, wake_at LIMIT 1)
       UNION ALL
       SELECT n.workflow_id, n.id, n.wake_at FROM waiting w CROSS JOIN LATERAL (
         SELECT workflow_id, id, wake_at FROM executions
         WHERE status = 'waiting_async' AND max_concurrency IS NOT NULL AND workflow_id > w.workflow_id
         ORDER BY workflow_id, wake_at LIMIT 1) n
     ), first AS (
       SELECT workflow_id, min(id) AS id
       FROM (SELECT workflow_id, id FROM queued UNION ALL SELECT workflow_id, id FROM waiting WHERE wake_at <= now()) f
       GROUP BY workflow_id
     ), with_place AS (
       SELECT f.workflow_id, e.organisation_id, row_number() OVER (PARTITION BY e.organisation_id ORDER BY f.id) AS round
       FROM first f JOIN executions e USING (id)
       WHERE e.max_concurrency > (
         SELECT count(*) FROM executions r
         WHERE r.workflow_id = f.workflow_id AND r.status = 'running' AND r.max_concurrency IS NOT NULL)
       ORDER BY round, e.organisation_id <= $2, e.organisation_id LIMIT $1
     )
     SELECT id FROM workflows WHERE id IN (SELECT workflow_id FROM with_place)
     ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`,
    [MAX_WORKFLOWS, afterOrganisation],
  );
}

function claimOfLocked(
  tx: Queryable,
  workflowIds: readonly number[],
  claim: {
    readonly workerId: string;
    readonly limit: number;
    readonly maxCrashedAttempts: number;
    readonly shares: ClaimShares;
  },
): Promise<(ClaimedRow & Omit<ClaimedTurn, 'has_more'>)[]> {
  const { workerId, limit, maxCrashedAttempts, shares } = claim;
  return tx.query(
    `WITH ${HELD}, candidate AS MATERIALIZED (
       SELECT c.id, c.organisation_id, c.max_concurrency, r.running, c.is_suspect,
         -- Executions under a limit keep their order, with the priority of the first.
         first_value(c.priority) OVER (PARTITION BY w.id ORDER BY c.id) AS priority,
         row_number() OVER (PARTITION BY w.id ORDER BY c.id) AS place,
         row_number() OVER (PARTITION BY c.is_suspect ORDER BY c.id) AS place_of_kind
       FROM unnest($12::bigint[]) AS w (id)
       CROSS JOIN LATERAL (
         SELECT count(*) AS running FROM executions
         WHERE workflow_id = w.id AND status = 'running' AND max_concurrency IS NOT NULL
       ) r
       CROSS JOIN LATERAL (
         (SELECT id, organisation_id, max_concurrency, priority, crashed_attempts >= $14 AS is_suspect FROM executions
          WHERE workflow_id = w.id AND status = 'queued' AND max_concurrency IS NOT NULL AND held_until IS NULL
          ORDER BY id LIMIT $13)
         UNION ALL
         (SELECT id, organisation_id, max_concurrency, priority, crashed_attempts >= $14 FROM executions
          WHERE workflow_id = w.id AND status = 'waiting_async' AND max_concurrency IS NOT NULL AND wake_at <= now()
          ORDER BY wake_at LIMIT $13)
       ) c
     ), in_turn AS (
       SELECT c.*, ${TAKEN_OF_TURN}, row_number() OVER (ORDER BY ${ROUND}, ${NEXT_FIRST}, nth) AS turn FROM (
         SELECT id, organisation_id, row_number() OVER (PARTITION BY organisation_id ORDER BY ${URGENT_FIRST}) AS nth
         FROM candidate
         WHERE running + place <= max_concurrency
           -- A worker holds one execution at most that has one attempt left, as in the other way of claiming.
           AND (NOT is_suspect OR (place_of_kind = 1 AND NOT EXISTS (
             SELECT FROM executions
             WHERE crashed_attempts > 0 AND completed_at IS NULL AND crashed_attempts >= $14 AND worker_id = $11)))
       ) c LEFT JOIN held h USING (organisation_id)
     ), chosen AS MATERIALIZED (
       SELECT e.id, f.turn, f.taken_of_turn
       FROM (
         SELECT t.id, t.turn, t.taken_of_turn FROM in_turn t LEFT JOIN held h USING (organisation_id)
         WHERE ${FITS}
         ORDER BY t.turn LIMIT $13
       ) f JOIN executions e USING (id)
       WHERE (e.status = 'queued' OR (e.status = 'waiting_async' AND e.wake_at <= now()))
       ORDER BY e.id FOR UPDATE OF e SKIP LOCKED
     )
     UPDATE executions e SET
       status = 'running',
       worker_id = $11::uuid,
       claim = e.claim + 1,
       wake_at = NULL,
       started_at = coalesce(e.started_at, date_trunc('milliseconds', now()))
     FROM chosen c
     WHERE e.id = c.id AND EXISTS (SELECT FROM workers WHERE id = $11 AND lease_expires_at > clock_timestamp())
     RETURNING ${CLAIMED}, c.turn, c.taken_of_turn`,
    [...shareValues(shares), workerId, workflowIds, limit, Math.max(maxCrashedAttempts - 1, 1)],
  );
}
