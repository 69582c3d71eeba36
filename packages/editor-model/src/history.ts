/** The current value with its undo and redo history. */
export interface History<Value> {
  readonly past: readonly Value[];
  readonly present: Value;
  readonly future: readonly Value[];
  /** What the last step changed and when, so that the next can be merged into it; null: it can't be. */
  readonly last: { readonly key: string; readonly atMs: number } | null;
}

/** Maximum undo steps; older ones are dropped. */
const MAX_STEPS = 1_000;
/** Changes of the same thing within this time are merged. */
const JOIN_MS = 1_000;

export function startHistory<Value>(present: Value): History<Value> {
  return { past: [], present, future: [], last: null };
}

/** Sets a new current value. Changes with the same key in quick succession are one step. */
export function advance<Value>(
  history: History<Value>,
  present: Value,
  key: string | null,
  nowMs: number,
): History<Value> {
  if (present === history.present) return history;
  const { last } = history;
  const isJoined = key !== null && last !== null && last.key === key && nowMs - last.atMs < JOIN_MS;
  return {
    past: isJoined ? history.past : [...history.past, history.present].slice(-MAX_STEPS),
    present,
    future: [],
    last: key === null ? null : { key, atMs: nowMs },
  };
}

export function stepBack<Value>(history: History<Value>): History<Value> {
  const present = history.past.at(-1);
  if (present === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    present,
    future: [history.present, ...history.future],
    last: null,
  };
}

export function stepForward<Value>(history: History<Value>): History<Value> {
  const [present, ...future] = history.future;
  if (present === undefined) return history;
  return { past: [...history.past, history.present], present, future, last: null };
}
