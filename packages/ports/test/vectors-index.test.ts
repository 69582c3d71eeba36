import type { JsonObject, VectorService } from '@millrace/engine';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { saying } from '@millrace/messages/testing';
import { listCollections } from '@millrace/service/ai-data/store';
import { createVectorDatabase, type VectorDatabase } from '@millrace/testing/vector-database';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addExtension, fillStep, findIndexWork, readExtensionState } from '../src/vectors/index-store.ts';
import { tendIndexes } from '../src/vectors/indexer.ts';
import { createVectorService, type VectorServiceDeps } from '../src/vectors.ts';

/** Collections of 3 numbers get an index from 100 items on. */
const MIN_NUMBERS = 300;
const ABOUT = { model: 'embed-1', dimension: 3 };
const log = pino({ level: 'silent' });
const { signal } = new AbortController();

let database: VectorDatabase;
let organisationId: number;
let count = 0;
beforeAll(async () => {
  database = await createVectorDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.asSuperuser('CREATE EXTENSION IF NOT EXISTS vector');
  // Of the test before: every round would look after them.
  await database.asSuperuser('DELETE FROM vector_collections');
  organisationId = await newOrganisation();
});

async function newOrganisation(): Promise<number> {
  count += 1;
  return (await createOrganisation(database.db, `organisation ${count}`, { actor: 'operator' })).id;
}

function vectors(deps: Partial<VectorServiceDeps> = {}, id: number = organisationId): VectorService {
  const { db } = database;
  return createVectorService({ db, maxBytes: 0, minIndexedNumbers: MIN_NUMBERS, ...deps })({
    organisationId: id,
  });
}

const tend = () => tendIndexes({ db: database.db, log, minNumbers: MIN_NUMBERS });

/** Directions around a circle, the first one at 0 degrees. */
function around(from: number, to: number, metadata: (at: number) => JsonObject = () => ({})) {
  return Array.from({ length: to - from }, (_, index) => {
    const at = from + index;
    const angle = at / 100;
    return {
      key: `k${String(at).padStart(4, '0')}`,
      text: `text ${at}`,
      metadata: metadata(at),
      vector: [Math.cos(angle), Math.sin(angle), 0.5],
    };
  });
}

async function keysNear(at: number, more: Partial<Parameters<VectorService['search']>[1]> = {}) {
  const [{ vector } = { vector: [] }] = around(at, at + 1);
  const found = await vectors().search('docs', { vector, limit: 3, filter: {}, ...more }, signal);
  return found.map(({ key }) => key);
}

interface IndexState {
  readonly filled: number | null;
  readonly embeddings: number;
}

/** How many embeddings there are, and how many items the index was filled with; null: there is no index. */
async function state(): Promise<IndexState> {
  const [row] = await database.db.query<IndexState>(
    `SELECT (SELECT filled FROM vector_indexes WHERE organisation_id = $1 AND has_vector_index(id)) AS filled,
       (SELECT count(*) FROM vector_embeddings WHERE organisation_id = $1) AS embeddings`,
    [organisationId],
  );
  return row ?? { filled: null, embeddings: 0 };
}

/** How many searches asked the index while this ran. */
function scansOf(work: () => Promise<unknown>): Promise<number> {
  return statementsOf('find_near_embeddings', work);
}

/** How many statements with this text were sent while this ran. */
async function statementsOf(part: string, work: () => Promise<unknown>): Promise<number> {
  const seen: string[] = [];
  const { db } = database;
  const watched = {
    ...db,
    forOrganisation: <T>(id: number, run: Parameters<typeof db.forOrganisation<T>>[1]) =>
      db.forOrganisation<T>(id, (tx) =>
        run({
          query: (text, values, name) => {
            seen.push(text);
            return tx.query(text, values, name);
          },
        }),
      ),
  };
  database = { ...database, db: watched };
  try {
    await work();
  } finally {
    database = { ...database, db };
  }
  return seen.filter((text) => text.includes(part)).length;
}

