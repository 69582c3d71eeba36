import type { StepEvent } from './effects.ts';
import { findSlot, type Slot } from './frames.ts';
import type { ExecutionState } from './state.ts';
import type { StoredSignal } from './store.ts';

/** Adds stored signals. Those already reported and those for unknown nodes have no effect. */
export function keepSignals(state: ExecutionState, signals: readonly Omit<StoredSignal, 'kind'>[]): void {
  for (const { seq, nodeId, iteration, payload } of signals) {
    if (seq <= state.signalsSeen) continue;
    state.signalsSeen = seq;
    if (!state.plan.nodeIndexes.has(nodeId)) continue;
    const key = keyOf(nodeId, iteration);
    const queue = state.signals.get(key);
    if (queue === undefined) state.signals.set(key, [{ seq, payload }]);
    else queue.push({ seq, payload });
  }
}

/** A signal has arrived: a node that waits for it is resumed; a node that waits later finds it then. */
export function takeSignal(state: ExecutionState, event: Extract<StepEvent, { kind: 'signal' }>): void {
  keepSignals(state, [event]);
  const node = state.plan.nodes[state.plan.nodeIndexes.get(event.nodeId) ?? -1];
  const slot = node === undefined ? undefined : findSlot(state.root, node, event.iteration);
  if (slot !== undefined) deliverSignal(state, slot);
}

/** Delivers the first undelivered signal to a waiting node. @returns whether the node will be resumed */
export function deliverSignal(state: ExecutionState, slot: Slot): boolean {
  const { record, resumed, frame } = slot;
  if (record?.status !== 'waiting' || record.reason !== 'signal' || resumed !== null) return false;
  const queue = state.signals.get(keyOf(record.nodeId, frame.iteration));
  const first = queue?.find(({ seq }) => seq > (record.signalSeq ?? 0));
  if (first === undefined) return false;
  wake(state, slot, { signal: { kind: 'signal', payload: first.payload }, seq: first.seq });
  return true;
}

/** A node's time limit for a signal has passed. */
export function deliverTimeout(state: ExecutionState, slot: Slot): void {
  if (slot.resumed === null) wake(state, slot, { signal: { kind: 'timeout' }, seq: null });
}

function wake(state: ExecutionState, slot: Slot, resumed: NonNullable<Slot['resumed']>): void {
  slot.resumed = resumed;
  slot.timer = null;
  state.ready.push(slot);
}

function keyOf(nodeId: string, iteration: readonly number[]): string {
  return `${iteration.join()} ${nodeId}`;
}
