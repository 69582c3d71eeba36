import { spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PgDatabase } from '@millrace/database/pool';
import { createFolderStore } from '@millrace/files/folder-store';
import { sweepFiles } from '@millrace/files/sweep';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { builtCommand } from '../built-command.ts';
import { Client, chain, post, set } from './support/client.ts';
import { freshFolder, OWNER_VARIABLE, rememberProcess } from './support/folders.ts';
import { allFinished, finished, readExecutions, timesRecorded } from './support/ledger.ts';
import { Load } from './support/load.ts';
import { LONG_LEASE } from './support/service-process.ts';
import { until } from './support/until.ts';
import { useWorld } from './support/use-world.ts';

const world = useWorld(LONG_LEASE);
// Each starts many processes, one after the other.
vi.setConfig({ testTimeout: 900_000 });
let entry: string;
beforeAll(async () => {
  entry = await builtCommand();
});
const restored: PgDatabase[] = [];
afterAll(() => Promise.all(restored.map((db) => db.close())));

interface Command {
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
  /** Sends these bytes to its standard input, which stays open. */
  feed(bytes: Buffer): void;
  kill(): void;
}

/**
 * Runs `millrace` on a database, as an operator does.
 * @param options.files the folder for contents of files
 */
function millrace(databaseUrl: string, { files }: { readonly files?: string }, ...words: string[]): Command {
  const child = spawn(process.execPath, [entry, ...words], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      [OWNER_VARIABLE]: String(process.pid),
      ...(files === undefined ? {} : { MILLRACE_FILES_FOLDER: files }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) rememberProcess(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  // A killed process doesn't read the rest.
  child.stdin.on('error', () => {});
  return {
    ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, output }))),
    feed: (bytes) => child.stdin.write(bytes),
    kill: () => child.kill('SIGKILL'),
  };
}

/** A database to restore into, and the test's own connection to it. */
interface Target {
  readonly url: string;
  readonly db: PgDatabase;
}

/** A database without tables. */
async function addTarget(name: string): Promise<Target> {
  const url = await world().cluster.addDatabase(name);
  const db = world().cluster.connect(url);
  restored.push(db);
  return { url, db };
}

