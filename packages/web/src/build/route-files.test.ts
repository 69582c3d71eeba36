import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FirstFiles, listRouteFiles, listRoutes, listTabs } from './route-files.ts';

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

test('every tab of a workflow is found, each with the module that it shows', () => {
  const source = readFileSync(
    new URL('../../../workflow-pages/src/editor/tab-content.tsx', import.meta.url),
    'utf8',
  );
  const module = '@millrace/workflow-pages/editor/editor-page.tsx';
  expect(listTabs(source)).toEqual([
    {
      path: '/o/$org/workflows/$id/executions',
      module,
      part: '@millrace/execution-pages/list/executions-page.tsx',
    },
    {
      path: '/o/$org/workflows/$id/versions',
      module,
      part: '@millrace/workflow-pages/editor/versions-tab.tsx',
    },
    {
      path: '/o/$org/workflows/$id/settings',
      module,
      part: '@millrace/workflow-pages/editor/settings-tab.tsx',
    },
  ]);
  expect(listTabs(source)).toHaveLength([...source.matchAll(/import\(/g)].length);
});

const chunk = (
  fileName: string,
  source: string | null,
  imports: string[] = [],
  { css = [], loads = [] }: { readonly css?: string[]; readonly loads?: string[] } = {},
) => ({
  fileName,
  facadeModuleId: source === null ? null : `/somewhere/packages/${source}`,
  imports,
  dynamicImports: loads,
  css,
});
const CHUNKS = [
  chunk('index.js', 'web/index.html', ['shared.js'], {
    css: ['index.css'],
    loads: ['ja-first.js', 'list.js'],
  }),
  chunk('shared.js', null),
  chunk('table.js', null, ['cells.js', 'shared.js'], { loads: ['ja-lists.js'] }),
  chunk('cells.js', null, ['table.js']),
  chunk('shell.js', 'web/src/shell/shell.tsx', ['shared.js'], { loads: ['ja-first.js'] }),
  chunk('list.js', 'web/src/pages/list.tsx', ['table.js'], { css: ['list.css'], loads: ['dialog.js'] }),
  chunk('dialog.js', 'web/src/pages/dialog.tsx', [], { loads: ['ja-dialogs.js'] }),
  chunk('runs.js', 'execution-pages/src/runs.tsx', ['table.js'], { loads: ['ja-runs.js'] }),
  chunk('sign-in.js', 'web/src/pages/sign-in.tsx', ['shared.js']),
  chunk('ja-first.js', 'ui/src/i18n/ja-first.ts', ['ja-words.js', 'shared.js']),
  chunk('ja-words.js', null),
  chunk('ja-lists.js', 'ui/src/i18n/ja-lists.ts'),
  chunk('ja-dialogs.js', 'ui/src/i18n/ja-dialogs.ts'),
  chunk('ja-runs.js', 'ui/src/i18n/ja-runs.ts'),
];

const LIST = { path: '/o/$org/list', module: './pages/list.tsx' };
const RUNS = '@millrace/execution-pages/runs.tsx';
const SIGN_IN = { path: '/sign-in', module: './pages/sign-in.tsx' };

/** What a page names in its head, of one kind. */
function filesOf(kind: keyof FirstFiles, routes: Parameters<typeof listRouteFiles>[0]) {
  const pages = Object.entries(listRouteFiles(routes, CHUNKS, 'index.js'));
  return Object.fromEntries(pages.map(([path, first]) => [path, first[kind]]));
}

test('a page needs its own files and those they import, but not what every page loads', () => {
  const routes = [LIST, { path: '/o/$org/runs', module: RUNS }, SIGN_IN];
  expect(filesOf('files', routes)).toEqual({
    '/o/$org/list': ['shell.js', 'list.js', 'list.css', 'table.js', 'cells.js'],
    '/o/$org/runs': ['shell.js', 'runs.js', 'table.js', 'cells.js'],
    '/sign-in': ['sign-in.js'],
  });
});

test('in Japanese, it needs the texts of all its files, but not those of what is loaded later', () => {
  expect(filesOf('japanese', [LIST, SIGN_IN])).toEqual({
    '/o/$org/list': ['ja-first.js', 'ja-words.js', 'ja-lists.js'],
    '/sign-in': ['ja-first.js', 'ja-words.js'],
  });
});

test('what a tab shows comes after the page around it', () => {
  const path = '/o/$org/list/runs';
  const tab = [{ ...LIST, path, part: RUNS }];
  expect(filesOf('files', tab)).toEqual({
    [path]: ['shell.js', 'list.js', 'list.css', 'table.js', 'cells.js'],
  });
  expect(filesOf('japanese', tab)).toEqual({ [path]: ['ja-first.js', 'ja-words.js', 'ja-lists.js'] });
  expect(filesOf('later', tab)).toEqual({ [path]: { files: ['runs.js'], japanese: ['ja-runs.js'] } });
  expect(filesOf('later', [LIST])).toEqual({ [LIST.path]: { files: [], japanese: [] } });
});

test('a page without a file of its own fails the build', () => {
  const routes = [{ path: '/gone', module: './pages/gone.tsx' }];
  expect(() => listRouteFiles(routes, CHUNKS, 'index.js')).toThrow('./pages/gone.tsx');
});
