import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { expect, it } from 'vitest';

/** An import that a rule forbids. */
interface Breach {
  readonly rule: string;
  readonly from: string;
  /** A file of this project, or a module as an import names it. */
  readonly to: string;
}

const OTHERS: readonly Breach[] = [
  { rule: 'no-cycles', from: 'packages/api/src/one.ts', to: 'packages/api/src/other.ts' },
  { rule: 'resolvable', from: 'packages/api/src/lost.ts', to: 'left-pad' },
  { rule: 'every-package-has-a-rule', from: 'packages/new/src/a.ts', to: 'packages/new/src/b.ts' },
  { rule: 'engine-is-pure', from: 'packages/engine/src/impure.ts', to: 'node:fs' },
  { rule: 'engine-is-pure', from: 'packages/values/src/impure.ts', to: 'node:fs' },
  { rule: 'nodes-reach-outside-through-their-context', from: 'packages/nodes/src/direct.ts', to: 'node:fs' },
  { rule: 'importer-is-pure', from: 'packages/importer/src/impure.ts', to: 'node:fs' },
  { rule: 'importer-is-pure', from: 'packages/importer-n8n/src/impure.ts', to: 'node:fs' },
  { rule: 'http-in-api-only', from: 'packages/service/src/http.ts', to: 'fastify' },
  { rule: 'through-the-index', from: 'packages/service/src/in.ts', to: 'packages/engine/src/inner.ts' },
  { rule: 'no-test-code-in-the-product', from: 'packages/api/src/a.ts', to: 'packages/api/src/a.test.ts' },
];

/** The folders of a pattern such as `^packages/api/src/(public|admin)/`. */
function foldersOf(pattern: string): string[] {
  const [, start = '', names = ''] = pattern.match(/^\^(.*?)(?:\(([^)]*)\)\/)?$/) ?? [];
  return names === '' ? [start] : names.split('|').map((name) => `${start}${name}/`);
}

/** A breach for each pair of folders that the rules of packages and their floors keep apart. */
function breachesOf(rules: readonly { name?: string; from: object; to: object }[]): Breach[] {
  return rules.flatMap(({ name: rule = '', from, to }) => {
    const [source = ''] = 'path' in from ? foldersOf(String(from.path)) : [];
    if (rule.endsWith('-imports-no-folder-above')) {
      const targets = 'path' in to ? foldersOf(String(to.path)) : [];
      return targets.map((target) => ({ rule, from: `${source}up.ts`, to: `${target}target.ts` }));
    }
    if (!rule.endsWith('-imports-what-is-below-it')) return [];
    return [{ rule, from: `${source}src/up.ts`, to: 'packages/testing/src/target.ts' }];
  });
}

async function writeBreaches(root: string, breaches: readonly Breach[]): Promise<void> {
  const imports = new Map<string, string[]>([
    ['node_modules/fastify/index.js', []],
    ['packages/api/src/other.ts', ["import './one.ts';\n"]],
  ]);
  for (const { from, to } of breaches) {
    const isFile = to.startsWith('packages/');
    const specifier = isFile ? `./${relative(dirname(from), to)}` : to;
    imports.set(from, [...(imports.get(from) ?? []), `import '${specifier}';\n`]);
    if (isFile && !imports.has(to)) imports.set(to, []);
  }
  for (const [path, lines] of imports) {
    await mkdir(join(root, dirname(path)), { recursive: true });
    await writeFile(join(root, path), lines.join('') || 'export {};\n');
  }
  await writeFile(join(root, 'node_modules/fastify/package.json'), '{"name":"fastify","version":"1.0.0"}');
  await writeFile(join(root, 'package.json'), '{"dependencies":{"fastify":"1.0.0"}}');
}

it('every rule of imports finds what breaks it, between folders that exist', async () => {
  const options = await extractOptions(resolve('.dependency-cruiser.cjs'));
  const rules = options.ruleSet?.forbidden ?? [];
  const breaches = [...breachesOf(rules as never), ...OTHERS];
  expect(new Set(breaches.map(({ rule }) => rule))).toEqual(new Set(rules.map(({ name }) => name)));
  const folders = breaches
    .flatMap(({ from, to }) => (to.startsWith('packages/') ? [from, to] : [from]))
    .map(dirname);
  expect(folders.filter((folder) => !existsSync(folder))).toEqual(['packages/new/src', 'packages/new/src']);

  const root = await mkdtemp(join(tmpdir(), 'import-rules-'));
  try {
    await writeBreaches(root, breaches);
    const { output } = await cruise(['packages'], { ...options, baseDir: root });
    const { violations } = (output as ICruiseResult).summary;
    const found = violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`);
    const missed = breaches.filter(({ rule, from, to }) => {
      const target = to === 'fastify' ? 'node_modules/fastify/index.js' : to.replace('node:', '');
      return !found.includes(`${rule}: ${from} -> ${target}`);
    });
    expect(missed).toEqual([]);
  } finally {
    await rm(root, { recursive: true });
  }
});