describe('a large collection', () => {
  test('gets an index, which finds what is stored before and afterwards', async () => {
    await vectors().put('docs', ABOUT, around(0, 90));
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
    // With these it is large; they came before the index.
    await vectors().put('docs', ABOUT, around(90, 120));
    expect(await state()).toEqual({ filled: 0, embeddings: 0 });
    await vectors().put('docs', ABOUT, around(120, 150));
    expect(await state()).toEqual({ filled: 0, embeddings: 30 });
    // Until it is filled, every vector is compared.
    expect(await scansOf(async () => expect(await keysNear(50)).toContain('k0050'))).toBe(0);
    await tend();
    expect(await state()).toEqual({ filled: 120, embeddings: 150 });
    expect(
      await scansOf(async () => {
        expect((await keysNear(50)).toSorted()).toEqual(['k0049', 'k0050', 'k0051']);
        expect((await keysNear(130))[0]).toBe('k0130');
      }),
    ).toBe(2);
    await vectors().put('docs', ABOUT, around(150, 160));
    expect((await keysNear(159))[0]).toBe('k0159');
  });

  test('finds items by their last vector, and none that were deleted', async () => {
    await vectors().put('docs', ABOUT, around(0, 200));
    await tend();
    const moved = around(150, 151).map((item) => ({ ...item, key: 'k0000' }));
    await vectors().put('docs', ABOUT, moved);
    await vectors().delete('docs', { keys: ['k0150'] });
    expect(await state()).toEqual({ filled: 200, embeddings: 199 });
    const near = await keysNear(150, { limit: 1 });
    expect(near).toEqual(['k0000']);
    expect(await keysNear(0, { limit: 1 })).toEqual(['k0001']);
  });

  test('is searched with a filter: by the index, or one by one where few fit', async () => {
    await vectors().put(
      'docs',
      ABOUT,
      around(0, 300, (at) => ({ half: at % 2, rare: at === 250, tags: ['x', `n${at % 3}`] })),
    );
    await tend();
    const byIndex = await scansOf(async () => {
      expect((await keysNear(50, { filter: { half: [1] }, limit: 2 })).toSorted()).toEqual([
        'k0049',
        'k0051',
      ]);
      expect((await keysNear(51, { filter: { tags: ['n0'] }, limit: 1 }))[0]).toBe('k0051');
    });
    expect(byIndex).toBe(2);
    // Far from the target, and alone: with so few candidates, the index may have missed some.
    const compared = await statementsOf('SELECT key, vector FROM vector_items', async () => {
      expect(await keysNear(0, { filter: { rare: [true] } })).toEqual(['k0250']);
      expect(await keysNear(0, { filter: { rare: [null] } })).toEqual([]);
    });
    expect(compared).toBe(2);
  });

  test('may be as large as searches by an index allow, and what is too large is refused', async () => {
    const service = vectors({ maxNumbers: 330 });
    await service.put('docs', ABOUT, around(0, 105));
    await tend();
    await service.put('docs', ABOUT, around(105, 1_100));
    await expect(service.put('docs', ABOUT, around(1_100, 1_101))).rejects.toMatchObject({
      code: 'vectors_full',
      explanation: saying('at most 1100 items'),
    });
    expect(await state()).toEqual({ filled: 105, embeddings: 1_100 });
  });

  test('says how it is searched, and how far its index is', async () => {
    const states = async () => {
      const rows = await database.db.forOrganisation(organisationId, (tx) =>
        listCollections(tx, organisationId, MIN_NUMBERS),
      );
      return Object.fromEntries(rows.map(({ name, index, indexed }) => [name, [index, indexed]]));
    };
    await vectors().put('small', ABOUT, around(0, 90));
    await vectors({ minIndexedNumbers: 1e9 }).put('docs', ABOUT, around(0, 120));
    await vectors().put('long', { model: 'm', dimension: 4_096 }, [
      { ...{ key: 'a', text: 'a', metadata: {} }, vector: [1, ...Array.from({ length: 4_095 }, () => 0)] },
    ]);
    expect(await states()).toEqual({ small: ['small', 0], docs: ['waiting', 0], long: ['too_long', 0] });
    await vectors().put('docs', ABOUT, around(120, 130));
    expect((await states()).docs).toEqual(['building', 0]);
    await database.db.transaction((tx) => fillStep(tx, { organisationId, collection: 'docs' }));
    expect((await states()).docs).toEqual(['building', 50]);
    await tend();
    expect((await states()).docs?.[0]).toBe('ready');
    await database.asSuperuser('DROP EXTENSION vector CASCADE');
    expect((await states()).docs?.[0]).toBe('no_pgvector');
  });

  test('with vectors that are too long for an index has none', async () => {
    const dimension = 4_096;
    const item = {
      key: 'a',
      text: 'a',
      metadata: {},
      vector: [1, ...Array.from({ length: 4_095 }, () => 0)],
    };
    await vectors().put('docs', { model: 'm', dimension }, [item]);
    await tend();
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
    await vectors().put('more', { model: 'm', dimension: 4_000 }, [
      { ...item, vector: item.vector.slice(0, 4_000) },
    ]);
    await tend();
    expect(await state()).toEqual({ filled: 1, embeddings: 1 });
  });

  test('is deleted with its index', async () => {
    await vectors().put('docs', ABOUT, around(0, 120));
    await tend();
    await vectors().delete('docs', null);
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
    expect((await findIndexWork(database.db, MIN_NUMBERS)).orphans).toHaveLength(1);
    await tend();
    expect((await findIndexWork(database.db, MIN_NUMBERS)).orphans).toEqual([]);
    // A new one of that name is another one.
    await vectors().put('docs', { model: 'm', dimension: 1 }, [
      { key: 'a', text: 'a', metadata: {}, vector: [1] },
    ]);
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
  });
});

