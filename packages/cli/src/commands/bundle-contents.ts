import { writeFile } from 'node:fs/promises';
import { arch, cpus, release, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { SERVICE_VERSION } from '@millrace/api/version';
import { readCounts } from '@millrace/operations/doctor/store';
import { readServer } from '@millrace/service/system/store';
import { type Config, ConfigError, describeSettings, loadConfig, localUrl } from '../settings/config.ts';
import { diagnose } from './doctor-report.ts';
import { withDatabase } from './running-service.ts';
import { type CommandResult, indentedJson, RefusedError } from './shell.ts';

/** One that is overloaded is the one that support has to look at. */
const METRICS_TIMEOUT_MS = 60_000;
/** Newer versions may add members; a change to one that exists makes another format. */
const FORMAT = 1;

/**
 * `support-bundle`. Everything in it is chosen: no text that users, workflows or other systems have written, no name and no address of a
 * person, and of settings that may hold a secret only whether they are set.
 * @throws RefusedError `file_exists`
 */
export async function writeBundle(file: string): Promise<CommandResult> {
  const path = resolve(file);
  const { config, problems } = loadOrExplain();
  const bundle = {
    format: FORMAT,
    created_at: new Date().toISOString(),
    millrace: SERVICE_VERSION,
    node: process.versions.node,
    machine: { arch: arch(), kernel: release(), processors: cpus().length, memory_bytes: totalmem() },
    settings: describeSettings(problems),
    database: config === null ? null : await readDatabase(),
    // Messages about settings that aren't valid repeat their values.
    diagnosis: config === null ? null : (await diagnose()).json,
    metrics: config === null ? null : await readMetrics(config),
  };
  // Only for its owner: nobody should have to rely on the contents being harmless.
  await writeFile(path, `${indentedJson(bundle)}\n`, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new RefusedError('file_exists', `${path} already exists. Name another file.`);
  });
  return { json: { file: path }, text: `Wrote ${path}. Read it before you send it to anyone.` };
}

/** Null if it isn't valid; then with the problems. */
function loadOrExplain(): { readonly config: Config | null; readonly problems: readonly string[] } {
  try {
    return { config: loadConfig(), problems: [] };
  } catch (error) {
    if (error instanceof ConfigError) return { config: null, problems: error.problems };
    throw error;
  }
}

/** Versions and counts; null if it can't be reached. */
async function readDatabase(): Promise<object | null> {
  try {
    return await withDatabase(async (db) => {
      const {
        postgresql_version: postgresql,
        schema_version: schema,
        database_bytes: bytes,
      } = await readServer(db);
      return { postgresql, schema, bytes, counts: await readCounts(db) };
    });
  } catch (error) {
    if (error instanceof RefusedError) return null;
    throw error;
  }
}

/** The lines of the process on this machine that serves them at the configured address; null if there is none. */
async function readMetrics({ metrics: { port, host, token } }: Config): Promise<string[] | null> {
  if (port === null || port === 0) return null;
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  try {
    const signal = AbortSignal.timeout(METRICS_TIMEOUT_MS);
    const response = await fetch(`${localUrl(host, port)}/metrics`, { headers, signal });
    const text = await response.text();
    // Another program may listen there.
    return response.ok && text.includes('millrace_build_info') ? text.split('\n') : null;
  } catch {
    return null;
  }
}
