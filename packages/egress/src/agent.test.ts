import { afterEach, expect, test, vi } from 'vitest';
import { AgentWhenUsed } from './agent.ts';
import { createTargetPolicy } from './target-policy.ts';

afterEach(() => {
  vi.doUnmock('undici');
});

const policy = createTargetPolicy([]);

/** The code of undici can't be read. */
function breakUndici(): void {
  vi.resetModules();
  vi.doMock('undici', () => {
    throw new Error('too many open files');
  });
}

test('is created with the first request, and is then the same for all', async () => {
  const agents = new AgentWhenUsed(policy, {});
  const [first, second] = await Promise.all([agents.get(), agents.get()]);
  expect(second).toBe(first);
  await agents.destroy();
  expect(first.destroyed).toBe(true);
});

test('is created by the next request if its code could not be loaded', async () => {
  breakUndici();
  const agents = new AgentWhenUsed(policy, {});
  const failed = await Promise.allSettled([agents.get(), agents.get()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  vi.doUnmock('undici');
  const agent = await agents.get();
  expect(agent.destroyed).toBe(false);
  await agents.destroy();
});

test('is of no use once it was destroyed, whether it had been created or not', async () => {
  const unused = new AgentWhenUsed(policy, {});
  const creating = new AgentWhenUsed(policy, {});
  const underWay = creating.get();
  await Promise.all([unused.destroy(), creating.destroy()]);
  for (const agent of await Promise.all([unused.get(), underWay, creating.get()])) {
    expect(agent.destroyed).toBe(true);
  }
});
