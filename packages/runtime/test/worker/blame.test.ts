import { randomUUID } from 'node:crypto';
import type { Lease } from '@millrace/engine';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LeaseKeeper, type LeaseKeeperDeps } from '../../src/lease-keeper.ts';
import { hold } from '../../src/main-thread.ts';
import { PgCompleteStore } from './complete-store.ts';

let database: TestDatabase;
let store: PgCompleteStore;

beforeAll(async () => {
  database = await createTestDatabase();
  store = new PgCompleteStore(database.db);
});
afterAll(() => database.drop());

async function crashesOf(id: number): Promise<number | undefined> {
  const [row] = await database.db.query<{ crashed_attempts: number }>(
    'SELECT crashed_attempts FROM executions WHERE id = $1',
    [id],
  );
  return row?.crashed_attempts;
}

async function expire(workerId: string): Promise<void> {
  await database.db.query("UPDATE workers SET lease_expires_at = now() - interval '1 second' WHERE id = $1", [
    workerId,
  ]);
}

async function queue(name: string, count: number): Promise<number[]> {
  const { organisationId, workflowId } = await insertWorkflow(database.db, name);
  const request = { organisationId, workflowId, workflowVersion: 1, triggerType: 'api' as const };
  const rest = { displayName: 'x', isTestMode: false, input: {}, leaseTo: null, timeoutMs: null };
  const ids = await store.reserveIds(count);
  await store.start(ids.map((executionId) => ({ ...request, ...rest, executionId })));
  return ids;
}

it('a worker that was stalled keeps bystanders, and takes back crashes that another counted for them', async () => {
  const [stalled, other, next] = [randomUUID(), randomUUID(), randomUUID()];
  const [taken = 0, kept = 0, suspect = 0] = await queue('kept', 3);
  await store.registerWorker(stalled);
  const leases = (await store.claim(stalled, 3)).map(({ lease }) => lease);
  await expire(stalled);
  await store.registerWorker(other);
  const overtaken = await store.claim(other, 1);
  expect(overtaken.map(({ lease }) => lease.executionId)).toEqual([taken]);
  expect(await crashesOf(taken)).toBe(1);

  await store.registerWorker(next);
  await store.inherit(next, [stalled], [suspect]);
  await store.uncountCrashes(
    next,
    leases.filter(({ executionId }) => executionId !== suspect),
  );
  const found = await store.adopt(next, () => false);
  expect(found.map(({ lease }) => lease.executionId)).toEqual([kept]);
  expect([await crashesOf(taken), await crashesOf(kept), await crashesOf(suspect)]).toEqual([0, 0, 0]);
  expect((await store.claim(next, 3)).map(({ lease }) => lease.executionId)).toEqual([suspect]);
  expect(await crashesOf(suspect)).toBe(1);
  // What the other worker does is its own.
  for (const { lease } of overtaken)
    expect(await store.finish(lease, [], { status: 'completed' })).toBe(true);
});

it('also takes back what is counted while it registers again', async () => {
  const [taken = 0, suspect = 0] = await queue('meanwhile', 2);
  const other = randomUUID();
  await store.registerWorker(other);
  const leases: Lease[] = [];
  let takeOver = async () => {};
  const deps: { -readonly [name in keyof LeaseKeeperDeps]: LeaseKeeperDeps[name] } = {
    store: {
      registerWorker: (id) => store.registerWorker(id),
      heartbeat: (id) => store.heartbeat(id),
      retireWorker: (id) => store.retireWorker(id),
      async inherit(...order) {
        await takeOver();
        await store.inherit(...order);
      },
      uncountCrashes: (...order) => store.uncountCrashes(...order),
    },
    leaseMs: 60_000,
    log: pino({ enabled: false }),
    running: () => leases,
    onRegistered: async () => {},
    onLost: () => {},
  };
  const keeper = new LeaseKeeper(deps);
  await keeper.register();
  const id = keeper.current?.id ?? '';
  leases.push(...(await store.claim(id, 2)).map(({ lease }) => lease));
  await expire(id);
  const before = process.cpuUsage();
  hold({ executionId: suspect, nodeId: null }, () => {
    while (process.cpuUsage(before).user < 200_000);
  });
  // A quarter of it is what stalls count from.
  deps.leaseMs = 400;
  expect(await keeper.renew()).toBe(false);
  deps.leaseMs = 60_000;
  takeOver = async () => {
    const [overtaken] = await store.claim(other, 1);
    expect(overtaken?.lease.executionId).toBe(taken);
    expect(await crashesOf(taken)).toBe(1);
  };
  await keeper.register();
  expect([await crashesOf(taken), await crashesOf(suspect)]).toEqual([0, 0]);
  keeper.stopWatching();
});
