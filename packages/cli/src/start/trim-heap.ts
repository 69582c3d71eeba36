import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After the first requests of whoever waited for the start. */
const AFTER_MS = 1_000;
/** After the first rounds of what runs periodically, if nothing else has kept the process busy. */
const AGAIN_AFTER_MS = 5_000;
const QUIET = 0.2;

/**
 * Gives back the memory that starting took: V8 keeps what it has been given until something else needs it, which on a quiet instance is
 * never. What it takes later for requests and executions, it keeps.
 */
export function trimHeapSoon(): void {
  setTimeout(() => {
    trimHeap();
    const before = performance.eventLoopUtilization();
    setTimeout(() => {
      if (performance.eventLoopUtilization(before).utilization < QUIET) trimHeap();
    }, AGAIN_AFTER_MS - AFTER_MS).unref();
  }, AFTER_MS).unref();
}

function trimHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  // Only this kind also shrinks the room for new objects.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
