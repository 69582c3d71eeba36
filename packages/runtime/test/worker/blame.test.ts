import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('a worker that was stalled keeps bystanders, and takes back crashes that another counted for them', async () => {
  const { organisationId, workflowId } = await insertWorkflow(database.db, 'blame');
  const [stalled, other, next] = [randomUUID(), randomUUID(), randomUUID()];
  const request = { organisationId, workflowId, workflowVersion: 1, triggerType: 'api' as const };
  const rest = { displayName: 'x', isTestMode: false, input: {}, leaseTo: null, timeoutMs: null };
  const ids = await store.reserveIds(3);
  await store.start(ids.map((executionId) => ({ ...request, ...rest, executionId })));
  const [taken = 0, kept = 0, suspect = 0] = ids;
  await store.registerWorker(stalled);
  const leases = (await store.claim(stalled, 3)).map(({ lease }) => lease);
  await expire(stalled);
  await store.registerWorker(other);
  const overtaken = await store.claim(other, 1);
  expect(overtaken.map(({ lease }) => lease.executionId)).toEqual([taken]);
  expect(await crashesOf(taken)).toBe(1);

  await store.registerWorker(next);
  await store.uncountCrashes(leases.filter(({ executionId }) => executionId !== suspect));
  await store.inherit(next, [stalled], [suspect]);
  const found = await store.adopt(next, () => false);
  expect(found.map(({ lease }) => lease.executionId)).toEqual([kept]);
  expect([await crashesOf(taken), await crashesOf(kept), await crashesOf(suspect)]).toEqual([0, 0, 0]);
  expect((await store.claim(next, 3)).map(({ lease }) => lease.executionId)).toEqual([suspect]);
  expect(await crashesOf(suspect)).toBe(1);
  // What the other worker does is its own.
  for (const { lease } of overtaken)
    expect(await store.finish(lease, [], { status: 'completed' })).toBe(true);
});
