import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listRouteFiles, listRoutes } from './route-files.ts';

const ROUTER = readFileSync(new URL('../router.tsx', import.meta.url), 'utf8');

test('every page that the router loads is found, with its path', () => {
  const routes = listRoutes(ROUTER);
  expect(routes).toEqual(
    expect.arrayContaining([
      { path: '/o/$org/workflows', module: '@millrace/workflow-pages/workflows/workflows-page.tsx' },
      { path: '/o/$org/workflows/$id', module: '@millrace/workflow-pages/editor/editor-page.tsx' },
      { path: '/o/$org/executions', module: '@millrace/execution-pages/list/executions-page.tsx' },
      { path: '/sign-in', module: './pages/account/sign-in.tsx' },
    ]),
  );
  // The frame and the page without an organisation are no pages with a path of their own.
  const loaded = [...ROUTER.matchAll(/import\(/g)].length;
  expect(routes).toHaveLength(loaded - 2);
});

const chunk = (fileName: string, source: string | null, imports: string[] = [], css: string[] = []) => ({
  fileName,
  facadeModuleId: source === null ? null : `/somewhere/packages/${source}`,
  imports,
  css,
});
const CHUNKS = [
  chunk('index.js', 'web/index.html', ['shared.js'], ['index.css']),
  chunk('shared.js', null),
  chunk('table.js', null, ['cells.js', 'shared.js']),
  chunk('cells.js', null, ['table.js']),
  chunk('shell.js', 'web/src/shell/shell.tsx', ['shared.js']),
  chunk('list.js', 'web/src/pages/list.tsx', ['table.js'], ['list.css']),
  chunk('runs.js', 'execution-pages/src/runs.tsx', ['table.js']),
  chunk('sign-in.js', 'web/src/pages/sign-in.tsx', ['shared.js']),
];

test('a page needs its own files and those they import, but not what every page loads', () => {
  const routes = [
    { path: '/o/$org/list', module: './pages/list.tsx' },
    { path: '/o/$org/runs', module: '@millrace/execution-pages/runs.tsx' },
    { path: '/sign-in', module: './pages/sign-in.tsx' },
  ];
  expect(listRouteFiles(routes, CHUNKS, 'index.js')).toEqual({
    '/o/$org/list': ['shell.js', 'list.js', 'list.css', 'table.js', 'cells.js'],
    '/o/$org/runs': ['shell.js', 'runs.js', 'table.js', 'cells.js'],
    '/sign-in': ['sign-in.js'],
  });
});

test('a page without a file of its own fails the build', () => {
  const routes = [{ path: '/gone', module: './pages/gone.tsx' }];
  expect(() => listRouteFiles(routes, CHUNKS, 'index.js')).toThrow('./pages/gone.tsx');
});
