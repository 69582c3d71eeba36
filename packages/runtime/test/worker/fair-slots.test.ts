import { success } from '@millrace/engine';
import { afterEach, describe, expect, test } from 'vitest';
import { chainOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
afterEach(() => service.stop());

describe('when one organisation has more to run than there are slots', () => {
  /** Starts a workflow whose node does this, in an organisation of its own. */
  async function starterOf(behaviour: string) {
    const key = await service.createKey();
    const body = { name: 'sample', flow_data: chainOf(behaviour), status: 'active' };
    const workflow = await service.api('POST', '/workflows', { key, body });
    return async () => {
      const { json } = await service.api('POST', `/workflows/${workflow.json.id}/execute`, { key, body: {} });
      return { id: Number(json.execution_id), key };
    };
  }

  test.each([
    ['it gets its share of them, and a start of another runs at once', true],
    ['also when all were queued before the worker started', false],
  ])('%s', async (_title, withWorker) => {
    service = await startWorkingService({ withWorker, worker: { concurrency: 8, organisationPercent: 75 } });
    const release = Promise.withResolvers<void>();
    let starts = 0;
    service.behaviours.set('slow', async () => {
      starts += 1;
      await release.promise;
      return success({});
    });
    const startSlow = await starterOf('slow');
    const startQuick = await starterOf('quick');
    for (let count = 0; count < 20; count += 1) await startSlow();
    const quick = await startQuick();
    if (!withWorker) await service.startWorker();
    const response = await service.api('GET', `/executions/${quick.id}?wait=30`, { key: quick.key });
    expect(response.json.status).toBe('completed');
    await expect.poll(() => starts).toBe(6);
    // The rest of its queue moves up as its executions end.
    release.resolve();
    const { db } = service.database;
    await expect.poll(() => db.query("SELECT FROM executions WHERE status <> 'completed'")).toEqual([]);
    expect(starts).toBe(20);
  });
});
