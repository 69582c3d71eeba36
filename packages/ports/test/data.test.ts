import { type DataService, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { saying } from '@millrace/messages/testing';
import { rewriteAuditLog } from '@millrace/testing/audit-log';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDataService, DATA_WRITE_DAYS } from '../src/data.ts';
import { pruneDataEntries, pruneDataWrites, readDataUsage } from '../src/data-store.ts';

let database: TestDatabase;
let organisationId: number;
let count = 0;
beforeAll(async () => {
  database = await createTestDatabase({ maxSessions: 20 });
});
afterAll(() => database.drop());
beforeEach(async () => {
  organisationId = await newOrganisation();
});

async function newOrganisation(): Promise<number> {
  count += 1;
  return (await createOrganisation(database.db, `organisation ${count}`, { actor: 'operator' })).id;
}

interface Run {
  /** One attempt of a node; the same key means the same node again. */
  readonly idempotencyKey?: string;
  readonly organisationId?: number;
  readonly maxEntries?: number;
  readonly maxBytes?: number;
}

/** A node's data service; each call is a different node unless specified. */
function data(run: Run = {}): DataService {
  count += 1;
  const service = createDataService({
    db: database.db,
    maxBytes: run.maxBytes ?? 0,
    ...(run.maxEntries === undefined ? {} : { maxEntries: run.maxEntries }),
  });
  return service({
    organisationId: run.organisationId ?? organisationId,
    workflowId: 1,
    executionId: 1,
    nodeId: 'node',
    iteration: [],
    idempotencyKey: run.idempotencyKey ?? `node ${count}`,
    isTestMode: false,
    onSecret: () => {},
  });
}

const PUT = { ttlMs: null, ifAbsent: false };

/** Makes an entry expired, or its write long ago. */
async function age(table: 'data_entries' | 'data_writes', column: string, interval: string): Promise<void> {
  await database.db.query(
    `UPDATE ${table} SET ${column} = ${column} - $1::interval WHERE organisation_id = $2`,
    [interval, organisationId],
  );
}

describe('get and set', () => {
  test.each(['null', '0', '"\\u0000 \\ud800"', '{"__proto__":{"a":[]}}', '9007199254740993', '1e400'])(
    'keeps %s unchanged',
    async (text) => {
      const value = parseJson(text);
      await data().set('k', value, PUT);
      expect(stringifyJson((await data().get('k'))?.value ?? null)).toBe(text);
    },
  );

  test('a missing entry is null', async () => {
    expect(await data().get('k')).toBeNull();
  });

  test('replaces value and expiry', async () => {
    await data().set('k', 1, { ttlMs: 60_000, ifAbsent: false });
    const { entry } = await data().set('k', 2, PUT);
    expect(entry).toEqual({ key: 'k', value: 2, expiresAtMs: null });
    expect(await data().get('k')).toEqual(entry);
  });

  test('of many that set only if absent, one writes, and all see its value', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => data().set('k', index, { ttlMs: null, ifAbsent: true })),
    );
    expect(outcomes.filter(({ isWritten }) => isWritten)).toHaveLength(1);
    expect(new Set(outcomes.map(({ entry }) => entry.value)).size).toBe(1);
  });

  test.each(['', 'x'.repeat(256), 'a\0b', '\ud800'])('refuses the key %j', async (key) => {
    for (const work of [
      data().get(key),
      data().set(key, 1, PUT),
      data().increment(key, 1, PUT),
      data().delete(key),
    ]) {
      await expect(work).rejects.toMatchObject({ name: 'ServiceError', code: 'data_invalid_key' });
    }
  });

  test('accepts keys of any 255 characters', async () => {
    const key = '\u{1f511}'.repeat(255);
    await data().set(key, 1, PUT);
    expect((await data().list('\u{1f511}', 10)).map((entry) => entry.key)).toEqual([key]);
  });

  test('accepts values of 1 MiB and refuses more', async () => {
    const largest = 'x'.repeat(1024 * 1024 - 2);
    await data().set('k', largest, PUT);
    await expect(data().set('k', `${largest}x`, PUT)).rejects.toMatchObject({ code: 'data_value_too_large' });
    expect((await data().get('k'))?.value).toBe(largest);
  });
});

