import { RUNNABLE_FLOW, UNFINISHED_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
beforeAll(async () => {
  service = await startTestService();
  key = await service.createKey();
});
afterAll(() => service.stop());

async function createWorkflow(flow: object = UNFINISHED_FLOW, who: TestKey = key): Promise<number> {
  const { json } = await service.api('POST', '/workflows', {
    key: who,
    body: { name: 'a', flow_data: flow },
  });
  return json.id;
}

/** What must be the same in two error responses: everything except the path and the request id. */
function anonymous(text: string): string {
  return text.replace(/"instance":"[^"]*"/, '').replace(/"request_id":"[^"]*"/, '');
}

const IMPOSSIBLE_IDS = [
  '0',
  '-1',
  '1e3',
  '1.0',
  '+1',
  '0x10',
  '01',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775808',
  '99999999999999999999',
  'abc',
  '%20',
  '1%00',
  '%zz',
  '%ff',
  '1;2',
  'null',
  'x'.repeat(10_000),
  '9'.repeat(10_000),
];

describe('GET /workflows/{id}', () => {
  test('200: the detail with an ETag; If-None-Match with it is 304', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const { status, json, headers } = await service.api('GET', `/workflows/${id}`, { key });
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, version: 1, flow_data: RUNNABLE_FLOW, problems: [] });
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"1-\d+"$/);
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await service.api('GET', `/workflows/${id}`, { key, headers: { 'if-none-match': tag } });
      expect([tag, again.status, again.text]).toEqual([tag, 304, '']);
    }
    const changed = await service.api('GET', `/workflows/${id}`, {
      key,
      headers: { 'if-none-match': '"other"' },
    });
    expect(changed.status).toBe(200);
  });

  test('404: an id of another organisation, an unknown and an impossible one are indistinguishable', async () => {
    const foreign = await createWorkflow(UNFINISHED_FLOW, await service.createKey());
    const unknown = await service.api('GET', '/workflows/999999', { key });
    expect(unknown.status).toBe(404);
    for (const id of [String(foreign), ...IMPOSSIBLE_IDS]) {
      const answer = await service.api('GET', `/workflows/${id}`, { key });
      expect([id.slice(0, 30), answer.status, anonymous(answer.text)]).toEqual([
        id.slice(0, 30),
        404,
        anonymous(unknown.text),
      ]);
    }
  });

  test('404: a long id is not repeated in full', async () => {
    const { text } = await service.api('GET', `/workflows/${'9'.repeat(10_000)}`, { key });
    expect(text.length).toBeLessThan(2_000);
  });
});

