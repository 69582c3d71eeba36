import type { IterationRecord, JsonObject, NodeRecord, ShownRecord } from '@millrace/engine';
import type { JournalEntry } from './admin-journal.ts';

/** A node's run in one iteration, or an iteration of a loop. */
export type PlacedRecord = ShownRecord | IterationRecord;

/**
 * The latest record of each iteration a node ran in, in iteration order. For a loop: its iterations; one that hasn't ended
 * appears with its first record. Records that weren't kept are missing: the end of a node without side effects may only be
 * known from the end of its iteration.
 */
export async function readIterations(
  entries: AsyncIterable<JournalEntry>,
  nodeId: string,
): Promise<PlacedRecord[]> {
  const found = await collect(entries, nodeId);
  // The summary of all runs of a nested loop repeats the last one.
  const around = new Set([...found.values()].map(({ iteration = [] }) => iteration.slice(0, -1).join()));
  return [...found]
    .filter(([place, record]) => !isSummary(record) || !around.has(place))
    .map(([, record]) => record)
    .sort((a, b) => compareIterations(a.iteration ?? [], b.iteration ?? []));
}

/** The latest record of a node, or of its run in one iteration; undefined if nothing is stored for it. */
export async function readRecord(
  entries: AsyncIterable<JournalEntry>,
  nodeId: string,
  iteration: readonly number[] | null,
): Promise<PlacedRecord | undefined> {
  if (iteration !== null) return (await collect(entries, nodeId)).get(iteration.join());
  let found: PlacedRecord | undefined;
  for await (const { records } of entries) {
    for (const record of records) {
      if (record.nodeId === nodeId && record.status !== 'iteration_ended') found = record;
    }
  }
  return found;
}

/** Everything known about a node, by iteration. */
async function collect(
  entries: AsyncIterable<JournalEntry>,
  nodeId: string,
): Promise<Map<string, PlacedRecord>> {
  const found = new Map<string, PlacedRecord>();
  const failures: Failed[] = [];
  for await (const { records } of entries) {
    for (const record of records) {
      const { iteration } = record;
      if (record.loopId === nodeId && record.status === 'failed') failures.push(record);
      if (record.nodeId === nodeId && record.status !== 'iteration_ended') endLast(found, record, failures);
      if (iteration === undefined) continue;
      const key = iteration.join();
      if (record.nodeId === nodeId) found.set(key, record);
      else if (record.status === 'iteration_ended') dropUnended(found, record);
      // An iteration in progress has only records of the nodes inside it.
      else if (record.loopId === nodeId && !found.has(key)) found.set(key, underWay(record, nodeId));
    }
  }
  return found;
}

function isSummary(record: PlacedRecord): boolean {
  return record.status !== 'iteration_ended' && record.iterations !== undefined;
}

/** The last iteration of a loop without a list is reported only by the end of the loop. */
function endLast(found: Map<string, PlacedRecord>, loop: ShownRecord, failures: readonly Failed[]): void {
  if (loop.status !== 'success' && loop.status !== 'failed') return;
  const end = loop.status === 'success' ? lastOf(loop.output) : failedOf(loop, failures);
  if (end === null) return;
  const { index, ...cameTo } = end;
  const iteration = [...(loop.iteration ?? []), index];
  const open = found.get(iteration.join());
  if (open?.status !== 'running' || open.nodeId !== loop.nodeId) return;
  const { nodeId, completedAtMs } = loop;
  const { startedAtMs, consumedAiTokens } = open;
  found.set(iteration.join(), {
    ...{ nodeId, status: 'iteration_ended', iteration, loopId: nodeId },
    ...{ startedAtMs, completedAtMs, consumedAiTokens },
    ...cameTo,
  });
}

type Ending = { readonly index: number } & Pick<IterationRecord, 'output' | 'error'>;

function lastOf({ iterations, last = null }: JsonObject): Ending | null {
  return typeof iterations === 'number' ? { index: iterations - 1, output: last } : null;
}

type Failed = Extract<ShownRecord, { status: 'failed' }>;

/** @param failures of nodes in the loop: earlier versions stored no origin, but the last of these ended the loop */
function failedOf(
  { error: { origin, ...error }, iteration = [] }: Failed,
  failures: readonly Failed[],
): Ending | null {
  const depth = iteration.length;
  if (origin === undefined) {
    const last = failures.findLast((failed) => failed.handles.length === 0);
    const index = last?.iteration?.[depth];
    return last === undefined || index === undefined
      ? null
      : { index, output: null, error: { ...last.error, nodeId: last.nodeId } };
  }
  const index = origin.iteration[depth];
  if (index === undefined) return null;
  // Only if the origin is further inside.
  const inner = origin.iteration.length > depth + 1 ? { origin } : {};
  return { index, output: null, error: { ...error, nodeId: origin.nodeId, ...inner } };
}

function dropUnended(found: Map<string, PlacedRecord>, { loopId, iteration }: IterationRecord): void {
  const key = iteration.join();
  const record = found.get(key);
  const isOpen = record?.status === 'running' || record?.status === 'waiting';
  if (isOpen && record.loopId === loopId) found.delete(key);
}

function underWay(record: NodeRecord, nodeId: string): ShownRecord {
  const startedAtMs = record.status === 'skipped' ? record.completedAtMs : record.startedAtMs;
  const { iteration = [] } = record;
  return { nodeId, iteration, status: 'running', attempts: 1, startedAtMs, consumedAiTokens: 0 };
}

function compareIterations(a: readonly number[], b: readonly number[]): number {
  for (const [level, index] of a.entries()) {
    const difference = index - (b[level] ?? -1);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
