import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { en } from './en.ts';
import { firstTexts } from './en-first.ts';

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url));
const PARTS = Object.keys(en).filter((part) => !Object.hasOwn(firstTexts, part));
const USE = new RegExp(`['"\`](${PARTS.join('|')})\\.[A-Za-z$]`, 'g');
const STATIC = /^(?:import|export)\b(?! type\b)[^;'"]*['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/** What a source file of the page needs and loads. */
interface Source {
  readonly uses: ReadonlySet<string>;
  readonly imports: readonly string[];
  readonly loads: readonly string[];
}

function readSources(): ReadonlyMap<string, Source> {
  const paths = globSync(
    '{ui,editor-model,editor,execution-pages,credential-pages,workflow-pages,web}/src/**/*.{ts,tsx}',
    { cwd: PACKAGES },
  );
  return new Map(
    paths
      .filter((path) => !/\.test\.tsx?$/.test(path))
      .map((path): [string, Source] => {
        const text = readFileSync(join(PACKAGES, path), 'utf8');
        const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
        const files = (pattern: RegExp) => found(pattern).map((name) => fileOf(path, name));
        return [path, { uses: new Set(found(USE)), imports: files(STATIC), loads: files(DYNAMIC) }];
      }),
  );
}

/** The path of an imported file; of other packages, their name. */
function fileOf(from: string, name: string): string {
  if (name.startsWith('.')) return normalize(join(dirname(from), name));
  return name.replace(/^@millrace\/(ui|editor|editor-model|[a-z]+-pages)\//, '$1/src/');
}

/** A file and everything it imports, except what it loads later. */
function withImports(root: string, sources: ReadonlyMap<string, Source>): ReadonlySet<string> {
  const found = new Set([root]);
  // The set grows while it is iterated.
  for (const path of found) for (const next of sources.get(path)?.imports ?? []) found.add(next);
  return found;
}

test('whatever is loaded on its own brings the texts that it shows', () => {
  const sources = readSources();
  const roots = new Set(['web/src/main.tsx', ...[...sources.values()].flatMap(({ loads }) => loads)]);
  const missing = [...roots]
    .filter((root) => sources.has(root))
    .flatMap((root) => {
      const files = withImports(root, sources);
      const uses = new Set([...files].flatMap((path) => [...(sources.get(path)?.uses ?? [])]));
      const unloaded = [...uses].filter((part) => !files.has(`ui/src/i18n/parts/${part}.ts`));
      return unloaded.map((part) => `${root}: ${part}`);
    });
  expect(missing.sort()).toEqual([]);
});
