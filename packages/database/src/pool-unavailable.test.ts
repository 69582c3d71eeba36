import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { holdLocks } from '@millrace/testing/hold-locks';
import { openProxy } from '@millrace/testing/proxy';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DatabaseUnavailableError, isStatementTimeout, isTimeout } from './errors.ts';
import { createDatabase } from './pool.ts';

let database: TestDatabase;
/** Sees and terminates the connections of `database.db`. */
let observer: ReturnType<typeof createDatabase>;

beforeAll(async () => {
  database = await createTestDatabase();
  observer = createDatabase(database.superuserUrl, { applicationName: 'observer', lanes: 1 });
});
afterAll(async () => {
  await observer.close();
  await database.drop();
});

/** Returns once they have ended: later tests must not meet one that is about to. */
const DISCONNECT = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'millrace'`;
const INSERT_ORGANISATION = 'INSERT INTO organisations (name) VALUES ($1)';

describe('several servers', () => {
  /** The database at an address that responds, listed after others. */
  const behind = (url: string, before: string) => url.replace('@', `@${before},`);

  test('dead ones are skipped', async () => {
    const way = await openProxy(database.url);
    const db = createDatabase(behind(way.url, '127.0.0.1:1,[::1]:1'), { lanes: 1 });
    expect(await db.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    way.forward();
    await expect.poll(() => db.query('SELECT 2 AS n').catch(() => [])).toEqual([{ n: 2 }]);
    await db.close();
    await way.close();
  });

  test('one that accepts no writes is skipped unless any will do, and left once it stops accepting them', async () => {
    const way = await openProxy(database.url);
    const url = behind(way.url, '127.0.0.1:1');
    const before = createDatabase(url, { lanes: 1 });
    await before.query('SET default_transaction_read_only = on');
    await expect(before.query('CREATE TABLE no (n int)')).rejects.toMatchObject({ cause: { code: '25006' } });
    // A new connection, not the one that was set read-only.
    expect(await before.query('SHOW default_transaction_read_only')).toEqual([
      { default_transaction_read_only: 'off' },
    ]);
    await before.close();

    const readOnly = `${url}?options=-c%20default_transaction_read_only%3Don`;
    const db = createDatabase(readOnly);
    await expect(db.query('SELECT 1')).rejects.toThrow('the server accepts no writes');
    await db.close();
    const any = createDatabase(`${readOnly}&target_session_attrs=any`);
    expect(await any.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await any.close();
    await way.close();
  });

  test('all of them down: each is reported', async () => {
    const away = createDatabase('postgresql://nobody:none@127.0.0.1:1,127.0.0.1:2/none');
    await expect(away.query('SELECT 1')).rejects.toThrow(/127\.0\.0\.1:1.*127\.0\.0\.1:2/);
    await away.close();
  });

  test('a wrong password is reported at once', async () => {
    const way = await openProxy(database.url);
    const db = createDatabase(way.url.replace(/:[^:@]+@/, ':wrong@127.0.0.1:1,'));
    await expect(db.query('SELECT 1')).rejects.toMatchObject({ cause: { code: '28P01' } });
    await db.close();
    await way.close();
  });
});

describe('whether the database accepts writes', () => {
  /** What PostgreSQL returns when it can't extend a file. */
  const FULL = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON write_probes EXECUTE FUNCTION full_disk();
    CREATE TRIGGER full_disk BEFORE INSERT ON organisations EXECUTE FUNCTION full_disk()`;
  const ROOM = 'DROP FUNCTION full_disk CASCADE';

  test('shows in a write that failed at once, and recovers when there is space', async () => {
    const { db } = database;
    expect(await db.findWriteObstacle()).toBeNull();
    await db.query(FULL);
    await expect(db.query(INSERT_ORGANISATION, ['no room'])).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await db.findWriteObstacle()).toBe('disk_full');
    await db.query(ROOM);
    await expect.poll(() => db.findWriteObstacle()).toBeNull();
  });

  test('is checked by a process that has written nothing', async () => {
    await database.db.query(FULL);
    const fresh = createDatabase(database.url, { lanes: 1 });
    expect(await fresh.findWriteObstacle()).toBe('disk_full');
    await fresh.close();
    await database.db.query(ROOM);
  });
});

describe('a database that becomes unavailable', () => {
  test('ended connections fail current statements as unavailable, and later ones work', async () => {
    const slow = Promise.allSettled([
      database.db.query('SELECT pg_sleep(30)'),
      database.db.query('SELECT 1'),
    ]);
    await expect.poll(async () => sleepers()).toBe(1);
    await observer.query(DISCONNECT);
    const outcomes = await slow;
    expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailableError) });
    // The loss of another connection may not have been noticed yet; it costs at most one statement.
    await expect.poll(() => database.db.query('SELECT 1 AS n').catch(() => [])).toEqual([{ n: 1 }]);
    expect(await database.db.transaction((tx) => tx.query('SELECT 2 AS n'))).toEqual([{ n: 2 }]);
  });

  test('a missing server: unavailable, at once while the last attempt is recent', async () => {
    const away = createDatabase('postgresql://nobody:none@127.0.0.1:1/none');
    await expect(away.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(away.transaction(async () => {})).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await away.close();
  });

  test("a statement over its time is unavailable and doesn't block others", async () => {
    const impatient = createDatabase(database.url, { statementTimeoutMs: 50, lanes: 2 });
    const error: unknown = await impatient.query('SELECT pg_sleep(30)').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailableError);
    expect([isTimeout(error), isStatementTimeout(error)]).toEqual([true, true]);
    // On a machine that is busy enough, any statement takes longer than that.
    await expect.poll(() => impatient.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await impatient.close();
  });

  test('all connections in use: the next transaction waits, then is refused as unavailable', async () => {
    const small = createDatabase(database.url, { maxSessions: 1, acquireTimeoutMs: 60_000 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const borrowed = Promise.withResolvers<void>();
    const holder = holdLocks(small, async () => {
      borrowed.resolve();
      await promise;
    });
    await borrowed.promise;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const refused = expect(small.transaction(async () => {})).rejects.toThrow(
        'all 1 connections were busy',
      );
      await vi.advanceTimersByTimeAsync(60_000);
      await refused;
    } finally {
      vi.useRealTimers();
    }
    const next = small.transaction((tx) => tx.query('SELECT 1 AS n'));
    resolve();
    await holder;
    expect(await next).toEqual([{ n: 1 }]);
    await small.close();
  });

  test('a black hole is detected: the connection is cut and the statement is unavailable', async () => {
    const hole = await openProxy(database.url);
    const distant = createDatabase(hole.url, { statementTimeoutMs: 50, lanes: 1 });
    await expect.poll(() => distant.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    hole.swallow();
    await expect(distant.query('SELECT 1')).rejects.toThrow('did not answer');
    hole.forward();
    await expect.poll(() => distant.query('SELECT 2 AS n')).toEqual([{ n: 2 }]);
    await distant.close();
    await hole.close();
  });

  test('a wrong password is reported with its cause', async () => {
    const url = new URL(database.url);
    url.password = 'wrong';
    const locked = createDatabase(url.href);
    await expect(locked.query('SELECT 1')).rejects.toMatchObject({ cause: { code: '28P01' } });
    await locked.close();
  });

  async function sleepers(): Promise<number> {
    const rows = await observer.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
    );
    return rows.length;
  }
});
