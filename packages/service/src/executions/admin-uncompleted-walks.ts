import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus } from '@millrace/engine';
import { type AdminExecutionRow, ITEM_COLUMNS } from './admin-store.ts';
import {
  type AdminExecutionFilters,
  type Counted,
  endBeforeMore,
  FITS,
  NOTHING_COUNTED,
  SELECT_TIMES,
  valuesOf,
  type Walk,
  type WalkEnd,
} from './admin-walks.ts';

const UNCOMPLETED: readonly ExecutionStatus[] = ['queued', 'running', 'waiting_async', 'failed', 'cancelled'];

/** The newest with one of the statuses: an index scan only for each requested one, because each takes time to plan. */
function downUncompleted(columns: 'id' | '*', { statuses }: AdminExecutionFilters): string {
  const scans = UNCOMPLETED.filter((status) => statuses?.includes(status)).map(
    (status) => `(SELECT ${columns} FROM executions
       WHERE organisation_id = $1 AND status = '${status}' AND id < $2 AND id > $3 ORDER BY id DESC LIMIT $4)`,
  );
  return `SELECT * FROM (${scans.join(' UNION ALL ')}) scanned ORDER BY id DESC LIMIT $4`;
}

/**
 * A scan, as in `admin-walks.ts`, over the index of executions that aren't completed, which is small compared with a long history: one scan per
 * status, merged by id. Each has its own order and limit, because otherwise PostgreSQL doesn't merge scans through row-level
 * security but sorts everything. Only for statuses without `completed`.
 */
export async function walkUncompleted(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Walk,
): Promise<AdminExecutionRow[]> {
  return tx.query<AdminExecutionRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM (
       SELECT * FROM (${downUncompleted('*', filters)}) looked
       WHERE ${FITS}
       ORDER BY id DESC LIMIT $17
     ) e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     ORDER BY e.id DESC`,
    [organisationId, walk.belowId, walk.aboveId, walk.maxLooked, ...valuesOf(filters), walk.wanted],
  );
}

/** Counts along that index. */
export async function countUncompleted(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Omit<Walk, 'wanted'>,
): Promise<Counted> {
  const [row] = await tx.query<Counted>(
    `SELECT count(*) AS looked, count(*) FILTER (WHERE ${FITS}) AS matching
     FROM (${downUncompleted('*', filters)}) looked`,
    [organisationId, walk.belowId, walk.aboveId, walk.maxLooked, ...valuesOf(filters)],
  );
  return row ?? NOTHING_COUNTED;
}

/** Where that scan stopped before everything was checked; undefined if it reached the end. */
export async function findUncompletedWalkEnd(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Walk,
): Promise<WalkEnd | undefined> {
  // Each status is read one row further than the scan went.
  const ends = await tx.query<WalkEnd>(
    `${SELECT_TIMES} FROM (
       SELECT id FROM (${downUncompleted('id', filters)}) looked OFFSET $4 - 2 LIMIT 2
     ) w`,
    [organisationId, walk.belowId, walk.aboveId, walk.maxLooked + 1],
  );
  return endBeforeMore(ends);
}
