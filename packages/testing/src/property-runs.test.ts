import { readConfigureGlobal } from 'fast-check';
import { expect, it } from 'vitest';
import { runSeed, runs } from './property-runs.ts';

it('every run has the seed it was given, and as many runs', () => {
  const { MILLRACE_TEST_SEED: seed = '1', MILLRACE_TEST_RUNS: multiple = '1' } = process.env;
  expect(runSeed()).toBe(Number(seed));
  expect(readConfigureGlobal().numRuns).toBe(100 * Number(multiple));
  expect(runs(30)).toBe(30 * Number(multiple));
});
