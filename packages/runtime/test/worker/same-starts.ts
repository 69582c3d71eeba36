import { expect } from 'vitest';
import type { WorkingService } from './service-with-worker.ts';

/** Sends one start ten times at once, with the same Idempotency-Key, and checks that all of them get the same receipt. */
export async function sendSameStarts(service: WorkingService, workflowId: number): Promise<void> {
  const send = () =>
    service.api('POST', `/workflows/${workflowId}/execute`, {
      key: service.key,
      body: {},
      headers: { 'idempotency-key': 'one' },
    });
  const answers = await Promise.all(Array.from({ length: 10 }, send));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
}
