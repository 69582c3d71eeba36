import { DatabaseUnavailableError } from '@millrace/database/errors';
import { expect, it } from 'vitest';
import { retryForNode } from './retry-for-node.ts';

const ended = Object.assign(new Error('canceling statement due to statement timeout'), {
  code: '57014',
  severity: 'ERROR',
});

it('a statement that took too long is not repeated: the node fails, and its own retry decides', async () => {
  let calls = 0;
  const failing = retryForNode(() => {
    calls += 1;
    return Promise.reject(new DatabaseUnavailableError(ended));
  });
  await expect(failing).rejects.toMatchObject({ code: 'statement_timeout', retryable: true });
  expect(calls).toBe(1);
});

it('an unavailable database is waited for', async () => {
  let calls = 0;
  const result = retryForNode(() => {
    calls += 1;
    if (calls < 3) return Promise.reject(new DatabaseUnavailableError(new Error('Connection terminated')));
    return Promise.resolve('stored');
  });
  expect(await result).toBe('stored');
  expect(calls).toBe(3);
});
