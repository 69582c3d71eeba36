/** One start's part of it. */
export interface AheadPart {
  /** Milliseconds of all starts so far, including this one. What is done for them in between doesn't count: nodes aren't to blame for it. */
  spentMs(): number;
  end(): void;
}

/**
 * Measures the total time for which starts are run ahead in one turn of the event loop.
 * @param now monotonic milliseconds
 * @param nextTurn calls back with the next turn of the event loop
 */
export function createAheadTime(
  now: () => number = () => performance.now(),
  nextTurn: (callback: () => void) => unknown = setImmediate,
) {
  let spent = 0;
  let isTurnKnown = false;

  return {
    /** Starts the clock for one start. */
    begin(): AheadPart {
      if (!isTurnKnown) {
        isTurnKnown = true;
        nextTurn(() => {
          isTurnKnown = false;
          spent = 0;
        });
      }
      const startedAt = now();
      return {
        spentMs: () => spent + now() - startedAt,
        end() {
          spent += now() - startedAt;
        },
      };
    },
  };
}
