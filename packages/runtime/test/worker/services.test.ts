import { type NodeContext, ServiceError, success } from '@millrace/engine';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { flowOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
let opened = 0;
beforeEach(async () => {
  opened = 0;
  service = await startWorkingService({
    services: {
      credentials: (caller) => {
        opened += 1;
        return {
          async open() {
            caller.onSecret('s3cret-token');
            return { type: 'bearer', token: 's3cret-token' } as never;
          },
          authenticate: () => Promise.reject(new Error('no node of these tests sends anything')),
          token: () => Promise.reject(new Error('no node of these tests sends anything')),
        };
      },
    },
  });
});
afterEach(() => service.stop());

async function run(behaviour: (context: NodeContext) => ReturnType<typeof success> | Promise<never>) {
  service.behaviours.set('work', behaviour);
  const flow = flowOf([['work', 'test.effect', { config: { do: 'work' } }]], ['start>work']);
  return service.finished(await service.execute(await service.createWorkflow(flow)));
}

const open = (context: NodeContext) => context.credentials.open(1, { types: ['bearer'] });

describe('a node', () => {
  test('that reads a credential reveals nothing of it, however it ends', async () => {
    const done = await run((async (context: NodeContext) => {
      const { token } = await open(context);
      return success({ token, [token]: [`Bearer ${token}`] });
    }) as never);
    expect(done.node_outputs.work?.output).toEqual({ token: '***', '***': ['Bearer ***'] });
    const failed = await run((async (context: NodeContext) => {
      const { token } = await open(context);
      throw new Error(`no entry for ${token}`);
    }) as never);
    expect(failed.error?.message).toContain('no entry for ***');
    expect(service.logs.join('')).not.toContain('s3cret-token');
  });

  test('gets a service only on request, and the same one each time', async () => {
    await run(() => success({}));
    expect(opened).toBe(0);
    await run((async (context: NodeContext) => {
      await open(context);
      await open(context);
      return success({});
    }) as never);
    expect(opened).toBe(1);
  });
});

describe('a tool', () => {
  async function tool(type: string, config: object, callKey = 'one') {
    const outcome = Promise.withResolvers<unknown>();
    await run((async (context: NodeContext) => {
      const order = { type, config: config as never, callKey };
      await context.tools.run(order).then(outcome.resolve, outcome.resolve);
      return success({});
    }) as never);
    return outcome.promise;
  }

  test('is another node with a config that is data, not templates', async () => {
    const values = { a: '{{trigger.data}}' };
    expect(await tool('core.set', { values })).toMatchObject({ kind: 'success', output: values });
  });

  test('has its own key for each call, and the secrets of the outer node', async () => {
    const keys: string[] = [];
    const seen: unknown[] = [];
    service.behaviours.set('inner', async (context) => {
      keys.push(context.idempotencyKey);
      return success({ token: (await open(context)).token });
    });
    const done = await run((async (context: NodeContext) => {
      const inner = (callKey: string) =>
        context.tools.run({ type: 'test.effect', config: { do: 'inner' }, callKey });
      const results = [await inner('a'), await inner('b'), await inner('a')];
      keys.push(context.idempotencyKey);
      // The outer node doesn't get them either: an agent passes on its tools' output.
      seen.push(...results.map((result) => ('output' in result ? result.output : null)));
      return success({ outputs: results.map(({ output }) => output ?? null) });
    }) as never);
    expect(seen).toEqual([{ token: '***' }, { token: '***' }, { token: '***' }]);
    const [a, b, again, outer] = keys;
    expect(a).toBe(again);
    expect(new Set([a, b, outer]).size).toBe(3);
    expect(a?.startsWith(outer ?? '?')).toBe(true);
    expect(done.node_outputs.work?.output).toEqual({
      outputs: [{ token: '***' }, { token: '***' }, { token: '***' }],
    });
  });

  test.each([
    ['trigger.manual', {}],
    ['core.for_each', { items: [] }],
    ['flow.call', { workflow_id: 1 }],
    ['wait.callback', { request: { url: 'https://example.com' } }],
    ['core.delay', { duration_ms: 60_000 }],
    ['no.such', {}],
  ])("can't be %s", async (type, config) => {
    const outcome = await tool(type, config);
    expect(outcome).toBeInstanceOf(ServiceError);
    expect(outcome).toMatchObject({ code: 'tool_not_allowed' });
    const rows = await service.database.db.query('SELECT FROM executions WHERE parent_node_id IS NOT NULL');
    expect(rows).toEqual([]);
  });
});
