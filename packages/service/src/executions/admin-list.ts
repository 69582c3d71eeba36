import type { Database, Queryable } from '@millrace/database/database';
import type { ExecutionStatus } from '@millrace/engine';
import { keysOfTextsWith } from '@millrace/messages/texts';
import {
  type AdminExecutionFilters,
  type ErrorWord,
  estimateExecutions,
  findIdRange,
} from './admin-filters.ts';
import {
  countExecutions,
  findWalkEnd,
  type IndexedFilter,
  type Scan,
  scanOfIndex,
  scanOfSearchKey,
  scanOfUncompleted,
  type Walk,
  type WalkEnd,
  walkExecutions,
} from './admin-scans.ts';
import type { AdminExecutionRow } from './admin-store.ts';
import { readInOrder } from './in-order.ts';

/** Rows one page checks for matches; each may lie in a page of its own. */
export const MAX_SCANNED = 2_500;
/** The same for searches of inputs, which have to be read. */
const MAX_SCANNED_INPUTS = 500;
/**
 * Size of the first check. It is usually enough, and PostgreSQL must know that few rows are needed: otherwise it may read and sort everything
 * in an index.
 */
const FIRST_BATCH = 200;
const FIRST_INPUT_BATCH = 100;
/** Time limit of one page, so that a search responds soon; the next page continues from there. */
const MAX_MS = 6;
/** Fewer rows aren't worth a statement. */
const MIN_BATCH = 100;

/** The matches below an id. */
export interface Found {
  /** At most as many as requested, newest first. */
  readonly rows: readonly AdminExecutionRow[];
  /** Set if nothing older than this was checked; null if enough was found or everything was checked. */
  readonly searchedTo: WalkEnd | null;
}

const OPEN: IndexedFilter = { workflowId: null, triggerType: null, isTestMode: null, apiKeyId: null };
/** Triggers that most executions have and that have no index of their own. */
const FREQUENT_TRIGGERS: readonly (string | null)[] = ['api', 'webhook', null];

/**
 * The next matching executions, newest first. No index serves every filter, so each index scan is bounded, and the result
 * includes how far it got: a page costs no more however rare the matches are.
 */
export async function findAdminExecutions(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  belowId: number | null,
  wanted: number,
  now: () => number = () => performance.now(),
): Promise<Found> {
  if (filters.statuses?.length === 0) return { rows: [], searchedTo: null };
  const beganAt = now();
  const [ids] = await Promise.all([findIdRange(tx, organisationId, filters), readInOrder(tx)]);
  const range = { ...ids, belowId: Math.min(ids.belowId, belowId ?? Number.MAX_SAFE_INTEGER), wanted };
  const walks = scansFor(filters).map((scan): Progress => ({ scan, rows: [], end: null }));
  const most = filters.inputTexts === null ? MAX_SCANNED : MAX_SCANNED_INPUTS;
  let maxLooked = filters.inputTexts === null ? FIRST_BATCH : FIRST_INPUT_BATCH;
  for (let left = most; maxLooked > 0; ) {
    const startedAt = now();
    for (const progress of walks) {
      if (await advance(tx, organisationId, filters, { ...range, maxLooked }, progress)) {
        return { rows: progress.rows, searchedTo: null };
      }
    }
    left -= maxLooked;
    const endedAt = now();
    maxLooked = nextBatchSize(left, maxLooked / (endedAt - startedAt), MAX_MS - (endedAt - beganAt));
  }
  const [furthest] = walks.sort((a, b) => (a.end?.id ?? 0) - (b.end?.id ?? 0));
  return { rows: furthest?.rows ?? [], searchedTo: furthest?.end ?? null };
}

/**
 * How many rows to check next, estimated from the last ones.
 * @param left the maximum
 */
export function nextBatchSize(left: number, rowsPerMs: number, msLeft: number): number {
  const inTime = msLeft <= 0 ? 0 : Math.floor(rowsPerMs * msLeft);
  return inTime < Math.min(left, MIN_BATCH) ? 0 : Math.min(left, inTime);
}

/** The progress of one scan. */
interface Progress {
  readonly scan: Scan;
  readonly rows: AdminExecutionRow[];
  end: WalkEnd | null;
}

