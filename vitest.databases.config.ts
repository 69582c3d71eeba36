import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { databaseTests } from './tools/test-needs.ts';

/** The tests of everything that speaks to the database, with the oldest PostgreSQL that is supported: `npm run test:databases`. */
export default defineConfig({
  test: {
    include: databaseTests(import.meta.dirname),
    setupFiles: ['packages/testing/src/property-setup.ts'],
    globalSetup: ['packages/testing/src/debian-setup.ts'],
    reporters: ['default', './tools/vitest-reporter.ts'],
    pool: 'forks',
    isolate: false,
    maxWorkers: availableParallelism() + 2,
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
});