describe('increment', () => {
  test('200 concurrent increments are all counted', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, () => data().increment('n', 1, { ttlMs: null })),
    );
    expect((await data().get('n'))?.value).toBe(200);
    expect(new Set(outcomes.map(({ value }) => value)).size).toBe(200);
  });

  test('adds decimals exactly', async () => {
    await data().increment('n', 0.1, { ttlMs: null });
    expect((await data().increment('n', 0.2, { ttlMs: null })).value).toBe(0.3);
    expect((await data().increment('n', -1e-7, { ttlMs: null })).value).toBe(0.299_999_9);
    await data().set('n', parseJson('9007199254740993'), PUT);
    expect(stringifyJson((await data().increment('n', 1, { ttlMs: null })).value)).toBe('9007199254740994');
  });

  test.each<JsonValue>(['1', null, true, [1], parseJson('1e400')])('does not add to %j', async (value) => {
    await data().set('n', value, PUT);
    await expect(data().increment('n', 1, { ttlMs: null })).rejects.toMatchObject({
      code: 'data_not_a_number',
    });
    expect((await data().get('n'))?.value).toEqual(value);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60])('refuses %d', async (by) => {
    await expect(data().increment('n', by, { ttlMs: null })).rejects.toMatchObject({
      code: 'data_not_a_number',
    });
  });

  test('keeps the first expiry, and starts over after it', async () => {
    const { expiresAtMs } = await data().increment('n', 1, { ttlMs: 60_000 });
    expect(expiresAtMs).not.toBeNull();
    expect(await data().increment('n', 1, { ttlMs: 3_600_000 })).toEqual({ key: 'n', value: 2, expiresAtMs });
    await age('data_entries', 'expires_at', '61 seconds');
    expect((await data().increment('n', 1, { ttlMs: 60_000 })).value).toBe(1);
  });
});

describe('expiry', () => {
  beforeEach(async () => {
    await data().set('gone', 1, { ttlMs: 1000, ifAbsent: false });
    await data().set('stays', 1, { ttlMs: 600_000, ifAbsent: false });
    await age('data_entries', 'expires_at', '2 seconds');
  });

  test('expired entries are absent everywhere', async () => {
    expect(await data().get('gone')).toBeNull();
    expect((await data().list('', 10)).map(({ key }) => key)).toEqual(['stays']);
    expect(await data().delete('gone')).toBe(false);
    await data().set('gone', 1, { ttlMs: 1000, ifAbsent: false });
    await age('data_entries', 'expires_at', '2 seconds');
    const again = await data().set('gone', 2, { ttlMs: null, ifAbsent: true });
    expect(again).toEqual({ entry: { key: 'gone', value: 2, expiresAtMs: null }, isWritten: true });
  });

  test('pruning deletes them and nothing else, and adjusts the count', async () => {
    expect((await readDataUsage(database.db, organisationId)).entries).toBe(2);
    expect(await pruneDataEntries(database.db, 1000)).toBeGreaterThanOrEqual(1);
    expect(
      await database.db.query('SELECT key FROM data_entries WHERE organisation_id = $1', [organisationId]),
    ).toEqual([{ key: 'stays' }]);
    expect((await readDataUsage(database.db, organisationId)).entries).toBe(1);
  });

  test.each([0, -1, 1.5, Number.NaN, 1e15])('an expiry of %d is refused', async (ttlMs) => {
    await expect(data().set('k', 1, { ttlMs, ifAbsent: false })).rejects.toMatchObject({
      code: 'data_invalid_expiry',
    });
  });
});

