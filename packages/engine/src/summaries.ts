import { type DirtyRecords, dropRecord, looseRecord } from './dirty-records.ts';
import type { ShownRecord } from './execution.ts';
import { skippedRecord } from './execution.ts';
import { type Frame, indexOf, type LoopRun, placeOf, type Summary } from './frames.ts';
import type { PlanNode, Scope } from './plan.ts';

/** What summaries are added to. */
interface Growing {
  readonly dirtyRecords: DirtyRecords<Frame>;
  readonly nowMs: number;
  bytes: number;
}

/**
 * A loop has ended: from now on each node inside it has one record at the level of the loop, a copy of the last iteration's with the number
 * of `iterations`.
 */
export function summarise(state: Growing, run: LoopRun): void {
  const { frame } = run.slot;
  if (run.started === 0) {
    skipInside(state, frame, run.body);
    return;
  }
  const place = placeOf(frame);
  for (const record of lastRecords(run).values()) {
    const { iteration: _, loopId: __, ...rest } = record;
    putSummary(state, frame, {
      ...rest,
      ...place,
      iterations: record.iterations ?? run.started,
    } as ShownRecord);
  }
}

function lastRecords(run: LoopRun): ReadonlyMap<string, ShownRecord> {
  const { lastFrame, recalled } = run;
  const isRecalled =
    recalled !== null &&
    (lastFrame === null || (!endsMore(run, lastFrame) && recalled.index > indexOf(lastFrame)));
  if (isRecalled) return recalled.records;
  return lastFrame === null ? new Map() : recordsIn(lastFrame);
}

/** Whether an iteration ends its loop or the whole execution: then it is shown, regardless of its index. */
export function endsMore({ isCollecting }: LoopRun, { failure, isBlamed }: Frame): boolean {
  return isBlamed || (failure !== null && !isCollecting);
}

/** Latest records of everything in a frame, by node id. */
function recordsIn(frame: Frame): ReadonlyMap<string, ShownRecord> {
  const records = new Map<string, ShownRecord>();
  for (const { record } of frame.summaries?.values() ?? []) records.set(record.nodeId, record);
  for (const { record } of frame.slots) if (record !== undefined) records.set(record.nodeId, record);
  return records;
}

/** Skips the nodes of a body without iterations, and of the bodies inside it. */
export function skipInside(state: Growing, frame: Frame, body: Scope): void {
  const place = placeOf(frame);
  for (const node of body.nodes) {
    putSummary(state, frame, skippedRecord({ nodeId: node.id, ...place, iterations: 0 }, state.nowMs));
    if (node.body !== null) skipInside(state, frame, node.body);
  }
}

/** Skips the nodes inside loops that have no record when the execution ends. */
export function skipUnrecorded(state: Growing, root: Frame, nodes: readonly PlanNode[]): void {
  for (const { id: nodeId, scope } of nodes) {
    if (scope.loop === null || root.summaries?.has(nodeId) === true) continue;
    putSummary(state, root, skippedRecord({ nodeId, iterations: 0 }, state.nowMs));
  }
}

function putSummary(state: Growing, frame: Frame, record: ShownRecord): void {
  frame.summaries ??= new Map();
  const before = frame.summaries.get(record.nodeId);
  if (before !== undefined) dropRecord(state, before);
  const summary = summaryOf(record);
  frame.summaries.set(record.nodeId, summary);
  state.dirtyRecords.add(summary);
  state.bytes += summary.bytes;
}

export function summaryOf(record: ShownRecord): Summary {
  return { ...looseRecord(record), record };
}
