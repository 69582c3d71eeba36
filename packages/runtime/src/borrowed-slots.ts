/**
 * Worker slots beyond the configured ones. An execution whose node only waits for a child borrows one for that child; if
 * waiting parents kept all the slots, no child could ever run.
 */
export interface BorrowedSlots {
  readonly count: number;
  /** Borrows one slot. @returns a function that returns it; safe to call twice */
  borrow(): () => void;
  /** Calls `listener` whenever another slot is borrowed. */
  onBorrowed(listener: () => void): void;
}

export function createBorrowedSlots(): BorrowedSlots {
  const listeners: (() => void)[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    borrow() {
      let isBorrowed = true;
      count += 1;
      for (const listener of listeners) listener();
      return () => {
        if (isBorrowed) count -= 1;
        isBorrowed = false;
      };
    },
    onBorrowed(listener) {
      listeners.push(listener);
    },
  };
}
