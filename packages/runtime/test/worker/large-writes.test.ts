import { randomUUID } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { type JsonObject, type Lease, type NodeRecord, success, successRecord } from '@millrace/engine';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { holdLocks } from '@millrace/testing/hold-locks';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConfirmedStarts, WriteTimeoutError } from '../../src/confirmed-writes.ts';
import { PgCompleteStore, rowOf } from './complete-store.ts';
import { chainOf, flowOf, type TestNode } from './flows.ts';
import { startWorkingService } from './service-with-worker.ts';

const LARGE = 200_000;
const MIB = 1024 * 1024;

let database: TestDatabase;
let ids: WorkflowIds;
let workerId: string;
/** Sees and ends the statements of the others. */
let observer: PgDatabase;
/** Names of the statements sent, of large ones with `large:` before it. */
let sent: string[];
/** True: the reply of the next large statement is lost. */
let losesReply: boolean;

beforeEach(async () => {
  // Statements are ended by the test, which leaves them as much time as they need.
  database = await createTestDatabase({ statementTimeoutMs: 60_000 });
  ids = await insertWorkflow(database.db, 'large writes');
  observer = createDatabase(database.url, { applicationName: 'observer', lanes: 1 });
  sent = [];
  losesReply = false;
  workerId = randomUUID();
  await makeStore().registerWorker(workerId);
});
afterEach(async () => {
  await observer.close();
  await database.drop();
});

/** Records what is sent. */
function observed(db: PgDatabase): Database {
  return {
    ...db,
    query(text, values, name) {
      sent.push(String(name));
      return db.query(text, values, name);
    },
    large: {
      async query<Row>(text: string, values?: readonly unknown[], name?: string) {
        sent.push(`large:${name}`);
        const rows = await db.large.query<Row>(text, values, name);
        if (!losesReply || name === undefined) return rows;
        losesReply = false;
        throw new DatabaseUnavailableError(new Error('the reply was lost'));
      },
    },
  };
}

function makeStore(): PgCompleteStore {
  return new PgCompleteStore(observed(database.db));
}

/** Ends each statement that sleeps or waits for a lock, as its time limit would, until the work is over. */
async function timingOut<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  // Awaited below.
  ended.catch(() => {});
  const cancelled = new Set<string>();
  while (!isOver) {
    const stuck = await observer.query<{ pid: number; since: string }>(
      `SELECT pid, query_start::text AS since FROM pg_stat_activity
       WHERE datname = current_database() AND (wait_event = 'PgSleep' OR cardinality(pg_blocking_pids(pid)) > 0)`,
    );
    for (const { pid, since } of stuck) {
      if (cancelled.has(`${pid} ${since}`)) continue;
      cancelled.add(`${pid} ${since}`);
      await observer.query('SELECT pg_cancel_backend($1)', [pid]);
    }
  }
  return ended;
}

async function begin(store: PgCompleteStore, input: JsonObject = {}): Promise<Lease> {
  const [executionId = 0] = await store.reserveIds(1);
  const fields = { workflowVersion: 1, triggerType: 'api', displayName: 'sample', isTestMode: false };
  const row = rowOf({
    ...ids,
    ...fields,
    executionId,
    input,
    leaseTo: workerId,
    timeoutMs: null,
  });
  const { lease } = await createConfirmedStarts(observed(database.db), 0)({ row, keepTrying: () => true });
  if (lease === null) throw new Error('it was not leased');
  return lease;
}

function record(bytes: number): NodeRecord {
  const progress = { nodeId: 'a', attempts: 1, startedAtMs: 1, consumedAiTokens: 0 };
  return successRecord(progress, { text: 'x'.repeat(bytes) }, ['out'], 2);
}

/** Storing records of `LARGE` bytes takes for ever. */
async function makeLargeOnesSlow(db: Database = database.db): Promise<void> {
  await db.query(
    `CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF octet_length(NEW.records::text) > ${LARGE} THEN PERFORM pg_sleep(600); END IF;
       RETURN NEW;
     END $$`,
  );
  await db.query(
    'CREATE TRIGGER stall BEFORE INSERT ON execution_checkpoints FOR EACH ROW EXECUTE FUNCTION stall()',
  );
}

async function chunksOf({ executionId }: Lease): Promise<number> {
  const rows = await database.db.query('SELECT FROM execution_checkpoints WHERE execution_id = $1', [
    executionId,
  ]);
  return rows.length;
}

test('a large write shares neither statement nor connection with the others, which complete before it', async () => {
  await makeLargeOnesSlow();
  const store = makeStore();
  const [large, ...small] = [await begin(store), await begin(store), await begin(store)];
  sent = [];
  let isOver = false;
  const slow = store.checkpoint(large as Lease, [record(LARGE)]).catch(() => {
    isOver = true;
  });
  const stored = await Promise.all(small.map((lease) => store.checkpoint(lease, [record(10)])));
  expect([stored, isOver]).toEqual([[true, true], false]);
  expect(sent.filter((name) => name.endsWith('apply_fenced_writes'))).toEqual([
    'large:apply_fenced_writes',
    'apply_fenced_writes',
  ]);
  // It is tried again until it is given up.
  await timingOut(slow);
});

