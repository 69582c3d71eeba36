import type { Queryable } from '@millrace/database/database';
import type { KeyGrant } from '@millrace/runtime/start-permits';
import { describe, expect, test } from 'vitest';
import { createRememberedStarts } from './remembered-starts.ts';
import type { StartLookup } from './store.ts';

const GRANT: KeyGrant = { organisationId: 1, validUntil: null, snapshot: '1:1:' };
const STALE_MS = 250;

/** Lets everything happen that waits for nothing but promises. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
}

/** A database that counts ids, and answers when it is told to. */
function createDatabase(now: () => number) {
  let id = 0;
  let waiting: { readonly answer: () => void; readonly fail: () => void }[] = [];
  const reserved: number[] = [];
  const reservedAt = new Map<number, number>();
  const db: Queryable = {
    query: (_text, values) => {
      const count = Number(values?.[0]);
      reserved.push(count);
      const ids = Array.from({ length: count }, () => ++id);
      for (const each of ids) reservedAt.set(each, now());
      const answer = Promise.withResolvers<unknown[]>();
      waiting.push({
        answer: () => answer.resolve([{ ids, ms: 1_000_000 }]),
        fail: () => answer.reject(new Error('away')),
      });
      return answer.promise as never;
    },
  };
  return {
    db,
    /** How many ids each statement reserved. */
    reserved,
    /** When each id was reserved ahead. */
    reservedAt,
    lookUp: (workflowId = 1, status: 'active' | 'archived' = 'active'): StartLookup => ({
      ...{ executionId: ++id, now: new Date(1_000_000), isPaused: false, isListening: false, record: null },
      ...{ snapshot: '1:1:', permit: null },
      workflow: { id: workflowId, organisationId: 1, name: 'w', status, version: 1, isTestMode: false },
    }),
    async answer(how: 'answer' | 'fail' = 'answer') {
      const all = waiting;
      waiting = [];
      for (const each of all) each[how]();
      await settle();
    },
  };
}

function setUp() {
  let at = 10_000;
  const database = createDatabase(() => at);
  const starts = createRememberedStarts(database.db, () => at);
  return {
    database,
    starts,
    now: () => at,
    wait: (ms: number) => {
      at += ms;
    },
    lookUp: (workflowId?: number, status?: 'active' | 'archived') =>
      starts.lookUp(async () => database.lookUp(workflowId, status)),
    recall: (workflowId = 1) => starts.recall(1, workflowId, GRANT),
  };
}

describe('what is recalled', () => {
  test('nothing of a workflow that was never looked up, or could not be started', async () => {
    const { recall, lookUp } = setUp();
    expect(await recall()).toBeNull();
    await lookUp(1, 'archived');
    expect(await recall()).toBeNull();
  });

  test('nothing for a lone start, for which no ids are reserved', async () => {
    const { recall, lookUp, wait, database } = setUp();
    await lookUp();
    for (let round = 0; round < 5; round += 1) {
      expect(await recall()).toBeNull();
      wait(STALE_MS);
    }
    expect(database.reserved).toEqual([]);
  });

  test('a start soon after another, with ids in order', async () => {
    const { recall, lookUp, database } = setUp();
    await lookUp();
    expect(await recall()).toBeNull();
    const waiting = [recall(), recall(), recall()];
    await database.answer();
    const found = await Promise.all(waiting);
    expect(found.map((each) => each?.executionId)).toEqual([2, 3, 4]);
    expect(found[0]).toMatchObject({
      workflow: { id: 1 },
      permit: { grant: GRANT, workflowSnapshot: '1:1:' },
    });
    // One permit, which the insert checks once.
    expect(new Set(found.map((each) => each?.permit)).size).toBe(1);
  });

  test('as many as wait at one time, by a second reservation if necessary', async () => {
    const { recall, lookUp, database } = setUp();
    await lookUp();
    await recall();
    const waiting = Array.from({ length: 64 }, () => recall());
    await database.answer();
    await database.answer();
    const ids = (await Promise.all(waiting)).map((each) => each?.executionId ?? 0);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(64);
    expect(database.reserved.length).toBeLessThanOrEqual(3);
  });

  test('nothing a minute after the look-up', async () => {
    const { recall, lookUp, wait, database } = setUp();
    await lookUp();
    wait(59_900);
    await recall();
    const second = recall();
    await database.answer();
    expect(await second).not.toBeNull();
    wait(100);
    expect(await recall()).toBeNull();
  });

  test('nothing while the database is away, and nothing from before', async () => {
    const { recall, lookUp, database } = setUp();
    await lookUp();
    await recall();
    const second = recall();
    await database.answer('fail');
    expect(await second).toBeNull();
    expect(await recall()).toBeNull();
    expect(database.reserved.length).toBe(1);
    await lookUp();
    const third = recall();
    await database.answer();
    expect(await third).not.toBeNull();
  });

  test('nothing from before a start could not be stored', async () => {
    const { recall, lookUp, starts } = setUp();
    await lookUp();
    starts.noteUnavailable();
    expect(await recall()).toBeNull();
  });

  test('the time of the database as of the reservation, and what has passed since', async () => {
    const { recall, lookUp, wait, database } = setUp();
    await lookUp();
    await recall();
    const second = recall();
    await database.answer();
    expect((await second)?.now.getTime()).toBe(1_000_000);
    wait(120.7);
    expect((await recall())?.now.getTime()).toBe(1_000_120);
  });
});

/** Deterministic numbers below one. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('in any order of look-ups, starts, waits and failures', () => {
  test.for(Array.from({ length: 60 }, (_, seed) => seed + 1))('seed %i', async (seed) => {
    const random = randomFrom(seed);
    const { recall, lookUp, wait, now, database } = setUp();
    const given = new Set<number>();
    const under: Promise<void>[] = [];
    let recalled = 0;
    for (let step = 0; step < 400; step += 1) {
      const choice = random();
      if (choice < 0.15) {
        given.add((await lookUp()).executionId);
      } else if (choice < 0.7) {
        // Whatever was given before this start began has a lower id.
        const highest = Math.max(0, ...given);
        under.push(
          recall().then((found) => {
            if (found === null) return;
            expect(given).not.toContain(found.executionId);
            expect(found.executionId).toBeGreaterThan(highest);
            expect(now() - (database.reservedAt.get(found.executionId) ?? 0)).toBeLessThan(STALE_MS);
            given.add(found.executionId);
            recalled += 1;
          }),
        );
      } else if (choice < 0.85) {
        await database.answer(random() < 0.1 ? 'fail' : 'answer');
      } else {
        await settle();
        wait(random() < 0.1 ? STALE_MS : random() * 30);
      }
    }
    for (let turn = 0; turn < 5; turn += 1) await database.answer();
    await Promise.all(under);
    expect(recalled).toBeGreaterThan(20);
    expect(Math.max(...database.reserved)).toBeLessThanOrEqual(500);
  });
});
