import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { createDatabase } from '@millrace/database/pool';
import { freshFolder } from './folders.ts';
import type { World } from './world.ts';

const FOLDER = fileURLToPath(new URL('../../upgrades', import.meta.url));
const MIGRATIONS = fileURLToPath(new URL('../../../../database/src/migrations', import.meta.url));

/** The last release, whose processes work beside those of this version during a rolling upgrade. */
export const LAST_RELEASE = { version: '0.1.0', migrations: 25 } as const;

/** Versions whose data is kept, as `<name>.sql`. */
export const KEPT_VERSIONS = ['schema-2', LAST_RELEASE.version] as const;

/** What packages/cli/test/upgrades/seed.mjs printed. */
export interface Kept {
  readonly apiKey: string;
  readonly secretKey: string;
  readonly hookUrl: string;
  /** The addresses of the callbacks that executions wait for. */
  readonly callbacks: readonly string[];
  /** Id of the workflow that greets. */
  readonly greet: number;
  readonly email: string;
  readonly password: string;
}

/** Makes a database with what an earlier version stored. */
export async function loadVersion(
  world: World,
  version: (typeof KEPT_VERSIONS)[number],
  database: string,
): Promise<Kept & { readonly url: string }> {
  const url = await world.cluster.addDatabase(database);
  // A session of its own, because the dump changes its settings.
  const db = createDatabase(url, { lanes: 1, statementTimeoutMs: 60_000 });
  await db.query(readFileSync(join(FOLDER, `${version}.sql`), 'utf8'));
  await db.close();
  return { ...(JSON.parse(readFileSync(join(FOLDER, `${version}.json`), 'utf8')) as Kept), url };
}

/** Unpacks the command of the last release. @returns its entry */
export function unpackLastRelease(): string {
  const folder = freshFolder('release');
  const lib = join(folder, 'lib');
  mkdirSync(join(lib, 'migrations'), { recursive: true });
  const { version, migrations } = LAST_RELEASE;
  writeFileSync(
    join(lib, 'millrace.mjs'),
    brotliDecompressSync(readFileSync(join(FOLDER, `${version}.mjs.br`))),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version, type: 'module' }));
  for (const file of readdirSync(MIGRATIONS).sort().slice(0, migrations)) {
    cpSync(join(MIGRATIONS, file), join(lib, 'migrations', file));
  }
  return join(lib, 'millrace.mjs');
}
