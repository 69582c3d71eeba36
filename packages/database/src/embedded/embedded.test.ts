import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { copyDataDir } from '@millrace/testing/data-dir';
import { DATA_ROOT } from '@millrace/testing/data-root';
import { kill } from '@millrace/testing/processes';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createDatabase } from '../pool.ts';
import { findHolder } from '../process-lock.mjs';
import { clusterFolder, socketFolder } from './cluster.ts';
import { startEmbedded } from './embedded.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';

const OWNER = fileURLToPath(new URL('../../../testing/src/embedded-owner.ts', import.meta.url));

let folder: string;
let dataDir: string;
const owners: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(DATA_ROOT, 'mr-embedded-'));
  // As root, the server runs as another user, who has to be able to traverse this folder.
  await chmod(folder, 0o755);
  dataDir = join(folder, 'data');
});

afterEach(async () => {
  for (const owner of owners.splice(0)) await kill(owner);
  const left = await findPostmaster(clusterFolder(dataDir));
  if (left !== null) await stopPostmaster(left);
  await rm(folder, { recursive: true, force: true });
});

/** For what happens later to a folder: to initialise it takes longer than to start it. */
async function prepareDataDir(): Promise<void> {
  await copyDataDir(inject('preparedDataDir'), dataDir);
}

interface Report {
  readonly pid?: number;
  readonly url?: string;
  readonly adopted?: boolean;
  readonly error?: string;
}

