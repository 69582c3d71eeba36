/** Spreads what is done often: at most once in a time on average, but several times in a row after a rest. */
export interface Pace {
  /** Takes the next turn. @returns milliseconds until then; 0 for now */
  next(): number;
}

/**
 * The generic cell rate algorithm (ITU-T I.371, virtual scheduling).
 *
 * @param everyMs mean time between two turns
 * @param burst turns that may follow each other at once after a rest; at least 1
 * @param now monotonic milliseconds
 */
export function createPace(
  everyMs: number,
  burst: number,
  now: () => number = () => performance.now(),
): Pace {
  let dueMs = Number.NEGATIVE_INFINITY;
  return {
    next() {
      const at = now();
      const delayMs = Math.max(0, dueMs - (burst - 1) * everyMs - at);
      dueMs = Math.max(dueMs, at) + everyMs;
      return delayMs;
    },
  };
}
