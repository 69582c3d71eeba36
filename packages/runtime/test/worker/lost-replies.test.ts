import { randomUUID } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { type Lease, type NodeRecord, successRecord } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createConfirmedStarts } from '../../src/confirmed-writes.ts';
import { PgCompleteStore, rowOf } from './complete-store.ts';

let database: TestDatabase;
let ids: WorkflowIds;
let workerId: string;
/** What happens to upcoming statements: `lose` executes them and loses the reply, `cut` loses them before execution. */
let faults: ('lose' | 'cut')[];
let writes: number;
beforeEach(async () => {
  database = await createTestDatabase();
  ids = await insertWorkflow(database.db, 'lost replies');
  faults = [];
  writes = 0;
  workerId = randomUUID();
  await makeStore().registerWorker(workerId);
});
afterEach(() => database.drop());

function faulty(): Database {
  const { db } = database;
  return {
    ...db,
    async query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]> {
      const isWrite = name === 'apply_fenced_writes' || name === 'insert_executions';
      if (isWrite) writes += 1;
      const fault = isWrite ? faults.shift() : undefined;
      if (fault === 'cut') throw new DatabaseUnavailableError(new Error('cut before it was sent'));
      const rows = await db.query<Row>(text, values, name);
      if (fault === 'lose') throw new DatabaseUnavailableError(new Error('the reply was lost'));
      return rows;
    },
  };
}

function makeStore(isLeaseValid = () => true): PgCompleteStore {
  return new PgCompleteStore(faulty(), { isLeaseValid });
}

async function begin(store: PgCompleteStore): Promise<Lease> {
  const [executionId = 0] = await store.reserveIds(1);
  const row = rowOf({
    ...ids,
    executionId,
    workflowVersion: 1,
    triggerType: 'api',
    displayName: 'sample',
    isTestMode: false,
    input: {},
    leaseTo: workerId,
    timeoutMs: null,
  });
  const { lease } = await createConfirmedStarts(faulty(), 0)({ row, keepTrying: () => true });
  if (lease === null) throw new Error('it was not leased');
  return lease;
}

const record = (nodeId: string): NodeRecord =>
  successRecord({ nodeId, attempts: 1, startedAtMs: 1, consumedAiTokens: 0 }, { n: 1 }, ['out'], 2);

async function stateOf(id: number): Promise<{ status: string; chunks: number }> {
  const [row] = await database.db.query<{ status: string; chunks: number }>(
    'SELECT status, (SELECT count(*) FROM execution_checkpoints WHERE execution_id = $1) AS chunks FROM executions WHERE id = $1',
    [id],
  );
  return { status: row?.status ?? 'absent', chunks: row?.chunks ?? 0 };
}

test.each(['lose', 'cut'] as const)(
  'a start whose first attempt meets "%s" is stored once and leased',
  async (fault) => {
    const store = makeStore();
    faults = [fault];
    const lease = await begin(store);
    expect(lease).toMatchObject({ workerId, claim: 1 });
    expect(await database.db.query('SELECT FROM executions')).toHaveLength(1);
    expect(writes).toBe(fault === 'lose' ? 1 : 2);
  },
);

test.each(['lose', 'cut'] as const)(
  'every write whose first attempt meets "%s" is stored once',
  async (fault) => {
    const store = makeStore();
    const attempts = {
      running: (lease: Lease) => store.checkpoint(lease, [record('a')]),
      waiting_async: (lease: Lease) => store.park(lease, [record('a')], Date.now() + 60_000),
      queued: (lease: Lease) => store.handBack(lease, [record('a')]),
      completed: (lease: Lease) => store.finish(lease, [record('a')], { status: 'completed' }),
      failed: (lease: Lease) =>
        store.finish(lease, [record('a')], {
          status: 'failed',
          error: { code: 'x', message: verbatim('y'), nodeId: 'a' },
        }),
    };
    for (const [status, attempt] of Object.entries(attempts)) {
      const lease = await begin(store);
      writes = 0;
      faults = [fault];
      expect([status, await attempt(lease)]).toEqual([status, true]);
      expect(await stateOf(lease.executionId)).toEqual({ status, chunks: 1 });
      expect(writes).toBe(fault === 'lose' ? 1 : 2);
    }
  },
);

test('several lost replies in a row are survived', async () => {
  const store = makeStore();
  const lease = await begin(store);
  faults = ['cut', 'cut', 'lose', 'cut'];
  expect(await store.checkpoint(lease, [record('a')])).toBe(true);
  expect(await store.checkpoint(lease, [record('b')])).toBe(true);
  expect(await stateOf(lease.executionId)).toEqual({ status: 'running', chunks: 2 });
});

test('a cancel between the lost reply and rereading is respected', async () => {
  const store = makeStore();
  const lease = await begin(store);
  await store.cancel(ids.organisationId, lease.executionId);
  faults = ['cut'];
  expect(await store.finish(lease, [record('a')], { status: 'completed' })).toBe(false);
  expect(await stateOf(lease.executionId)).toEqual({ status: 'cancelled', chunks: 0 });
});

test('writes of one batch get a result each', async () => {
  const store = makeStore();
  const leases = await Promise.all(Array.from({ length: 30 }, () => begin(store)));
  await store.cancel(ids.organisationId, leases[3]?.executionId ?? 0);
  writes = 0;
  faults = ['lose'];
  const answers = await Promise.all(leases.map((lease) => store.finish(lease, [], { status: 'completed' })));
  expect(answers).toEqual(leases.map((_, index) => index !== 3));
  expect(writes).toBe(1);
});

test('once the lease is over, nothing is retried', async () => {
  let isValid = true;
  const store = makeStore(() => isValid);
  const lease = await begin(store);
  faults = ['cut', 'cut', 'cut'];
  isValid = false;
  await expect(store.checkpoint(lease, [record('a')])).rejects.toThrow(DatabaseUnavailableError);
  expect(faults).toHaveLength(2);
});

test("one item refused by PostgreSQL doesn't fail its batch", async () => {
  const store = makeStore();
  const [good, bad] = [await begin(store), await begin(store)];
  const refused = store.park(bad, [], Number.POSITIVE_INFINITY * 0);
  const [first, second] = await Promise.allSettled([store.checkpoint(good, [record('a')]), refused]);
  expect(first).toEqual({ status: 'fulfilled', value: true });
  expect(second.status).toBe('rejected');
});