/** Until the server has noticed that a restore was killed, that one's session has the lock of all restores. */
async function sessionEnded(db: PgDatabase): Promise<void> {
  await until('the end of its session', async () => {
    const sessions = await db.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'millrace command'`,
    );
    return sessions.length === 0;
  });
}

it('a backup under load has what was acknowledged before it, and the restored instance goes on', async () => {
  const { cluster, receiver } = world();
  const old = await (await world().spawn('start')).ready();
  const client = world().client(old);
  const fast = await client.createWorkflow(
    'fast',
    chain(set('shape', { marker: '{{trigger.data.marker}}' })),
  );
  const calls = await client.createWorkflow(
    'calls',
    chain(post('first', receiver.url('/first')), post('second', receiver.url('/second'))),
  );
  receiver.hold('/second');
  const underWay = await client.accept(calls, 'under way', 'its-key');
  await receiver.arrival('/second', 1);
  const load = new Load(client, fast, 4);
  await until('starts before the backup', () => load.accepted >= 60);

  const acknowledged = [...load.starts];
  const file = freshFolder('backup');
  const backup = await millrace(cluster.url, {}, 'backup', file).ended;
  expect(backup).toMatchObject({ code: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const during = load.accepted;
  await until('starts after the backup', () => load.accepted > during);
  await load.stop();
  await old.end('SIGKILL');

  const target = await addTarget('restored');
  const restore = await millrace(target.url, {}, 'restore', file).ended;
  expect(restore).toMatchObject({ code: 0 });
  expect(restore.output).toContain('old instance is stopped');
  const before = await readExecutions(target.db, fast);
  const started = await (await world().spawn('start', { DATABASE_URL: target.url })).ready();
  const again = new Client(started.url, world().apiKey);

  // Nothing that was acknowledged is missing, and a retry gets the first receipt.
  const markers = new Map(before.map(({ marker, id }) => [marker, id]));
  expect(markers.size).toBe(before.length);
  for (const { marker, key, answer } of acknowledged) {
    if (answer.kind !== 'accepted') continue;
    expect(markers.get(marker)).toBe(answer.executionId);
    if (key === null) continue;
    const replay = await again.startPatiently(fast, marker, key);
    expect(replay.answer).toMatchObject({
      kind: 'accepted',
      isReplay: true,
      body: answer.body.replaceAll(old.url, started.url),
    });
  }
  const rows = await allFinished(target.db, fast);
  expect(rows.map(({ status }) => status)).toEqual(rows.map(() => 'completed'));
  expect(rows).toHaveLength(before.length);

  // What had ended isn't called again; what was under way is, with the same key.
  expect(await again.accept(calls, 'under way', 'its-key')).toBe(underWay);
  expect(await finished(target.db, underWay)).toMatchObject({ status: 'completed', crashed_attempts: 0 });
  expect(await timesRecorded(target.db, underWay, 'first')).toBe(1);
  expect(receiver.to('/first')).toHaveLength(1);
  const [cut, repeated, ...more] = receiver.to('/second');
  expect(repeated?.deliveryKey).toBe(cut?.deliveryKey);
  expect(more).toEqual([]);

  // No id of an execution that was lost names another one.
  expect(await again.accept(fast, 'new')).toBeGreaterThan(100_000_000);
});

it('a restore that is killed leaves an instance that says so, and can be run again', async () => {
  const { cluster, db } = world();
  const [organisation] = await db.query<{ id: number }>('SELECT id FROM organisations LIMIT 1');
  // Enough to be read before the end of the file arrives.
  await db.query(
    `INSERT INTO data_entries (organisation_id, key, value)
     SELECT $1, 'entry ' || n, to_json((SELECT string_agg(md5(random()::text || n || k), '') FROM generate_series(1, 300) k))
     FROM generate_series(1, 500) n`,
    [organisation?.id],
  );
  const file = freshFolder('backup');
  expect(await millrace(cluster.url, {}, 'backup', file).ended).toMatchObject({ code: 0 });
  const bytes = await readFile(file);

  const target = await addTarget('half');
  const half = millrace(target.url, {}, 'restore', '-');
  half.feed(bytes.subarray(0, bytes.length / 2));
  await until('the restore to begin', async () => {
    const [row] = await target.db.query<{ begun: boolean }>(
      `SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'unfinished_restore') AND EXISTS (
         SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'COPY %') AS begun`,
    );
    return row?.begun === true;
  });
  half.kill();
  expect(await half.ended).toMatchObject({ code: null });

  const service = await world().spawn('start', { DATABASE_URL: target.url });
  expect((await service.ended()).code).toBe(1);
  expect(service.output).toContain('A restore into this database is running or was interrupted');

  await sessionEnded(target.db);
  const again = await millrace(target.url, {}, 'restore', file).ended;
  expect(again.code, again.output).toBe(0);
  const [count] = await target.db.query<{ count: number }>('SELECT count(*) FROM data_entries');
  expect(count?.count).toBe(500);
  await (await world().spawn('start', { DATABASE_URL: target.url })).ready();
});

describe('a restore that is killed while it writes files', () => {
  const contents = Array.from({ length: 4 }, () => randomBytes(1_500_000));
  let ids: string[];
  let organisationId: number;
  let sourceFolder: string;
  beforeAll(async () => {
    const { db } = world();
    sourceFolder = freshFolder('files');
    const store = createFolderStore(sourceFolder);
    const [organisation] = await db.query<{ id: number }>(
      `INSERT INTO organisations (name, paused_at) VALUES ('With files', now()) RETURNING id`,
    );
    organisationId = organisation?.id ?? 0;
    ids = contents.map(() => randomUUID());
    for (const [index, id] of ids.entries()) {
      const content = contents[index] ?? Buffer.of();
      await store.write(id, Readable.from([content]));
      await db.query(
        `INSERT INTO files (id, organisation_id, state, name, type, size, sha256)
         VALUES ($1, $2, 'stored', 'a.bin', 'application/octet-stream', $3, $4)`,
        [id, organisationId, content.length, createHash('sha256').update(content).digest()],
      );
    }
  });

  /** A file with everything, or with the organisation alone. */
  async function backedUp(...words: string[]): Promise<string> {
    const file = freshFolder('backup');
    const command = millrace(world().cluster.url, { files: sourceFolder }, 'backup', ...words, file);
    expect(await command.ended).toMatchObject({ code: 0 });
    return file;
  }

  /** Gives a restore all but the last file, and kills it when the first one is there. */
  async function killHalfWay({ url, db }: Target, file: string, files: string): Promise<void> {
    const bytes = await readFile(file);
    const half = millrace(url, { files }, 'restore', '-');
    half.feed(bytes.subarray(0, -1_500_000));
    let isOver = false;
    void half.ended.then(() => {
      isOver = true;
    });
    await until('the first file to be written', async () => isOver || (await namesIn(files)).length > 0);
    half.kill();
    expect(await half.ended).toMatchObject({ code: null });
    await sessionEnded(db);
  }

  async function runAgain({ url }: Target, file: string, files: string): Promise<void> {
    const { code, output } = await millrace(url, { files }, 'restore', file).ended;
    expect(code, output).toBe(0);
  }

  async function expectContents(files: string): Promise<void> {
    const store = createFolderStore(files);
    for (const [index, id] of ids.entries()) {
      const content = contents[index] ?? Buffer.of();
      expect((await buffer(await store.read(id, content.length))).equals(content)).toBe(true);
    }
    expect((await namesIn(files)).toSorted()).toEqual(ids.toSorted());
  }

  it('can be run again, and overwrites what is there, if it is that of a whole instance', async () => {
    const file = await backedUp();
    const target = await addTarget('half_files');
    const files = freshFolder('files');
    await killHalfWay(target, file, files);
    await runAgain(target, file, files);
    await expectContents(files);
  });

  it('can be run again, or is tidied up by the sweep, if it is that of one organisation', async () => {
    const file = await backedUp('--organisation', String(organisationId));
    const target = await addTarget('half_organisation');
    const { url, db } = target;
    expect(await millrace(url, {}, 'migrate').ended).toMatchObject({ code: 0 });
    const files = freshFolder('files');
    await killHalfWay(target, file, files);
    const left = await db.query<{ state: string; is_kept: boolean }>(
      `SELECT state, sweep_at > now() + interval '6 days' AS is_kept FROM files`,
    );
    expect(new Set(left.map(({ state, is_kept: isKept }) => `${state} ${isKept}`))).toEqual(
      new Set(['writing true']),
    );
    // As after seven days.
    await db.query('UPDATE files SET sweep_at = now()');
    expect(await sweepFiles({ db, store: createFolderStore(files), log: pino({ level: 'silent' }) })).toBe(
      left.length,
    );
    expect(await namesIn(files)).toEqual([]);

    await killHalfWay(target, file, files);
    await runAgain(target, file, files);
    await expectContents(files);
    expect(await db.query('SELECT files, bytes FROM file_usage WHERE files > 0')).toEqual([
      { files: contents.length, bytes: contents.length * 1_500_000 },
    ]);
  });
});

/** Names of files that are whole, in a folder and below it; without the one that says whose they are. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  return names.filter((name) => !name.startsWith('installation') && !name.endsWith('.part'));
}
