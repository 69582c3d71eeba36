import type { Queryable } from '@millrace/database/database';
import { type NodeError, type NodeRecord, parseJson, type ShownRecord } from '@millrace/engine';
import { type JournalRow, readJournal } from './admin-store.ts';

/** A checkpoint of an execution and when it was stored. */
export interface JournalEntry {
  readonly atMs: number;
  readonly records: readonly NodeRecord[];
}

/** What a node did for a while. */
export interface Span {
  readonly kind: 'run' | 'retry' | 'delay' | 'signal';
  readonly attempt: number;
  readonly startedAtMs: number;
  /** Null while it lasts. */
  endedAtMs: number | null;
  /** What the attempt failed with. */
  error?: NodeError;
}

/** Everything that is known of one node. */
export interface NodeHistory {
  /** Its last record, as {@link recordsToShow} of the engine chooses it. */
  latest: ShownRecord;
  /** The loop it is inside of; null at top level. */
  loopId: string | null;
  readonly spans: Span[];
  /** Of a loop: its iterations that have ended; of a node inside one: its runs. */
  readonly ended: EndedIteration[];
}

/** An iteration that has ended, or several that are told together. */
export interface EndedIteration {
  readonly startedAtMs: number;
  readonly completedAtMs: number;
  readonly count: number;
  readonly failed: number;
}

export interface Journal {
  /** In the order in which they began. */
  readonly nodes: ReadonlyMap<string, NodeHistory>;
  /** By loop: how many iterations were started. */
  readonly iterations: ReadonlyMap<string, number>;
}

/** Checkpoints that are held in memory at the same time. */
const BATCH = 500;

/** The journal of an execution, read piece by piece. */
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

/** What became of each node, with its attempts and waits. */
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

/** The summary at the end of a loop repeats the last one, at the place of the loop. */
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
  // Summaries at the end of a loop stand outside of it.
  if (record.loopId !== undefined) history.loopId = record.loopId;
  if (record.iteration === undefined && record.iterations === undefined) {
    noteSpan(history.spans, record, atMs);
  }
}

/**
 * Only the first attempt's start and the end are in the records; that a later attempt began, or that one failed, was
 * stored at that moment.
 */
function noteSpan(spans: Span[], record: ShownRecord, atMs: number): void {
  if (record.status === 'skipped') return;
  const open = spans.at(-1);
  switch (record.status) {
    case 'running': {
      const isFirst = open === undefined;
      const startedAtMs = isFirst ? record.startedAtMs : notBefore(open, atMs);
      // A worker that took over begins another attempt while the former one still looks open.
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
      // A pure node has no other record than that of its end.
      if (open === undefined) {
        const { attempts, startedAtMs } = record;
        spans.push({ kind: 'run', attempt: attempts, startedAtMs, endedAtMs: null });
      }
      close(spans.at(-1), record.completedAtMs);
      if (record.status === 'failed') blame(spans, record.error);
    }
  }
}

/** Where the attempt ended that leads to a wait; one that was never stored as running is put in. */
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

/** As many of them as a chart can show: where there are more, those that began close to each other become one. */
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
