/** Values before and after the present one. */
export interface History<Value> {
  readonly past: readonly Value[];
  readonly present: Value;
  readonly future: readonly Value[];
  /** What the last step changed and when, so that the next can join it; null: it stands alone. */
  readonly last: { readonly key: string; readonly atMs: number } | null;
}

/** Steps that can be undone; older ones are forgotten. */
const MAX_STEPS = 1_000;
/** Changes of the same thing within this time are one step. */
const JOIN_MS = 1_000;

export function startHistory<Value>(present: Value): History<Value> {
  return { past: [], present, future: [], last: null };
}

/** A new present. With a key, changes of the same key shortly after each other are one step. */
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
