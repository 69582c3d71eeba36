import type { JsonObject, VectorService } from '@millrace/engine';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { saying } from '@millrace/messages/testing';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readDataUsage } from '../src/data-store.ts';
import { createVectorService, type VectorServiceDeps } from '../src/vectors.ts';

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

function vectors(deps: Partial<VectorServiceDeps> = {}, id: number = organisationId): VectorService {
  return createVectorService({ db: database.db, maxBytes: 0, ...deps })({ organisationId: id });
}

const ABOUT = { model: 'embed-1', dimension: 2 };
const { signal } = new AbortController();

function item(key: string, vector: readonly number[], metadata: JsonObject = {}) {
  return { key, text: `text of ${key}`, metadata, vector };
}

async function find(
  service: VectorService,
  vector: readonly number[],
  more: Partial<Parameters<VectorService['search']>[1]> = {},
) {
  return service.search('docs', { vector, limit: 10, filter: {}, ...more }, signal);
}

async function usage(): Promise<number> {
  return (await readDataUsage(database.db, organisationId)).bytes;
}

describe('a search', () => {
  test('finds the nearest first, whatever the lengths of the vectors', async () => {
    await vectors().put('docs', ABOUT, [
      item('far', [0, -1]),
      item('near', [100, 1], { page: 3, tags: ['x'] }),
      item('middle', [0.0001, 0.0001]),
    ]);
    const found = await find(vectors(), [2, 0]);
    expect(found.map(({ key }) => key)).toEqual(['near', 'middle', 'far']);
    expect(found[0]).toEqual({
      key: 'near',
      text: 'text of near',
      metadata: { page: 3, tags: ['x'] },
      score: expect.closeTo(1, 3),
    });
    expect(found[1]?.score).toBeCloseTo(Math.SQRT1_2, 5);
    expect((await find(vectors(), [2, 0], { limit: 1 })).map(({ key }) => key)).toEqual(['near']);
    expect((await find(vectors(), [2, 0], { minScore: 0.5 })).map(({ key }) => key)).toEqual([
      'near',
      'middle',
    ]);
  });

  test('is exact over many pages: the same as comparing them all here', async () => {
    const number = fc.integer({ min: -50, max: 50 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(number, number, number), { minLength: 1, maxLength: 60 }),
        fc.tuple(number, number, number),
        async (given, target) => {
          const usable = given.filter((vector) => vector.some((each) => each !== 0));
          fc.pre(usable.length > 0 && target.some((each) => each !== 0));
          const id = await newOrganisation();
          const service = vectors({}, id);
          const items = usable.map((vector, index) => item(`k${index}`, vector));
          await service.put('docs', { model: 'm', dimension: 3 }, items);
          const found = await find(service, target, { limit: 5 });
          const size = (v: readonly number[]) => Math.hypot(...v);
          const scores = usable
            .map((v) => v.reduce((sum, x, at) => sum + x * (target[at] ?? 0), 0) / size(v) / size(target))
            .toSorted((a, b) => b - a);
          expect(found).toHaveLength(Math.min(5, usable.length));
          for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(scores[at] ?? 0, 4);
        },
      ),
      { numRuns: runs(15) },
    );
  });

  test('reads more than one page', async () => {
    const dimension = 4096;
    const axis = (at: number) => Array.from({ length: dimension }, (_, index) => (index === at ? 1 : 0));
    const items = Array.from({ length: 300 }, (_, at) => item(`k${String(at).padStart(3, '0')}`, axis(at)));
    for (let at = 0; at < items.length; at += 100)
      await vectors().put('docs', { model: 'm', dimension }, items.slice(at, at + 100));
    for (const at of [0, 127, 128, 299])
      expect((await find(vectors(), axis(at), { limit: 1 }))[0]?.key).toBe(items[at]?.key);
  });

  test.each([
    [{ lang: ['en'] }, ['a', 'c']],
    [{ lang: ['en', 'ja'] }, ['a', 'b', 'c']],
    [{ lang: ['en'], year: [2024] }, ['a']],
    // A list fits if one of its values does; what isn't there is null.
    [{ tags: ['x'] }, ['a', 'b']],
    [{ tags: [null] }, ['c']],
    [{ tags: [null, 'y'] }, ['b', 'c']],
    [{ year: ['2024'] }, []],
    [{ done: [true] }, ['c']],
    [JSON.parse('{"__proto__":["x"]}') as { [name: string]: string[] }, []],
    [{ lang: [] }, []],
  ])('with the filter %j', async (filter, expected) => {
    await vectors().put('docs', ABOUT, [
      item('a', [1, 0], { lang: 'en', year: 2024, tags: ['x'] }),
      item('b', [1, 0.1], { lang: 'ja', year: 2025, tags: ['x', 'y'] }),
      item('c', [1, 0.2], { lang: 'en', done: true }),
    ]);
    const found = await find(vectors(), [1, 0], { filter });
    expect(found.map(({ key }) => key)).toEqual(expected);
  });

  test('in no collection, or for another length, says so', async () => {
    await expect(find(vectors(), [1, 0])).rejects.toMatchObject({ code: 'vectors_not_found' });
    await vectors().put('docs', ABOUT, [item('a', [1, 0])]);
    await expect(find(vectors(), [1, 0, 0])).rejects.toMatchObject({ code: 'vectors_mismatch' });
    await expect(find(vectors(), [0, 0])).rejects.toMatchObject({ code: 'vectors_invalid_item' });
  });

  test('ends when its node does', async () => {
    await vectors().put('docs', ABOUT, [item('a', [1, 0])]);
    const query = { vector: [1, 0], limit: 1, filter: {} };
    await expect(vectors().search('docs', query, AbortSignal.abort(new Error('over')))).rejects.toThrow(
      'over',
    );
  });
});

