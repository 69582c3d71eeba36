import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW, UNFINISHED_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { buildApp } from '../../src/app.ts';

let service: WorkingService;
let workflowId: number;
beforeAll(async () => {
  service = await startWorkingService();
  workflowId = await service.createWorkflow(RUNNABLE_FLOW);
});
afterAll(() => service.stop());

const execute = (id: number | string, body?: unknown, headers: { [name: string]: string } = {}) =>
  service.api('POST', `/workflows/${id}/execute`, {
    key: service.key,
    headers,
    ...(body === undefined ? {} : { body }),
  });

async function countOf(id: number): Promise<number> {
  const [row] = await service.database.db.query<{ count: number }>(
    'SELECT count(*) AS count FROM executions WHERE workflow_id = $1',
    [id],
  );
  return row?.count ?? -1;
}

async function changeStatus(id: number, status: string): Promise<void> {
  const answer = await service.api('PUT', `/workflows/${id}`, { key: service.key, body: { status } });
  expect(answer.status).toBe(200);
}

describe('202', () => {
  test('the log leads from the request to the execution, from replays and readers, too', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const { json } = await execute(workflowId, {}, headers);
    await execute(workflowId, {}, headers);
    const id = Number(json.execution_id);
    await service.finished(id);
    const rerun = { key: service.key, body: { from: 'start' } };
    const again = (await service.api('POST', `/executions/${id}/rerun`, rerun)).json.execution_id;
    const lines = service.logs.map((line) => JSON.parse(line) as { [name: string]: unknown });
    const about = lines.filter(({ execution_id, msg }) => execution_id === id && msg === 'request');
    expect(about.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
    expect(new Set(about.map(({ request_id }) => request_id)).size).toBe(3);
    expect(
      lines.filter((line) => line.execution_id === Number(again) && line.msg === 'request'),
    ).toHaveLength(1);
    expect(lines.some((line) => line.execution_id === id && line.msg === 'execution completed')).toBe(true);
  });

  test('the receipt says running and where to read the execution', async () => {
    const { status, json, headers } = await execute(workflowId, { input_data: { name: 'Ada' } });
    expect(status).toBe(202);
    const url = `https://flows.example/api/v1/executions/${json.execution_id}`;
    expect(json).toEqual({
      execution_id: expect.any(Number),
      status: 'running',
      polling_url: url,
      started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(headers.get('location')).toBe(url);
    const detail = await service.finished(Number(json.execution_id));
    expect(detail).toMatchObject({
      id: json.execution_id,
      workflow_id: workflowId,
      status: 'completed',
      display_name: `sample #${json.execution_id}`,
      trigger_type: 'api',
      workflow_version: 1,
      started_at: json.started_at,
      created_at: json.started_at,
      input_data: { name: 'Ada' },
      is_test_mode: false,
    });
    expect(detail).not.toHaveProperty('error');
    expect(Object.keys(detail.node_outputs)).toEqual(['start', 'set']);
    expect(detail.node_outputs.start).toMatchObject({ status: 'success', output: { data: { name: 'Ada' } } });
  });

  test.each([
    ['no body', undefined],
    ['an empty object', {}],
    ['an empty input', { input_data: {} }],
  ])('with %s the input is {}', async (_what, body) => {
    const { status, json } = await execute(workflowId, body);
    expect(status).toBe(202);
    expect((await service.finished(Number(json.execution_id))).input_data).toEqual({});
  });

  test('numbers beyond a double and __proto__ come back as sent', async () => {
    const input = '{"big":9007199254740993,"huge":1e400,"exact":0.1234567890123456789,"__proto__":{"x":1}}';
    const { json } = await service.api('POST', `/workflows/${workflowId}/execute`, {
      key: service.key,
      raw: `{"input_data":${input}}`,
    });
    await service.finished(Number(json.execution_id));
    const { text } = await service.api('GET', `/executions/${json.execution_id}`, { key: service.key });
    expect(text).toContain(`"input_data":${input}`);
    expect(text).toContain(`"output":{"data":${input}}`);
  });

  test('a draft can be started, even with problems: it fails at once and no node runs', async () => {
    const draft = await service.createWorkflow(UNFINISHED_FLOW, { status: 'draft' });
    const detail = await service.finished(await service.execute(draft));
    expect(detail).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_workflow', node_id: null },
      node_outputs: {},
    });
    const unknown = flowOf([['odd', 'no.such_node']], ['start>odd']);
    const withUnknown = await service.createWorkflow(unknown, { status: 'draft' });
    const failed = await service.finished(await service.execute(withUnknown));
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_workflow', node_id: 'odd' },
      node_outputs: {},
    });
  });

  test('the display name is rendered from the settings, cut to 255 characters', async () => {
    const flow = {
      ...RUNNABLE_FLOW,
      settings: { display_name: 'Order {{trigger.data.no}} {{trigger.data.text}}' },
    };
    const named = await service.createWorkflow(flow);
    const { display_name: name } = await service.finished(
      await service.execute(named, { no: 17, text: 'x'.repeat(300) }),
    );
    expect(name).toBe(`Order 17 ${'x'.repeat(246)}`);
  });

  test('is_test_mode is copied from the workflow', async () => {
    const inTest = await service.createWorkflow(RUNNABLE_FLOW, { is_test_mode: true });
    expect((await service.finished(await service.execute(inTest))).is_test_mode).toBe(true);
  });

  test('input that fits the input schema is accepted', async () => {
    const id = await service.createWorkflow({ ...RUNNABLE_FLOW, settings: { input_schema: SCHEMA } });
    expect((await execute(id, { input_data: { name: 'Ada', count: 2 } })).status).toBe(202);
  });
});