test('another organisation has an index of its own, and neither finds what the other has', async () => {
  const other = await newOrganisation();
  await vectors().put('docs', ABOUT, around(0, 120));
  await vectors({}, other).put('docs', ABOUT, around(1_000, 1_120));
  await tend();
  expect((await keysNear(1_050)).every((key) => key < 'k0120')).toBe(true);
  const seen = await database.db.forOrganisation(other, (tx) =>
    tx.query<{ relrowsecurity: boolean }>(
      `SELECT relname, relrowsecurity AND relforcerowsecurity AS is_secured FROM pg_class
       WHERE relname IN ('vector_embeddings', 'vector_indexes') ORDER BY relname`,
    ),
  );
  expect(seen).toEqual([
    { relname: 'vector_embeddings', is_secured: true },
    { relname: 'vector_indexes', is_secured: true },
  ]);
});

describe('the extension', () => {
  test('that is added later gets the vectors that are there', async () => {
    await database.asSuperuser('DROP EXTENSION vector CASCADE');
    expect(await readExtensionState(database.db)).toBe('available');
    await vectors().put('docs', ABOUT, around(0, 119));
    await tend();
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
    expect(await scansOf(async () => expect((await keysNear(7))[0]).toBe('k0007'))).toBe(0);
    await database.asSuperuser('CREATE EXTENSION vector');
    await tend();
    expect(await state()).toEqual({ filled: 119, embeddings: 119 });
    expect(await scansOf(async () => expect((await keysNear(7))[0]).toBe('k0007'))).toBe(1);
  });

  test('that is lost leaves collections as they were, and what was meant for it is cleared away', async () => {
    await vectors().put('docs', ABOUT, around(0, 120));
    await tend();
    await database.asSuperuser('DROP EXTENSION vector CASCADE');
    expect((await keysNear(50)).toSorted()).toEqual(['k0049', 'k0050', 'k0051']);
    await vectors().put('docs', ABOUT, around(120, 125));
    expect((await keysNear(124))[0]).toBe('k0124');
    await tend();
    expect(await state()).toEqual({ filled: null, embeddings: 0 });
    await database.asSuperuser('CREATE EXTENSION vector');
    await tend();
    expect(await state()).toEqual({ filled: 125, embeddings: 125 });
    expect((await keysNear(124))[0]).toBe('k0124');
  });

  test('is added by the service if its role may; if not, nothing fails', async () => {
    await database.asSuperuser('DROP EXTENSION vector CASCADE');
    const [row] = await database.db.query<{ rolsuper: boolean }>(
      'SELECT rolsuper FROM pg_roles WHERE rolname = current_user',
    );
    expect(await addExtension(database.db)).toBe(row?.rolsuper === true ? 'ready' : 'available');
  });

  test('may be in a schema of its own', async () => {
    await database.asSuperuser('DROP EXTENSION IF EXISTS vector CASCADE');
    await database.asSuperuser('CREATE SCHEMA "Extra parts"');
    await database.asSuperuser('GRANT USAGE ON SCHEMA "Extra parts" TO PUBLIC');
    await database.asSuperuser('CREATE EXTENSION vector SCHEMA "Extra parts"');
    await vectors().put('docs', ABOUT, around(0, 120));
    await tend();
    expect(await scansOf(async () => expect((await keysNear(50))[0]).toBe('k0050'))).toBe(1);
    await database.asSuperuser('DROP SCHEMA "Extra parts" CASCADE');
  });
});
