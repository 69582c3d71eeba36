import { randomUUID } from 'node:crypto';
import type { Database, Queryable } from '@millrace/database/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { countBuffers } from '@millrace/testing/statement-cost';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lookForWork } from '../../src/follow-up-statements.ts';
import { releaseHeldStarts } from '../../src/held-starts.ts';
import { claimExecutions } from '../../src/lease-statements.ts';
import { claimLimited } from '../../src/limited-statements.ts';
import { ROOM_FOR_ALL } from '../../src/room-statements.ts';
import type { ClaimShares } from '../../src/share-statements.ts';
import { ALL_SLOTS } from './all-slots.ts';

const ROWS = 20_000;
/** For claiming ten executions: each is read, locked, written and added to its indexes. */
const MAX_BUFFERS = 600;

/** The names of the statements that claim. */
const CLAIM = 'claim_executions';
const CLAIMS: readonly string[] = [CLAIM, 'hold_limited_workflows', 'claim_limited_executions'];

let database: TestDatabase;
let workerId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const ids = await insertWorkflow(db, 'backlog');
  workerId = randomUUID();
  await db.query(
    "INSERT INTO workers (id, host, pid, lease_expires_at) VALUES ($1, 'h', 1, now() + interval '1 hour')",
    [workerId],
  );
  // A long backlog, as many parked until next week, and a long history.
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, completed_at, wake_at)
     SELECT $1, $2, 1, s.status, 'api', 'sample', false, '{}', CASE WHEN s.status <> 'queued' THEN now() END,
       CASE WHEN s.status = 'completed' THEN now() END, CASE WHEN s.status = 'waiting_async' THEN now() + interval '7 days' END
     FROM generate_series(1, $3::integer), (VALUES ('queued'), ('waiting_async'), ('completed')) s (status)`,
    [ids.organisationId, ids.workflowId, ROWS],
  );
  // A vacuum of its own would come at some time, and others read more pages while it runs.
  await db.query('VACUUM (ANALYZE) executions');
});
afterAll(() => database.drop());

/** Buffers touched by the statements of some work, which is undone: by a claim with the plan that is kept. */
async function buffersOf(work: (tx: Queryable) => Promise<unknown>): Promise<number> {
  let buffers = 0;
  await database.db
    .transaction(async (tx) => {
      const explained: Queryable = {
        async query<Row>(text: string, values: readonly unknown[] = [], name?: string): Promise<Row[]> {
          const isKept = name !== undefined && CLAIMS.includes(name);
          buffers += await countBuffers(tx, { text, values, name: isKept ? name : undefined });
          return await tx.query<Row>(text, values, name);
        },
      };
      await work(explained);
      throw new Undo();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undo)) throw error;
    });
  return buffers;
}

class Undo extends Error {}

/** Buffers touched by the claim's own statement, which claims ten. */
const buffersOfClaim = (shares: Partial<ClaimShares> = {}) =>
  buffersOf((tx) => claimExecutions(tx, workerId, 10, 3, { ...ALL_SLOTS, ...shares }, ROOM_FOR_ALL));

test('a claim costs in proportion to what it takes, not to what waits', async () => {
  expect(await buffersOfClaim()).toBeLessThan(MAX_BUFFERS);
});

/** How often a statement was planned for what is kept, and for values of its own, in ten claims of ten executions each. */
async function plansOf(
  name: string,
  claim: (tx: Queryable) => Promise<readonly unknown[]>,
): Promise<unknown> {
  return database.db.exclusive(async (session) => {
    for (let count = 0; count < 10; count += 1) {
      await session.query('BEGIN');
      expect(await claim(session)).toHaveLength(10);
      await session.query('ROLLBACK');
    }
    const [plans] = await session.query(
      'SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = $1',
      [name],
    );
    return plans;
  });
}

/** PostgreSQL plans five times before it compares. */
const KEPT = { generic_plans: 5, custom_plans: 5 };

test('a claim keeps its plan, which PostgreSQL finds as good as one for these values', async () => {
  const plans = await plansOf(CLAIM, (tx) => claimExecutions(tx, workerId, 10, 3, ALL_SLOTS, ROOM_FOR_ALL));
  expect(plans).toEqual(KEPT);
});

test('a claim costs no more with a thousand other organisations in the queue', async () => {
  const { db } = database;
  await db.query(
    `WITH o AS (INSERT INTO organisations (name) SELECT 'tenant ' || n FROM generate_series(1, 1000) n RETURNING id),
     w AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       SELECT id, 'sample', 'active', 1, rpad('', 34, 'x') || lpad(id::text, 9, '0') FROM o RETURNING id, organisation_id
     ), v AS (
       INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
       SELECT id, 1, organisation_id, '{"nodes": [], "edges": []}' FROM w RETURNING workflow_id
     )
     INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input)
     SELECT organisation_id, id, 1, 'queued', 'api', 'sample', false, '{}' FROM w`,
  );
  await db.query('VACUUM ANALYZE executions');
  expect(await buffersOfClaim()).toBeLessThan(MAX_BUFFERS);
});

test('a claim costs no more with a backlog of every priority, also when it takes the oldest', async () => {
  const { db } = database;
  await db.query("UPDATE executions SET priority = id % 3 WHERE status = 'queued'");
  await db.query('VACUUM ANALYZE executions');
  expect(await buffersOfClaim()).toBeLessThan(MAX_BUFFERS);
  expect(await buffersOfClaim({ isTurnOfOldest: true })).toBeLessThan(MAX_BUFFERS);
});

test('a claim that finds nothing costs almost nothing', async () => {
  await database.db.query(
    "UPDATE executions SET status = 'cancelled', completed_at = now() WHERE status = 'queued'",
  );
  await database.db.query('VACUUM ANALYZE executions');
  expect(await buffersOfClaim()).toBeLessThan(50);
});

test('held starts cost claims nothing, and a release costs what it releases', async () => {
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, 'held');
  await db.query(
    `WITH rate AS (
       INSERT INTO start_rates (workflow_id, key_hash, organisation_id, interval_us, tolerance_us, due_at, waiting, last_seq)
       VALUES ($2, decode(repeat('00', 32), 'hex'), $1, 1000000, 0, 'epoch', $3, $3)
     ), held AS (
       INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, held_until)
       SELECT $1, $2, 1, 'queued', 'api', 'sample', false, '{}', now() + n * interval '1 second'
       FROM generate_series(1, $3::integer) n RETURNING id
     )
     INSERT INTO held_starts (workflow_id, key_hash, seq, execution_id, organisation_id)
     SELECT $2, decode(repeat('00', 32), 'hex'), row_number() OVER (ORDER BY id), id, $1 FROM held`,
    [organisationId, workflowId, ROWS],
  );
  await db.query('VACUUM ANALYZE executions, start_rates, held_starts');
  expect(await buffersOfClaim()).toBeLessThan(50);
  expect(await buffersOf(lookForWork)).toBeLessThan(50);
  const release = (tx: Queryable) =>
    releaseHeldStarts({ ...tx, transaction: (work) => work(tx) } as Database);
  expect(await buffersOf(release)).toBeLessThan(MAX_BUFFERS);
});

test('a limit costs in proportion to what may run, not to what waits behind it', async () => {
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, 'limited');
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, wake_at, max_concurrency)
     SELECT $1, $2, 1, s.status, 'api', 'sample', false, '{}', CASE WHEN s.status <> 'queued' THEN now() END,
       CASE WHEN s.status = 'waiting_async' THEN now() + interval '7 days' END, 5
     FROM generate_series(1, $3::integer), (VALUES ('queued'), ('waiting_async')) s (status)`,
    [organisationId, workflowId, ROWS],
  );
  await db.query('VACUUM ANALYZE executions');
  let claimed = 0;
  const buffers = await buffersOf(async (tx) => {
    claimed = (await claimLimited(tx, workerId, 10, 3, ALL_SLOTS, ROOM_FOR_ALL)).length;
  });
  expect(claimed).toBe(5);
  expect(buffers).toBeLessThan(MAX_BUFFERS);
  expect(await buffersOf(lookForWork)).toBeLessThan(50);
  // Limited executions don't get in the way of the others.
  expect(await buffersOfClaim()).toBeLessThan(50);
});

