import { afterEach, beforeEach, expect, test } from 'vitest';
import { Receiver } from '../../../cli/test/faults/support/receiver.ts';
import { flowOf, type TestNode } from './flows.ts';
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

const get = (id: string, url: string): TestNode => [id, 'http.request', { config: { url } }];

test('two branches overlap: each gets its response only when the other has called', async () => {
  // If the branches ran one after the other, the first call would never get a response.
  const calls = { left: Promise.withResolvers<void>(), right: Promise.withResolvers<void>() };
  receiver.on('/left', async () => {
    calls.left.resolve();
    await calls.right.promise;
    return 200;
  });
  receiver.on('/right', async () => {
    calls.right.resolve();
    await calls.left.promise;
    return 200;
  });
  const flow = flowOf(
    [
      get('left', receiver.url('/left')),
      get('right', receiver.url('/right')),
      ['both', 'core.merge', { config: {} }],
    ],
    ['start>left', 'start>right', 'left>both', 'right>both'],
  );
  const detail = await service.finished(await service.execute(await service.createWorkflow(flow)));
  expect(detail.status).toBe('completed');
  const { left, right } = detail.node_outputs;
  const [leftFrom, leftTo] = [Date.parse(left?.started_at ?? ''), Date.parse(left?.completed_at ?? '')];
  const [rightFrom, rightTo] = [Date.parse(right?.started_at ?? ''), Date.parse(right?.completed_at ?? '')];
  expect(Math.max(leftFrom, rightFrom)).toBeLessThanOrEqual(Math.min(leftTo, rightTo));
});
