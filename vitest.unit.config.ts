import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { unitTests } from './tools/test-needs.ts';

const { files, others } = unitTests(import.meta.dirname);

/** The tests that need nothing but their own process: `npm run test:unit`. All the others are for `npm test`. */
export default defineConfig({
  test: {
    include: files,
    setupFiles: ['packages/testing/src/property-setup.ts'],
    reporters: ['default', ['./tools/vitest-reporter.ts', { notRun: others }]],
    pool: 'forks',
    isolate: false,
    maxWorkers: availableParallelism(),
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
  },
});