test('a limit by key costs in proportion to what may run, not to the number of keys or to what waits behind them', async () => {
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, 'limited by key');
  // Of 5,000 keys ten are full: each has one running and 500 that wait.
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, worker_id, max_concurrency, concurrency_key, concurrency_limit)
     SELECT $1, $2, 1, s.status, 'api', 'sample', false, '{}', CASE WHEN s.status = 'running' THEN now() END,
       CASE WHEN s.status = 'running' THEN $3::uuid END, 2147483647, sha256(s.key::text::bytea), 1
     FROM (
       SELECT 'running' AS status, key FROM generate_series(1, 10) key
       UNION ALL SELECT 'queued', n % 10 + 1 FROM generate_series(1, 5000) n
       UNION ALL SELECT 'queued', key FROM generate_series(11, 5000) key
     ) s`,
    [organisationId, workflowId, workerId],
  );
  await db.query('VACUUM ANALYZE executions');
  let claimed = 0;
  const buffers = await buffersOf(async (tx) => {
    claimed = (await claimLimited(tx, workerId, 10, 3, ALL_SLOTS, ROOM_FOR_ALL)).length;
  });
  expect(claimed).toBe(10);
  expect(buffers).toBeLessThan(3 * MAX_BUFFERS);
  expect(await buffersOf(lookForWork)).toBeLessThan(50);
  const claim = (tx: Queryable) => claimLimited(tx, workerId, 10, 3, ALL_SLOTS, ROOM_FOR_ALL);
  expect(await plansOf('hold_limited_workflows', claim)).toEqual(KEPT);
});
