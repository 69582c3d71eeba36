/**
 * Places that a worker lends out: an execution whose node only waits for a child that it holds on to would else keep the
 * child from being run, and enough of them all children for ever.
 */
export interface LentPlaces {
  readonly count: number;
  /** Lends one place until the answer is called. */
  lend(): () => void;
  /** Calls `listener` when there is one place more. */
  onLent(listener: () => void): void;
}

export function createLentPlaces(): LentPlaces {
  const listeners: (() => void)[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    lend() {
      let isLent = true;
      count += 1;
      for (const listener of listeners) listener();
      return () => {
        if (isLent) count -= 1;
        isLent = false;
      };
    },
    onLent(listener) {
      listeners.push(listener);
    },
  };
}
