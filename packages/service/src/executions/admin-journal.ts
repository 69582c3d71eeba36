import type { Queryable } from '@millrace/database/database';
import { type NodeError, type NodeRecord, parseJson, type ShownRecord } from '@millrace/engine';
import { type JournalRow, readJournal } from './admin-store.ts';

/** A checkpoint of an execution and when it was stored. */
export interface JournalEntry {
  readonly atMs: number;
  readonly records: readonly NodeRecord[];
}

/** A period in a node's history. */
export interface Span {
  readonly kind: 'run' | 'retry' | 'delay' | 'signal' | 'host';
  readonly attempt: number;
  readonly startedAtMs: number;
  /** Null while it is in progress. */
  endedAtMs: number | null;
  /** The attempt's error. */
  error?: NodeError;
}

/** Everything known about one node. */
export interface NodeHistory {
  /** Its last record, as chosen by the engine's {@link recordsToShow}. */
  latest: ShownRecord;
  /** The enclosing loop; null at top level. */
  loopId: string | null;
  readonly spans: Span[];
  /** For a loop: its ended iterations; for a node inside one: its runs. */
  readonly ended: EndedIteration[];
}

/** An ended iteration, or several merged into one. */
export interface EndedIteration {
  readonly startedAtMs: number;
  readonly completedAtMs: number;
  readonly count: number;
  readonly failed: number;
}

export interface Journal {
  /** In the order in which they started. */
  readonly nodes: ReadonlyMap<string, NodeHistory>;
  /** Number of started iterations by loop. */
  readonly iterations: ReadonlyMap<string, number>;
}

/** Maximum checkpoints in memory at once. */
const BATCH = 500;

/** An execution's journal, read in batches. */
export async function* readEntries(
  tx: Queryable,
  organisationId: number,
  executionId: number,
): AsyncGenerator<JournalEntry> {
  let rows: JournalRow[] = [];
  do {
    rows = await readJournal(tx, organisationId, executionId, rows.at(-1)?.seq ?? 0, BATCH);
    for (const { records, created_at: createdAt } of rows) {
      yield { atMs: createdAt.getTime(), records: parseJson(records) };
    }
  } while (rows.length === BATCH);
}

/** Each node's outcome, with its attempts and waits. */
export async function readNodes(entries: AsyncIterable<JournalEntry>): Promise<Journal> {
  const nodes = new Map<string, NodeHistory>();
  const startedIterations = new Map<string, Set<string>>();
  const ended = new Map<string, EndedIteration[]>();
  for await (const { records, atMs } of entries) {
    for (const record of records) {
      if (record.loopId !== undefined && record.iteration !== undefined) {
        const seen = startedIterations.get(record.loopId) ?? new Set();
        startedIterations.set(record.loopId, seen.add(record.iteration.join()));
      }
      noteEnd(ended, record);
      if (record.status !== 'iteration_ended') note(nodes, record, atMs, ended);
    }
  }
  return { nodes, iterations: new Map([...startedIterations].map(([loopId, seen]) => [loopId, seen.size])) };
}

/** The summary at the end of a loop repeats the last iteration, at the loop's level. */
function noteEnd(ended: Map<string, EndedIteration[]>, record: NodeRecord): void {
  const { nodeId, iteration, status } = record;
  if (iteration === undefined || status === 'running' || status === 'waiting' || status === 'skipped') return;
  if (status !== 'iteration_ended' && record.iterations !== undefined) return;
  const isFailed = status === 'failed' || (status === 'iteration_ended' && record.error !== undefined);
  const { startedAtMs, completedAtMs } = record;
  endsOf(ended, nodeId).push({ startedAtMs, completedAtMs, count: 1, failed: isFailed ? 1 : 0 });
}

function endsOf(ended: Map<string, EndedIteration[]>, nodeId: string): EndedIteration[] {
  const known = ended.get(nodeId) ?? [];
  ended.set(nodeId, known);
  return known;
}

