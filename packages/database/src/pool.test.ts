import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Queryable } from './database.ts';
import { DatabaseUnavailableError, TransactionRolledBackError } from './errors.ts';
import { joinTransaction } from './join-transaction.ts';
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

  test('what is stored is compressed by lz4 where the server was built with it', async () => {
    const [compression] = await observer.query<{ used: string; expected: string }>(
      `SELECT setting AS used, CASE WHEN 'lz4' = ANY (enumvals) THEN 'lz4' ELSE 'pglz' END AS expected
       FROM pg_settings WHERE name = 'default_toast_compression'`,
    );
    expect(compression?.used).toBe(compression?.expected);
  });

  test('dates are the same whatever database, role and URL set for them', async () => {
    const [here] = await observer.query<{ name: string }>('SELECT current_database() AS name');
    await observer.query(
      `ALTER DATABASE ${here?.name} SET DateStyle = 'German, DMY'; ALTER DATABASE ${here?.name} SET TimeZone = 'Asia/Tokyo';
       ALTER ROLE millrace IN DATABASE ${here?.name} SET IntervalStyle = 'iso_8601'`,
    );
    const url = new URL(database.url);
    url.searchParams.set(
      'options',
      '-c DateStyle=SQL,DMY -c TimeZone=America/New_York -c bytea_output=escape',
    );
    const foreign = createDatabase(url.href, { lanes: 1 });
    expect(
      await foreign.query(
        `SELECT '2026-11-20 09:30:00+02'::timestamptz AS time, '2026-02-03'::date AS day, $1::timestamptz AS given,
           '2026-11-20 23:30:00+00'::timestamptz::date::text AS its_day, to_json('2026-01-01Z'::timestamptz)::text AS json`,
        [new Date('2026-02-03T00:00:00Z')],
      ),
    ).toEqual([
      {
        time: new Date('2026-11-20T07:30:00Z'),
        day: '2026-02-03',
        given: new Date('2026-02-03T00:00:00Z'),
        its_day: '2026-11-20',
        json: '"2026-01-01T00:00:00+00:00"',
      },
    ]);
    await foreign.close();
  });

  test('a bigint beyond a number is an error, never another number', async () => {
    await expect(database.db.query('SELECT 9007199254740993::bigint AS big')).rejects.toThrow(
      '9007199254740993',
    );
    expect(await database.db.query('SELECT 1 AS alive')).toEqual([{ alive: 1 }]);
  });
});

