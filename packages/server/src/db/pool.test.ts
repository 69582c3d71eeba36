import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { openProxy } from '../../test/support/proxy.ts';
import { insertWorkflow } from '../../test/support/rows.ts';
import { DatabaseUnavailableError, TransactionRolledBackError } from './errors.ts';
import { createDatabase } from './pool.ts';

let database: TestDatabase;
/** Sees and ends the connections of `database.db`. */
let observer: ReturnType<typeof createDatabase>;

beforeAll(async () => {
  database = await createTestDatabase();
  observer = createDatabase(database.superuserUrl, { applicationName: 'observer', lanes: 1 });
});
afterAll(async () => {
  await observer.close();
  await database.drop();
});

const DISCONNECT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'millrace'`;
const INSERT_ORGANISATION = 'INSERT INTO organisations (name) VALUES ($1)';

async function countOrganisations(name: string): Promise<number> {
  const [row] = await observer.query<{ count: number }>(
    'SELECT count(*) FROM organisations WHERE name = $1',
    [name],
  );
  return row?.count ?? -1;
}

describe('values of columns', () => {
  test('bigint is a number, timestamptz a Date, json its text, bytea a Buffer', async () => {
    const [row] =
      await database.db.query(`SELECT 9007199254740991::bigint AS big, ARRAY[1, 2]::bigint[] AS bigs,
      '2026-11-20 09:30:00.123+02'::timestamptz AS time, '{"b": 1.0, "a": 2}'::json AS json,
      '\\x00ff'::bytea AS bytes, NULL::bigint AS nothing, '2026-11-20'::date AS day`);
    expect(row).toEqual({
      big: 9007199254740991,
      bigs: [1, 2],
      time: new Date('2026-11-20T07:30:00.123Z'),
      json: '{"b": 1.0, "a": 2}',
      bytes: Buffer.from([0, 255]),
      nothing: null,
      day: '2026-11-20',
    });
  });

  test('a bigint that a number cannot hold is an error, never another number', async () => {
    await expect(database.db.query('SELECT 9007199254740993::bigint AS big')).rejects.toThrow(
      '9007199254740993',
    );
    expect(await database.db.query('SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });
});

describe('statements outside transactions', () => {
  test('a failing statement leaves those around it alone', async () => {
    const outcomes = await Promise.allSettled([
      database.db.query('SELECT 1 AS n'),
      database.db.query('SELECT 1 / $1::int AS n', [0], 'test_divide'),
      database.db.query('SELECT 2 AS n'),
      database.db.query('SELECT no_such_column'),
      database.db.query('SELECT 1 / $1::int AS n', [1], 'test_divide'),
    ]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.code)),
    ).toEqual([[{ n: 1 }], '22012', [{ n: 2 }], '42703', [{ n: 1 }]]);
  });

  test('hundreds at once are all answered, each with its own rows', async () => {
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    const answers = await Promise.all(
      numbers.map((n) => database.db.query<{ n: number }>('SELECT $1::int AS n', [n], 'test_echo')),
    );
    expect(answers.map(([row]) => row?.n)).toEqual(numbers);
  });

  test('a prepared statement survives a change of its table', async () => {
    await database.db.query('CREATE TABLE changing (a int)');
    const read = () => database.db.query('SELECT * FROM changing', [], 'test_changing');
    await Promise.all([read(), read(), read()]);
    await database.db.query('ALTER TABLE changing ADD COLUMN b int');
    await database.db.query('INSERT INTO changing VALUES (1, 2)');
    expect(await read()).toEqual([{ a: 1, b: 2 }]);
  });
});

describe('a database that goes away', () => {
  test('ended connections fail what is under way as unavailable, and later ones work', async () => {
    const slow = Promise.allSettled([
      database.db.query('SELECT pg_sleep(30)'),
      database.db.query('SELECT 1'),
    ]);
    await expect.poll(async () => sleepers()).toBe(1);
    await observer.query(DISCONNECT);
    const outcomes = await slow;
    expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailableError) });
    // Another connection's end may not have been noticed yet; it costs one statement at most.
    await expect.poll(() => database.db.query('SELECT 1 AS n').catch(() => [])).toEqual([{ n: 1 }]);
    expect(await database.db.transaction((tx) => tx.query('SELECT 2 AS n'))).toEqual([{ n: 2 }]);
  });

  test('a server that is not there: unavailable, at once while the last attempt is fresh', async () => {
    const away = createDatabase('postgresql://nobody:none@127.0.0.1:1/none');
    await expect(away.query('SELECT 1')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(away.transaction(async () => {})).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await away.close();
  });

  test('a statement over its time is unavailable and does not block the others', async () => {
    const impatient = createDatabase(database.url, { statementTimeoutMs: 50, lanes: 2 });
    await expect(impatient.query('SELECT pg_sleep(30)')).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await impatient.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await impatient.close();
  });

  test('all connections lent: the next transaction waits its time and is refused as unavailable', async () => {
    const small = createDatabase(database.url, { maxSessions: 1, acquireTimeoutMs: 50 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const holder = small.transaction(() => promise);
    await expect(small.transaction(async () => {})).rejects.toThrow('all 1 connections were busy');
    const next = small.transaction((tx) => tx.query('SELECT 1 AS n'));
    resolve();
    await holder;
    expect(await next).toEqual([{ n: 1 }]);
    await small.close();
  });

  test('a black hole is noticed: the connection is cut and the statement is unavailable', async () => {
    const hole = await openProxy(database.url);
    const distant = createDatabase(hole.url, { statementTimeoutMs: 50, lanes: 1 });
    expect(await distant.query('SELECT 1 AS n')).toEqual([{ n: 1 }]);
    hole.swallow();
    await expect(distant.query('SELECT 1')).rejects.toThrow('did not answer');
    hole.forward();
    expect(await distant.query('SELECT 2 AS n')).toEqual([{ n: 2 }]);
    await distant.close();
    await hole.close();
  });

  test('a wrong password is told with its cause', async () => {
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

describe('transactions', () => {
  test('a throw rolls everything back', async () => {
    const failing = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['thrown']);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await countOrganisations('thrown')).toBe(0);
  });

  test('a swallowed error of a statement is not mistaken for success', async () => {
    const swallowing = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['swallowed']);
      await tx.query('SELECT 1 / 0').catch(() => {});
    });
    await expect(swallowing).rejects.toBeInstanceOf(TransactionRolledBackError);
    expect(await countOrganisations('swallowed')).toBe(0);
  });

  test('a connection lost in the middle: unavailable, nothing stored', async () => {
    const cut = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['cut']);
      await observer.query(DISCONNECT);
      await tx.query('SELECT 1');
    });
    await expect(cut).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await countOrganisations('cut')).toBe(0);
  });

  test('what is sent after the end is refused', async () => {
    const late = await database.db.transaction(async (tx) => () => tx.query('SELECT 1'));
    await expect(late()).rejects.toThrow('has ended');
  });

  test('two that block each other both end well', async () => {
    await database.db.query(
      'CREATE TABLE counters (id int PRIMARY KEY, n int); INSERT INTO counters VALUES (1, 0), (2, 0)',
    );
    const increment = (first: number, second: number, met: () => Promise<void>) =>
      database.db.transaction(async (tx) => {
        await tx.query('UPDATE counters SET n = n + 1 WHERE id = $1', [first]);
        await met();
        await tx.query('UPDATE counters SET n = n + 1 WHERE id = $1', [second]);
      });
    const met = meetingOf(2);
    await Promise.all([increment(1, 2, met), increment(2, 1, met)]);
    expect(await database.db.query('SELECT n FROM counters')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  /** Resolves for all when `count` have come, and at once afterwards. */
  function meetingOf(count: number): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let arrived = 0;
    return () => {
      arrived += 1;
      if (arrived === count) resolve();
      return promise;
    };
  }
});

describe('row-level security', () => {
  test('forOrganisation without WHERE sees its own rows only', async () => {
    const [ours, theirs] = [
      await insertWorkflow(database.db, 'ours'),
      await insertWorkflow(database.db, 'theirs'),
    ];
    const read = (organisationId: number) =>
      database.db.forOrganisation(organisationId, (tx) =>
        tx.query<{ id: number }>('SELECT id FROM workflows'),
      );
    expect(await read(ours.organisationId)).toEqual([{ id: ours.workflowId }]);
    expect(await read(theirs.organisationId)).toEqual([{ id: theirs.workflowId }]);
    expect(await database.db.transaction((tx) => tx.query('SELECT id FROM workflows'))).toHaveLength(2);
    expect(await database.db.query('SELECT id FROM workflows')).toHaveLength(2);
  });

  test('forOrganisation neither inserts nor changes rows of another', async () => {
    const [ours, theirs] = [await insertWorkflow(database.db, 'o1'), await insertWorkflow(database.db, 'o2')];
    const insert = database.db.forOrganisation(ours.organisationId, (tx) =>
      tx.query(
        `INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data) VALUES ($1, 2, $2, '{}')`,
        [theirs.workflowId, theirs.organisationId],
      ),
    );
    await expect(insert).rejects.toMatchObject({ code: '42501' });
    const changed = await database.db.forOrganisation(ours.organisationId, (tx) =>
      tx.query('UPDATE workflows SET name = $2 WHERE id = $1 RETURNING id', [theirs.workflowId, 'stolen']),
    );
    expect(changed).toEqual([]);
  });
});

describe('LISTEN', () => {
  test('payloads arrive, and again after the connection was lost', async () => {
    const heard: string[] = [];
    let gaps = 0;
    await database.db.listen(
      'millrace_executions',
      (payload) => heard.push(payload),
      () => {
        gaps += 1;
      },
    );
    await observer.query(`SELECT pg_notify('millrace_executions', '1,2')`);
    await expect.poll(() => heard).toEqual(['1,2']);
    await observer.query(DISCONNECT);
    await expect.poll(() => gaps).toBe(1);
    await observer.query(`SELECT pg_notify('millrace_executions', '3')`);
    await expect.poll(() => heard).toEqual(['1,2', '3']);
  });
});
