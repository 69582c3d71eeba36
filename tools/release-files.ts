import { createHash } from 'node:crypto';
import type { Dependency } from './licences.ts';

/** What a release changes in the repository, and what it writes beside the package. No file is touched here. */

/** A file of the repository; `path` is relative to its root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** @throws Error if it isn't a version, or not later than the current one */
export function requireLater(version: string, current: string): void {
  if (!VERSION.test(version)) throw new Error(`"${version}" isn't a version, such as 1.2.3.`);
  if (version.localeCompare(current, 'en', { numeric: true }) <= 0) {
    throw new Error(`${version} isn't later than ${current}, the current version.`);
  }
}

/**
 * The changelog with the unreleased changes under the new version, and an empty list of unreleased ones.
 * @throws Error if nothing is listed
 */
export function dateChangelog(text: string, version: string, date: string): string {
  const heading = '## [Unreleased]\n';
  const start = text.indexOf(heading);
  if (start < 0) throw new Error('CHANGELOG.md has no section "## [Unreleased]".');
  const after = start + heading.length;
  const end = text.indexOf('\n## [', after);
  if (!/^- /m.test(text.slice(after, end < 0 ? undefined : end))) {
    throw new Error('CHANGELOG.md lists no unreleased changes.');
  }
  return `${text.slice(0, after)}\n## [${version}] - ${date}\n${text.slice(after)}`;
}

/** The file with the new version, wherever it names the current version of Millrace. */
export function withVersion({ path, text }: SourceFile, current: string, version: string): string {
  const old = RegExp.escape(current);
  if (path === 'package-lock.json' || path.endsWith('package.json'))
    return manifestWithVersion(text, old, version);
  // `millrace-0.1.0.tgz`, `millrace:0.1.0`, `version: 0.1.0` and `appVersion: 0.1.0` of the chart.
  return text
    .replace(new RegExp(`(millrace[:-])${old}(?![\\d.]*\\d)`, 'g'), `$1${version}`)
    .replace(new RegExp(`^((?:appV|v)ersion: )${old}$`, 'gm'), `$1${version}`);
}

/** Versions of the project's own packages and of their dependencies on each other; not those of others that happen to be equal. */
function manifestWithVersion(text: string, old: string, version: string): string {
  return text
    .replace(new RegExp(`("@millrace/[a-z-]+": ")${old}(")`, 'g'), `$1${version}$2`)
    .replace(
      new RegExp(`("name": "(?:@millrace/[a-z-]+|millrace-workspace)",\\n\\s*"version": ")${old}(")`, 'g'),
      `$1${version}$2`,
    );
}

/** The contents of the package as CycloneDX 1.6. The same input makes the same bytes. */
export function billOfMaterials(version: string, date: string, dependencies: readonly Dependency[]): string {
  const components = dependencies.map(({ name, version: own, licence, integrity }) => ({
    type: 'library',
    'bom-ref': `pkg:npm/${name.replace('@', '%40')}@${own}`,
    name,
    version: own,
    purl: `pkg:npm/${name.replace('@', '%40')}@${own}`,
    licenses: [licenceChoice(licence)],
    ...(integrity === null
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity, 'base64').toString('hex') }] }),
  }));
  const self = `pkg:npm/millrace@${version}`;
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${self} ${date} ${JSON.stringify(components)}`)}`,
    version: 1,
    metadata: {
      timestamp: `${date}T00:00:00Z`,
      component: {
        type: 'application',
        'bom-ref': self,
        name: 'millrace',
        version,
        purl: self,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
    dependencies: [{ ref: self, dependsOn: components.map((component) => component['bom-ref']) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

function licenceChoice(licence: string): object {
  if (/ (OR|AND|WITH) /.test(licence)) return { expression: licence };
  return { license: /^[\w.+-]+$/.test(licence) ? { id: licence } : { name: licence } };
}

/** A UUID that depends on nothing but the text (version 8 of RFC 9562). */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** As `sha256sum` prints and checks it. */
export function checksums(files: readonly { readonly name: string; readonly content: Buffer }[]): string {
  return files
    .map(({ name, content }) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`)
    .join('');
}
