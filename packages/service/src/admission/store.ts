import type { Queryable } from '@millrace/database/database';
import { queryRow } from '@millrace/database/query-row';
import { QUEUED_COUNT } from '../system/store.ts';

/** An organisation whose queue is counted. */
export interface CountedOrganisation {
  readonly id: number;
  /** The last execution id at the count before; null for the first count. */
  readonly sinceId: number | null;
}

export interface QueueCountRow {
  readonly queued: number;
  readonly arrived: number | null;
}

/**
 * Counts what waits in the queues of some organisations, and what was stored since the last count: each up to `limit`, so that a long
 * queue costs no more than a full one. In the order of the organisations.
 */
export async function countQueues(
  db: Queryable,
  organisations: readonly CountedOrganisation[],
  limit: number,
): Promise<QueueCountRow[]> {
  return db.query<QueueCountRow>(
    `SELECT
       (SELECT count(*) FROM (SELECT FROM executions e WHERE e.organisation_id = o.id AND e.status = 'queued'
         LIMIT $3) q) AS queued,
       CASE WHEN o.since_id IS NOT NULL THEN (SELECT count(*) FROM (SELECT FROM executions e
         WHERE e.organisation_id = o.id AND e.id > o.since_id LIMIT $3) a) END AS arrived
     FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS o (id, since_id, place) ORDER BY o.place`,
    [organisations.map(({ id }) => id), organisations.map(({ sinceId }) => sinceId), limit],
    'count_queues',
  );
}

/** The same for the queue of the whole service. */
export async function countServiceQueue(
  db: Queryable,
  sinceId: number | null,
  limit: number,
): Promise<QueueCountRow> {
  return queryRow<QueueCountRow>(
    db,
    `SELECT ${QUEUED_COUNT} AS queued,
       CASE WHEN $2::bigint IS NOT NULL THEN (SELECT count(*) FROM (SELECT FROM executions WHERE id > $2 LIMIT $1) a) END
         AS arrived`,
    [limit, sinceId],
    'count_service_queue',
  );
}

/** The organisations whose queue limit differs from the settings. */
export async function listOwnQueueLimits(
  db: Queryable,
): Promise<{ readonly id: number; readonly queue_limit: number }[]> {
  return db.query(
    'SELECT id, queue_limit FROM organisations WHERE queue_limit IS NOT NULL',
    [],
    'list_own_queue_limits',
  );
}

/** The last id given to an execution. */
export async function readLastExecutionId(db: Queryable): Promise<number> {
  const row = await queryRow<{ last_id: number }>(
    db,
    'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last_id FROM execution_ids',
    [],
    'read_last_execution_id',
  );
  return row.last_id;
}