const SCHEMA = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
  additionalProperties: false,
};

describe('Idempotency-Key', () => {
  test('a repeated request gets the first response, byte for byte, and starts nothing', async () => {
    const own = await service.createWorkflow(RUNNABLE_FLOW);
    const headers = { 'idempotency-key': randomUUID() };
    const first = await execute(own, { input_data: { a: 1, b: [1, 2] } }, headers);
    expect(first.headers.has('idempotent-replayed')).toBe(false);
    const again = await service.api('POST', `/workflows/${own}/execute`, {
      key: service.key,
      headers,
      raw: '{ "input_data": {"b":[1.0,2],"a":1} }',
    });
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await countOf(own)).toBe(1);
  });

  test('it replays although the workflow has been archived since', async () => {
    const own = await service.createWorkflow(RUNNABLE_FLOW);
    const headers = { 'idempotency-key': randomUUID() };
    const first = await execute(own, {}, headers);
    await service.api('DELETE', `/workflows/${own}`, { key: service.key });
    expect((await execute(own, {}, headers)).text).toBe(first.text);
  });

  test('another body, a valid one or not, is 409', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await execute(workflowId, { input_data: { a: 1 } }, headers);
    const other = await execute(workflowId, { input_data: { a: 2 } }, headers);
    expect([other.status, other.json.code]).toEqual([409, 'idempotency_key_reused']);
    expect((await execute(workflowId, { input_data: 5 }, headers)).status).toBe(409);
  });

  test('the same key on another workflow is another request', async () => {
    const other = await service.createWorkflow(RUNNABLE_FLOW);
    const headers = { 'idempotency-key': randomUUID() };
    const first = await execute(workflowId, {}, headers);
    const second = await execute(other, {}, headers);
    expect(second.status).toBe(202);
    expect(second.json.execution_id).not.toBe(first.json.execution_id);
  });

  test('another spelling of the same path is the same request', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const spelled = `%${String(workflowId).charCodeAt(0).toString(16)}${String(workflowId).slice(1)}`;
    const [first, second] = [await execute(workflowId, {}, headers), await execute(spelled, {}, headers)];
    expect([first.status, second.status, second.text]).toEqual([202, 202, first.text]);
  });

  test('a refused request is not kept', async () => {
    const own = await service.createWorkflow(RUNNABLE_FLOW, { status: 'draft' });
    await changeStatus(own, 'inactive');
    const headers = { 'idempotency-key': randomUUID() };
    expect((await execute(own, {}, headers)).status).toBe(409);
    await changeStatus(own, 'active');
    expect((await execute(own, {}, headers)).status).toBe(202);
  });

  test('after 24 hours by the database the key is free again', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await execute(workflowId, {}, headers);
    await service.database.db.query(
      "UPDATE idempotency_records SET created_at = created_at - interval '24 hours 1 second' WHERE idempotency_key = $1",
      [headers['idempotency-key']],
    );
    const second = await execute(workflowId, { input_data: { other: true } }, headers);
    expect(second.status).toBe(202);
    expect(second.json.execution_id).not.toBe(first.json.execution_id);
    expect((await execute(workflowId, { input_data: { other: true } }, headers)).text).toBe(second.text);
  });

  test('200 at the same time: one execution, one body; those with another body are 409', async () => {
    const own = await service.createWorkflow(RUNNABLE_FLOW);
    const headers = { 'idempotency-key': randomUUID() };
    const requests = Array.from({ length: 200 }, () => execute(own, { input_data: { same: 1 } }, headers));
    const answers = await Promise.all(requests);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(answers.filter((answer) => !answer.headers.has('idempotent-replayed'))).toHaveLength(1);
    expect(await countOf(own)).toBe(1);
    const mixed = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        execute(
          own,
          { input_data: { mixed: index % 2 } },
          { 'idempotency-key': headers['idempotency-key'].replace(/^./, 'z') },
        ),
      ),
    );
    const accepted = mixed.filter((answer) => answer.status === 202);
    expect(new Set(accepted.map((answer) => answer.text)).size).toBe(1);
    expect(accepted).toHaveLength(20);
    expect(mixed.filter((answer) => answer.status === 409)).toHaveLength(20);
    expect(await countOf(own)).toBe(2);
  });
});

