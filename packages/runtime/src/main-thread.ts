/** Whose work the main thread is doing. */
export interface Holder {
  readonly executionId: number;
  /** Null for the execution as a whole: its next step, its records. */
  readonly nodeId: string | null;
}

/** The main thread was held without a break for longer than {@link MAX_HELD_MS}. */
export interface Stall extends Holder {
  readonly ms: number;
  /** `performance.now()` at its end. */
  readonly endedAt: number;
}

/** Nothing may hold the main thread for longer: heartbeats, requests and all other executions wait. */
export const MAX_HELD_MS = 50;
/** Stalls remembered, to find out what made a worker lose its lease. */
const MAX_STALLS = 1_000;

const stalls: Stall[] = [];
const listeners = new Set<(stall: Stall) => void>();
let isHeld = false;
/** All time held so far. */
let heldMs = 0;

/** Does uninterruptible work for an execution, and records a stall if it takes long. */
export function hold<Result>(holder: Holder, work: () => Result): Result {
  // Nested work belongs to the outer holder.
  if (isHeld) return work();
  isHeld = true;
  const startedAt = performance.now();
  try {
    return work();
  } finally {
    isHeld = false;
    note(holder, performance.now() - startedAt);
  }
}

interface Continuation {
  readonly holder: Holder;
  readonly startedAt: number;
  /** `heldMs` at its start. */
  readonly heldBefore: number;
}

/** Those of this turn of the event loop. */
const continuations = new Set<Continuation>();

/**
 * An execution's promise is about to resolve: what runs until the next turn of the event loop, and isn't recorded for another holder, is
 * taken for its continuation.
 */
export function handOver(holder: Holder): void {
  const continuation = { holder, startedAt: performance.now(), heldBefore: heldMs };
  continuations.add(continuation);
  setImmediate(() => {
    continuations.delete(continuation);
    note(holder, lengthOf(continuation));
  });
}

function lengthOf({ startedAt, heldBefore }: Continuation): number {
  return performance.now() - startedAt - (heldMs - heldBefore);
}

function note({ executionId, nodeId }: Holder, ms: number): void {
  heldMs += ms;
  if (ms <= MAX_HELD_MS) return;
  const stall = { executionId, nodeId, ms, endedAt: performance.now() };
  stalls.push(stall);
  if (stalls.length > MAX_STALLS) stalls.shift();
  for (const listener of listeners) listener(stall);
}

/** Calls `listener` after every stall. @returns a function that unsubscribes */
export function onStall(listener: (stall: Stall) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How long each execution has stalled the main thread since `time` (`performance.now()`), in milliseconds. */
export function stalledSince(time: number): ReadonlyMap<number, number> {
  const held = new Map<number, number>();
  for (const { executionId, ms, endedAt } of stalls) {
    if (endedAt > time) held.set(executionId, (held.get(executionId) ?? 0) + Math.min(ms, endedAt - time));
  }
  // A timer may ask before the turn has ended.
  for (const continuation of continuations) {
    const { executionId } = continuation.holder;
    const ms = lengthOf(continuation);
    if (ms > MAX_HELD_MS) held.set(executionId, (held.get(executionId) ?? 0) + ms);
  }
  return held;
}
