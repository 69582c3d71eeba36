import { success } from '@millrace/engine';
import { afterEach, expect, test } from 'vitest';
import type { Executor } from '../../src/executor.ts';
import type { Worker } from '../../src/worker.ts';
import { chainOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
afterEach(() => service.stop());

test('a start that is stored while the worker looks for what is leased to it runs once', async () => {
  let worker: Worker | null = null;
  const executor: Executor = {
    reserve: (...start) => worker?.reserve(...start) ?? null,
    isBusy: () => false,
    runAhead: (...start) => worker?.runAhead(...start) ?? null,
    completeAhead: () => null,
    run: (...start) => worker?.run(...start),
    release: (...start) => worker?.release(...start),
  };
  service = await startWorkingService({ withWorker: false, deps: { executor } });
  const held = Promise.withResolvers<void>();
  let runs = 0;
  service.behaviours.set('held', async () => {
    runs += 1;
    await held.promise;
    return success({});
  });
  const workflowId = await service.createWorkflow(chainOf('held'));
  const { db } = service.database;
  let looks = 0;
  const watched: typeof db = {
    ...db,
    async query(text, values, name) {
      if (name === 'list_leased') {
        looks += 1;
        if (looks === 2) await service.execute(workflowId);
      }
      return db.query(text, values, name);
    },
  };
  worker = await service.startWorker({}, { db: watched });
  await expect.poll(() => looks).toBeGreaterThan(2);
  expect(runs).toBe(1);
  held.resolve();
});