describe('a node that is run again', () => {
  test("doesn't increment twice, and gets its first result, whatever others did in between", async () => {
    const first = await data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null });
    await data().increment('n', 10, { ttlMs: null });
    await data().set('n', 'no number', PUT);
    expect(await data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null })).toEqual(first);
    expect((await data().get('n'))?.value).toBe('no number');
  });

  test("doesn't overwrite what others wrote in between", async () => {
    const set = () => data({ idempotencyKey: 'a' }).set('k', 1, { ttlMs: 60_000, ifAbsent: false });
    const first = await set();
    await data().set('k', 2, PUT);
    expect(await set()).toEqual(first);
    expect((await data().get('k'))?.value).toBe(2);
  });

  test('still reports that it wrote an entry only if absent', async () => {
    const set = () => data({ idempotencyKey: 'a' }).set('k', 1, { ttlMs: null, ifAbsent: true });
    expect((await set()).isWritten).toBe(true);
    expect((await set()).isWritten).toBe(true);
  });

  test("doesn't delete what others wrote in between", async () => {
    await data().set('k', 1, PUT);
    expect(await data({ idempotencyKey: 'a' }).delete('k')).toBe(true);
    await data().set('k', 2, PUT);
    expect(await data({ idempotencyKey: 'a' }).delete('k')).toBe(true);
    expect((await data().get('k'))?.value).toBe(2);
  });

  test('retries after a failed write', async () => {
    await data().set('n', 'text', PUT);
    const increment = () => data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null });
    await expect(increment()).rejects.toMatchObject({ code: 'data_not_a_number' });
    await data().set('n', 1, PUT);
    expect((await increment()).value).toBe(2);
  });

  test('concurrently with itself, writes once', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null })),
    );
    expect(outcomes.map(({ value }) => value)).toEqual(outcomes.map(() => 1));
  });

  test('repeats each of several writes separately', async () => {
    const attempt = async () => {
      const own = data({ idempotencyKey: 'a' });
      return [
        await own.increment('n', 1, { ttlMs: null }),
        await own.increment('n', 1, { ttlMs: null }),
        await own.increment('m', 5, { ttlMs: null }),
      ];
    };
    const first = await attempt();
    expect(first.map(({ value }) => value)).toEqual([1, 2, 5]);
    expect(await attempt()).toEqual(first);
  });

  test('is remembered for weeks and then forgotten', async () => {
    await data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null });
    await age('data_writes', 'created_at', `${DATA_WRITE_DAYS - 1} days`);
    await pruneDataWrites(database.db, DATA_WRITE_DAYS, 1000);
    expect((await data({ idempotencyKey: 'a' }).increment('n', 1, { ttlMs: null })).value).toBe(1);
    await age('data_writes', 'created_at', '2 days');
    expect(await pruneDataWrites(database.db, DATA_WRITE_DAYS, 1000)).toBe(1);
  });
});

