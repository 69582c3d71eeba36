import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import LongestFirst from './tools/longest-first.ts';
import { TEST_FILES } from './tools/test-needs.ts';

export default defineConfig({
  test: {
    include: TEST_FILES,
    environment: './packages/web/e2e/support/environment.ts',
    setupFiles: ['packages/testing/src/property-setup.ts'],
    globalSetup: ['packages/testing/src/global-setup.ts'],
    // Nothing imports these, so a change to one of them runs every test (`npm run test:changed`).
    forceRerunTriggers: [
      ...configDefaults.forceRerunTriggers,
      '**/package-lock.json',
      '**/packages/database/src/migrations/**',
      '**/packages/testing/src/global-setup.ts',
    ],
    reporters: ['default', './tools/vitest-reporter.ts'],
    pool: 'forks',
    // As the service does (docs/adr/0123-generic-calls-from-webassembly.md), and before anything of a worker sends a request: what reads responses is WebAssembly, too.
    execArgv: ['--wasm-wrapper-tiering-budget=2147483647'],
    // A process runs one file after the other and loads what they share once (docs/adr/0024-test-loop.md).
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // Tests wait for other processes, and browser tests half of their time; two workers more than processors keep these busy meanwhile.
    maxWorkers: availableParallelism() + 2,
    // What is waited for comes; a busy machine may take its time.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
    // The first browser test builds the page in its hook.
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
});
