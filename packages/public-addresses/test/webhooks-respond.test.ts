import { DatabaseUnavailableError } from '@millrace/database/errors';
import { failure, type JsonObject, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { until } from '../../cli/test/faults/support/until.ts';
import { githubHeaders, startWebhookWorld, type WebhookWorld } from './webhooks-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.service.stop());

const SUM = {
  nodes: [
    { id: 'work', type: 'test.effect', config: { do: 'work' } },
    {
      id: 'sum',
      type: 'core.set',
      config: { values: { total: '{{trigger.data.price}}', of: '{{trigger.data.id}}' } },
    },
  ],
  edges: [
    { source: 'start', target: 'work' },
    { source: 'work', target: 'sum' },
  ],
};

/** Responds with the result of the last node. */
const whenDone = (response: JsonObject, more: JsonObject = {}): JsonObject => ({
  respond: 'when_done',
  response,
  ...more,
});

/** Makes the node `work` wait until the test releases it. */
function holdWork(): { started: Promise<void>; end(): void } {
  let end = () => {};
  const started = new Promise<void>((resolve) => {
    world.service.behaviours.set('work', async () => {
      const ended = new Promise<void>((done) => {
        end = done;
      });
      resolve();
      await ended;
      world.service.behaviours.delete('work');
      return success({});
    });
  });
  return { started, end: () => end() };
}

describe('respond: when_done', () => {
  test('status, headers and body come from the outputs of the nodes', async () => {
    const { id, hash } = await world.createWebhook(
      whenDone({
        status: 201,
        headers: { 'X-Order': '{{nodes.sum.output.of}}', 'X-Execution': '{{execution.id}}' },
        body: { total: '{{nodes.sum.output.total}}', note: 'Order {{trigger.data.id}}' },
      }),
      SUM,
    );
    const answer = await world.callFreely(hash, '{"id":"A-7","price":12345678901234567890}');
    const [executionId] = await world.executionsOf(id);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      201,
      'application/json; charset=utf-8',
    ]);
    expect(answer.headers.get('x-order')).toBe('A-7');
    expect(answer.headers.get('x-execution')).toBe(String(executionId));
    expect(answer.text).toBe('{"total":12345678901234567890,"note":"Order A-7"}');
  });

  test('text is text/plain, anything else JSON, unless the headers say otherwise; null is empty', async () => {
    for (const [body, headers, type, text] of [
      ['{{trigger.data.challenge}}', {}, 'text/plain; charset=utf-8', 'größe'],
      [['{{trigger.data.challenge}}'], {}, 'application/json; charset=utf-8', '["größe"]'],
      [
        '<b>{{trigger.data.challenge}}</b>',
        { 'content-type': 'text/html; charset=utf-8' },
        'text/html; charset=utf-8',
        '<b>größe</b>',
      ],
      [{ a: 1 }, { 'Content-Type': 'application/vnd.api+json' }, 'application/vnd.api+json', '{"a":1}'],
      [null, {}, null, ''],
      ['{{trigger.data.nothing}}', {}, null, ''],
    ] as const) {
      const { hash } = await world.createWebhook(whenDone({ headers, body }));
      const answer = await world.callFreely(hash, '{"challenge":"größe"}');
      expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([200, type, text]);
    }
  });

  test('browsers interpret none of it', async () => {
    const page = {
      headers: { 'Content-Type': 'text/html' },
      body: '<script>alert({{trigger.data.x}})</script>',
    };
    const { hash } = await world.createWebhook(whenDone(page));
    const { headers } = await world.callFreely(hash, '{"x":1}');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*;sandbox$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('set-cookie')).toBeNull();
  });

  test('a response without a body has none', async () => {
    const { hash } = await world.createWebhook(whenDone({ status: 204, body: { a: 1 } }));
    const answer = await world.callFreely(hash, '{}');
    expect([answer.status, answer.text]).toEqual([204, '']);
  });

  test('waits for the end', async () => {
    const held = holdWork();
    const { hash } = await world.createWebhook(whenDone({ body: '{{nodes.sum.output.of}}' }), SUM);
    let isAnswered = false;
    const answering = world.callFreely(hash, '{"id":"late","price":1}').then((answer) => {
      isAnswered = true;
      return answer;
    });
    await held.started;
    expect(isAnswered).toBe(false);
    held.end();
    expect((await answering).text).toBe('late');
  });

  test('an execution that takes too long responds with the receipt, and continues', async () => {
    const held = holdWork();
    const { id, hash } = await world.createWebhook(whenDone({ status: 201 }, { timeout_s: 1 }), SUM);
    const answer = await world.call(hash, '{"id":"slow","price":1}');
    const [executionId] = await world.executionsOf(id);
    expect(answer.status).toBe(202);
    expect(answer.json).toEqual({
      success: true,
      execution_id: executionId,
      message: 'The workflow was started and is still running.',
      captured: false,
    });
    held.end();
    expect((await world.service.finished(executionId ?? 0)).status).toBe('completed');
  });

  test('a failed execution is reported by its id only, with the configured status', async () => {
    world.service.behaviours.set('break', () =>
      failure('no_stock', verbatim('Secret reason: shelf 7 is empty.')),
    );
    const broken = {
      nodes: [{ id: 'break', type: 'test.effect', config: { do: 'break' } }],
      edges: [{ source: 'start', target: 'break' }],
    };
    for (const [more, status] of [
      [{}, 500],
      [{ failure_status: 422 }, 422],
      [{ failure_status: 503 }, 503],
    ] as const) {
      const { id, hash } = await world.createWebhook(whenDone({ body: 'fine' }, more), broken);
      const answer = await world.callFreely(hash, '{}');
      const [executionId] = await world.executionsOf(id);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        status,
        'application/problem+json',
      ]);
      expect(answer.json).toMatchObject({ status, code: 'execution_failed', execution_id: executionId });
      expect(answer.text).not.toMatch(/Secret reason|no_stock|shelf/);
    }
    const { hash } = await world.createWebhook(whenDone({}), broken);
    expect((await world.call(hash, '{}')).status).toBe(500);
  });

  test('an execution cancelled while the caller waits counts as failed', async () => {
    const held = holdWork();
    const { id, hash } = await world.createWebhook(whenDone({}), SUM);
    const answering = world.callFreely(hash, '{"id":1,"price":1}');
    await held.started;
    const [executionId] = await world.executionsOf(id);
    await world.service.api('POST', `/executions/${executionId}/cancel`, { key: world.service.key });
    held.end();
    const answer = await answering;
    expect([answer.status, answer.json.code]).toEqual([500, 'execution_failed']);
    expect(answer.json.detail).toContain('was cancelled');
  });

  test('an unusable response is reported without details', async () => {
    for (const response of [
      { status: '{{trigger.data.status}}' },
      { headers: { 'X-Name': '{{trigger.data.name}}' } },
    ]) {
      const { hash } = await world.createWebhook(whenDone(response));
      const answer = await world.callFreely(hash, '{"status":99,"name":"a\\r\\nSet-Cookie: b=1"}');
      expect([answer.status, answer.json.code]).toEqual([500, 'unusable_response']);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    const { hash } = await world.createWebhook(whenDone({ status: '{{trigger.data.status}}' }));
    expect((await world.callFreely(hash, '{"status":"418"}')).status).toBe(418);
  });

  test('a repeated event gets the first receipt', async () => {
    const { id, hash } = await world.createWebhook({
      ...whenDone({ body: 'done' }),
      deduplicate: { by: 'path', name: 'id' },
    });
    expect((await world.callFreely(hash, '{"id":7}')).text).toBe('done');
    const repeated = await world.call(hash, '{"id":7}');
    const ids = await world.executionsOf(id);
    expect(ids).toHaveLength(1);
    expect([repeated.status, repeated.json.execution_id]).toEqual([202, ids[0]]);
  });

  test('an unsigned call starts nothing and waits for nothing', async () => {
    const { id, hash } = await world.createWebhook({
      ...whenDone({ body: 'done' }),
      signature: { preset: 'github', credential_id: await world.createSecret('s') },
    });
    expect((await world.call(hash, '{}')).status).toBe(401);
    expect((await world.callFreely(hash, '{}', githubHeaders('s', '{}'))).text).toBe('done');
    expect(await world.executionsOf(id)).toHaveLength(1);
  });

  test('templates in the data remain data', async () => {
    const { hash } = await world.createWebhook(whenDone({ body: '{{trigger.data.text}}' }));
    expect((await world.callFreely(hash, '{"text":"{{execution.id}}"}')).text).toBe('{{execution.id}}');
  });

  test("a service that is closing doesn't keep its callers waiting", async () => {
    const closing = await startWebhookWorld({ withWorker: false });
    const { id, hash } = await closing.createWebhook(whenDone({ body: 'never' }));
    const answering = closing.callFreely(hash, '{}');
    await until('the execution', async () => (await closing.executionsOf(id)).length === 1);
    await closing.service.stop();
    expect((await answering).status).toBe(202);
  });
});

