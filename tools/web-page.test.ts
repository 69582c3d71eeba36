import { expect, test } from 'vitest';
import { pageSources } from './web-page.mjs';

test('a build covers every package that the page imports, directly or not, and no others', () => {
  const packages = pageSources().filter((source) => /^packages\/[^/]+\/src$/.test(source));
  const names = packages.map((folder) => folder.slice('packages/'.length, -'/src'.length)).sort();
  expect(names).toEqual([
    'admin-api',
    'credential-pages',
    'editor',
    'editor-model',
    'engine',
    'execution-pages',
    'messages',
    'templates',
    'ui',
    'values',
    'web',
    'workflow-pages',
  ]);
});
