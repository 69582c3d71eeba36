import { readConfigureGlobal } from 'fast-check';

/** What fast-check runs a property when nothing is said. */
export const USUAL_RUNS = 100;

/**
 * How often a property is run: `count` times, and as many times more often as `npm run test:soak` is told. Every `numRuns` is given through
 * this.
 */
export function runs(count: number): number {
  return Math.ceil((count * (readConfigureGlobal().numRuns ?? USUAL_RUNS)) / USUAL_RUNS);
}

/** The seed of this run's properties and simulations: always the same, except in `npm run test:soak`. */
export function runSeed(): number {
  return readConfigureGlobal().seed ?? 1;
}
