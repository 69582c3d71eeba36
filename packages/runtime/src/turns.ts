import type { Work } from '@millrace/engine';

/**
 * Work of all runs together yields the event loop to heartbeats and requests after this long. A small execution needs several turns of the
 * loop, and has to wait for each.
 */
const MAX_TURN_MS = 1;

let startedAt: number | null = null;
/** Waiting for a turn: those that were already waiting before the last one come first. */
let before: (() => void)[] = [];
let fresh: (() => void)[] = [];
let isPlanned = false;

/** How long all runs have worked in this turn of the event loop. */
function spentInTurn(): number {
  const now = performance.now();
  if (startedAt === null) {
    startedAt = now;
    plan();
  }
  return now - startedAt;
}

/** Whether this turn of the event loop is used up. All runs share one clock: fifty of them would otherwise delay timers and sockets fifty times as long. */
export function isTurnSpent(): boolean {
  return spentInTurn() > MAX_TURN_MS;
}

/** Waits for a turn that isn't used up. The longest waiting comes first, so long work alternates with all others. */
export async function yieldTurn(): Promise<void> {
  let hasWaited = false;
  while (isTurnSpent()) {
    const queue = hasWaited ? before : fresh;
    await new Promise<void>((resolve) => {
      queue.push(resolve);
      plan();
    });
    hasWaited = true;
  }
}

/** Runs work to its end, in turn with all other work. For work outside of executions, such as parsing a request's body. */
export async function finishInTurns<Result>(work: Work<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (isTurnSpent()) await yieldTurn();
  }
}

function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  setImmediate(() => {
    isPlanned = false;
    startedAt = null;
    const waiting = [...before, ...fresh];
    before = [];
    fresh = [];
    for (const go of waiting) go();
  });
}
