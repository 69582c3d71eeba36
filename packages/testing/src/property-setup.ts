import { configureGlobal } from 'fast-check';
import { USUAL_RUNS } from './property-runs.ts';

/** Any other would do: it only has to be the same in every run (docs/adr/0037-fixed-seeds.md). */
const USUAL_SEED = 1;

// Runs before each test file. `npm run test:soak` sets both variables.
const { MILLRACE_TEST_SEED: seed, MILLRACE_TEST_RUNS: multiple } = process.env;
configureGlobal({
  seed: seed === undefined ? USUAL_SEED : Number(seed),
  numRuns: USUAL_RUNS * (multiple === undefined ? 1 : Number(multiple)),
});
