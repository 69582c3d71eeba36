/** A fifth of how long the main thread may be held, because what comes before and after a turn needs time, too. */
const TURN_MS = 10;

export type Turns = ReturnType<typeof createTurns>;

/**
 * Divides long loops on the main thread into turns, so that everything else goes on in between.
 * @param now monotonic milliseconds
 */
export function createTurns(now: () => number = () => performance.now()) {
  /** The loops waiting for a turn; the first organisation is next. */
  const waiting = new Map<number, (() => void)[]>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(grant);
  }

  function grant(): void {
    isScheduled = false;
    const [next] = waiting;
    if (next === undefined) return;
    const [organisationId, loops] = next;
    waiting.delete(organisationId);
    loops.shift()?.();
    if (loops.length > 0) waiting.set(organisationId, loops);
    if (waiting.size > 0) schedule();
  }

  function nextTurn(organisationId: number): Promise<void> {
    return new Promise((resolve) => {
      const loops = waiting.get(organisationId) ?? [];
      loops.push(resolve);
      waiting.set(organisationId, loops);
      schedule();
    });
  }

  return {
    /**
     * Calls `each` for every item, in order. Only one loop of all that are under way has a turn at a time, organisations in turn.
     * @throws what `each` throws
     */
    async forEach<Item>(
      organisationId: number,
      items: readonly Item[],
      each: (item: Item, index: number) => void,
    ): Promise<void> {
      let turnEndsAt = Number.NEGATIVE_INFINITY;
      for (const [index, item] of items.entries()) {
        if (now() >= turnEndsAt) {
          await nextTurn(organisationId);
          turnEndsAt = now() + TURN_MS;
        }
        each(item, index);
      }
    },
  };
}
