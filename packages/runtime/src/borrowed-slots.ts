/**
 * Slots that a worker has beyond the configured ones. An execution whose node only waits for a child borrows one for the child: if
 * waiting parents kept all slots, no child could ever run.
 */
export interface BorrowedSlots {
  readonly count: number;
  /** Borrows one slot. @returns gives it back; safe to call twice */
  borrow(): () => void;
  /** Calls `listener` when there is one slot more. */
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