describe('an organisation', () => {
  test('only sees its own entries, even when listing everything', async () => {
    const other = await newOrganisation();
    await data().set('k', 1, PUT);
    expect(await data({ organisationId: other }).get('k')).toBeNull();
    expect(await data({ organisationId: other }).list('', 10)).toEqual([]);
    expect(await data({ organisationId: other }).delete('k')).toBe(false);
    await data({ organisationId: other, idempotencyKey: 'a' }).set('k', 2, PUT);
    expect((await data({ idempotencyKey: 'a' }).get('k'))?.value).toBe(1);
    const seen = await database.db.forOrganisation(other, (tx) =>
      tx.query('SELECT FROM data_entries WHERE key = $1', ['k']),
    );
    expect(seen).toHaveLength(1);
  });

  test('has a limit, and expired entries make room', async () => {
    const limited = () => data({ maxEntries: 3 });
    for (const key of ['a', 'b']) await limited().set(key, 1, PUT);
    await limited().set('c', 1, { ttlMs: 3_600_000, ifAbsent: false });
    const over = { code: 'data_limit_reached', message: saying('3 entries') };
    await expect(limited().set('d', 1, PUT)).rejects.toMatchObject(over);
    await expect(limited().increment('d', 1, { ttlMs: null })).rejects.toMatchObject(over);
    expect(await data().get('d')).toBeNull();
    await limited().set('a', 2, PUT);
    await age('data_entries', 'expires_at', '2 hours');
    await limited().set('d', 1, PUT);
    expect((await readDataUsage(database.db, organisationId)).entries).toBe(3);
    await limited().delete('a');
    await limited().set('e', 1, PUT);
  });

  test('stays within its limit under concurrent writes', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => data({ maxEntries: 25 }).set(`k${index}`, 1, PUT)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(25);
    expect(await data().list('', 100)).toHaveLength(25);
  });

  test('counts the bytes of keys and values, whatever changes them', async () => {
    const bytesOf = async () => (await readDataUsage(database.db, organisationId)).bytes;
    await data().set('ä', 'ö', PUT);
    expect(await bytesOf()).toBe(2 + 4);
    await data().set('ä', 'longer', PUT);
    await data().increment('n', 9, { ttlMs: null });
    await data().increment('n', 1, { ttlMs: null });
    expect(await bytesOf()).toBe(2 + 8 + 1 + 2);
    await data().set('old', 1, { ttlMs: 1000, ifAbsent: false });
    await age('data_entries', 'expires_at', '2 seconds');
    await pruneDataEntries(database.db, 1000);
    await data().delete('n');
    expect(await bytesOf()).toBe(2 + 8);
  });

  test('has a limit of bytes; writes that take no more room than before are fine, and expired entries make room', async () => {
    const limited = () => data({ maxBytes: 100 });
    const over = { code: 'data_storage_full', message: saying('GB, which is the limit') };
    await limited().set('a', 'x'.repeat(50), PUT);
    await limited().set('b', 'x'.repeat(30), { ttlMs: 3_600_000, ifAbsent: false });
    await expect(limited().set('c', 'x'.repeat(30), PUT)).rejects.toMatchObject(over);
    expect(await data().get('c')).toBeNull();
    // The limit was higher before.
    await data().set('c', 'x'.repeat(100), PUT);
    await expect(limited().increment('n', 1, { ttlMs: null })).rejects.toMatchObject(over);
    await limited().set('c', 'x'.repeat(99), PUT);
    await limited().delete('c');
    await age('data_entries', 'expires_at', '2 hours');
    await limited().set('d', 'x'.repeat(30), PUT);
    expect(await data().get('b')).toBeNull();
  });

  test('has the limit of bytes that was set for the organisation, if there is one', async () => {
    const own = await newOrganisation();
    const limited = () => data({ maxBytes: 100, organisationId: own });
    const setLimit = (bytes: number | null) =>
      database.db.query('UPDATE organisations SET data_storage_bytes = $2 WHERE id = $1', [own, bytes]);
    await setLimit(200);
    await limited().set('a', 'x'.repeat(150), PUT);
    await expect(limited().set('b', 'x'.repeat(60), PUT)).rejects.toMatchObject({
      code: 'data_storage_full',
    });
    await setLimit(0);
    await limited().set('b', 'x'.repeat(60), PUT);
    await setLimit(null);
    await expect(limited().set('c', 1, PUT)).rejects.toMatchObject({ code: 'data_storage_full' });
  });

  test('loses all entries when it is deleted', async () => {
    const other = await newOrganisation();
    await data({ organisationId: other }).set('k', 1, PUT);
    await rewriteAuditLog(database.db, 'DELETE FROM audit_log WHERE organisation_id = $1', [other]);
    await database.db.query('DELETE FROM organisations WHERE id = $1', [other]);
    const left = await database.db.query('SELECT FROM data_usage WHERE organisation_id = $1', [other]);
    expect(left).toEqual([]);
  });
});

describe('list', () => {
  test('filters by prefix, in code point order, up to the limit', async () => {
    for (const key of ['b', 'a/2', 'a/10', 'A', 'a', 'a%', 'ä', 'a_b']) await data().set(key, key, PUT);
    const keysOf = async (prefix: string, limit = 100) =>
      (await data().list(prefix, limit)).map(({ key }) => key);
    expect(await keysOf('')).toEqual(['A', 'a', 'a%', 'a/10', 'a/2', 'a_b', 'b', 'ä']);
    expect(await keysOf('a/')).toEqual(['a/10', 'a/2']);
    expect(await keysOf('a%')).toEqual(['a%']);
    expect(await keysOf('a_')).toEqual(['a_b']);
    expect(await keysOf('a', 2)).toEqual(['a', 'a%']);
  });
});
