import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dependenciesOf, licencesText } from './licences.ts';
import { billOfMaterials, checksums, dateChangelog, requireLater, withVersion } from './release-files.ts';

/**
 * Makes a release: `npm run release -- VERSION [--dry-run] [--date YYYY-MM-DD] [--into FOLDER]`. Sets the version, dates the changelog, builds
 * the package, writes it with its licences, bill of materials and checksums into a folder, and commits and tags the changes. It neither
 * publishes nor pushes.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}

function requireClean(): void {
  const changes = git('status', '--porcelain');
  if (changes === '') return;
  throw new Error(`There are changes that aren't committed. Commit or stash them first:\n${changes}`);
}

/** The changed files of the repository, with their new texts. */
function changedFiles(current: string, version: string, date: string): Map<string, string> {
  const changed = new Map<string, string>();
  for (const path of git('ls-files', '-z').split('\0').filter(namesVersion)) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const next =
      path === 'CHANGELOG.md'
        ? dateChangelog(text, version, date)
        : withVersion({ path, text }, current, version);
    if (next !== text) changed.set(path, next);
  }
  return changed;
}

function namesVersion(path: string): boolean {
  return (
    /^(CHANGELOG|README)\.md$|^docs\/[^/]+\.md$|^deploy\/|^package(-lock)?\.json$/.test(path) ||
    /^packages\/[^/]+\/package\.json$/.test(path)
  );
}

/** Builds the package and writes everything that belongs to it. @returns the names of the files */
function writeArtefacts(folder: string, version: string, date: string): string[] {
  mkdirSync(folder, { recursive: true });
  const build = [join(ROOT, 'tools/artefact.mjs'), '--pack', folder];
  const packed = execFileSync(process.execPath, build, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
  const dependencies = dependenciesOf();
  const beside = `millrace-${version}`;
  writeFileSync(join(folder, `${beside}.cdx.json`), billOfMaterials(version, date, dependencies));
  writeFileSync(join(folder, `${beside}.licences.txt`), licencesText(dependencies));
  const names = [basename(packed), `${beside}.cdx.json`, `${beside}.licences.txt`];
  const files = names.map((name) => ({ name, content: readFileSync(join(folder, name)) }));
  writeFileSync(join(folder, 'SHA256SUMS'), checksums(files));
  return [...names, 'SHA256SUMS'];
}

function release(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, date: { type: 'string' }, into: { type: 'string' } },
  });
  const [version] = positionals;
  if (version === undefined || positionals.length > 1) {
    throw new Error('Usage: npm run release -- VERSION [--dry-run] [--date YYYY-MM-DD] [--into FOLDER]');
  }
  const { version: current } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };
  const date = values.date ?? new Date().toISOString().slice(0, 10);
  requireLater(version, current);
  requireClean();
  const changed = changedFiles(current, version, date);
  const folder = resolve(values.into ?? join(ROOT, 'dist', 'releases', version));
  if (values['dry-run'] === true) {
    console.log(`Would change:\n${[...changed.keys()].map((path) => `  ${path}`).join('\n')}`);
    console.log(`Would write the package, bill of materials, licences and checksums to ${folder}`);
    console.log(`Would commit "Release ${version}" and tag it v${version}`);
    return;
  }
  for (const [path, text] of changed) writeFileSync(join(ROOT, path), text);
  let names: string[];
  try {
    names = writeArtefacts(folder, version, date);
  } catch (error) {
    // The tree was clean, so this takes back nothing but the release's own changes.
    git('restore', '.');
    throw error;
  }
  git('commit', '--quiet', '--all', '--message', `Release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Millrace ${version}`);
  console.log(names.map((name) => join(folder, name)).join('\n'));
  console.log(`Committed and tagged v${version}. Push both, and publish the files.`);
}

try {
  release();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
