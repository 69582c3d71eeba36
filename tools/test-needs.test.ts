import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { databaseTests, needsOf, TEST_FILES, unitTests } from './test-needs.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it.each([
  ['packages/engine/test/step.test.ts', []],
  ['packages/nodes/src/nodes/core-set.test.ts', []],
  ['tools/tidy.test.ts', []],
  ['packages/identity/src/api-keys/store.test.ts', ['PostgreSQL']],
  [
    'packages/database/src/embedded/embedded.test.ts',
    ['PostgreSQL', 'a PostgreSQL of its own', 'another process'],
  ],
  ['packages/cli/test/cli/usage.test.ts', ['another process', 'the built service']],
  ['packages/cli/test/cli/credentials.test.ts', ['PostgreSQL', 'another process', 'the built service']],
  ['tools/web-page.test.ts', ['another process', 'the built page']],
])('%s needs %j', (path, needs) => {
  expect([...needsOf(root, path)].toSorted()).toEqual(needs.toSorted());
});

it('sees that browser tests need a browser, also through their helpers', () => {
  const tests = globSync('packages/web/e2e/*.test.ts', { cwd: root });
  const without = tests.filter((path) => !needsOf(root, path).has('a browser'));
  // It only reads source files and translations.
  expect(without).toEqual(['packages/web/e2e/translations.test.ts']);
});

it('covers every test file: each is a unit test or needs something', () => {
  const { files, others } = unitTests(root);
  const all = globSync(TEST_FILES, { cwd: root });
  expect(files.length + others).toBe(all.length);
  expect(all.filter((path) => !files.includes(path) && needsOf(root, path).size === 0)).toEqual([]);
  const lost = globSync('{packages,tools,bench}/**/*.test.{ts,tsx}', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }).filter((path) => !all.includes(path));
  expect(lost).toEqual([]);
});

it('knows the tests that can be run with another PostgreSQL', () => {
  const files = databaseTests(root);
  expect(files).toEqual(
    expect.arrayContaining([
      'packages/cli/test/cli/credentials.test.ts',
      'packages/database/src/pool.test.ts',
      'packages/files/test/files.test.ts',
      'packages/identity/src/audit/chain.test.ts',
    ]),
  );
  expect(files.filter((path) => /\/(faults|embedded|e2e\/xss)|^packages\/(engine|web)\//.test(path))).toEqual(
    [],
  );
});
