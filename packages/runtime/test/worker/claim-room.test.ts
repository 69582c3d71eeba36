import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ClaimRoom } from '../../src/data-budget.ts';
import { PgCompleteStore } from './complete-store.ts';

const SMALL = 100;
const LARGE = 1_000;

let database: TestDatabase;
let acme: WorkflowIds;
let others: WorkflowIds;
let store: PgCompleteStore;
let workerId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  [acme, others] = [await insertWorkflow(database.db, 'acme'), await insertWorkflow(database.db, 'others')];
});
beforeEach(async () => {
  await database.db.query('DELETE FROM executions');
  store = new PgCompleteStore(database.db);
  workerId = randomUUID();
  await store.registerWorker(workerId);
});
afterAll(() => database.drop());

const QUEUED: { readonly [name: string]: string } = {
  'without a limit': 'NULL',
  'under a limit': '10',
};

/** Queues executions with this much data. @returns their ids */
async function queue(ids: WorkflowIds, sizes: readonly number[], limit = 'NULL'): Promise<number[]> {
  const rows = await database.db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, kept_bytes, max_concurrency)
     SELECT $1, $2, 1, 'queued', 'api', 'sample', false, '{}', bytes, nullif($4, 'NULL')::integer
     FROM unnest($3::bigint[]) WITH ORDINALITY AS s (bytes, n) ORDER BY n RETURNING id`,
    [ids.organisationId, ids.workflowId, sizes, limit],
  );
  return rows.map(({ id }) => id);
}

function room(own: Partial<ClaimRoom> = {}): ClaimRoom {
  return {
    ...{ smallBytes: SMALL, freeBytes: LARGE, organisationBytes: LARGE },
    ...{ held: new Map(), isIdle: false, ...own },
  };
}

async function claim(own: Partial<ClaimRoom> = {}): Promise<number[]> {
  const claimed = await store.claim(workerId, 10, undefined, room(own));
  return claimed.map(({ lease }) => lease.executionId).toSorted((a, b) => a - b);
}

it.each(Object.entries(QUEUED))(
  'one execution with much data is claimed at a time, all others at once (%s)',
  async (_, limit) => {
    const [first, second, ...small] = await queue(acme, [LARGE, LARGE, SMALL, SMALL], limit);
    expect(await claim()).toEqual([first, ...small]);
    expect(await claim()).toEqual([second]);
  },
);

it.each(Object.entries(QUEUED))(
  'one that has no room waits, and no other large one overtakes it (%s)',
  async (_, limit) => {
    const [first, second, small] = await queue(acme, [2 * LARGE, LARGE, SMALL], limit);
    expect(await claim()).toEqual([small]);
    expect(await claim()).toEqual([]);
    // Nothing is held: it runs alone, however large it is.
    expect(await claim({ isIdle: true })).toEqual([first]);
    expect(await claim()).toEqual([second]);
  },
);

it('an organisation that holds its part of the room waits, and others get theirs', async () => {
  const [mine] = await queue(acme, [LARGE]);
  const [theirs] = await queue(others, [LARGE]);
  const held = new Map([[acme.organisationId, 1]]);
  expect(await claim({ held })).toEqual([theirs]);
  expect(await claim({ held })).toEqual([]);
  expect(await claim()).toEqual([mine]);
});

it('what a dead worker has left waits for room, too', async () => {
  const ids = await queue(acme, [LARGE, SMALL]);
  expect(await claim()).toEqual(ids);
  await database.db.query('UPDATE workers SET lease_expires_at = clock_timestamp()');
  workerId = randomUUID();
  await store.registerWorker(workerId);
  expect(await claim({ freeBytes: 0 })).toEqual([ids[1]]);
  expect(await claim()).toEqual([ids[0]]);
});
