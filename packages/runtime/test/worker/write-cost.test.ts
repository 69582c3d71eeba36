import { randomUUID } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { buffersOfKeptPlan } from '@millrace/testing/statement-cost';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lookForWork } from '../../src/follow-up-statements.ts';
import { claimExecutions, insertWorker } from '../../src/lease-statements.ts';
import { claimLimited } from '../../src/limited-statements.ts';
import { ROOM_FOR_ALL } from '../../src/room-statements.ts';
import { applyFencedWrites, type FencedWrite } from '../../src/statements.ts';
import { ALL_SLOTS } from './all-slots.ts';

const ROWS = 20_000;
/** The row, its indexes, the records and the storage that is counted. */
const MAX_BUFFERS = 80;

let database: TestDatabase;
let ids: WorkflowIds;
let workerId: string;
beforeEach(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'writes');
  workerId = randomUUID();
  await insertWorker(database.db, workerId, 3_600_000);
});
afterEach(() => database.drop());

/** Starts executions that this worker runs. @returns the id of the last one */
async function run(db: Queryable, count: number): Promise<number> {
  const [last] = await db.query<{ id: number }>(
    `WITH e AS (
       INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, started_at, worker_id, claim)
       SELECT $1, $2, 1, 'running', 'api', 'sample', false, '{}', now(), $3, 1 FROM generate_series(1, $4::integer)
       RETURNING id
     ) SELECT max(id) AS id FROM e`,
    [ids.organisationId, ids.workflowId, workerId, count],
  );
  return last?.id ?? 0;
}

async function runAndEnd(db: Queryable, count: number): Promise<void> {
  await run(db, count);
  await db.query(
    "UPDATE executions SET status = 'completed', worker_id = NULL, completed_at = now() WHERE status = 'running'",
  );
}

/**
 * Buffers touched by the write that ends an execution, by the plan that PostgreSQL keeps.
 * @param afterwards between making the plan and using it
 */
async function buffersOfEnd(
  executionId: number,
  afterwards: (tx: Queryable) => Promise<unknown> = async () => {},
): Promise<number> {
  const write: FencedWrite = {
    executionId,
    workerId,
    claim: 1,
    status: 'completed',
    recordsJson: '[{"node_id":"a"}]',
    errorJson: null,
    wakeAtMs: null,
    signalsSeen: 0,
    consumedAiTokens: null,
    storedBytes: 10,
  };
  const send = async (tx: Queryable) =>
    expect(await applyFencedWrites(tx, [write])).toMatchObject([{ id: executionId }]);
  return buffersOfKeptPlan(database.db, send, afterwards);
}

test('a write costs no more however many executions run, or ran since the last vacuum', async () => {
  const { db } = database;
  await db.query('ALTER TABLE executions SET (autovacuum_enabled = off)');
  await runAndEnd(db, ROWS);
  await db.query('ANALYZE executions');
  const executionId = await run(db, ROWS);
  expect(await buffersOfEnd(executionId)).toBeLessThan(MAX_BUFFERS);
});

test.each([1, 450, 500, 4_000])('a plan made with %i executions stays good with many more', async (count) => {
  const executionId = await run(database.db, count);
  expect(await buffersOfEnd(executionId, (tx) => run(tx, ROWS))).toBeLessThan(MAX_BUFFERS);
});

/** From how many on PostgreSQL knows anything of them: what it knew of fewer would mislead it once there are many. */
const FIRST_ANALYSIS = 5_000;

test('a plan made with the first statistics stays good with many more', async () => {
  const { db } = database;
  const [settings] = await db.query<{ reloptions: string[] }>(
    "SELECT reloptions FROM pg_class WHERE oid = 'executions'::regclass",
  );
  expect(settings?.reloptions).toContain(`autovacuum_analyze_threshold=${FIRST_ANALYSIS}`);
  const executionId = await run(db, FIRST_ANALYSIS);
  await db.query('ANALYZE executions');
  expect(await buffersOfEnd(executionId, (tx) => run(tx, ROWS))).toBeLessThan(MAX_BUFFERS);
});

test('looking for work costs no more however many ran since the last vacuum', async () => {
  const { db } = database;
  await db.query('ALTER TABLE executions SET (autovacuum_enabled = off)');
  await runAndEnd(db, ROWS);
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input)
     VALUES ($1, $2, 1, 'queued', 'api', 'sample', false, '{}')`,
    [ids.organisationId, ids.workflowId],
  );
  expect(await buffersOfKeptPlan(db, lookForWork)).toBeLessThan(MAX_BUFFERS);
});

test.each([
  ['a claim', 'without statistics', claimExecutions, null],
  ['a claim by a limit', 'without statistics', claimLimited, 5],
  ['a claim', 'with the first ones', claimExecutions, null],
  ['a claim by a limit', 'with the first ones', claimLimited, 5],
])('%s planned %s costs no more once there are many executions', async (_what, known, claim, limit) => {
  const { db } = database;
  await db.query('ALTER TABLE executions SET (autovacuum_enabled = off)');
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input,
       max_concurrency)
     SELECT $1, $2, 1, 'queued', 'api', 'sample', false, '{}', $3::integer FROM generate_series(1, 5)`,
    [ids.organisationId, ids.workflowId, limit],
  );
  if (known === 'with the first ones') {
    await runAndEnd(db, FIRST_ANALYSIS);
    await db.query('ANALYZE executions');
  }
  const claimOne = async (tx: Queryable) =>
    expect(await claim(tx, workerId, 1, 3, ALL_SLOTS, ROOM_FOR_ALL)).toHaveLength(1);
  expect(await buffersOfKeptPlan(db, claimOne, (tx) => runAndEnd(tx, ROWS))).toBeLessThan(2 * MAX_BUFFERS);
});