function note(
  nodes: Map<string, NodeHistory>,
  record: ShownRecord,
  atMs: number,
  ended: Map<string, EndedIteration[]>,
): void {
  const known = nodes.get(record.nodeId);
  const history = known ?? {
    latest: record,
    loopId: null,
    spans: [],
    ended: endsOf(ended, record.nodeId),
  };
  if (known === undefined) nodes.set(record.nodeId, history);
  history.latest = record;
  // Summaries at the end of a loop lie outside it; of a node that never ran there may be nothing else.
  if (record.loopId !== undefined && (record.iterations === undefined || history.loopId === null))
    history.loopId = record.loopId;
  if (record.iteration === undefined && record.iterations === undefined) {
    noteSpan(history.spans, record, atMs);
  }
}

/**
 * Records only have the times of the first attempt's start and of the end; a later attempt's start or failure is dated by when
 * its record was stored.
 */
function noteSpan(spans: Span[], record: ShownRecord, atMs: number): void {
  if (record.status === 'skipped') return;
  const open = spans.at(-1);
  switch (record.status) {
    case 'running': {
      const isFirst = open === undefined;
      const startedAtMs = isFirst ? record.startedAtMs : notBefore(open, atMs);
      // A worker that took over starts another attempt while the former one still looks open.
      if (
        open !== undefined &&
        open.kind === 'run' &&
        open.endedAtMs === null &&
        open.attempt === record.attempts
      ) {
        return;
      }
      close(open, startedAtMs);
      spans.push({ kind: 'run', attempt: record.attempts, startedAtMs, endedAtMs: null });
      return;
    }
    case 'waiting': {
      const startedAtMs = endOfAttempt(spans, record, atMs);
      if (record.reason === 'retry' && record.error !== undefined) blame(spans, record.error);
      spans.push({ kind: record.reason, attempt: record.attempts, startedAtMs, endedAtMs: null });
      return;
    }
    default: {
      // A pure node only has a record of its end.
      if (open === undefined) {
        const { attempts, startedAtMs } = record;
        spans.push({ kind: 'run', attempt: attempts, startedAtMs, endedAtMs: null });
      }
      close(spans.at(-1), record.completedAtMs);
      if (record.status === 'failed') blame(spans, record.error);
    }
  }
}

/** The end of the attempt that leads to a wait; one never stored as running is inserted. */
function endOfAttempt(
  spans: Span[],
  { attempts, startedAtMs }: Extract<ShownRecord, { status: 'waiting' }>,
  atMs: number,
): number {
  const open = spans.at(-1);
  if (open === undefined) {
    spans.push({ kind: 'run', attempt: attempts, startedAtMs, endedAtMs: null });
  }
  const end = notBefore(spans.at(-1), atMs);
  close(spans.at(-1), end);
  return end;
}

function blame(spans: readonly Span[], error: NodeError): void {
  const run = spans.findLast(({ kind }) => kind === 'run');
  if (run !== undefined) run.error = error;
}

function close(span: Span | undefined, atMs: number): void {
  if (span !== undefined && span.endedAtMs === null) span.endedAtMs = notBefore(span, atMs);
}

/** The database's clock and the worker's may differ. */
function notBefore(span: Span | undefined, atMs: number): number {
  return span === undefined ? atMs : Math.max(atMs, span.startedAtMs, span.endedAtMs ?? 0);
}

/** Merged down to what a chart can show: if there are more, those that started close together become one. */
export function mergeIterations(ended: readonly EndedIteration[], most: number): EndedIteration[] {
  const sorted = [...ended].sort((a, b) => a.startedAtMs - b.startedAtMs);
  if (sorted.length <= most) return sorted;
  const from = sorted[0]?.startedAtMs ?? 0;
  const whole = (sorted.at(-1)?.startedAtMs ?? from) - from + 1;
  const parts = Map.groupBy(sorted, ({ startedAtMs }) => Math.floor(((startedAtMs - from) / whole) * most));
  return [...parts.values()].map((part) =>
    part.reduce((all, each) => ({
      startedAtMs: all.startedAtMs,
      completedAtMs: Math.max(all.completedAtMs, each.completedAtMs),
      count: all.count + each.count,
      failed: all.failed + each.failed,
    })),
  );
}
