import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Writes `<folder>/licences.txt`: every package that the service or the admin area is made of, with its licence text.
 * `node tools/licences.ts FOLDER`; run by tools/artefact.mjs.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** What the artefact contains is made of. */
const ROOTS = ['packages/cli', 'packages/web'];
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** SHA-512 of the package as published, in base64; null if the lockfile has none. */
  readonly integrity: string | null;
  /** Its own files about it; empty if it has none. */
  readonly texts: readonly string[];
}

type Lock = Readonly<Record<string, LockEntry>>;

/** The packages of the lockfile that the artefact is made of, by name; not those of this repository. */
export function dependenciesOf(root = ROOT): Dependency[] {
  const { packages: lock } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Lock;
  };
  const found = new Set<string>(ROOTS);
  // The loop also visits what it adds.
  for (const path of found) {
    const { dependencies, optionalDependencies } = lock[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(name, path, lock);
      if (place !== null) found.add(place);
    }
  }
  const described = [...found]
    .filter((path) => path.includes('node_modules/'))
    .map((path) => describe(root, path, lock[path] ?? {}));
  // The same version may be installed in several places.
  const unique = new Map(described.map((each) => [`${each.name}@${each.version}`, each]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Where Node finds a package from inside another one; null for one of another system. */
function placeOf(name: string, from: string, lock: Lock): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = folder === '.' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = lock[place];
    if (entry !== undefined) return entry.link === true ? (entry.resolved ?? place) : place;
    if (folder === '.') return null;
  }
}

function describe(root: string, path: string, { version = '', license, integrity }: LockEntry): Dependency {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const folder = join(root, path);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => LICENCE_FILE.test(file)) : [];
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const sha512 = integrity?.startsWith('sha512-') === true ? integrity.slice('sha512-'.length) : null;
  return { name, version, licence: license ?? 'see its licence file', integrity: sha512, texts };
}

/** One text with all of them; equal licence texts are not merged, because their copyright lines differ. */
export function licencesText(dependencies: readonly Dependency[]): string {
  const parts = dependencies.map(({ name, version, licence, texts }) =>
    [`${name} ${version} (${licence})`, ...texts].join('\n\n'),
  );
  const line = `\n\n${'-'.repeat(80)}\n\n`;
  return `Millrace contains these packages, or installs them beside itself.${line}${parts.join(line)}\n`;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: node tools/licences.ts FOLDER');
  mkdirSync(resolve(folder), { recursive: true });
  writeFileSync(join(resolve(folder), 'licences.txt'), licencesText(dependenciesOf()));
}