test('a write that times out by itself is given up, not retried forever', async () => {
  await makeLargeOnesSlow();
  const store = makeStore();
  const lease = await begin(store);
  sent = [];
  await expect(timingOut(store.checkpoint(lease, [record(LARGE)]))).rejects.toThrow(WriteTimeoutError);
  expect(sent.filter((name) => name === 'large:apply_fenced_writes')).toHaveLength(2);
  expect(await chunksOf(lease)).toBe(0);
  expect(await store.finish(lease, [], { status: 'completed' })).toBe(true);
});

test('what times out among others continues apart from them, and they are stored once', async () => {
  const store = makeStore();
  const leases = [await begin(store), await begin(store), await begin(store)];
  const blocked = leases[1] as Lease;
  const unlock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const blocking = holdLocks(database.db, async (tx) => {
    await tx.query('SELECT FROM executions WHERE id = $1 FOR UPDATE', [blocked.executionId]);
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  const writes = leases.map((lease) => store.checkpoint(lease, [record(10)]));
  const outcomes = await timingOut(Promise.allSettled(writes));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  unlock.resolve();
  await blocking;
  expect(await Promise.all(leases.map(chunksOf))).toEqual([1, 0, 1]);
});

test('a large write whose reply is lost is stored once', async () => {
  const store = makeStore();
  const lease = await begin(store);
  losesReply = true;
  expect(await store.checkpoint(lease, [record(LARGE)])).toBe(true);
  expect(await chunksOf(lease)).toBe(1);
});

test('a start with much data has a statement to itself', async () => {
  const store = makeStore();
  sent = [];
  await Promise.all([begin(store), begin(store, { text: 'x'.repeat(LARGE) }), begin(store)]);
  expect(sent.filter((name) => name === 'large:insert_executions')).toHaveLength(1);
});

test('the execution whose write times out fails with storage_timeout; others go on', async () => {
  const service = await startWorkingService({ database: { largeStatementTimeoutMs: 400 } });
  try {
    await makeLargeOnesSlow(service.database.db);
    service.behaviours.set('much', () => success({ text: 'x'.repeat(LARGE) }));
    const failing = await service.execute(await service.createWorkflow(chainOf('much')));
    const quick = await service.execute(await service.createWorkflow(chainOf('little')));
    expect(await service.finished(quick)).toMatchObject({ status: 'completed' });
    expect(await service.finished(failing)).toMatchObject({ error: { code: 'storage_timeout' } });
  } finally {
    await service.stop();
  }
});

test('a chain of nodes with hundreds of megabytes of output fails alone, and its bytes stay out of the statements of others', async () => {
  const service = await startWorkingService({
    limits: { executionBytes: 16 * MIB },
    worker: { leaseMs: 60_000, heartbeatMs: 10_000 },
  });
  try {
    const { db } = service.database;
    const text = 'x'.repeat(4 * MIB);
    service.behaviours.set('much', () => success({ text }));
    const nodes = Array.from({ length: 100 }, (_, index): TestNode => {
      return [`n${index}`, 'test.pure', { config: { do: 'much' } }];
    });
    const edges = nodes.map(([id], index) => `${index === 0 ? 'start' : `n${index - 1}`}>${id}`);
    const chain = await service.createWorkflow(flowOf(nodes, edges));
    const little = await service.createWorkflow(chainOf('little'));
    const longest = longestParameter(vi.spyOn(db, 'query'));
    const [heavy, ...bystanders] = await Promise.all([
      service.execute(chain),
      ...Array.from({ length: 10 }, () => service.execute(little)),
    ]);
    const ended = 'SELECT id, status, error FROM executions WHERE completed_at IS NOT NULL ORDER BY id';
    const read = () => db.query<{ id: number; status: string; error: string }>(ended);
    await expect.poll(read, { timeout: 60_000 }).toHaveLength(11);
    const rows = await read();
    expect(rows.filter(({ status }) => status === 'completed').map(({ id }) => id)).toEqual(
      bystanders.toSorted((one, other) => one - other),
    );
    const failed = rows.find(({ id }) => id === heavy);
    expect(JSON.parse(failed?.error ?? '')).toMatchObject({ code: 'execution_too_large' });
    expect(longest()).toBeLessThan(64 * 1024);
  } finally {
    await service.stop();
  }
});

/** Characters in the longest text that was sent among the statements of all. */
function longestParameter(query: {
  readonly mock: { readonly calls: readonly (readonly unknown[])[] };
}): () => number {
  const lengths = (value: unknown): number[] => {
    if (Array.isArray(value)) return value.flatMap(lengths);
    return typeof value === 'string' ? [value.length] : [];
  };
  return () => Math.max(...query.mock.calls.flatMap(([, values]) => lengths(values)));
}
