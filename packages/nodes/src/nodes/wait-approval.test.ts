import { failure, type JsonObject, success, type ToolService } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { waitApproval } from './wait-approval.ts';

type Order = Parameters<ToolService['run']>[0];
type Result = Awaited<ReturnType<ToolService['run']>>;

async function run(config: JsonObject, options: { isTestMode?: boolean; result?: unknown } = {}) {
  const orders: Order[] = [];
  const tools: ToolService = {
    async run(order) {
      orders.push(order);
      return (options.result ?? success({ sent: order.type })) as Result;
    },
  };
  const { result } = await runNode(waitApproval, {
    config: { title: 'Refund?', ...config },
    services: { tools },
    ...(options.isTestMode === undefined ? {} : { isTestMode: options.isTestMode }),
  });
  return { orders, result };
}

const URL = 'https://flows.example.com/api/v1/approvals/your-token';

describe('wait.approval', () => {
  it('sends its links with the chosen node', async () => {
    const notify = {
      type: 'email.send',
      config: { to: 'a@example.org', text: '{{args.approval_url}} {{args.approve_url}} {{args.reject_url}}' },
    };
    const { orders, result } = await run({ notify });
    const text = `${URL} ${URL}?choice=approve ${URL}?choice=reject`;
    expect(orders).toEqual([
      { type: 'email.send', callKey: 'notify', config: { to: 'a@example.org', text } },
    ]);
    expect(result).toMatchObject({ kind: 'await_signal', output: { notify: { sent: 'email.send' } } });
  });

  it('asks, with two choices, as it is dropped onto the canvas', async () => {
    const { properties, required } = waitApproval.configSchema;
    const fresh = Object.fromEntries(
      (required as string[]).map((name) => [name, (properties as JsonObject)[name] as JsonObject]),
    );
    const config = Object.fromEntries(
      Object.entries(fresh).map(([name, each]) => [name, each.default ?? null]),
    );
    const { result } = await run(config);
    expect(result).toMatchObject({
      kind: 'await_signal',
      output: { title: 'Please decide', choices: [{ id: 'approve' }, { id: 'reject' }] },
    });
  });

  it.each(['chat.notify', 'email.send'])('begins a message by %s that leads to the decision', (type) => {
    const { notify } = waitApproval.configSchema.properties as unknown as {
      notify: { anyOf: { properties: { config: { 'x-starts': JsonObject } } }[] };
    };
    const start = notify.anyOf[0]?.properties.config['x-starts'][type];
    expect(JSON.stringify(start)).toContain('{{args.approval_url}}');
  });

  it('sends a request as well', async () => {
    const request = { url: 'https://example.com', body: '{{args.tokyo_url}}' };
    const choices = [{ id: 'tokyo', label: 'Tokyo' }];
    const { orders } = await run({ request, choices });
    expect(orders).toMatchObject([{ type: 'http.request', config: { body: `${URL}?choice=tokyo` } }]);
  });

  it("fails if its message can't be sent, and then asks nobody", async () => {
    const result = failure('mail_refused', verbatim('No.'), { retryable: true });
    const outcome = await run({ notify: { type: 'email.send', config: {} } }, { result });
    expect(outcome.result).toMatchObject({ kind: 'failure', code: 'mail_refused', retryable: true });
  });

  it.each([
    ['a node that sends no messages', { notify: { type: 'sql.query', config: {} } }],
    ['a message that is none', { notify: '{{trigger.data}}' }],
    ['a choice that is the branch timeout', { choices: [{ id: 'timeout', label: 'T' }] }],
    ['no choice', { choices: [] }],
    ['a wait of more than 30 days', { timeout_s: 30 * 86_400 + 1 }],
  ])('refuses %s', async (_what, config) => {
    const { orders, result } = await run(config as JsonObject);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(orders).toEqual([]);
  });

  it('takes the first choice in test mode', async () => {
    const { result } = await run({}, { isTestMode: true });
    expect(result).toMatchObject({
      kind: 'success',
      handles: ['approve'],
      output: { dry_run: true, decision: 'approve' },
    });
  });

  it('has a branch for each choice and for the timeout', () => {
    expect(waitApproval.handles?.({})).toEqual(['approve', 'reject', 'timeout']);
    const choices = [{ id: 'a', label: 'A' }, 'odd', { id: 'a', label: 'B' }];
    expect(waitApproval.handles?.({ choices })).toEqual(['a', 'timeout']);
    expect(waitApproval.handles?.({ choices: '{{trigger.data}}' })).toEqual(['approve', 'reject', 'timeout']);
  });

  it('continues with the decision', async () => {
    const payload = {
      decision: 'reject',
      comment: '',
      decided_by: { via: 'link', name: null },
      decided_at: '2026-01-01T00:00:00.000Z',
    };
    const config = { title: 'Refund?' };
    const resumed = { signal: { kind: 'signal', payload } as const, waiting: {} };
    const { result } = await runNode(waitApproval, { config, resumed });
    expect(result).toMatchObject({ kind: 'success', output: payload, handles: ['reject'] });
    const late = { signal: { kind: 'timeout' } as const, waiting: {} };
    expect((await runNode(waitApproval, { config, resumed: late })).result).toMatchObject({
      handles: ['timeout'],
      output: { decision: null, timed_out: true },
    });
  });
});
