import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus } from '@millrace/engine';
import { type AdminExecutionFilters, FITS, type IdRange, valuesOf } from './admin-filters.ts';
import { type AdminExecutionRow, ITEM_COLUMNS } from './admin-store.ts';

/**
 * How to read an index that has an organisation's executions in order. Parameters 1 to 4 are the organisation, the two bounds of the ids, and
 * how many rows are checked.
 */
export interface Scan {
  /** The rows that are checked, newest first; parameters 5 to 16 are those of {@link valuesOf}, and then come `values`. */
  readonly rows: string;
  readonly values: readonly unknown[];
  /** The last row that is checked and the one after it; `endValues` are the parameters from 5. */
  readonly end: string;
  readonly endValues: readonly unknown[];
}

/** How far a scan goes: how many rows to check, and how many matches are wanted. */
export interface Walk extends IdRange {
  readonly maxLooked: number;
  readonly wanted: number;
}

/** What the rows of an index have in common; null means any. */
export interface IndexedFilter {
  readonly workflowId: number | null;
  readonly triggerType: string | null;
  /** Only those in test mode. */
  readonly isTestMode: true | null;
  readonly apiKeyId: number | null;
}

/**
 * Creation times of the ids `w`. Most ids are skipped, for which an index is enough: each row may lie in a page of its own. Not a join, which
 * could be planned the other way around, with a search for each execution.
 */
const SELECT_TIMES = 'SELECT w.id, (SELECT e.created_at FROM executions e WHERE e.id = w.id) AS created_at';

/** Scans the index of what the rows have in common. Its conditions must all be covered by the index, except for the ends of a time range. */
export function scanOfIndex(
  { after, before }: AdminExecutionFilters,
  { workflowId, triggerType, isTestMode, apiKeyId }: IndexedFilter,
): Scan {
  const values = [workflowId, triggerType, isTestMode, apiKeyId];
  return {
    rows: `SELECT * FROM executions
      WHERE organisation_id = $1 AND id < $2 AND id > $3 AND ($17::bigint IS NULL OR workflow_id = $17)
        AND ($18::text IS NULL OR trigger_type = $18) AND ($19::boolean IS NULL OR is_test_mode)
        AND ($20::bigint IS NULL OR api_key_id = $20)
        AND ($10::timestamptz IS NULL OR created_at >= $10) AND ($11::timestamptz IS NULL OR created_at <= $11)
      ORDER BY id DESC LIMIT $4`,
    values,
    end: `${SELECT_TIMES} FROM (SELECT id FROM executions
      WHERE organisation_id = $1 AND id < $2 AND id > $3 AND ($5::bigint IS NULL OR workflow_id = $5)
        AND ($6::text IS NULL OR trigger_type = $6) AND ($7::boolean IS NULL OR is_test_mode)
        AND ($8::bigint IS NULL OR api_key_id = $8)
        AND ($9::timestamptz IS NULL OR created_at >= $9) AND ($10::timestamptz IS NULL OR created_at <= $10)
      ORDER BY id DESC OFFSET $4 - 1 LIMIT 2) w`,
    endValues: [...values, after, before],
  };
}

/** The index of search keys, which has the executions of one value in order. */
export function scanOfSearchKey({ searchKey }: AdminExecutionFilters): Scan {
  return {
    rows: `SELECT e.* FROM execution_search_keys k JOIN executions e ON e.id = k.execution_id
      WHERE k.organisation_id = $1 AND e.organisation_id = $1 AND k.value = lower($17) AND k.execution_id < $2 AND k.execution_id > $3
      ORDER BY k.execution_id DESC LIMIT $4`,
    values: [searchKey],
    end: `SELECT e.id, e.created_at FROM (
        SELECT execution_id FROM execution_search_keys
        WHERE organisation_id = $1 AND value = lower($5) AND execution_id < $2 AND execution_id > $3
        ORDER BY execution_id DESC OFFSET $4 - 1 LIMIT 2
      ) k JOIN executions e ON e.id = k.execution_id AND e.organisation_id = $1 ORDER BY e.id DESC`,
    endValues: [searchKey],
  };
}

const UNCOMPLETED: readonly ExecutionStatus[] = ['queued', 'running', 'waiting_async', 'failed', 'cancelled'];

/**
 * The index of executions that aren't completed, which is small compared with a long history: one scan per status, merged by id. Each has its own
 * order and limit, because otherwise PostgreSQL doesn't merge scans through row-level security but sorts everything. Only for statuses without
 * `completed`.
 */
export function scanOfUncompleted({ statuses }: AdminExecutionFilters): Scan {
  // Only of each requested one, because each takes time to plan.
  const wanted = UNCOMPLETED.filter((status) => statuses?.includes(status));
  const merged = (columns: 'id' | '*', limit: '$4' | '$4 + 1'): string => {
    const scans = wanted.map(
      (status) => `(SELECT ${columns} FROM executions
         WHERE organisation_id = $1 AND status = '${status}' AND id < $2 AND id > $3 ORDER BY id DESC LIMIT ${limit})`,
    );
    return `SELECT * FROM (${scans.join(' UNION ALL ')}) scanned ORDER BY id DESC LIMIT ${limit}`;
  };
  return {
    rows: merged('*', '$4'),
    values: [],
    end: `${SELECT_TIMES} FROM (SELECT id FROM (${merged('id', '$4 + 1')}) looked OFFSET $4 - 1 LIMIT 2) w`,
    endValues: [],
  };
}

/**
 * Scans the organisation's executions along one index, newest first. The inner limit ends the scan however rare matches are; the outer limit ends
 * it once enough was found. Sent unnamed: the plan must know which filters are set.
 */
export async function walkExecutions(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  { rows, values }: Scan,
  walk: Walk,
): Promise<AdminExecutionRow[]> {
  return tx.query<AdminExecutionRow>(
    `SELECT ${ITEM_COLUMNS}
     FROM (
       SELECT * FROM (${rows}) looked WHERE ${FITS} ORDER BY id DESC LIMIT $${17 + values.length}
     ) e LEFT JOIN workflows w ON w.id = e.workflow_id AND w.organisation_id = e.organisation_id
     ORDER BY e.id DESC`,
    [...boundsOf(organisationId, walk), ...valuesOf(filters), ...values, walk.wanted],
  );
}

/** How many rows a scan checks, and how many of them match. */
export interface Counted {
  readonly looked: number;
  readonly matching: number;
}

/** Counts along the same index. */
export async function countExecutions(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  { rows, values }: Scan,
  walk: Omit<Walk, 'wanted'>,
): Promise<Counted> {
  const [counted] = await tx.query<Counted>(
    `SELECT count(*) AS looked, count(*) FILTER (WHERE ${FITS}) AS matching FROM (${rows}) looked`,
    [...boundsOf(organisationId, walk), ...valuesOf(filters), ...values],
  );
  return counted ?? { looked: 0, matching: 0 };
}

export interface WalkEnd {
  readonly id: number;
  readonly created_at: Date;
}

/**
 * The last row that was checked; undefined if no other follows it, even if as many were checked as were to be.
 */
export async function findWalkEnd(
  tx: Queryable,
  organisationId: number,
  { end, endValues }: Scan,
  walk: Walk,
): Promise<WalkEnd | undefined> {
  const [last, next] = await tx.query<WalkEnd>(end, [...boundsOf(organisationId, walk), ...endValues]);
  return next === undefined ? undefined : last;
}

const boundsOf = (organisationId: number, { belowId, aboveId, maxLooked }: Omit<Walk, 'wanted'>) =>
  [organisationId, belowId, aboveId, maxLooked] as const;
