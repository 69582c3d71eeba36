/**
 * Worker slots beyond the configured ones. An execution whose node only waits for a child borrows one for that child; if
 * waiting parents kept all the slots, no child could ever run.
 */
export type BorrowedSlots = ReturnType<typeof createBorrowedSlots>;

export function createBorrowedSlots() {
  const listeners: ((executionId: number) => () => void)[] = [];
  let count = 0;
  return {
    get count() {
      return count;
    },
    /** Borrows one slot for a child of an execution. @returns a function that returns it; safe to call twice */
    borrow(executionId: number): () => void {
      let isBorrowed = true;
      count += 1;
      const ended = listeners.map((listener) => listener(executionId));
      return () => {
        if (!isBorrowed) return;
        isBorrowed = false;
        count -= 1;
        for (const end of ended) end();
      };
    },
    /** Calls `listener` with the waiting execution whenever a slot is borrowed, and the function it returns when that slot is returned. */
    onBorrowed(listener: (executionId: number) => () => void): void {
      listeners.push(listener);
    },
  };
}