describe('GET /workflows/{id}/webhook-info', () => {
  test('200: the URL is built from the public URL, never from the Host header', async () => {
    const id = await createWorkflow(WEBHOOK_FLOW);
    const { status, json } = await service.api('GET', `/workflows/${id}/webhook-info`, {
      key,
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    });
    expect(status).toBe(200);
    expect(json.hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(json).toEqual({
      hash: json.hash,
      url: `https://flows.example/api/v1/webhooks/${String(json.hash)}`,
      method: 'POST',
      workflow_id: id,
    });
    const again = await service.api('GET', `/workflows/${id}/webhook-info`, { key });
    expect(again.json.hash).toBe(json.hash);
  });

  test('200 also after archiving', async () => {
    const id = await createWorkflow(WEBHOOK_FLOW);
    await service.api('DELETE', `/workflows/${id}`, { key });
    expect((await service.api('GET', `/workflows/${id}/webhook-info`, { key })).status).toBe(200);
  });

  test('404 no_webhook_trigger: a workflow with another trigger or none', async () => {
    for (const flow of [RUNNABLE_FLOW, UNFINISHED_FLOW]) {
      const { status, json } = await service.api(
        'GET',
        `/workflows/${await createWorkflow(flow)}/webhook-info`,
        { key },
      );
      expect([status, json.code]).toEqual([404, 'no_webhook_trigger']);
    }
  });

  test('404 not_found: of another organisation, even with a webhook', async () => {
    const foreign = await createWorkflow(WEBHOOK_FLOW, await service.createKey());
    const { json } = await service.api('GET', `/workflows/${foreign}/webhook-info`, { key });
    expect(json.code).toBe('not_found');
  });
});

describe('versions', () => {
  async function createThree(): Promise<number> {
    const id = await createWorkflow({ ...UNFINISHED_FLOW, n: 1 });
    for (const n of [2, 3]) {
      await service.api('PUT', `/workflows/${id}`, { key, body: { flow_data: { ...UNFINISHED_FLOW, n } } });
    }
    return id;
  }

  test('200: all of them in pages, newest first', async () => {
    const id = await createThree();
    const first = await service.api('GET', `/workflows/${id}/versions?limit=2`, { key });
    expect(first.json.data.map(({ version }) => version)).toEqual([3, 2]);
    const query = `?limit=2&cursor=${first.json.pagination.next_cursor}`;
    const second = await service.api('GET', `/workflows/${id}/versions${query}`, { key });
    expect(second.json.data.map(({ version }) => version)).toEqual([1]);
    expect(second.json.pagination.has_more).toBe(false);
  });

  test('200: one with its content as saved', async () => {
    const id = await createThree();
    const { json } = await service.api('GET', `/workflows/${id}/versions/2`, { key });
    expect(json).toMatchObject({ workflow_id: id, version: 2, restored_from: null, flow_data: { n: 2 } });
  });

  test('200: restoring appends a version and keeps the history', async () => {
    const id = await createThree();
    const { status, json, headers } = await service.api('POST', `/workflows/${id}/versions/1/restore`, {
      key,
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ version: 4, flow_data: { n: 1 } });
    expect(headers.get('etag')).toMatch(/^"4-/);
    const { json: made } = await service.api('GET', `/workflows/${id}/versions/4`, { key });
    expect(made).toMatchObject({ restored_from: 1, flow_data: { n: 1 } });
    expect((await service.api('GET', `/workflows/${id}/versions/3`, { key })).json).toMatchObject({
      flow_data: { n: 3 },
    });
  });

  test('200: restoring changes the trigger', async () => {
    const id = await createWorkflow(WEBHOOK_FLOW);
    await service.api('PUT', `/workflows/${id}`, { key, body: { flow_data: RUNNABLE_FLOW } });
    expect((await service.api('GET', `/workflows/${id}/webhook-info`, { key })).status).toBe(404);
    await service.api('POST', `/workflows/${id}/versions/1/restore`, { key });
    expect((await service.api('GET', `/workflows/${id}/webhook-info`, { key })).status).toBe(200);
  });

  test('404: unknown and impossible versions, and all those of another organisation', async () => {
    const id = await createThree();
    const foreign = await createWorkflow(UNFINISHED_FLOW, await service.createKey());
    for (const version of ['4', '2147483648', ...IMPOSSIBLE_IDS]) {
      const read = await service.api('GET', `/workflows/${id}/versions/${version}`, { key });
      const restore = await service.api('POST', `/workflows/${id}/versions/${version}/restore`, { key });
      expect([version.slice(0, 30), read.status, restore.status]).toEqual([version.slice(0, 30), 404, 404]);
    }
    for (const path of ['', '/1']) {
      const unknown = await service.api('GET', `/workflows/999999/versions${path}`, { key });
      const other = await service.api('GET', `/workflows/${foreign}/versions${path}`, { key });
      expect([other.status, anonymous(other.text)]).toEqual([404, anonymous(unknown.text)]);
    }
    expect((await service.api('POST', `/workflows/${foreign}/versions/1/restore`, { key })).status).toBe(404);
  });

  test('409: an archived workflow; 412: one that has changed', async () => {
    const id = await createThree();
    const restore = (headers = {}) =>
      service.api('POST', `/workflows/${id}/versions/1/restore`, { key, headers });
    expect((await restore({ 'if-match': '"1-1"' })).json.code).toBe('precondition_failed');
    await service.api('DELETE', `/workflows/${id}`, { key });
    expect((await restore()).json.code).toBe('workflow_archived');
  });

  test('422: restoring accepts no members; an empty body is fine', async () => {
    const path = `/workflows/${await createThree()}/versions/1/restore`;
    const { status, json } = await service.api('POST', path, { key, body: { version: 2 } });
    expect([status, json.errors[0]?.pointer]).toEqual([422, '/version']);
    expect((await service.api('POST', path, { key, body: {} })).status).toBe(200);
  });

  test("422: an active workflow can't be restored to a version with problems", async () => {
    const id = await createWorkflow(UNFINISHED_FLOW);
    await service.api('PUT', `/workflows/${id}`, {
      key,
      body: { flow_data: RUNNABLE_FLOW, status: 'active' },
    });
    const { status, json } = await service.api('POST', `/workflows/${id}/versions/1/restore`, { key });
    expect([status, json.errors[0]?.code]).toEqual([422, 'no_trigger']);
  });
});
