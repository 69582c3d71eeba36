import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Takes screenshots of every page: `npm run screenshots`, into packages/web/screenshots. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['packages/web/e2e/screenshots.ts', 'packages/web/e2e/doc-pictures.ts'],
    environment: './packages/web/e2e/support/environment.ts',
    globalSetup: ['packages/testing/src/global-setup.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
});
