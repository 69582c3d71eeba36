import type { StepEvent } from './effects.ts';
import { findSlot, type Slot } from './frames.ts';
import type { ExecutionState } from './state.ts';
import type { StoredSignal } from './store.ts';

/** Takes signals of the store over. Those told already and those for nodes that do not exist change nothing. */
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

/** A signal has come: a node that waits for it is resumed, another that may still wait finds it then. */
export function takeSignal(state: ExecutionState, event: Extract<StepEvent, { kind: 'signal' }>): void {
  keepSignals(state, [event]);
  const node = state.plan.nodes[state.plan.nodeIndexes.get(event.nodeId) ?? -1];
  const slot = node === undefined ? undefined : findSlot(state.root, node, event.iteration);
  if (slot !== undefined) deliverSignal(state, slot);
}

/** Gives a waiting node the first signal it has not been given. @returns whether it is going to be resumed */
export function deliverSignal(state: ExecutionState, slot: Slot): boolean {
  const { record, resumed, frame } = slot;
  if (record?.status !== 'waiting' || record.reason !== 'signal' || resumed !== null) return false;
  const queue = state.signals.get(keyOf(record.nodeId, frame.iteration));
  const first = queue?.find(({ seq }) => seq > (record.signalSeq ?? 0));
  if (first === undefined) return false;
  wake(state, slot, { signal: { kind: 'signal', payload: first.payload }, seq: first.seq });
  return true;
}

/** The time a node waits for a signal is over. */
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