describe('writes', () => {
  test('replace by key, and the last of a key counts', async () => {
    await vectors().put('docs', ABOUT, [item('a', [1, 0]), item('a', [0, 1], { n: 1 })]);
    await vectors().put('docs', ABOUT, [item('b', [1, 0])]);
    await vectors().put('docs', ABOUT, [item('a', [-1, 0], { n: 2 })]);
    const found = await find(vectors(), [-1, 0]);
    expect(found.map(({ key, metadata, score }) => [key, metadata, score])).toEqual([
      ['a', { n: 2 }, 1],
      ['b', {}, -1],
    ]);
  });

  test('keep the vector of a text that is the same, with new metadata', async () => {
    await vectors().put('docs', ABOUT, [item('a', [1, 0]), item('b', [1, 0])]);
    const kept = await vectors().keep('docs', [
      { key: 'a', text: 'text of a', metadata: { n: 1 } },
      { key: 'b', text: 'another text', metadata: { n: 1 } },
      { key: 'c', text: 'text of c', metadata: {} },
    ]);
    expect(kept).toEqual(new Set(['a']));
    const found = await find(vectors(), [1, 0]);
    expect(found.map(({ key, metadata }) => [key, metadata])).toEqual([
      ['a', { n: 1 }],
      ['b', {}],
    ]);
    expect(await vectors().keep('nothing', [{ key: 'a', text: 'x', metadata: {} }])).toEqual(new Set());
  });

  test.each([
    [{ model: 'embed-2', dimension: 2 }, [1, 0]],
    [{ model: 'embed-1', dimension: 3 }, [1, 0, 0]],
  ])('of %j into a collection of others are refused', async (about, vector) => {
    await vectors().put('docs', ABOUT, [item('a', [1, 0])]);
    await expect(vectors().put('docs', about, [item('b', vector)])).rejects.toMatchObject({
      code: 'vectors_mismatch',
      explanation: saying('embed-1'),
    });
    expect(await vectors().describe('docs')).toEqual(ABOUT);
    expect(await find(vectors(), [1, 0])).toHaveLength(1);
  });

  test.each([
    [{ key: '' }, 'Keys have 1 to 255'],
    [{ key: 'k'.repeat(256) }, 'Keys have 1 to 255'],
    [{ text: 'x'.repeat(131_073) }, 'more than 131072 bytes'],
    [{ text: 'a\0' }, "can't be stored"],
    [{ text: '\ud800' }, "can't be stored"],
    [{ metadata: { a: { b: 1 } } }, 'metadata of item 1'],
    [{ metadata: { a: 'x'.repeat(17_000) } }, 'metadata of item 1'],
    [{ metadata: { a: '\0' } }, 'metadata of item 1'],
    [{ vector: [0, 0] }, 'no direction'],
    [{ vector: [Number.POSITIVE_INFINITY, 0] }, 'no direction'],
  ])('of %j are refused as a whole', async (part, message) => {
    const items = [item('a', [1, 0]), { ...item('b', [1, 0]), ...(part as object) }];
    await expect(vectors().put('docs', ABOUT, items)).rejects.toMatchObject({
      code: 'vectors_invalid_item',
      explanation: saying(message),
    });
    expect(await vectors().describe('docs')).toBeNull();
  });

  test.each(['', 'n'.repeat(101), 'a\0b'])('to the collection %j are refused', async (name) => {
    await expect(vectors().put(name, ABOUT, [item('a', [1, 0])])).rejects.toMatchObject({
      code: 'vectors_invalid_name',
    });
  });

  test('delete by key, by filter, or all of it', async () => {
    await vectors().put('docs', ABOUT, [
      item('a', [1, 0], { lang: 'en' }),
      item('b', [1, 0], { lang: 'en' }),
      item('c', [1, 0], { lang: 'ja' }),
    ]);
    expect(await vectors().delete('docs', { keys: ['a', 'nothing'] })).toBe(1);
    expect(await vectors().delete('docs', { filter: { lang: ['en'] } })).toBe(1);
    expect((await find(vectors(), [1, 0])).map(({ key }) => key)).toEqual(['c']);
    expect(await vectors().delete('docs', null)).toBe(1);
    expect(await vectors().describe('docs')).toBeNull();
    expect(await vectors().delete('docs', null)).toBe(0);
  });
});

