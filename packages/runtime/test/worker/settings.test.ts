import { success } from '@millrace/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Receiver } from '../../../cli/test/faults/support/receiver.ts';
import { flowOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  service = await startWorkingService();
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

/** Simulates a long delay: the execution started an hour earlier, and parked nodes wake. */
async function anHourPasses(id: number): Promise<void> {
  await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
  await service.database.db.query(
    `UPDATE executions SET wake_at = now(), created_at = created_at - interval '1 hour',
       started_at = started_at - interval '1 hour' WHERE id = $1`,
    [id],
  );
}

describe('timeout_s', () => {
  test('ends a running execution: its node is aborted, nothing after it starts', async () => {
    const seen: { aborted: Promise<void> | null } = { aborted: null };
    service.behaviours.set('stay', ({ signal }) => {
      const aborted = Promise.withResolvers<void>();
      seen.aborted = aborted.promise;
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.resolve();
          resolve(success({}));
        });
      });
    });
    const nodes = [
      ['work', 'test.effect', { config: { do: 'stay' } }],
      ['after', 'test.effect', {}],
    ] as const;
    const flow = flowOf(nodes, ['start>work', 'work>after'], { timeout_s: 1 });
    const detail = await service.finished(await service.execute(await service.createWorkflow(flow)));
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'execution_timeout', node_id: null } });
    expect(detail.node_outputs.after?.status).not.toBe('success');
    // Null on a machine so busy that a second passed before the node could start.
    if (seen.aborted !== null) await seen.aborted;
  });

  test('ends a parked execution, and its one-time URL no longer works', async () => {
    const request = { url: receiver.url('/job'), body: { url: '{{args.callback_url}}' } };
    const nodes = [['wait', 'wait.callback', { config: { request } }]] as const;
    const flow = flowOf(nodes, ['start>wait'], { timeout_s: 3_600 });
    const id = await service.execute(await service.createWorkflow(flow));
    const [job] = await receiver.arrival('/job', 1);
    await anHourPasses(id);
    const detail = await service.finished(id);
    expect(detail).toMatchObject({ status: 'failed', error: { code: 'execution_timeout' } });
    const token = (job?.body as { url: string } | undefined)?.url.split('/').at(-1);
    const answer = await service.api('POST', `/callbacks/${token}`, { body: {} });
    expect(answer).toMatchObject({ status: 409, json: { code: 'execution_ended' } });
  });

  test('ends an execution that waits for another, and that one too', async () => {
    service.behaviours.set('stay', ({ signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(success({}))));
    });
    const stay = flowOf([['work', 'test.effect', { config: { do: 'stay' } }]], ['start>work']);
    const child = await service.createWorkflow(stay);
    const nodes = [['call', 'flow.call', { config: { workflow_id: child } }]] as const;
    const flow = flowOf(nodes, ['start>call'], { timeout_s: 3_600 });
    const id = await service.execute(await service.createWorkflow(flow));
    await anHourPasses(id);
    const detail = await service.finished(id);
    expect(detail.error).toMatchObject({ code: 'execution_timeout' });
    const [started] = detail.children;
    expect((await service.finished(started?.execution_id ?? 0)).status).toBe('cancelled');
  });
});

test('timezone applies to times in configs, in names and in members rendered later', async () => {
  const shown = '{{trigger.data.at | date: "HH:mm"}}';
  const format = { operation: 'format_date', format: 'HH:mm' };
  const request = { url: receiver.url('/job'), body: { at: shown, url: '{{args.callback_url}}' } };
  const nodes = [
    ['now', 'core.set', { config: { values: { at: shown } } }],
    ['data', 'core.data', { config: { data: '{{trigger.data.at}}', steps: [format] } }],
    ['wait', 'wait.callback', { config: { request } }],
  ] as const;
  const settings = { timezone: 'Asia/Tokyo', display_name: `At ${shown}` };
  const flow = flowOf(nodes, ['start>now', 'now>data', 'data>wait'], settings);
  const id = await service.execute(await service.createWorkflow(flow), { at: '2026-01-01T00:00:00Z' });
  const [job] = await receiver.arrival('/job', 1);
  expect(job?.body).toMatchObject({ at: '09:00' });
  const detail = await service.read(id);
  expect(detail.display_name).toBe('At 09:00');
  expect(detail.node_outputs.now?.output).toEqual({ at: '09:00' });
  expect(detail.node_outputs.data?.output).toEqual({ data: '09:00', count: null });
});