/** Returns true when the scan is over: enough was found, or there is nothing older. */
async function advance(
  tx: Queryable,
  organisationId: number,
  filters: AdminExecutionFilters,
  steps: Walk,
  progress: Progress,
): Promise<boolean> {
  const { scan, rows, end } = progress;
  const belowId = end?.id ?? steps.belowId;
  const walk = { ...steps, belowId, wanted: steps.wanted - rows.length };
  rows.push(...(await walkExecutions(tx, organisationId, filters, scan, walk)));
  if (rows.length >= steps.wanted) return true;
  progress.end = (await findWalkEnd(tx, organisationId, scan, walk)) ?? null;
  return progress.end === null;
}

/**
 * The most selective first. Which of several rare criteria is the rarest only shows during the scans, so each advances a few
 * steps before one goes far.
 */
function scansFor(filters: AdminExecutionFilters): readonly Scan[] {
  const { statuses, workflowId, triggerType, isTestMode, apiKeyId, searchKey } = filters;
  // No index is more selective, if people choose their keys well.
  if (searchKey !== null) return [scanOfSearchKey(filters)];
  const ofIndex = (way: Partial<IndexedFilter>) => scanOfIndex(filters, { ...OPEN, ...way });
  const scans: Scan[] = [];
  if (apiKeyId !== null) scans.push(ofIndex({ apiKeyId }));
  if (isTestMode === true) scans.push(ofIndex({ isTestMode }));
  if (!FREQUENT_TRIGGERS.includes(triggerType)) scans.push(ofIndex({ triggerType }));
  if (statuses !== null && !statuses.includes('completed')) scans.push(scanOfUncompleted(filters));
  if (workflowId !== null) scans.push(ofIndex({ workflowId }));
  return scans.length === 0 ? [ofIndex({})] : scans;
}

/** A number of executions. `about`: from PostgreSQL's statistics; `at_least`: what an incomplete search has found. */
export interface ExecutionCount {
  readonly count: number;
  readonly precision: 'exact' | 'about' | 'at_least';
}

/**
 * How many executions match. Counts no more than {@link MAX_SCANNED} along each index; if there are more, the number is estimated, except for
 * filters that only a search can apply.
 */
export async function countAdminExecutions(
  db: Database,
  organisationId: number,
  filters: AdminExecutionFilters,
): Promise<ExecutionCount> {
  if (filters.statuses?.length === 0) return { count: 0, precision: 'exact' };
  const counted = await db.forOrganisation(organisationId, async (tx): Promise<ExecutionCount> => {
    const [ids] = await Promise.all([findIdRange(tx, organisationId, filters), readInOrder(tx)]);
    const most = filters.inputTexts === null ? MAX_SCANNED : MAX_SCANNED_INPUTS;
    let found = 0;
    for (const scan of scansFor(filters)) {
      // One more than is counted shows whether there are more.
      const walk = { ...ids, maxLooked: most + 1 };
      const { looked, matching } = await countExecutions(tx, organisationId, filters, scan, walk);
      if (looked <= most) return { count: matching, precision: 'exact' };
      found = Math.max(found, matching);
    }
    return { count: found, precision: 'at_least' };
  });
  if (counted.precision === 'exact' || isSearch(filters)) return counted;
  const estimate = await estimateExecutions(db, organisationId, filters);
  return { count: Math.max(estimate, counted.count), precision: 'about' };
}

/** Whether PostgreSQL has no statistics for these filters. */
function isSearch(filters: AdminExecutionFilters): boolean {
  const { text, sourceIp, errorWords, inputTexts, searchKey } = filters;
  return [text, sourceIp, errorWords, inputTexts, searchKey].some((searched) => searched !== null);
}

/** Parses `failed,cancelled`. */
export function parseStatuses(text: string | undefined): ExecutionStatus[] | null {
  return text === undefined ? null : [...new Set(text.split(',') as ExecutionStatus[])].sort();
}

/** More words than anybody searches for. */
const MAX_WORDS = 8;

/** The words of a search in errors. Each may be part of a sentence in either language, or of its parameters. */
export function errorWordsOf(text: string): ErrorWord[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, MAX_WORDS).map((word) => {
    const keys = keysOfTextsWith(word).map((key) => key.replaceAll('.', '\\.'));
    return { word, keys: keys.length === 0 ? null : `"(${keys.join('|')})"` };
  });
}

/** A text as it may occur in JSON: unchanged, and escaped as part of a string. */
export function inputTextsOf(text: string): string[] {
  return [...new Set([text, JSON.stringify(text).slice(1, -1)])];
}