test('identical requests that reach two processes at the same time start one execution', async () => {
  const other = buildApp(service.deps);
  await other.listen({ host: '127.0.0.1', port: 0 });
  try {
    const { port } = other.server.address() as AddressInfo;
    const own = await service.createWorkflow(RUNNABLE_FLOW);
    const path = `/api/v1/workflows/${own}/execute`;
    for (let round = 1; round <= 10; round++) {
      const request = {
        key: service.key,
        headers: { 'idempotency-key': randomUUID() },
        body: { input_data: { round } },
      };
      const bases = [service.url, `http://127.0.0.1:${port}`, service.url, `http://127.0.0.1:${port}`];
      const answers = await Promise.all(bases.map((base) => send(`${base}${path}`, 'POST', request)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(await countOf(own)).toBe(round);
    }
  } finally {
    await other.close();
  }
});

describe('404', () => {
  test('another organisation, an unknown id and an invalid one get the same response', async () => {
    const stranger = await service.createKey();
    const foreign = await service.api('POST', `/workflows/${workflowId}/execute`, {
      key: stranger,
      body: {},
    });
    const unknown = await execute(999_999_999, {});
    const shape = ({ request_id, instance, ...rest }: { [name: string]: unknown }) => rest;
    expect(foreign.status).toBe(404);
    expect(shape({ ...foreign.json })).toEqual(shape({ ...unknown.json }));
    for (const id of [
      '0',
      '-1',
      '1e3',
      '1.0',
      '+1',
      '0x10',
      '01',
      '9007199254740993',
      '9223372036854775808',
      'a',
    ]) {
      const answer = await execute(id, {});
      expect([id, answer.status]).toEqual([id, 404]);
      expect(shape({ ...answer.json })).toEqual(shape({ ...unknown.json }));
    }
  });
});

describe('409', () => {
  test('inactive and archived workflows are not started', async () => {
    const id = await service.createWorkflow(RUNNABLE_FLOW);
    await changeStatus(id, 'inactive');
    const inactive = await execute(id, {});
    expect([inactive.status, inactive.json.code]).toEqual([409, 'workflow_inactive']);
    await service.api('DELETE', `/workflows/${id}`, { key: service.key });
    const archived = await execute(id, {});
    expect([archived.status, archived.json.code]).toEqual([409, 'workflow_archived']);
    expect(await countOf(id)).toBe(0);
  });
});

describe('422', () => {
  test.each([
    ['input_data is a list', { input_data: [] }, '/input_data', 'invalid_type'],
    ['input_data is null', { input_data: null }, '/input_data', 'invalid_type'],
    ['the body is a list', [], '', 'invalid_type'],
    ['there is an unknown member', { input: {} }, '/input', 'unknown_field'],
  ])('%s', async (_what, body, pointer, code) => {
    const { status, json } = await execute(workflowId, body);
    expect(status).toBe(422);
    expect(json.errors).toEqual([expect.objectContaining({ pointer, code })]);
  });

  test('input that does not fit the input schema is refused with pointers, before anything is stored', async () => {
    const id = await service.createWorkflow({ ...RUNNABLE_FLOW, settings: { input_schema: SCHEMA } });
    const { status, json } = await execute(id, { input_data: { count: 0, other: 1 } });
    expect(status).toBe(422);
    expect(json.errors).toHaveLength(3);
    const found = json.errors.map(({ pointer, field, code, message }) => [pointer, field, code, message]);
    const [isRequired, isUnknown] = ['is required', 'is not known here; remove it or check its spelling'];
    expect(found).toContainEqual(['/input_data/name', 'input_data.name', 'required', isRequired]);
    expect(found).toContainEqual([
      '/input_data/count',
      'input_data.count',
      'out_of_range',
      'must be 1 or more',
    ]);
    expect(found).toContainEqual(['/input_data/other', 'input_data.other', 'unknown_field', isUnknown]);
    expect(await countOf(id)).toBe(0);
  });

  test('U+0000 and lone surrogates are refused where they stand', async () => {
    for (const text of ['"\\u0000"', '"\\ud800"']) {
      const { status, json } = await service.api('POST', `/workflows/${workflowId}/execute`, {
        key: service.key,
        raw: `{"input_data":{"deep":[${text}]}}`,
      });
      expect(status).toBe(422);
      expect(json.errors[0]).toMatchObject({ pointer: '/input_data/deep/0', code: 'unsupported_character' });
    }
  });
});

describe('401 and 403', () => {
  test('a key is needed, with the scope executions:execute', async () => {
    expect((await service.api('POST', `/workflows/${workflowId}/execute`, { body: {} })).status).toBe(401);
    const reader = await service.createKey({
      organisationId: service.key.organisationId,
      scopes: ['executions:read'],
    });
    const refused = await service.api('POST', `/workflows/${workflowId}/execute`, { key: reader, body: {} });
    expect([refused.status, refused.json.code]).toEqual([403, 'insufficient_scope']);
  });
});
