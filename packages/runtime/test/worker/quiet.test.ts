import { randomUUID } from 'node:crypto';
import { success } from '@millrace/engine';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { PgExecutionStore } from '../../src/pg-store.ts';
import { PgCompleteStore } from './complete-store.ts';
import { chainOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
afterEach(() => service.stop());

const HOUR_MS = 3_600_000;
/** Neither its heartbeats nor its polls come while a test runs. */
const DEAF = { leaseMs: 2 * HOUR_MS, heartbeatMs: HOUR_MS / 2, pollMs: HOUR_MS };

test('an idle worker polls again once it runs something, which may park for less than its pause', async () => {
  const claim = vi.spyOn(PgExecutionStore.prototype, 'claim');
  onTestFinished(() => claim.mockRestore());
  service = await startWorkingService({ worker: DEAF });
  await expect.poll(() => claim.mock.settledResults[0]?.type).toBe('fulfilled');
  const looks = claim.mock.calls.length;
  const held = Promise.withResolvers<void>();
  service.behaviours.set('node', () => held.promise.then(() => success({})));
  const id = await service.execute(await service.createWorkflow(chainOf('node')));
  await expect.poll(() => claim.mock.calls.length).toBeGreaterThan(looks);
  held.resolve();
  expect((await service.finished(id)).status).toBe('completed');
});

test.each([
  ['with nothing at all', null, Infinity, Infinity],
  [
    'with a wait',
    "status = 'waiting_async', worker_id = NULL, wake_at = now() + interval '90 seconds'",
    1,
    90_000,
  ],
  [
    'with a wait for a signal',
    "status = 'waiting_async', worker_id = NULL, wake_at = 'infinity'",
    Infinity,
    Infinity,
  ],
  [
    'with a wait that may need a place',
    "status = 'waiting_async', worker_id = NULL, wake_at = 'infinity', max_concurrency = 1",
    0,
    0,
  ],
  ['with a queued start', 'priority = 0', 0, 0],
  [
    'while another worker runs something',
    "status = 'running', started_at = now(), claim = 1, worker_id = $2",
    0,
    0,
  ],
])('how long it is quiet is known: %s', async (_what, change, least, most) => {
  service = await startWorkingService({ withWorker: false });
  const { db } = service.database;
  const store = new PgCompleteStore(db);
  if (change !== null) {
    const id = await service.execute(await service.createWorkflow(RUNNABLE_FLOW));
    const other = randomUUID();
    await store.registerWorker(other);
    // Only what runs may wait.
    const runs = "status = 'running', started_at = now(), claim = 1, worker_id = $2";
    if (change.includes('waiting_async')) {
      await db.query(`UPDATE executions SET ${runs} WHERE id = $1`, [id, other]);
    }
    await db.query(
      `UPDATE executions SET ${change.replace('RUNS', runs)} WHERE id = $1 AND $2::uuid IS NOT NULL`,
      [id, other],
    );
  }
  await store.claim(randomUUID(), 0, { free: 0, held: new Map(), largestPercent: 100 });
  expect(store.quietMs).toBeGreaterThanOrEqual(least);
  expect(store.quietMs).toBeLessThanOrEqual(most);
});
