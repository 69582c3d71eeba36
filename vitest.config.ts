import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/*/test/**/*.test.ts',
      'packages/web/e2e/**/*.test.ts',
      'tools/**/*.test.ts',
      'bench/**/*.test.ts',
    ],
    globalSetup: ['packages/testing/src/global-setup.ts'],
    reporters: ['default', './tools/vitest-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // What is waited for comes; a busy machine may take its time.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 300_000,
    // The first browser test builds the page in its hook.
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
  },
});
