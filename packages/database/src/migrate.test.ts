import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MigrationError, migrate, pendingMigrations, releasedMigrations } from './migrate.ts';
import { createDatabase } from './pool.ts';

let database: TestDatabase;
let folder: string;
beforeEach(async () => {
  database = await createTestDatabase();
  await database.db.query('DROP TABLE schema_migrations');
  folder = await mkdtemp(join(tmpdir(), 'millrace-migrations-'));
  await addMigration('0001_first.sql', 'CREATE TABLE one (n int); INSERT INTO one VALUES (1)');
  await addMigration('0002_second.sql', 'CREATE FUNCTION two() RETURNS int LANGUAGE sql AS $$ SELECT 2; $$');
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const addMigration = (name: string, sql: string) => writeFile(join(folder, name), sql);
const apply = async () => (await migrate(database.db, folder)).map((migration) => migration.name);
const pending = async () => (await pendingMigrations(database.db, folder)).map((migration) => migration.name);

describe('migrate', () => {
  test('applies pending steps once, and later steps later', async () => {
    expect(await pending()).toEqual(['first', 'second']);
    expect(await apply()).toEqual(['first', 'second']);
    expect(await pending()).toEqual([]);
    expect(await apply()).toEqual([]);
    await addMigration('0003_third.sql', 'INSERT INTO one SELECT two()');
    expect(await apply()).toEqual(['third']);
    expect(await database.db.query('SELECT n FROM one ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('several processes at once apply each step once', async () => {
    const others = [1, 2, 3].map(() => createDatabase(database.url, { lanes: 1 }));
    const applied = await Promise.all(others.map((db) => migrate(db, folder)));
    expect(
      applied
        .flat()
        .map((migration) => migration.name)
        .sort(),
    ).toEqual(['first', 'second']);
    await Promise.all(others.map((db) => db.close()));
  });

  test('a failing step leaves nothing behind and keeps those before it', async () => {
    await addMigration('0003_broken.sql', 'CREATE TABLE three (n int); SELECT 1 / 0');
    await expect(apply()).rejects.toThrow('Migration 3 (broken) failed: division by zero');
    expect(await pending()).toEqual(['broken']);
    expect(await database.db.query(`SELECT to_regclass('three') AS found`)).toEqual([{ found: null }]);
  });

  test('a step that meets a working process gives way to it and is retried', async () => {
    await apply();
    await database.db.query('CREATE TABLE late (n int)');
    await addMigration(
      '0003_locks.sql',
      'LOCK TABLE one; LOCK TABLE late; ALTER TABLE late ADD COLUMN m int',
    );
    const other = createDatabase(database.superuserUrl, { lanes: 1 });
    await other.exclusive(async (session) => {
      // The migration must be the one that detects the deadlock and fails.
      await session.query("BEGIN; SET LOCAL deadlock_timeout = '1h'; LOCK TABLE late");
      const migrating = apply();
      await expect
        .poll(() =>
          database.db.query("SELECT FROM pg_locks WHERE relation = 'late'::regclass AND NOT granted"),
        )
        .toHaveLength(1);
      await session.query('LOCK TABLE one');
      await session.query('COMMIT');
      expect(await migrating).toEqual(['locks']);
    });
    await other.close();
  });

  describe('a concurrent step', () => {
    const INDEX = `-- Concurrently, as a test.
      DROP INDEX CONCURRENTLY IF EXISTS one_by_n;
      CREATE UNIQUE INDEX CONCURRENTLY one_by_n ON one (n)`;
    const isValid = () =>
      database.db.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'one_by_n'::regclass`);

    test('lets others write and waits for none that wait for it', async () => {
      await apply();
      await addMigration('0003_indexed.sql', INDEX);
      const other = createDatabase(database.url, { lanes: 1 });
      await other.exclusive(async (session) => {
        await session.query('BEGIN; INSERT INTO one VALUES (2)');
        const migrating = apply();
        await expect
          .poll(() => database.db.query(`SELECT FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted`))
          .toHaveLength(1);
        const waiting = migrate(other, folder);
        await expect
          .poll(() =>
            database.db.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%advisory_xact_lock%'
                 AND pid <> pg_backend_pid() AND NOT EXISTS (
                   SELECT FROM pg_locks l WHERE l.pid = pg_stat_activity.pid AND l.locktype = 'advisory' AND l.granted)`,
            ),
          )
          .toHaveLength(1);
        await database.db.transaction(async (tx) => {
          await tx.query(`SET LOCAL lock_timeout = '1s'`);
          await tx.query('INSERT INTO one VALUES (3)');
        });
        await session.query('COMMIT');
        expect([...(await migrating), ...(await waiting)]).toHaveLength(1);
      });
      await other.close();
      expect(await isValid()).toEqual([{ indisvalid: true }]);
    });

    test('begins again when it was interrupted', async () => {
      await apply();
      await database.db.query('INSERT INTO one VALUES (1)');
      await addMigration('0003_indexed.sql', INDEX);
      await expect(apply()).rejects.toThrow('Migration 3 (indexed) failed: could not create unique index');
      expect(await isValid()).toEqual([{ indisvalid: false }]);
      await database.db.query('DELETE FROM one');
      expect(await apply()).toEqual(['indexed']);
      expect(await isValid()).toEqual([{ indisvalid: true }]);
    });
  });

  test('a step changed after it was applied is refused', async () => {
    await apply();
    await addMigration('0001_first.sql', 'CREATE TABLE one (n bigint)');
    await expect(apply()).rejects.toThrow('Migration 1 (first) is not the one');
    await expect(pending()).rejects.toBeInstanceOf(MigrationError);
  });

  test('a database of a newer version is refused', async () => {
    await apply();
    await rm(join(folder, '0002_second.sql'));
    await expect(apply()).rejects.toThrow('used by a newer one');
  });

  test('a gap in the numbers is refused', async () => {
    await addMigration('0004_late.sql', 'SELECT 1');
    await expect(apply()).rejects.toThrow('0003_name.sql');
  });
});

test('released steps only add, so that the previous version continues beside the new one', async () => {
  const released = new URL('./migrations/', import.meta.url);
  const TAKES_AWAY =
    /\bDROP\s+(?:TABLE|COLUMN)\b|\bRENAME\b|\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+DATA\s+)?TYPE\b/i;
  // Guaranteed from here on (docs/operations.md, Upgrade).
  const files = (await readdir(released)).filter((file) => file.endsWith('.sql') && file > '0018');
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const sql = (await readFile(new URL(file, released), 'utf8')).replace(/--.*$/gm, '');
    expect(`${file}: ${TAKES_AWAY.exec(sql)?.[0] ?? ''}`).toBe(`${file}: `);
  }
});

test('released concurrent steps consist of statements that can be repeated', async () => {
  const concurrent = (await releasedMigrations()).filter(({ sql }) => sql.startsWith('-- Concurrently'));
  expect(concurrent.length).toBeGreaterThan(0);
  for (const { sql } of concurrent) {
    const statements = sql.replaceAll(/--.*$/gm, '').split(';').slice(0, -1);
    const made = statements.flatMap((text) => /^\s*CREATE INDEX CONCURRENTLY (\w+)/.exec(text)?.[1] ?? []);
    const dropped = statements.flatMap(
      (text) => /^\s*DROP INDEX CONCURRENTLY IF EXISTS (\w+)/.exec(text)?.[1] ?? [],
    );
    expect(made.length + dropped.length).toBe(statements.length);
    expect(dropped).toEqual(expect.arrayContaining(made));
  }
});