/** Starts the embedded server in a separate process. */
async function startOwner(): Promise<{ owner: ChildProcess; report: Report }> {
  const owner = spawn(process.execPath, [OWNER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
  owners.push(owner);
  for await (const line of createInterface(owner.stdout)) return { owner, report: JSON.parse(line) };
  throw new Error('the owner ended without a word');
}

async function ask<Row>(url: string, statement: string): Promise<Row[]> {
  const db = createDatabase(url, { lanes: 1 });
  try {
    return await db.query<Row>(statement);
  } finally {
    await db.close();
  }
}

// Each starts a server with durable settings, and half of them create it, which takes long on a busy machine.
describe('startEmbedded', { timeout: 240_000 }, () => {
  test('data survives a restart; only its own user gets in, and only through the socket', async () => {
    const first = await startEmbedded({ dataDir });
    await ask(first.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
    expect(
      await ask(
        first.url,
        `SELECT rolsuper, current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
           current_setting('listen_addresses') AS addresses, current_setting('data_checksums') AS checksums,
           datlocprovider AS provider, pg_encoding_to_char(encoding) AS encoding
         FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
      ),
    ).toEqual([
      {
        rolsuper: false,
        fsync: 'on',
        commit: 'on',
        addresses: '',
        checksums: 'on',
        provider: 'b',
        encoding: 'UTF8',
      },
    ]);
    const withoutPassword = new URL(first.url);
    withoutPassword.password = '';
    await expect(ask(withoutPassword.href, 'SELECT 1')).rejects.toThrow();
    await first.stop();
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();

    const second = await startEmbedded({ dataDir });
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await second.stop();
  });

  test('folders and secrets are private', async () => {
    const postgres = await startEmbedded({ dataDir });
    const modes = await Promise.all(
      [clusterFolder(dataDir), socketFolder(dataDir), join(dataDir, 'credentials.json')].map(
        async (path) => (await stat(path)).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o700, 0o700, 0o600]);
    expect((await stat(dataDir)).mode & 0o044).toBe(0);
    await expect(stat(join(dataDir, 'initdb-password'))).rejects.toThrow('ENOENT');
    await postgres.stop();
  });

  test('a second one on the same folder is refused, naming the first process', async () => {
    await prepareDataDir();
    const first = await startEmbedded({ dataDir });
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ pid: process.pid });
    expect((await startOwner()).report.error).toContain(`Another Millrace (process ${process.pid})`);
    expect(await ask(first.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await first.stop();
    expect(await findHolder(dataDir, 'lock')).toBeNull();
  });

  test('of several that start at once on a new folder, one wins', async () => {
    const started = await Promise.all([startOwner(), startOwner(), startOwner()]);
    const errors = started.flatMap(({ report }) => report.error ?? []);
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toContain('already running on the data folder');
  });

  test('owner killed: the server keeps running and the next start adopts it', async () => {
    await prepareDataDir();
    const { owner, report } = await startOwner();
    await ask(report.url ?? '', 'CREATE TABLE kept (n int)');
    await kill(owner);
    const next = await startEmbedded({ dataDir });
    expect(next).toMatchObject({ adopted: true, pid: report.pid });
    expect(await ask(next.url, 'SELECT n FROM kept')).toEqual([]);
    await next.stop();
    expect(await findPostmaster(clusterFolder(dataDir))).toBeNull();
  });

  test('owner and server killed: the next start recovers', async () => {
    await prepareDataDir();
    const { owner, report } = await startOwner();
    await ask(report.url ?? '', 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)');
    await kill(owner);
    process.kill(report.pid ?? 0, 'SIGKILL');
    const next = await startEmbedded({ dataDir });
    expect(next.adopted).toBe(false);
    expect(await ask(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await next.stop();
  });

  test('a postmaster.pid whose number now belongs to another program is not adopted', async () => {
    await prepareDataDir();
    const first = await startEmbedded({ dataDir });
    const file = join(clusterFolder(dataDir), 'postmaster.pid');
    const text = await readFile(file, 'utf8');
    await first.stop();
    await writeFile(file, text.replace(/^\d+/, String(process.pid)));
    const second = await startEmbedded({ dataDir });
    expect(second.adopted).toBe(false);
    expect(await ask(second.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await second.stop();
  });

  test('an interrupted initialisation is discarded and repeated', async () => {
    await mkdir(join(dataDir, 'postgres.unfinished', 'base'), { recursive: true });
    await writeFile(join(dataDir, 'postgres.unfinished', 'PG_VERSION'), '18\n');
    const postgres = await startEmbedded({ dataDir });
    expect(await ask(postgres.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await postgres.stop();
    await expect(stat(join(dataDir, 'postgres.unfinished'))).rejects.toThrow('ENOENT');
  });

  test('data of another major version is refused with an explanation', async () => {
    await mkdir(clusterFolder(dataDir), { recursive: true });
    await writeFile(join(clusterFolder(dataDir), 'PG_VERSION'), '17\n');
    await expect(startEmbedded({ dataDir })).rejects.toThrow('written by PostgreSQL 17');
  });

  test('lost passwords are reported, and nothing is created over the data', async () => {
    await prepareDataDir();
    const first = await startEmbedded({ dataDir });
    await first.stop();
    await rename(join(dataDir, 'credentials.json'), join(folder, 'credentials.json'));
    await expect(startEmbedded({ dataDir })).rejects.toThrow('credentials.json is missing');
    await rename(join(folder, 'credentials.json'), join(dataDir, 'credentials.json'));
    await (await startEmbedded({ dataDir })).stop();
  });

  test('the socket for a long path is elsewhere', async () => {
    dataDir = join(folder, 'x'.repeat(100));
    const postgres = await startEmbedded({ dataDir });
    expect(socketFolder(dataDir).startsWith(dataDir)).toBe(false);
    expect(await ask(postgres.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await postgres.stop();
    await expect(stat(socketFolder(dataDir))).rejects.toThrow('ENOENT');
  });

  test('a path that is a file is reported', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(startEmbedded({ dataDir: join(folder, 'file', 'data') })).rejects.toThrow(
      'a part of the path is a file',
    );
  });
});

describe.runIf(process.getuid?.() === 0)('started by root', () => {
  test("a folder that PostgreSQL can't reach is refused with a remedy", async () => {
    const home = join(folder, 'home');
    await mkdir(home, { mode: 0o700 });
    await expect(startEmbedded({ dataDir: join(home, 'data') })).rejects.toThrow(`chmod o+x ${home}`);
  });
});
