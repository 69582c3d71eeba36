import type { ExecutionStatus } from '@millrace/engine';
import type { Queryable } from '../../db/database.ts';
import {
  type AdminExecutionFilters,
  type AdminExecutionRow,
  findIdRange,
  findUncompletedWalkEnd,
  findWalkEnd,
  type Walk,
  type WalkEnd,
  walkExecutions,
  walkUncompleted,
} from './admin-store.ts';

/** Rows that one page looks at, at most, for those that fit: some tens of milliseconds. */
export const MAX_LOOKED = 20_000;

/** What was found below an id. */
export interface Found {
  /** At most as many as were wanted, newest first. */
  readonly rows: readonly AdminExecutionRow[];
  /** Set when it was looked no further back than this; null when enough was found, or all was looked through. */
  readonly searchedTo: WalkEnd | null;
}

/** One way to the rows: what walks down an index, and what tells where that ended. */
interface Way {
  readonly walk: typeof walkExecutions;
  readonly findEnd: typeof findWalkEnd;
}

const BY_ORGANISATION_OR_WORKFLOW: Way = { walk: walkExecutions, findEnd: findWalkEnd };
const BY_STATUS: Way = { walk: walkUncompleted, findEnd: findUncompletedWalkEnd };

/**
 * The next executions that fit, newest first. No index serves every filter, so each walk down an index is bounded, and
 * what comes back says how far it went: a page costs no more however rare what fits is.
 */
export async function findAdminExecutions(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  belowId: number | null,
  wanted: number,
): Promise<Found> {
  const range = await findIdRange(tx, organisationId, filters);
  const walk: Walk = {
    aboveId: range.aboveId,
    belowId: Math.min(range.belowId, belowId ?? Number.MAX_SAFE_INTEGER),
    maxLooked: MAX_LOOKED,
    wanted,
  };
  let best: Found | null = null;
  for (const way of waysFor(filters)) {
    const found = await follow(tx, organisationId, filters, walk, way);
    if (found.searchedTo === null) return found;
    if (best?.searchedTo == null || found.searchedTo.id < best.searchedTo.id) best = found;
  }
  return best ?? { rows: [], searchedTo: null };
}

async function follow(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  walk: Walk,
  way: Way,
): Promise<Found> {
  const rows = await way.walk(tx, organisationId, filters, walk);
  if (rows.length >= walk.wanted) return { rows, searchedTo: null };
  return { rows, searchedTo: (await way.findEnd(tx, organisationId, filters, walk)) ?? null };
}

/** The most promising first. Which of a rare status and a rare workflow is the rarer one shows in the walk only. */
function waysFor({ statuses, workflowId }: AdminExecutionFilters): readonly Way[] {
  const isUncompleted = statuses !== null && !statuses.includes('completed');
  if (!isUncompleted) return [BY_ORGANISATION_OR_WORKFLOW];
  return workflowId === null ? [BY_STATUS] : [BY_STATUS, BY_ORGANISATION_OR_WORKFLOW];
}

/** Reads `failed,cancelled`. */
export function parseStatuses(text: string | undefined): ExecutionStatus[] | null {
  return text === undefined ? null : [...new Set(text.split(',') as ExecutionStatus[])].sort();
}
