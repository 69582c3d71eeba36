import { failure, type JsonObject, success, type ToolService } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runNode, TEST_NOW_MS } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { waitCallback } from './wait-callback.ts';

type Order = Parameters<ToolService['run']>[0];
type Result = Awaited<ReturnType<ToolService['run']>>;

function tools(result: unknown = success({ status: 202, body: null })): {
  orders: Order[];
  tools: ToolService;
} {
  const orders: Order[] = [];
  const run: ToolService['run'] = async (order) => {
    orders.push(order);
    return result as Result;
  };
  return { orders, tools: { run } };
}

const CONFIG: JsonObject = {
  request: {
    url: 'https://jobs.example.com/{{trigger.data.id}}',
    auth: { type: 'credential', credential_id: 3 },
    body: { back: '{{args.callback_url}}' },
  },
  timeout_s: 60,
};
const trigger = { id: 17 };

describe('wait.callback', () => {
  it('hands out the URL, then waits slightly longer than it runs', async () => {
    const fake = tools();
    const { result } = await runNode(waitCallback, {
      config: CONFIG,
      trigger,
      services: { tools: fake.tools },
    });
    expect(fake.orders).toEqual([
      {
        type: 'http.request',
        callKey: 'request',
        config: {
          method: 'POST',
          url: 'https://jobs.example.com/17',
          auth: { type: 'credential', credential_id: 3 },
          body: { back: 'https://flows.example.com/api/v1/callbacks/your-token' },
        },
      },
    ]);
    expect(result).toMatchObject({
      kind: 'await_signal',
      untilMs: TEST_NOW_MS + 61_000,
      output: { status: 202, expires_at: '2026-01-01T00:01:00.000Z' },
    });
  });

  it("doesn't wait if the request fails", async () => {
    const fake = tools(failure('http_status', verbatim('It answered 500.'), { retryable: true }));
    const { result } = await runNode(waitCallback, {
      config: CONFIG,
      trigger,
      services: { tools: fake.tools },
    });
    expect(result).toMatchObject({ kind: 'failure', code: 'http_status', retryable: true });
  });

  it('continues at once in test mode', async () => {
    const fake = tools(success({ dry_run: true, request: { method: 'POST' } }));
    const options = { config: CONFIG, trigger, services: { tools: fake.tools }, isTestMode: true };
    const { result } = await runNode(waitCallback, options);
    expect(result).toMatchObject({
      kind: 'success',
      handles: ['out'],
      output: { dry_run: true, request: { method: 'POST' } },
    });
  });

  it.each([['GET'], ['HEAD']])("doesn't send %s, which test mode would let through", async (method) => {
    const fake = tools();
    const request = { method, url: 'https://jobs.example.com' };
    const { result } = await runNode(waitCallback, { config: { request }, services: { tools: fake.tools } });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(fake.orders).toEqual([]);
  });

  it.each([
    [{ answer: 42 }, { answer: 42 }],
    [[1], { data: [1] }],
    [null, { data: null }],
    ['text', { data: 'text' }],
  ])('treats %j as %j', async (payload, output) => {
    const resumed = { signal: { kind: 'signal', payload } as const, waiting: {} };
    const { result } = await runNode(waitCallback, { config: CONFIG, trigger, resumed });
    expect(result).toMatchObject({ kind: 'success', output, handles: ['out'] });
  });

  it('takes the branch timeout if nobody calls', async () => {
    const resumed = { signal: { kind: 'timeout' } as const, waiting: {} };
    const { result } = await runNode(waitCallback, { config: CONFIG, trigger, resumed });
    expect(result).toMatchObject({ kind: 'success', output: { timed_out: true }, handles: ['timeout'] });
  });
});