describe('limits', () => {
  test('a collection has a number of numbers, and a write that would exceed it leaves nothing', async () => {
    const service = vectors({ maxNumbers: 5 });
    await service.put('docs', ABOUT, [item('a', [1, 0]), item('b', [1, 0])]);
    await service.put('docs', ABOUT, [item('a', [0, 1])]);
    await expect(service.put('docs', ABOUT, [item('c', [1, 0])])).rejects.toMatchObject({
      code: 'vectors_full',
      explanation: saying('at most 2 items'),
    });
    expect(await find(service, [1, 0])).toHaveLength(2);
  });

  test('an organisation has a number of collections', async () => {
    const service = vectors({ maxCollections: 1 });
    await service.put('docs', ABOUT, [item('a', [1, 0])]);
    await expect(service.put('more', ABOUT, [item('a', [1, 0])])).rejects.toMatchObject({
      code: 'vectors_too_many',
    });
    expect(await service.describe('more')).toBeNull();
  });

  test('bytes count as the data of the organisation, and none are left when they are deleted', async () => {
    const one = 1 + 'text of a'.length + '{}'.length + 8;
    await vectors().put('docs', ABOUT, [item('a', [1, 0]), item('b', [1, 0])]);
    expect(await usage()).toBe(2 * one);
    await vectors().put('docs', ABOUT, [item('a', [1, 0], { n: 1 })]);
    expect(await usage()).toBe(2 * one + '"n": 1'.length);
    await vectors().delete('docs', { keys: ['b'] });
    expect(await usage()).toBe(one + '"n": 1'.length);
    await vectors().delete('docs', null);
    expect(await usage()).toBe(0);
    await vectors().put('docs', ABOUT, [item('a', [1, 0])]);
    await database.db.query('DELETE FROM vector_collections WHERE organisation_id = $1', [organisationId]);
    expect(await usage()).toBe(0);
  });

  test('where the data of the organisation is full, nothing is added', async () => {
    const service = vectors({ maxBytes: 30 });
    await service.put('docs', ABOUT, [item('a', [1, 0])]);
    await expect(service.put('docs', ABOUT, [item('b', [1, 0])])).rejects.toMatchObject({
      code: 'data_storage_full',
    });
    // One that takes no more room than before is fine.
    await service.put('docs', ABOUT, [item('a', [0, 1])]);
    expect(await find(service, [1, 0])).toHaveLength(1);
  });

  test('writers at the same time keep to them together', async () => {
    const service = vectors({ maxNumbers: 20 });
    const writes = Array.from({ length: 20 }, (_, at) =>
      service.put('docs', ABOUT, [item(`k${at}`, [1, at])]),
    );
    const results = await Promise.allSettled(writes);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await find(service, [1, 0], { limit: 50 })).toHaveLength(10);
  });
});

test('another organisation finds, changes and deletes nothing', async () => {
  await vectors().put('docs', ABOUT, [item('a', [1, 0])]);
  const other = vectors({}, await newOrganisation());
  expect(await other.describe('docs')).toBeNull();
  await expect(find(other, [1, 0])).rejects.toMatchObject({ code: 'vectors_not_found' });
  expect(await other.delete('docs', null)).toBe(0);
  await other.put('docs', { model: 'other', dimension: 3 }, [item('a', [1, 0, 0])]);
  expect(await vectors().describe('docs')).toEqual(ABOUT);
  expect(await find(vectors(), [1, 0])).toHaveLength(1);
  // Row-level security by itself: a statement that names another organisation sees nothing.
  const seen = await database.db.forOrganisation(await newOrganisation(), (tx) =>
    tx.query('SELECT key FROM vector_items WHERE organisation_id = $1', [organisationId]),
  );
  expect(seen).toEqual([]);
});