describe('statements outside transactions', () => {
  test("a failing statement doesn't affect those around it", async () => {
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

  test('hundreds at once all get their own rows', async () => {
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

  test('also inside a transaction, which runs again', async () => {
    const read = (tx: Queryable) => tx.query('SELECT * FROM moving', [], 'test_moving');
    await database.db.query('CREATE TABLE moving (a int)');
    await database.db.transaction(read);
    await database.db.query('ALTER TABLE moving ADD COLUMN b int');
    await database.db.query('INSERT INTO moving VALUES (1, 2)');
    expect(await database.db.transaction(read)).toEqual([{ a: 1, b: 2 }]);
  });

  test('an unsupported prepared statement fails with its own error', async () => {
    const crossed = 'SELECT * FROM no_other_database.public.executions';
    await expect(database.db.query(crossed, [], 'test_crossed')).rejects.toMatchObject({ code: '0A000' });
    await expect(
      database.db.transaction((tx) => tx.query(crossed, [], 'test_crossed')),
    ).rejects.toMatchObject({ code: '0A000' });
  });
});

describe('transactions', () => {
  test('an exception rolls everything back', async () => {
    const failing = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['thrown']);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await countOrganisations('thrown')).toBe(0);
  });

  test('a swallowed statement error is not mistaken for success', async () => {
    const swallowing = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['swallowed']);
      await tx.query('SELECT 1 / 0').catch(() => {});
    });
    await expect(swallowing).rejects.toBeInstanceOf(TransactionRolledBackError);
    expect(await countOrganisations('swallowed')).toBe(0);
  });

  test('a connection lost halfway: unavailable, nothing stored', async () => {
    const cut = database.db.transaction(async (tx) => {
      await tx.query(INSERT_ORGANISATION, ['cut']);
      await observer.query(DISCONNECT);
      await tx.query('SELECT 1');
    });
    await expect(cut).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await countOrganisations('cut')).toBe(0);
  });

  test('statements after the end are refused', async () => {
    const late = await database.db.transaction(async (tx) => () => tx.query('SELECT 1'));
    await expect(late()).rejects.toThrow('has ended');
  });

  test('two that deadlock both complete', async () => {
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

  /** Resolves for everyone once `count` callers have arrived, and immediately afterwards. */
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
  test('forOrganisation without WHERE only sees its own rows', async () => {
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

  test('forOrganisation neither inserts nor changes rows of others', async () => {
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

  test('a read of one statement sees only its own rows, and changes nothing', async () => {
    const [ours, theirs] = [
      await insertWorkflow(database.db, 'read'),
      await insertWorkflow(database.db, 'read beside'),
    ];
    const read = ({ organisationId }: { organisationId: number }, text = 'SELECT id FROM workflows') =>
      database.db.readForOrganisation(organisationId, (tx) => tx.query(text));
    expect(await Promise.all([read(ours), read(theirs)])).toEqual([
      [{ id: ours.workflowId }],
      [{ id: theirs.workflowId }],
    ]);
    // As on a server that accepts no writes.
    await expect(read(ours, "UPDATE workflows SET name = 'changed'")).rejects.toBeInstanceOf(
      DatabaseUnavailableError,
    );
    await expect(read(ours, 'SELECT 1 / 0')).rejects.toMatchObject({ code: '22012' });
    // Neither the failure nor the organisation is left in the connection.
    expect(await read(theirs)).toEqual([{ id: theirs.workflowId }]);
    const all = await database.db.transaction((tx) => tx.query('SELECT id FROM workflows'));
    expect(all).toEqual(expect.arrayContaining([{ id: ours.workflowId }, { id: theirs.workflowId }]));
  });

  test('a second statement of a read is refused before it is sent', async () => {
    const { organisationId } = await insertWorkflow(database.db, 'read twice');
    const twice = database.db.readForOrganisation(organisationId, async (tx) => {
      await tx.query('SELECT 1');
      return await tx.query('SELECT 2');
    });
    await expect(twice).rejects.toThrow('A read has one statement');
  });

  test('a read is repeated if its tables were migrated under its prepared statement', async () => {
    const { organisationId, workflowId } = await insertWorkflow(database.db, 'read while migrated');
    const read = () =>
      database.db.readForOrganisation(organisationId, (tx) =>
        tx.query('SELECT * FROM workflow_versions WHERE workflow_id = $1', [workflowId], 'migrated_read'),
      );
    expect(await read()).toHaveLength(1);
    await database.db.query('ALTER TABLE workflow_versions ADD COLUMN later integer');
    expect(await read()).toMatchObject([{ workflow_id: workflowId, later: null }]);
  });

  test('a joined operation is part of the transaction, also limited to the organisation, for its own duration', async () => {
    const ours = await insertWorkflow(database.db, 'joined');
    await insertWorkflow(database.db, 'beside');
    const failing = database.db.transaction(async (tx) => {
      const joined = joinTransaction(database.db, tx);
      await joined.forOrganisation(ours.organisationId, async (narrowed) => {
        expect(await narrowed.query('SELECT id FROM workflows')).toEqual([{ id: ours.workflowId }]);
        await narrowed.query('UPDATE workflows SET name = $1', ['renamed']);
      });
      const found = joined.readForOrganisation(ours.organisationId, (narrowed) =>
        narrowed.query('SELECT name FROM workflows'),
      );
      expect(await found).toEqual([{ name: 'renamed' }]);
      await expect(
        joined.forOrganisation(ours.organisationId, () => Promise.reject(new Error('inside'))),
      ).rejects.toThrow('inside');
      expect((await tx.query('SELECT id FROM workflows')).length).toBeGreaterThan(1);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await database.db.query("SELECT FROM workflows WHERE name = 'renamed'")).toEqual([]);
  });
});

describe('LISTEN', () => {
  test('payloads arrive, also after the connection was lost', async () => {
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
