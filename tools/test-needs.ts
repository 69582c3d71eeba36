import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const TEST_FILES = [
  'packages/*/src/**/*.test.ts',
  'packages/*/test/**/*.test.ts',
  'packages/web/e2e/**/*.test.ts',
  'tools/**/*.test.ts',
  'bench/**/*.test.ts',
];

/** What a test may need besides its own process. */
export type Need =
  | 'PostgreSQL'
  | 'a PostgreSQL of its own'
  | 'a browser'
  | 'the built page'
  | 'the built service'
  | 'another process'
  | 'a whole service';

/** An import that reveals what its file needs. */
interface Marker {
  /** The name of a package, or a path relative to the project's root. */
  readonly module: RegExp;
  /** Only this import of the module counts; if absent, any does. */
  readonly name?: string;
  readonly need: Need;
  /** What it imports itself is part of the need. */
  readonly isWhole?: true;
}

const MARKERS: readonly Marker[] = [
  // The URLs of the PostgreSQL server that the run starts are injected.
  { module: /^vitest$/, name: 'inject', need: 'PostgreSQL' },
  { module: /^packages\/database\/src\/embedded\/embedded\.ts$/, need: 'PostgreSQL' },
  {
    module: /^packages\/(database\/src\/embedded\/embedded|testing\/src\/(data-dir|debian))\.ts$/,
    need: 'a PostgreSQL of its own',
  },
  { module: /^playwright-core$/, need: 'a browser' },
  // The environment of the tests provides the browser.
  { module: /^packages\/web\/e2e\/support\/browser-service\.ts$/, need: 'a browser' },
  { module: /^tools\/web-page\.mjs$/, need: 'the built page' },
  { module: /^tools\/artefact\.mjs$/, need: 'the built service', isWhole: true },
  { module: /^(node:)?(child_process|cluster)$/, need: 'another process' },
  { module: /^packages\/cli\/src\/(cli|start\/(start|run))\.ts$/, need: 'a whole service' },
];

/** Code used by tests only; the same folders and names as in .dependency-cruiser.cjs. */
const TEST_CODE =
  /^(tools|bench)\/|^packages\/(testing\/|[^/]+\/test\/|web\/e2e\/)|(\.test|\/testing(-[a-z-]+)?|\/test-[a-z-]+)\.ts$/;

interface Import {
  /** The name of a package, or a path relative to the project's root. */
  readonly module: string;
  /** Names imported; null: anything. */
  readonly names: readonly string[] | null;
}

/**
 * What a test file needs, derived from its imports and those of the test code it imports. Product code isn't followed: it can connect to
 * PostgreSQL anywhere, but only a test provides a server to connect to.
 *
 * @param path relative to `root`, with `/`
 */
export function needsOf(root: string, path: string): ReadonlySet<Need> {
  const needs = new Set<Need>();
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { module, names } of importsOf(root, file)) {
      const found = MARKERS.filter((marker) => {
        const isNamed = marker.name === undefined || names === null || names.includes(marker.name);
        return isNamed && marker.module.test(module);
      });
      for (const { need } of found) needs.add(need);
      if (TEST_CODE.test(module) && !found.some(({ isWhole }) => isWhole)) visit(module);
    }
  };
  visit(path);
  return needs;
}

/** Every test file that needs only its own process, and the number of others. */
export function unitTests(root: string): { readonly files: string[]; readonly others: number } {
  const all = globSync(TEST_FILES, { cwd: root }).toSorted();
  const files = all.filter((path) => needsOf(root, path).size === 0);
  return { files, others: all.length - files.length };
}

/** Compares with the schema as PostgreSQL 18 writes it. */
const OF_ONE_VERSION: readonly string[] = ['tools/dump-schema.test.ts'];
const MORE_THAN_A_DATABASE: readonly Need[] = [
  'a PostgreSQL of its own',
  'a browser',
  'the built page',
  'a whole service',
];

/** Every test file that speaks to the server that the run starts, and so can be run with another version of it. */
export function databaseTests(root: string): string[] {
  return globSync(TEST_FILES, { cwd: root })
    .toSorted()
    .filter((path) => {
      const needs = needsOf(root, path);
      const needsMore = MORE_THAN_A_DATABASE.some((need) => needs.has(need));
      return needs.has('PostgreSQL') && !needsMore && !OF_ONE_VERSION.includes(path);
    });
}

/** Rules that more than one test file applies; their properties are not in the test file itself. */
const CONTRACTS: readonly string[] = ['executionStoreContract'];

/** Every test file with property tests or simulations of its own. */
export function propertyTests(root: string): string[] {
  const has = (path: string): boolean =>
    importsOf(root, path).some(
      ({ module, names }) =>
        module === 'fast-check' || names?.some((name) => CONTRACTS.includes(name)) === true,
    );
  return globSync(TEST_FILES, { cwd: root }).toSorted().filter(has);
}

const known = new Map<string, readonly Import[]>();

/** The imports left at runtime; type imports are erased. */
function importsOf(root: string, file: string): readonly Import[] {
  const path = join(root, file);
  const before = known.get(path);
  if (before !== undefined) return before;
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[] | null): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ module: moduleOf(root, file, specifier.text), names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const clause = node.importClause;
      if (clause?.phaseModifier !== ts.SyntaxKind.TypeKeyword) add(node.moduleSpecifier, namesOf(clause));
    } else if (ts.isExportDeclaration(node)) {
      if (!node.isTypeOnly) add(node.moduleSpecifier, null);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], null);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest));
  known.set(path, found);
  return found;
}

function namesOf(clause: ts.ImportClause | undefined): readonly string[] | null {
  const bindings = clause?.namedBindings;
  if (clause?.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return null;
  return bindings.elements
    .filter((each) => !each.isTypeOnly)
    .map((each) => (each.propertyName ?? each.name).text);
}

/** A path for files of this project, the package name for everything else. */
function moduleOf(root: string, file: string, specifier: string): string {
  if (specifier.startsWith('.')) return join(dirname(file), specifier);
  if (!specifier.startsWith('@millrace/')) return specifier;
  return relative(root, fileURLToPath(import.meta.resolve(specifier)));
}
