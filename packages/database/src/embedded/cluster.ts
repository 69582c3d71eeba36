import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Account } from './account.ts';
import { EmbeddedPostgresError, fileProblem } from './errors.ts';
import { formatSettings, type ServerSettings } from './settings.ts';

/** Passwords of the two database users; stored in `credentials.json` in the data folder, mode 0600. */
export interface Credentials {
  readonly superuser: string;
  readonly millrace: string;
}

/** Longest path of a Unix socket in bytes, excluding the terminating zero. */
const SOCKET_PATH_BYTES = 107;
const SOCKET_NAME = '.s.PGSQL.5432';

/** Reads the credentials of a data folder, or null when it has none yet. */
export async function readCredentials(dataDir: string): Promise<Credentials | null> {
  const text = await readFile(join(dataDir, 'credentials.json'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw fileProblem('The data folder cannot be read', dataDir, error);
    },
  );
  return text === null ? null : JSON.parse(text);
}

/** Writes a file atomically, readable by its owner only. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`;
  await writeFile(unfinished, text, { mode: 0o600, flush: true });
  await rename(unfinished, path);
}

/**
 * Creates the cluster folder unless it exists. It is created under another name and renamed when complete: what a crash left unfinished is
 * discarded and recreated.
 * @returns the passwords that open it
 */
export async function initialiseCluster(
  binaries: { folder: string; majorVersion: string },
  dataDir: string,
  account: Account | null,
  progress: (text: string) => void,
): Promise<Credentials> {
  const cluster = clusterFolder(dataDir);
  const credentials = await readCredentials(dataDir);
  const version = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version !== null) {
    checkVersion(version.trim(), binaries.majorVersion, cluster);
    if (credentials !== null) return credentials;
    throw new EmbeddedPostgresError(
      `${join(dataDir, 'credentials.json')} is missing: without its passwords the data in ${cluster} cannot be opened. Restore it from a backup of the data folder.`,
    );
  }
  progress('Initialising the database (once)');
  return await create(binaries.folder, dataDir, account);
}

/** Where PostgreSQL's files are in the data folder. */
export function clusterFolder(dataDir: string): string {
  return join(dataDir, 'postgres');
}

async function create(binaries: string, dataDir: string, account: Account | null): Promise<Credentials> {
  const unfinished = join(dataDir, 'postgres.unfinished');
  const passwordFile = join(dataDir, 'initdb-password');
  const credentials = {
    superuser: randomBytes(24).toString('hex'),
    millrace: randomBytes(24).toString('hex'),
  };
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, credentials.superuser, { mode: 0o600 });
    if (account !== null) {
      await chown(unfinished, account.uid, account.gid);
      await chown(passwordFile, account.uid, account.gid);
    }
    await runInitdb(binaries, unfinished, passwordFile, account);
    const configuration = join(unfinished, 'postgresql.conf');
    const defaults = await readFile(configuration, 'utf8');
    await writeFile(configuration, `include = 'millrace.conf'\n\n${defaults}`);
    await writePrivateFile(join(dataDir, 'credentials.json'), JSON.stringify(credentials));
    await rename(unfinished, clusterFolder(dataDir));
    return credentials;
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw fileProblem('The database cannot be made in', dataDir, error);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function runInitdb(
  binaries: string,
  cluster: string,
  passwordFile: string,
  account: Account | null,
): Promise<void> {
  const arguments_ = [
    `--pgdata=${cluster}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  const child = spawn(join(binaries, 'bin', 'initdb'), arguments_, {
    cwd: cluster,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    ...(account === null ? {} : { uid: account.uid, gid: account.gid }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code === 0) return;
  const reason = /no space left/i.test(output) ? 'the disk is full. Make room and start again.\n' : '';
  throw new EmbeddedPostgresError(`The database cannot be made in ${cluster}: ${reason}${lastLines(output)}`);
}

/** Writes the settings of this start into PostgreSQL's own folder. */
export async function writeSettings(dataDir: string, settings: ServerSettings): Promise<void> {
  const file = join(clusterFolder(dataDir), 'millrace.conf');
  await writeFile(file, formatSettings(settings), { mode: 0o644 }).catch((error: unknown) => {
    throw fileProblem('PostgreSQL cannot be configured in', file, error);
  });
  await chmod(file, 0o644);
}

/**
 * The folder of the server's socket, created so that only its user has access: `run` in the data folder, or a short one elsewhere when that
 * path would be too long for a socket.
 */
export async function prepareSocketFolder(dataDir: string, account: Account | null): Promise<string> {
  const folder = socketFolder(dataDir);
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // The folder for temporary files is world-writable: an existing entry may be another user's trap.
    const found = await lstat(folder);
    const owners = [process.getuid?.(), account?.uid];
    if (!found.isDirectory() || !owners.includes(found.uid)) {
      throw new EmbeddedPostgresError(`${folder} belongs to another user. Remove it and start again.`);
    }
    await chmod(folder, 0o700);
    if (account !== null) await chown(folder, account.uid, account.gid);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw fileProblem('The folder for the database socket cannot be made', folder, error);
  }
  return folder;
}

/** Removes the socket's folder when it is outside the data folder, where only this server uses it. */
export async function removeSocketFolder(dataDir: string): Promise<void> {
  const folder = socketFolder(dataDir);
  if (!folder.startsWith(dataDir)) await rm(folder, { recursive: true, force: true });
}

export function socketFolder(dataDir: string): string {
  const folder = join(dataDir, 'run');
  if (Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_BYTES) return folder;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? `/var/lib/millrace/run/${hash}` : join(tmpdir(), `millrace-${uid}-${hash}`);
}

function checkVersion(found: string, wanted: string, cluster: string): void {
  if (found === wanted) return;
  throw new EmbeddedPostgresError(
    `The data in ${cluster} was written by PostgreSQL ${found}, this version of Millrace brings PostgreSQL ${wanted}, ` +
      'and neither opens the files of the other. Start the Millrace that wrote it, or use another folder: MILLRACE_DATA_DIR=/another/folder',
  );
}

/** The last lines of the server's log, for a message about a failed start. */
export async function lastLogLines(dataDir: string): Promise<string> {
  const folder = join(clusterFolder(dataDir), 'log');
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names.map(async (name) => ({ path: join(folder, name), time: (await stat(join(folder, name))).mtimeMs })),
  );
  const newest = files.sort((a, b) => b.time - a.time)[0];
  const output = await readFile(join(dataDir, 'startup.log'), 'utf8').catch(() => '');
  const logged = newest === undefined ? '' : await readFile(newest.path, 'utf8');
  return lastLines(`${output}\n${logged}`);
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-10).join('\n');
}
