import { randomBytes } from 'node:crypto';
import { PassThrough, Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { migrateWithin, releasedMigrations } from '@millrace/database/migrate';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { registry } from '@millrace/nodes';
import type { SecretKeys } from '@millrace/secrets/keys';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertExecution, insertWorkflow } from '@millrace/testing/rows';
import { Encrypter } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readArchive, writeArchive } from './archive.ts';
import { type BackupOptions, backUp } from './backup.ts';
import { BackupError } from './errors.ts';
import { restore } from './restore.ts';
import { lockRestore } from './target.ts';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const NO_KEYS = {} as SecretKeys;
const PASSPHRASE = 'correct horse battery staple';
const OPTIONS: BackupOptions = { productVersion: '1.2.3', passphrase: null, withKeys: false, store: null };
/** Every kind of value: escapes of the copy format, other scripts, nulls, large and incompressible ones. */
const AWKWARD = `\\ \\. \\N \t \r\n 支払い \u{1f511} "quoted" ''`;

let source: TestDatabase;
let plain: Buffer;
const targets: TestDatabase[] = [];
beforeAll(async () => {
  source = await createTestDatabase();
  const { organisationId, workflowId } = await insertWorkflow(source.db, 'Acme');
  for (const status of ['queued', 'running', 'completed']) {
    const id = await insertExecution(source.db, { organisationId, workflowId });
    if (status === 'queued') continue;
    await source.db.query(
      `UPDATE executions SET status = 'running', worker_id = gen_random_uuid(), started_at = created_at WHERE id = $1`,
      [id],
    );
    if (status === 'running') continue;
    await source.db.query(
      `UPDATE executions SET status = 'completed', worker_id = NULL, completed_at = now() WHERE id = $1`,
      [id],
    );
  }
  await source.db.query(
    `INSERT INTO data_entries (organisation_id, key, value)
     SELECT $1, 'entry ' || n, to_json($2 || n || repeat(md5(n::text), 100)) FROM generate_series(1, 2000) n`,
    [organisationId, AWKWARD],
  );
  await source.db.query(
    `INSERT INTO workers (id, host, pid, lease_expires_at) VALUES (gen_random_uuid(), 'gone', 1, now() + interval '1 hour')`,
  );
  await source.db.query(`INSERT INTO setup_links (token_hash) VALUES ($1)`, [randomBytes(32)]);
  plain = await backupOf(source.db);
});
afterAll(async () => {
  await Promise.all([source, ...targets].map((database) => database.drop()));
});

async function backupOf(db: PgDatabase, options: Partial<BackupOptions> = {}): Promise<Buffer> {
  const out = new PassThrough();
  const bytes = buffer(out);
  await backUp(db, NO_KEYS, out, { ...OPTIONS, ...options });
  return await bytes;
}

/** A database without tables. */
async function emptyTarget(): Promise<TestDatabase> {
  const target = await createTestDatabase();
  targets.push(target);
  await target.db.query('DROP OWNED BY millrace');
  return target;
}

async function migratedTarget(): Promise<TestDatabase> {
  const target = await createTestDatabase();
  targets.push(target);
  return target;
}

/** As a backup is encrypted, but with a key that is quickly derived from the passphrase. */
async function encryptedCheaply(bytes: Buffer): Promise<Buffer> {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(8);
  encrypter.setPassphrase(PASSPHRASE);
  return Buffer.from(await encrypter.encrypt(bytes));
}

function restoreInto(db: PgDatabase, bytes: Buffer, passphrase: string | null = null) {
  return restore(db, Readable.from(inChunks(bytes)), {
    askPassphrase: async () => {
      if (passphrase === null) throw new BackupError('backup_passphrase', 'asked');
      return passphrase;
    },
    placeKeys: async () => {},
    keys: { own: NO_KEYS, given: [] },
    isPaused: false,
    registry,
    files: null,
  });
}

function* inChunks(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
}