describe('a database that is unavailable for a moment', () => {
  test.each<[string, JsonObject, object[]]>([
    ['when_done', whenDone({ body: '{{nodes.work.output.of}}' }), []],
    ['by_node', { respond: 'by_node' }, [{ body: '{{nodes.work.output.of}}', format: 'text' }]],
  ])('%s: the caller still gets the answer', async (_, config, answers) => {
    let end = () => {};
    const started = new Promise<void>((resolve) => {
      world.service.behaviours.set('wait', async () => {
        resolve();
        await new Promise<void>((done) => {
          end = done;
        });
        return success({ of: 'late' });
      });
    });
    const { id, hash } = await world.createWebhook(config, {
      nodes: [
        { id: 'work', type: 'test.effect', config: { do: 'wait' } },
        ...answers.map((own) => ({ id: 'answer', type: 'webhook.respond', config: own as JsonObject })),
      ],
      edges: [
        { source: 'start', target: 'work' },
        ...answers.map(() => ({ source: 'work', target: 'answer' })),
      ],
    });
    let isAnswered = false;
    const answering = world.callFreely(hash, '{}').finally(() => {
      isAnswered = true;
    });
    await started;
    const { db, notifier } = world.service.deps;
    const outage = new DatabaseUnavailableError(new Error('Connection terminated'));
    const reading = vi.spyOn(db, 'readForOrganisation').mockRejectedValue(outage);
    try {
      notifier.changed(await world.executionsOf(id));
      await until('two failed readings', () => isAnswered || reading.mock.calls.length >= 2);
    } finally {
      reading.mockRestore();
    }
    end();
    const answer = await answering;
    expect([answer.status, answer.text]).toEqual([200, 'late']);
  });
});

