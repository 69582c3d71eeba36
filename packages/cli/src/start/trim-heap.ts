import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After the first requests of whoever waited for the start. */
const AFTER_MS = 1_000;

/**
 * Gives back the memory that starting took, once: V8 keeps what it has been given until something else needs it, which on a quiet instance is
 * never. What it takes later for requests and executions, it keeps.
 */
export function trimHeapSoon(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: object) => void;
    setFlagsFromString('--no-expose-gc');
    // Only this kind also shrinks the room for new objects.
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_MS).unref();
}