/** What is in the tables, as text; those that are left out are absent. */
async function contentOf(db: PgDatabase): Promise<Map<string, string[]>> {
  const tables = await db.query<{ name: string; statement: string }>(
    `SELECT relname::text AS name, format('SELECT t::text AS row FROM %I t ORDER BY 1', relname) AS statement
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migrations'`,
  );
  const content = new Map<string, string[]>();
  for (const { name, statement } of tables) {
    const rows = await db.query<{ row: string }>(statement);
    content.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return content;
}

/** Without what a restore changes or leaves out. */
function comparable(content: Map<string, string[]>): Map<string, string[]> {
  const changed = new Set(['workers', 'setup_links', 'executions']);
  return new Map([...content].filter(([name]) => !changed.has(name)));
}

const refusal = (code: string) => expect.objectContaining({ name: 'BackupError', code });

describe('what is restored', () => {
  let target: TestDatabase;
  beforeAll(async () => {
    target = await emptyTarget();
    expect(await restoreInto(target.db, plain)).toMatchObject({ requeued: 1, migrated: [] });
  });

  test('is row by row what was there, apart from what belongs to the processes of the source', async () => {
    const [before, after] = [await contentOf(source.db), await contentOf(target.db)];
    for (const name of ['workers', 'setup_links']) {
      expect(before.get(name), name).toHaveLength(1);
      expect(after.get(name), name).toEqual([]);
    }
    expect(comparable(after)).toEqual(comparable(before));
  });

  test('waits for a worker if it was running, without a crash counted', async () => {
    const statuses = 'SELECT status, worker_id, crashed_attempts FROM executions ORDER BY id';
    expect(await target.db.query(statuses)).toEqual([
      { status: 'queued', worker_id: null, crashed_attempts: 0 },
      { status: 'queued', worker_id: null, crashed_attempts: 0 },
      { status: 'completed', worker_id: null, crashed_attempts: 0 },
    ]);
  });

  test('has the same schema, and enforces it', async () => {
    expect(await schemaOf(target.db)).toEqual(await schemaOf(source.db));
    await expect(
      target.db.query(`UPDATE executions SET status = 'running' WHERE status = 'completed'`),
    ).rejects.toMatchObject({ code: 'MR001' });
    const [other] = await target.db.forOrganisation(999_999, (tx) =>
      tx.query<{ count: number }>('SELECT count(*) FROM executions'),
    );
    expect(other?.count).toBe(0);
  });

  test('gives out no id that the source may have given out since', async () => {
    const next = `SELECT nextval('execution_ids') AS execution, nextval('workflows_id_seq') AS workflow`;
    const [given] = await target.db.query<{ execution: number; workflow: number }>(next);
    expect(given?.execution).toBeGreaterThan(100_000_000);
    expect(given?.workflow).toBeGreaterThan(10_000);
  });
});

/** Everything that a restore takes apart and makes again. */
async function schemaOf(db: PgDatabase): Promise<unknown> {
  return await db.query(
    `SELECT indexdef AS text FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) || convalidated FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace
     UNION ALL SELECT tgrelid::regclass || tgname || tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT relname || relrowsecurity || relforcerowsecurity FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
     ORDER BY 1`,
  );
}

describe('a target', () => {
  test('that has content is refused and left as it is', async () => {
    const target = await migratedTarget();
    await insertWorkflow(target.db, 'Already here');
    const before = await contentOf(target.db);
    await expect(restoreInto(target.db, plain)).rejects.toEqual(refusal('restore_not_empty'));
    expect(await contentOf(target.db)).toEqual(before);
  });

  test('that was migrated and never used is accepted', async () => {
    const target = await migratedTarget();
    await restoreInto(target.db, plain);
    expect((await contentOf(target.db)).get('data_entries')).toHaveLength(2000);
  });

  test('that gets content while the restore begins is refused, and stays usable', async () => {
    const target = await migratedTarget();
    const racing: PgDatabase = {
      ...target.db,
      copying: (work) =>
        target.db.copying((session) =>
          work({
            copyTo: (text) => session.copyTo(text),
            copyFrom: (text) => session.copyFrom(text),
            async query(text, values, name) {
              const rows = await session.query(text, values, name);
              if (text.startsWith('CREATE TABLE')) await insertWorkflow(target.db, 'Faster');
              return rows as never;
            },
          }),
        ),
    };
    await expect(restoreInto(racing, plain)).rejects.toEqual(refusal('restore_not_empty'));
    expect(await tablesOf(target.db)).not.toContain('unfinished_restore');
    expect(await target.db.query('SELECT name FROM organisations')).toEqual([{ name: 'Faster' }]);
  });

  test('is waited for until PostgreSQL notices that another restore was killed, also in the middle of a statement', async () => {
    const target = await emptyTarget();
    const found: object[] = [];
    await target.db.exclusive(async (session) => {
      await session.query('BEGIN');
      await lockRestore({
        async query(text, values, name) {
          if (text.includes('pg_advisory_xact_lock')) {
            const limits = await session.query<{ is_longer: boolean }>(
              `SELECT current_setting('lock_timeout')::interval > current_setting('client_connection_check_interval')::interval AS is_longer`,
            );
            found.push(...limits);
          }
          return (await session.query(text, values, name)) as never;
        },
      });
    });
    expect(found).toEqual([{ is_longer: true }]);
  });

  test('that another restore is filling is refused', async () => {
    const target = await emptyTarget();
    const stalled = new PassThrough();
    stalled.write(plain.subarray(0, plain.length / 2));
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const first = restore(target.db, stalled, {
      askPassphrase: async () => '',
      placeKeys: async () => {},
      keys: { own: NO_KEYS, given: [] },
      isPaused: false,
      registry,
      files: null,
      onProgress: () => begin(),
    });
    await begun;
    const other = createDatabase(target.url, { lanes: 1 });
    await expect(restoreInto(other, plain)).rejects.toEqual(refusal('restore_running'));
    await other.close();
    stalled.end(plain.subarray(plain.length / 2));
    await first;
    expect((await contentOf(target.db)).get('data_entries')).toHaveLength(2000);
  });
});

describe('a passphrase', () => {
  let encrypted: Buffer;
  beforeAll(async () => {
    encrypted = await backupOf(source.db, { passphrase: PASSPHRASE });
  });

  test('is needed to restore what was encrypted with it', async () => {
    const target = await emptyTarget();
    await expect(restoreInto(target.db, encrypted)).rejects.toEqual(refusal('backup_passphrase'));
    await expect(restoreInto(target.db, encrypted, 'wrong')).rejects.toEqual(refusal('backup_passphrase'));
    await restoreInto(target.db, encrypted, PASSPHRASE);
    expect((await contentOf(target.db)).get('data_entries')).toHaveLength(2000);
  });

  test('leaves nothing readable, and no change unnoticed', async () => {
    expect(encrypted.includes('manifest')).toBe(false);
    const target = await migratedTarget();
    const bytes = await encryptedCheaply(plain);
    await restoreInto((await emptyTarget()).db, bytes, PASSPHRASE);
    for (const at of [30, 200, bytes.length >> 1, bytes.length - 1]) {
      const failure = await restoreInto(target.db, flipped(bytes, at), PASSPHRASE).catch((error) => error);
      expect(failure, `byte ${at}`).toBeInstanceOf(BackupError);
    }
    expect(await target.db.query('SELECT FROM workflows')).toEqual([]);
  });
});

describe('a damaged file', () => {
  test('is refused, and nothing of it is stored, or has lost nothing', async () => {
    const content = comparable(await contentOf(source.db));
    let target = await migratedTarget();
    const places = Array.from({ length: 8 }, (_, index) => Math.floor((plain.length * index) / 8));
    const lengths = [0, 4, 500, plain.length >> 1, plain.length - 100];
    const files = [
      ...[...places, plain.length - 1].map((at) => ({ what: `byte ${at}`, bytes: flipped(plain, at) })),
      ...lengths.map((length) => ({ what: `${length} bytes`, bytes: plain.subarray(0, length) })),
    ];
    let refused = 0;
    for (const { what, bytes } of files) {
      const failure = await restoreInto(target.db, bytes).then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) {
        // Some bits of a compressed file mean nothing, or are only padding.
        expect(comparable(await contentOf(target.db)), what).toEqual(content);
        target = await migratedTarget();
      } else {
        expect(failure, what).toEqual(refusal('backup_damaged'));
        expect(await target.db.query('SELECT FROM workflows'), what).toEqual([]);
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(files.length / 2);
    await expect(restoreInto(target.db, plain.subarray(0, plain.length >> 1))).rejects.toThrow('Nothing was');
    expect(await tablesOf(target.db)).toContain('unfinished_restore');
    await restoreInto(target.db, plain);
    expect(await tablesOf(target.db)).not.toContain('unfinished_restore');
  });

  test.each([
    ['a newer version of the format', { format_version: 4 }, 'backup_version'],
    ['a newer schema', { schema_version: 9999 }, 'backup_version'],
    ['other migrations', { migrations: [] }, 'backup_version'],
    ['a table that is not in its schema', { tables: [{ name: 'gone', columns: ['id'] }] }, 'backup_damaged'],
    ['no format', { format: 'other' }, 'backup_damaged'],
  ])('with a manifest of %s is refused', async (_what, change, code) => {
    const target = await migratedTarget();
    const changed = await withManifest(plain, change);
    await expect(restoreInto(target.db, changed)).rejects.toEqual(refusal(code));
    expect(await target.db.query('SELECT FROM workflows')).toEqual([]);
  });
});

test('a backup of an older schema is restored at that schema and then migrated', async () => {
  const older = await emptyTarget();
  const migrations = await releasedMigrations();
  const last = migrations.length - 3;
  await older.db.transaction((tx) => migrateWithin(tx, last));
  await insertWorkflow(older.db, 'Old');
  const target = await emptyTarget();
  const summary = await restoreInto(target.db, await backupOf(older.db));
  expect(summary.manifest.schema_version).toBe(last);
  expect(summary.migrated).toEqual(migrations.slice(last).map(({ name }) => name));
  expect(await target.db.query('SELECT name FROM organisations')).toEqual([{ name: 'Old' }]);
  expect(await schemaOf(target.db)).toEqual(await schemaOf(source.db));
});

/** The same backup with other members in its manifest. */
async function withManifest(bytes: Buffer, change: object): Promise<Buffer> {
  const entries = readArchive(Readable.from([bytes]), async () => '');
  async function* changed() {
    for await (const entry of entries) {
      if (entry.name !== 'manifest.json') yield entry;
      else {
        const manifest = { ...JSON.parse(entry.body.toString()), ...change };
        yield { name: entry.name, body: Buffer.from(JSON.stringify(manifest)) };
      }
    }
  }
  const out = new PassThrough();
  const written = buffer(out);
  await writeArchive(changed(), out, null);
  return await written;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0x10;
  return changed;
}

async function tablesOf(db: PgDatabase): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  return rows.map(({ name }) => name);
}

test('what a slow reader has not taken is not held in memory', async () => {
  const big = await createTestDatabase();
  targets.push(big);
  const { organisationId } = await insertWorkflow(big.db, 'Acme');
  // 48 MiB that compression makes little smaller.
  for (let round = 0; round < 48; round += 1) {
    await big.db.query(
      `INSERT INTO data_entries (organisation_id, key, value) VALUES ($1, $2, to_json($3::text))`,
      [
        organisationId,
        `entry ${round}`,
        randomBytes(768 * 1024)
          .toString('base64')
          .slice(0, 1024 * 1024 - 2),
      ],
    );
  }
  let read = 0;
  let taken = 0;
  let farthest = 0;
  const slow = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      setImmediate(done);
    },
  });
  await backUp(big.db, NO_KEYS, slow, {
    ...OPTIONS,
    onProgress: ({ bytes }) => {
      read = bytes;
      farthest = Math.max(farthest, read * 0.75 - taken);
    },
  });
  expect(read).toBeGreaterThan(48 * 1024 * 1024);
  expect(farthest).toBeLessThan(8 * 1024 * 1024);
});
