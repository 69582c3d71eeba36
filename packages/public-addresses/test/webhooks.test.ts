import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';

let service: WorkingService;
let workflowId: number;
let hash: string;
beforeAll(async () => {
  service = await startWorkingService();
  workflowId = await service.createWorkflow(WEBHOOK_FLOW);
  hash = await hashOf(workflowId);
});
afterAll(() => service.stop());

async function hashOf(id: number): Promise<string> {
  const { json } = await service.api('GET', `/workflows/${id}/webhook-info`, { key: service.key });
  return String(json.hash);
}

const call = (body: string | Uint8Array<ArrayBuffer> | undefined, type?: string, to = hash) =>
  service.api('POST', `/webhooks/${to}`, {
    ...(body === undefined ? {} : { raw: body }),
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });

/** The execution's detail as text, because a parsed one would hide how numbers and characters arrived. */
async function detailText(executionId: unknown): Promise<string> {
  await service.finished(Number(executionId));
  return (await service.api('GET', `/executions/${Number(executionId)}`, { key: service.key })).text;
}

describe('202', () => {
  test('the receipt has the id of the execution', async () => {
    const { status, json } = await call('{"order":{"id":7}}');
    expect(status).toBe(202);
    expect(json).toEqual({
      success: true,
      execution_id: expect.any(Number),
      message: expect.any(String),
      captured: false,
    });
    const detail = await service.finished(Number(json.execution_id));
    expect(detail).toMatchObject({
      status: 'completed',
      trigger_type: 'webhook',
      input_data: { order: { id: 7 } },
      node_outputs: { start: { output: { data: { order: { id: 7 } } } } },
    });
  });

  test.each(['null', '0', '[]', '"text"', 'false', '[1,{"a":2}]', '-0.0', '12345678901234567890'])(
    'the body %s is accepted unchanged and shown as data',
    async (body) => {
      const { status, json } = await call(body);
      expect(status).toBe(202);
      const text = await detailText(json.execution_id);
      const shown = body === '-0.0' ? '0' : body;
      expect(text).toContain(`"input_data":{"data":${shown}}`);
      expect(text).toContain(`"output":{"data":${shown}}`);
    },
  );

  test('no body, an empty one and white space are read as {}', async () => {
    for (const [body, type] of [
      [undefined, undefined],
      ['', 'application/json'],
      [' \n', 'application/json'],
    ] as const) {
      const { status, json } = await call(body, type);
      expect(status).toBe(202);
      expect((await service.finished(Number(json.execution_id))).input_data).toEqual({});
    }
  });

  test('U+0000, lone surrogates and numbers beyond a double are kept', async () => {
    const body =
      '{"nul":"a\\u0000b","half":"\\ud800","big":9007199254740993,"huge":1e400,"__proto__":{"x":1}}';
    const { json } = await call(body);
    expect(await detailText(json.execution_id)).toContain(`"input_data":${body}`);
  });

  test('a form becomes an object; a repeated name has a list of its values', async () => {
    const { json } = await call('a=1&b=x+y%20%C3%A9&a=2&__proto__=p', 'application/x-www-form-urlencoded');
    expect(await detailText(json.execution_id)).toContain(
      '"input_data":{"a":["1","2"],"b":"x y é","__proto__":"p"}',
    );
  });

  test('real payloads arrive unchanged', async () => {
    const payload = {
      action: 'opened',
      issue: { number: 5, labels: [{ name: 'bug' }], body: null },
      emoji: '🎉',
    };
    const { json } = await call(JSON.stringify(payload));
    expect((await service.finished(Number(json.execution_id))).input_data).toEqual(payload);
  });

  test('templates in the data are inert', async () => {
    const payload = { text: '{{trigger.data.secret}} {{constructor}}', secret: 's' };
    const { json } = await call(JSON.stringify(payload));
    expect((await service.finished(Number(json.execution_id))).input_data).toEqual(payload);
  });

  test('a draft can be started without a key, and keys are ignored', async () => {
    const draft = await service.createWorkflow(WEBHOOK_FLOW, { status: 'draft' });
    const answer = await service.api('POST', `/webhooks/${await hashOf(draft)}`, {
      key: 'nonsense',
      body: {},
    });
    expect(answer.status).toBe(202);
  });

  test('concurrent calls are all accepted, each as its own execution', async () => {
    const answers = await Promise.all(Array.from({ length: 150 }, (_, index) => call(`{"n":${index}}`)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    const ids = answers.map((answer) => Number(answer.json.execution_id));
    expect(new Set(ids).size).toBe(150);
    for (const [index, id] of ids.entries()) {
      if (index % 30 === 0) expect((await service.finished(id)).input_data).toEqual({ n: index });
    }
  });
});

describe('JSON by another name', () => {
  test.each([
    'text/json',
    'text/plain',
    'text/plain; charset=UTF-8',
    'application/cloudevents+json',
    'application/vnd.api+json; charset=utf-8',
    'Application/Problem+JSON',
    'application/json; version=2',
  ])('%s is JSON', async (type) => {
    const { status, json } = await call('{"n":9007199254740993}', type);
    expect(status).toBe(202);
    expect(await detailText(json.execution_id)).toContain('"input_data":{"n":9007199254740993}');
  });

  test('so is a body without a type; invalid JSON is 400 under each of these types', async () => {
    const untyped = async (text: string) => {
      const body = new TextEncoder().encode(text);
      const response = await fetch(`${service.url}/api/v1/webhooks/${hash}`, { method: 'POST', body });
      return (await response.json()) as { [name: string]: unknown };
    };
    const { execution_id: id } = await untyped('{"n":1}');
    expect((await service.finished(Number(id))).input_data).toEqual({ n: 1 });
    expect(await untyped('hello')).toMatchObject({ code: 'invalid_json' });
    for (const type of ['text/plain', 'application/a+json']) {
      expect([type, (await call('hello', type)).json.code]).toEqual([type, 'invalid_json']);
    }
    expect((await call('{}', 'text/plain; charset=iso-8859-1')).status).toBe(415);
  });
});

describe('400, 413, 415', () => {
  test('invalid JSON is 400', async () => {
    for (const body of ['{', '{"a":}', 'nope', '[1,]']) expect((await call(body)).status).toBe(400);
    const deep = `${'['.repeat(101)}${']'.repeat(101)}`;
    expect((await call(deep)).json.code).toBe('json_too_deep');
    expect((await call(new Uint8Array([0x22, 0xff, 0x22]))).json.code).toBe('invalid_body');
  });

  test('a form whose escapes are not UTF-8 is 400, because it could not be kept unchanged', async () => {
    const type = 'application/x-www-form-urlencoded';
    for (const form of ['x=%ff', '%C3=1', 'x=1&y=%ED%A0%80']) {
      const { status, json } = await call(form, type);
      expect([form, status, json.code]).toEqual([form, 400, 'invalid_body']);
    }
    const { json } = await call('x=%C3%A9+%zz&y=%F0%9F%98%80', type);
    expect(await detailText(json.execution_id)).toContain('"input_data":{"x":"é %zz","y":"😀"}');
  });

  test('415 names both accepted types', async () => {
    expect((await call('<x/>', 'application/xml')).json.detail).toMatch(
      /application\/json.*application\/x-www-form-urlencoded/,
    );
  });

  test('other types are 415', async () => {
    for (const type of [
      'text/html',
      'application/xml',
      'application/json+xml',
      'multipart/form-data; boundary=x',
      'application/jsonp',
    ]) {
      expect([type, (await call('{}', type)).status]).toEqual([type, 415]);
    }
  });

  test('a body over the limit is 413', async () => {
    expect((await call(JSON.stringify('x'.repeat(1024 * 1024)))).status).toBe(413);
  });
});

describe('404', () => {
  test('unknown, inactive, archived and without webhook trigger all get the same response', async () => {
    const shape = ({ request_id, ...rest }: { [name: string]: unknown }) => rest;
    const unknown = await call('{}', undefined, 'x'.repeat(43));
    expect(unknown.status).toBe(404);
    const inactive = await service.createWorkflow(WEBHOOK_FLOW);
    const inactiveHash = await hashOf(inactive);
    await service.api('PUT', `/workflows/${inactive}`, { key: service.key, body: { status: 'inactive' } });
    const archived = await service.createWorkflow(WEBHOOK_FLOW);
    const archivedHash = await hashOf(archived);
    await service.api('DELETE', `/workflows/${archived}`, { key: service.key });
    const manual = await service.createWorkflow(RUNNABLE_FLOW);
    const [row] = await service.database.db.query<{ webhook_hash: string }>(
      'SELECT webhook_hash FROM workflows WHERE id = $1',
      [manual],
    );
    for (const one of [
      inactiveHash,
      archivedHash,
      row?.webhook_hash ?? '',
      'short',
      `${hash}x`,
      hash.slice(1),
    ]) {
      const answer = await call('{}', undefined, one);
      expect(answer.status).toBe(404);
      expect(shape({ ...answer.json })).toEqual(shape({ ...unknown.json }));
    }
  });
});

describe('405', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH'] as const)('%s', async (method) => {
    const response = await fetch(`${service.url}/api/v1/webhooks/${hash}`, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toContain('POST');
  });
});

test('the hash appears in no log line', async () => {
  await call('{}');
  await call('{');
  expect(service.logs.length).toBeGreaterThan(0);
  expect(service.logs.filter((line) => line.includes(hash))).toEqual([]);
});

test('429: each webhook has its own limit', async () => {
  const limited = await startWorkingService({ limits: { requestsPerMinutePerWebhook: 2 } });
  try {
    const hashes = [];
    for (let count = 0; count < 2; count++) {
      const id = await limited.createWorkflow(WEBHOOK_FLOW);
      const { json } = await limited.api('GET', `/workflows/${id}/webhook-info`, { key: limited.key });
      hashes.push(String(json.hash));
    }
    const post = async (to = '') => (await limited.api('POST', `/webhooks/${to}`, { body: {} })).status;
    expect([await post(hashes[0]), await post(hashes[0]), await post(hashes[0])]).toEqual([202, 202, 429]);
    expect(await post(hashes[1])).toBe(202);
  } finally {
    await limited.stop();
  }
});
