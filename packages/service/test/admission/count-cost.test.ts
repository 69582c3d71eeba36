import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countQueues, countServiceQueue } from '../../src/admission/store.ts';

const ROWS = 20_000;
const OTHERS = 500;

let database: TestDatabase;
let greedy: number;
let others: number[];
beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, 'backlog');
  greedy = organisationId;
  await insertQueued(organisationId, workflowId, ROWS, 'queued');
  await insertQueued(organisationId, workflowId, ROWS, 'completed');
  others = (
    await db.query<{ id: number }>(
      `WITH orgs AS (INSERT INTO organisations (name) SELECT 'other ' || i FROM generate_series(1, $1::integer) i
         RETURNING id)
       INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input)
       SELECT id, $2, 1, 'queued', 'api', 'sample', false, '{}' FROM orgs RETURNING organisation_id AS id`,
      [OTHERS, workflowId],
    )
  ).map(({ id }) => id);
  await db.query('ANALYZE executions');
});
afterAll(() => database.drop());

async function insertQueued(organisationId: number, workflowId: number, count: number, status: string) {
  await database.db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, completed_at)
     SELECT $1, $2, 1, $3::text, 'api', 'sample', false, '{}', CASE WHEN $3 = 'completed' THEN now() END,
       CASE WHEN $3 = 'completed' THEN now() END
     FROM generate_series(1, $4::integer)`,
    [organisationId, workflowId, status, count],
  );
}

/** Buffers touched by the only statement of some work. */
async function buffersOf(work: (db: Queryable) => Promise<unknown>): Promise<number> {
  let buffers = 0;
  const explained: Queryable = {
    async query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> {
      const [row] = await database.db.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      const [{ Plan: plan }] = JSON.parse(row?.['QUERY PLAN'] ?? '') as [{ Plan: { [key: string]: number } }];
      buffers += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
      return await database.db.query<Row>(text, values);
    },
  };
  await work(explained);
  return buffers;
}

test('counting stops at the limit, however long the queue is', async () => {
  const one = [{ id: greedy, sinceId: null }];
  const [row] = await countQueues(database.db, one, 1_001);
  expect(row).toEqual({ queued: 1_001, arrived: null });
  const buffers = {
    shortest: await buffersOf((db) => countQueues(db, one, 1)),
    short: await buffersOf((db) => countQueues(db, one, 1_001)),
    ofService: await buffersOf((db) => countServiceQueue(db, null, 1_001)),
    ofOthers: await buffersOf((db) =>
      countQueues(
        db,
        others.map((id) => ({ id, sinceId: null })),
        1_001,
      ),
    ),
  };
  expect(buffers.shortest).toBeLessThan(20);
  expect(buffers.short).toBeLessThan(60);
  expect(buffers.ofService).toBeLessThan(60);
  // A few for each organisation, none of them for the queue of another.
  expect(buffers.ofOthers).toBeLessThan(OTHERS * 5);
});

test('what arrived since the last count is counted from there', async () => {
  const [last] = await database.db.query<{ id: number }>('SELECT max(id) AS id FROM executions');
  const sinceId = (last?.id ?? 0) - 10;
  const [row] = await countQueues(database.db, [{ id: others.at(-1) ?? 0, sinceId }], 1_001);
  expect(row).toEqual({ queued: 1, arrived: 1 });
  expect(await countServiceQueue(database.db, sinceId, 30_000)).toEqual({
    queued: ROWS + OTHERS,
    arrived: 10,
  });
  expect(
    await buffersOf((db) => countQueues(db, [{ id: greedy, sinceId: (last?.id ?? 0) - OTHERS - 100 }], 1)),
  ).toBeLessThan(30);
});
