import type { Queryable } from '@millrace/database/database';
import type { ExecutionStatus } from '@millrace/engine';
import {
  type AdminExecutionFilters,
  type AdminExecutionRow,
  findIdRange,
  findUncompletedWalkEnd,
  findWalkEnd,
  type Walk,
  type WalkEnd,
  type Way,
  walkExecutions,
  walkUncompleted,
} from './admin-store.ts';

/**
 * Rows that one page looks at for those that fit. Mostly the first few are enough, and PostgreSQL must know that it is
 * asked for few: else it may read and sort all that an index holds.
 */
const LOOKED = [200, 9_800];
/** Some tens of milliseconds. */
export const MAX_LOOKED = LOOKED.reduce((sum, each) => sum + each);

/** What was found below an id. */
export interface Found {
  /** At most as many as were wanted, newest first. */
  readonly rows: readonly AdminExecutionRow[];
  /** Set when it was looked no further back than this; null when enough was found, or all was looked through. */
  readonly searchedTo: WalkEnd | null;
}

/** Walks down an index and tells where that ended. */
interface Walker {
  readonly way: Way;
  readonly read: typeof walkExecutions;
  readonly findEnd: typeof findWalkEnd;
}

const OPEN: Way = { workflowId: null, triggerType: null, isTestMode: null, apiKeyId: null };
const BY_STATUS: Walker = { way: OPEN, read: walkUncompleted, findEnd: findUncompletedWalkEnd };
/** What most executions are started by, and no index of its own has. */
const FREQUENT_TRIGGERS: readonly (string | null)[] = ['api', 'webhook', null];

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
  const ids = await findIdRange(tx, organisationId, filters);
  const range = { ...ids, belowId: Math.min(ids.belowId, belowId ?? Number.MAX_SAFE_INTEGER), wanted };
  const walks = walkersFor(filters).map((walker): Progress => ({ walker, rows: [], end: null }));
  for (const maxLooked of LOOKED) {
    for (const progress of walks) {
      if (await goOn(tx, organisationId, filters, { ...range, maxLooked }, progress)) {
        return { rows: progress.rows, searchedTo: null };
      }
    }
  }
  const [furthest] = walks.sort((a, b) => (a.end?.id ?? 0) - (b.end?.id ?? 0));
  return { rows: furthest?.rows ?? [], searchedTo: furthest?.end ?? null };
}

/** How far one walk has come. */
interface Progress {
  readonly walker: Walker;
  readonly rows: AdminExecutionRow[];
  end: WalkEnd | null;
}

/** Answers true when the walk is over: enough was found, or there is nothing further back. */
async function goOn(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  steps: Omit<Walk, 'way'>,
  progress: Progress,
): Promise<boolean> {
  const { walker, rows, end } = progress;
  const belowId = end?.id ?? steps.belowId;
  const walk = { ...steps, way: walker.way, belowId, wanted: steps.wanted - rows.length };
  rows.push(...(await walker.read(tx, organisationId, filters, walk)));
  if (rows.length >= steps.wanted) return true;
  progress.end = (await walker.findEnd(tx, organisationId, filters, walk)) ?? null;
  return progress.end === null;
}

/**
 * The most promising first. Which of several rare things is the rarest shows in the walks only, so all of them go a few
 * steps before one goes far.
 */
function walkersFor({
  statuses,
  workflowId,
  triggerType,
  isTestMode,
  apiKeyId,
}: AdminExecutionFilters): readonly Walker[] {
  const walkers: Walker[] = [];
  if (apiKeyId !== null) walkers.push(walkerFor({ ...OPEN, apiKeyId }));
  if (isTestMode === true) walkers.push(walkerFor({ ...OPEN, isTestMode }));
  if (!FREQUENT_TRIGGERS.includes(triggerType)) walkers.push(walkerFor({ ...OPEN, triggerType }));
  if (statuses !== null && !statuses.includes('completed')) walkers.push(BY_STATUS);
  if (workflowId !== null) walkers.push(walkerFor({ ...OPEN, workflowId }));
  return walkers.length === 0 ? [walkerFor(OPEN)] : walkers;
}

function walkerFor(way: Way): Walker {
  return { way, read: walkExecutions, findEnd: findWalkEnd };
}

/** Reads `failed,cancelled`. */
export function parseStatuses(text: string | undefined): ExecutionStatus[] | null {
  return text === undefined ? null : [...new Set(text.split(',') as ExecutionStatus[])].sort();
}