describe('other methods', () => {
  test.each(['GET', 'HEAD', 'PUT'] as const)('%s stays 405', async (method) => {
    const { hash } = await world.createWebhook(whenDone({ body: 'x' }));
    expect((await fetch(`${world.service.url}/api/v1/webhooks/${hash}`, { method })).status).toBe(405);
  });
});

describe('respond: by_node', () => {
  const byNode = (more: JsonObject = {}): JsonObject => ({ respond: 'by_node', ...more });
  const respond = (id: string, config: JsonObject) => ({ id, type: 'webhook.respond', config });
  /** In a chain from the trigger. */
  const chain = (...nodes: { id: string; type: string; config?: JsonObject }[]) => ({
    nodes,
    edges: nodes.map(({ id }, index) => ({ source: nodes[index - 1]?.id ?? 'start', target: id })),
  });
  const WORK = { id: 'work', type: 'test.effect', config: { do: 'work' } };

  test('the caller gets the answer while the execution goes on', async () => {
    const { id, hash } = await world.createWebhook(
      byNode(),
      chain(
        respond('answer', {
          status: 201,
          headers: { 'X-Id': '{{trigger.data.id}}' },
          body: { of: '{{trigger.data.id}}' },
        }),
        WORK,
        respond('late', { body: 'late' }),
      ),
    );
    const work = holdWork();
    const answer = await world.callFreely(hash, '{"id":12345678901234567890}');
    expect([
      answer.status,
      answer.headers.get('x-id'),
      answer.headers.get('content-type'),
      answer.text,
    ]).toEqual([
      201,
      '12345678901234567890',
      'application/json; charset=utf-8',
      '{"of":12345678901234567890}',
    ]);
    await work.started;
    const [executionId] = await world.executionsOf(id);
    work.end();
    expect(await world.service.finished(Number(executionId))).toMatchObject({
      status: 'completed',
      node_outputs: { late: { status: 'success', output: { body: '"late"' } } },
    });
  });

  test('the first of several answers, also in a loop', async () => {
    const { hash } = await world.createWebhook(byNode(), {
      nodes: [
        { id: 'each', type: 'core.for_each', config: { items: [1, 2, 3] } },
        { id: 'answer', type: 'webhook.respond', config: { body: '{{item}}' }, parentId: 'each' },
        respond('after', { body: 'after' }),
      ],
      edges: [
        { source: 'start', target: 'each' },
        { source: 'each', target: 'after' },
      ],
    });
    expect((await world.callFreely(hash, '{}')).text).toBe('1');
  });

  test('a page keeps its style, and browsers run and send nothing of it', async () => {
    const page = '<style>p{color:red}</style><script>alert(1)</script><p>{{trigger.data.name}}</p>';
    const { hash } = await world.createWebhook(
      byNode(),
      chain(respond('answer', { format: 'html', body: page })),
    );
    const answer = await world.callFreely(hash, '{"name":"Ada"}');
    expect([answer.headers.get('content-type'), answer.text]).toEqual([
      'text/html; charset=utf-8',
      page.replace('{{trigger.data.name}}', 'Ada'),
    ]);
    const policy = String(answer.headers.get('content-security-policy'));
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'none'");
    expect(policy).toMatch(/;sandbox$/);
    expect(policy).not.toMatch(/script-src|allow-/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('text, a redirect without a body, and a node that can not answer', async () => {
    const text = await world.createWebhook(
      byNode(),
      chain(respond('answer', { format: 'text', body: { a: 1 } })),
    );
    const plain = await world.callFreely(text.hash, '{}');
    expect([plain.headers.get('content-type'), plain.text]).toEqual(['text/plain; charset=utf-8', '{"a":1}']);
    const failing = await world.createWebhook(
      byNode({ failure_status: 599 }),
      chain(respond('answer', { headers: { 'X-Name': '{{trigger.data.name}}' } })),
    );
    const answer = await world.callFreely(failing.hash, '{"name":"a\\r\\nSet-Cookie: b=c"}');
    expect([answer.status, answer.json.code]).toEqual([599, 'execution_failed']);
  });

  test('not reached: 202 after the time, at the end, and at once without such a node', async () => {
    const held = await world.createWebhook(
      byNode({ timeout_s: 1 }),
      chain(WORK, respond('answer', { body: 1 })),
    );
    const work = holdWork();
    const answer = await world.callFreely(held.hash, '{}');
    await work.started;
    expect([answer.status, answer.json]).toMatchObject([202, { success: true }]);
    work.end();
    expect((await world.service.finished(Number(answer.json.execution_id))).status).toBe('completed');
    const other = {
      id: 'if',
      type: 'core.if',
      config: { conditions: [{ left: 1, operator: 'equals', right: 2 }] },
    };
    const skipped = await world.createWebhook(byNode(), {
      nodes: [other, respond('answer', { body: 1 })],
      edges: [
        { source: 'start', target: 'if' },
        { source: 'if', target: 'answer', sourceHandle: 'true' },
      ],
    });
    expect((await world.callFreely(skipped.hash, '{}')).json.message).toMatch(/finished without a response/);
    const without = await world.createWebhook(byNode());
    expect((await world.callFreely(without.hash, '{}')).json.message).toBe('The workflow was started.');
  });

  test('an execution that fails before it answers gives the failure status, with its id only', async () => {
    const { hash } = await world.createWebhook(
      byNode({ failure_status: 503 }),
      chain(
        { id: 'fail', type: 'core.fail', config: { message: 'secret reason' } },
        respond('answer', { body: 1 }),
      ),
    );
    const answer = await world.callFreely(hash, '{}');
    expect([answer.status, answer.json.code]).toEqual([503, 'execution_failed']);
    expect(answer.text).not.toContain('secret reason');
  });

  test('callers beyond the limit are refused before anything is started', async () => {
    const limited = await startWebhookWorld({ limits: { waitingCallersPerOrganisation: 1 } });
    try {
      const { id, hash } = await limited.createWebhook(byNode(), chain(WORK, respond('answer', { body: 1 })));
      let end = () => {};
      const started = new Promise<void>((resolve) => {
        limited.service.behaviours.set('work', async () => {
          resolve();
          await new Promise<void>((done) => {
            end = done;
          });
          return success({});
        });
      });
      const first = limited.callFreely(hash, '{}');
      await started;
      const second = await limited.call(hash, '{}');
      expect([second.status, second.json.code, second.headers.get('retry-after')]).toEqual([
        429,
        'too_many_callers',
        '2',
      ]);
      end();
      expect((await first).text).toBe('1');
      expect(await limited.executionsOf(id)).toHaveLength(1);
    } finally {
      await limited.service.stop();
    }
  });
});
