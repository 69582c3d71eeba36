import type { AddressInfo } from 'node:net';
import type { Sample, WorkflowDetail } from '@millrace/admin-api';
import { createDatabase } from '@millrace/database/pool';
import { prune } from '@millrace/service/retention/prune';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { createWorkflow, pathTo } from './workflows-world.ts';

let service: TestService;
let ada: TestPerson;
/** A second instance of the service, with its own connections. */
let second: { readonly url: string; stop(): Promise<void> };
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  ada = await createPerson(service, 'editor');
  const db = createDatabase(service.database.url, { lanes: 1, maxSessions: 4 });
  const app = buildApp({ ...service.deps, db });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  second = {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      await app.close();
      await db.close();
    },
  };
});
afterAll(async () => {
  await second.stop();
  await service.stop();
});

async function createWebhook(
  person = ada,
  config?: object,
): Promise<WorkflowDetail & { readonly hash: string }> {
  const [start, ...rest] = WEBHOOK_FLOW.nodes;
  const flow = { ...WEBHOOK_FLOW, nodes: [{ ...start, data: { config } }, ...rest] };
  const workflow = await createWorkflow(person, config === undefined ? WEBHOOK_FLOW : (flow as never));
  const { data } = await person.call('GET /orgs/:org/workflows/:id/webhook', {
    params: pathTo(person, workflow),
  });
  return { ...workflow, hash: data.hash };
}

async function listen(workflow: WorkflowDetail, person = ada) {
  const { status, data, text } = await person.call('POST /orgs/:org/workflows/:id/sample-listener', {
    params: pathTo(person, workflow),
  });
  expect(status, text).toBe(200);
  return data;
}

function callWebhook(hash: string, body: unknown, headers: { readonly [name: string]: string } = {}) {
  return service.api('POST', `/webhooks/${hash}`, { body, headers });
}

async function sampleOf(workflow: WorkflowDetail): Promise<Sample | null> {
  const { data } = await ada.call('GET /orgs/:org/workflows/:id/sample', { params: pathTo(ada, workflow) });
  return data.sample;
}

/** Follows a listening; the returned function reads the next event, null at the end of the stream. */
async function follow(workflow: WorkflowDetail, after: number, url = service.url, person = ada) {
  const path = `/api/admin/orgs/${person.organisationId}/workflows/${workflow.id}/sample-listener/events`;
  const response = await fetch(`${url}${path}?after=${after}`, {
    headers: { cookie: person.cookie, 'sec-fetch-site': 'same-origin' },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return async (): Promise<{ event: string; data: unknown } | null> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const lines = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        const fieldOf = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        return { event: fieldOf('event') ?? '', data: JSON.parse(fieldOf('data') ?? 'null') };
      }
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) return null;
      text += chunk.value;
    }
  };
}

describe('listening for a sample', () => {
  test('the next call says captured, starts the workflow as usual, and becomes the sample', async () => {
    const workflow = await createWebhook();
    expect((await callWebhook(workflow.hash, { n: 0 })).json.captured).toBe(false);
    const { until, revision } = await listen(workflow);
    expect(revision).toBe(0);
    expect(new Date(until).getTime() - Date.now()).toBeGreaterThan(60_000);
    const receipt = await callWebhook(
      workflow.hash,
      { n: 1 },
      { 'x-event': 'order', authorization: 'Bearer hidden' },
    );
    expect([receipt.status, receipt.json.captured]).toEqual([202, true]);
    expect((await callWebhook(workflow.hash, { n: 2 })).json.captured).toBe(false);
    expect(await sampleOf(workflow)).toMatchObject({
      revision: 1,
      source: 'webhook',
      data: { n: 1 },
      execution_id: receipt.json.execution_id,
    });
    const rows = await service.database.db.query(
      `SELECT input->>'n' AS n FROM executions WHERE workflow_id = $1 ORDER BY id`,
      [workflow.id],
    );
    expect(rows).toEqual([{ n: '0' }, { n: '1' }, { n: '2' }]);
  });

  test('a GET that starts an execution is taken; a method that does not and a challenge are not', async () => {
    const config = { methods: ['GET'], query: ['page'], challenge: { type: 'slack' } };
    const workflow = await createWebhook(ada, config);
    const { revision } = await listen(workflow);
    const next = await follow(workflow, revision);
    expect((await next())?.event).toBe('listening');
    const url = `${service.url}/api/v1/webhooks/${workflow.hash}?page=2`;
    const question = { type: 'url_verification', challenge: 'a text' };
    expect((await fetch(url, { method: 'POST', body: JSON.stringify(question) })).status).toBe(200);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
    expect(await next()).toMatchObject({ event: 'refused', data: { code: 'method_not_allowed' } });
    expect(await sampleOf(workflow)).toBeNull();
    const receipt = (await (await fetch(url)).json()) as { execution_id: number; captured: boolean };
    expect(receipt.captured).toBe(true);
    expect(await next()).toMatchObject({
      event: 'sample',
      data: { source: 'webhook', data: {}, execution_id: receipt.execution_id },
    });
  });

  test('a refused call is reported with the reason, and the listening goes on', async () => {
    const allowList = { ip_allow_list: ['192.0.2.1'] };
    const guarded = await createWebhook();
    const [start, ...rest] = WEBHOOK_FLOW.nodes;
    const flow = { ...WEBHOOK_FLOW, nodes: [{ ...start, data: { config: allowList } }, ...rest] };
    const open = await createWebhook();
    const call = (hash: string, init: RequestInit) =>
      fetch(`${service.url}/api/v1/webhooks/${hash}`, { method: 'POST', ...init });
    const json = { 'content-type': 'application/json' };
    await ada.call('POST /orgs/:org/workflows/:id/versions', {
      params: pathTo(ada, guarded),
      body: { flow_data: flow as never, base_version: 1 },
    });
    const cases: [typeof open, RequestInit, number, string][] = [
      [guarded, { headers: json, body: '{}' }, 403, 'ip_not_allowed'],
      [open, { method: 'GET' }, 405, 'method_not_allowed'],
      [open, { headers: json, body: '{' }, 400, 'invalid_json'],
      [open, { headers: { 'content-type': 'text/csv' }, body: 'a' }, 415, 'unsupported_media_type'],
      [open, { headers: json, body: JSON.stringify('x'.repeat(1_100_000)) }, 413, 'body_too_large'],
    ];
    for (const [workflow, init, status, code] of cases) {
      const { revision } = await listen(workflow);
      // The other instance hears of it, too.
      const next = await follow(workflow, revision, second.url);
      expect((await next())?.event).toBe('listening');
      expect((await call(workflow.hash, init)).status).toBe(status);
      const refused = await next();
      expect(refused).toMatchObject({
        event: 'refused',
        data: { status, code, message: expect.any(String) },
      });
      expect((await callWebhook(open.hash, { n: 1 })).status).toBe(202);
      if (workflow === open) expect((await next())?.event).toBe('sample');
    }
    // Listening anew, the former refusal is over.
    await listen(guarded);
    const again = await follow(guarded, 0);
    expect((await again())?.event).toBe('listening');
    await ada.call('DELETE /orgs/:org/workflows/:id/sample-listener', { params: pathTo(ada, guarded) });
    expect((await again())?.event).toBe('ended');
  });

  test('a repeated event is captured, and marked as one that started nothing', async () => {
    const workflow = await createWebhook();
    const [start, ...rest] = WEBHOOK_FLOW.nodes;
    const deduplicate = { by: 'path', name: 'id' };
    const flow = { ...WEBHOOK_FLOW, nodes: [{ ...start, data: { config: { deduplicate } } }, ...rest] };
    await ada.call('POST /orgs/:org/workflows/:id/versions', {
      params: pathTo(ada, workflow),
      body: { flow_data: flow as never, base_version: 1 },
    });
    const first = await callWebhook(workflow.hash, { id: 'evt_1' });
    await listen(workflow);
    await callWebhook(workflow.hash, { id: 'evt_1' });
    expect(await sampleOf(workflow)).toMatchObject({
      is_repeat: true,
      execution_id: first.json.execution_id,
    });
    await listen(workflow);
    await callWebhook(workflow.hash, { id: 'evt_2' });
    expect(await sampleOf(workflow)).toMatchObject({ is_repeat: false });
  });

  test('headers that may contain a secret are not kept', async () => {
    const workflow = await createWebhook();
    await listen(workflow);
    const secrets = [
      'authorization',
      'cookie',
      'x-api-key',
      'x-hub-signature-256',
      'stripe-signature',
      'x-auth-user',
      'x-csrf-token',
      'x-session',
      'proxy-authorization',
      'x-client-secret',
      'x-password',
    ];
    await callWebhook(
      workflow.hash,
      {},
      {
        'x-event': 'kept',
        ...Object.fromEntries(secrets.map((name) => [name, 'canary-4711'])),
      },
    );
    const sample = await sampleOf(workflow);
    expect(sample?.headers).toMatchObject({ 'x-event': 'kept', 'content-type': 'application/json' });
    expect(JSON.stringify(sample)).not.toContain('canary-4711');
    expect(service.logs.join('')).not.toContain('canary-4711');
  });

  test.each([
    ['null', null],
    ['0', 0],
    ['[]', []],
    ['{"a":9007199254740993}', expect.anything()],
  ])('the body is kept as sent: %s', async (raw) => {
    const workflow = await createWebhook();
    await listen(workflow);
    await service.api('POST', `/webhooks/${workflow.hash}`, {
      raw,
      headers: { 'content-type': 'application/json' },
    });
    const [row] = await service.database.db.query<{ data: string }>(
      'SELECT data FROM workflow_samples WHERE workflow_id = $1',
      [workflow.id],
    );
    expect(row?.data).toBe(raw);
  });

  test('of concurrent calls one is captured', async () => {
    const workflow = await createWebhook();
    await listen(workflow);
    const receipts = await Promise.all(
      Array.from({ length: 20 }, (_, n) => callWebhook(workflow.hash, { n })),
    );
    const captured = receipts.filter((receipt) => receipt.json.captured === true);
    expect(captured).toHaveLength(1);
    expect((await sampleOf(workflow))?.execution_id).toBe(captured[0]?.json.execution_id);
  });

  test('ends by itself, or when stopped', async () => {
    const workflow = await createWebhook();
    await listen(workflow);
    await service.database.db.query('UPDATE sample_listeners SET expires_at = now() WHERE workflow_id = $1', [
      workflow.id,
    ]);
    expect((await callWebhook(workflow.hash, {})).json.captured).toBe(false);
    expect((await prune(service.database.db, service.deps.config.retention)).sampleListeners).toBe(1);
    await listen(workflow);
    await ada.call('DELETE /orgs/:org/workflows/:id/sample-listener', { params: pathTo(ada, workflow) });
    expect((await callWebhook(workflow.hash, {})).json.captured).toBe(false);
    expect(await sampleOf(workflow)).toBeNull();
  });

  test('is refused where no call can arrive', async () => {
    const params = pathTo(ada, await createWorkflow(ada, RUNNABLE_FLOW));
    const without = await ada.call('POST /orgs/:org/workflows/:id/sample-listener', { params });
    expect([without.status, without.json.code]).toEqual([404, 'no_webhook_trigger']);
    const workflow = await createWebhook();
    await ada.call('POST /orgs/:org/workflows/:id/archive', { params: pathTo(ada, workflow) });
    const archived = await ada.call('POST /orgs/:org/workflows/:id/sample-listener', {
      params: pathTo(ada, workflow),
    });
    expect([archived.status, archived.json.code]).toEqual([409, 'workflow_archived']);
  });
});

describe('the events', () => {
  test('report the call as it arrives, also to a listener in another process', async () => {
    const workflow = await createWebhook();
    const { until, revision } = await listen(workflow);
    const next = await follow(workflow, revision, second.url);
    expect(await next()).toEqual({ event: 'listening', data: { until } });
    const receipt = await callWebhook(workflow.hash, { n: 1 });
    const event = await next();
    expect(event).toMatchObject({
      event: 'sample',
      data: { data: { n: 1 }, source: 'webhook', execution_id: receipt.json.execution_id },
    });
    expect(await next()).toBeNull();
  });

  test('report a call that arrived before the stream was opened', async () => {
    const workflow = await createWebhook();
    const { revision } = await listen(workflow);
    await callWebhook(workflow.hash, { n: 1 });
    const next = await follow(workflow, revision);
    expect(await next()).toMatchObject({ event: 'sample', data: { data: { n: 1 } } });
  });

  test('report one call to both people who listen', async () => {
    const grace = await createPerson(service, 'editor', { organisationId: ada.organisationId });
    const workflow = await createWebhook();
    const streams = [];
    for (const person of [ada, grace]) {
      const { revision } = await listen(workflow, person);
      const next = await follow(workflow, revision, service.url, person);
      expect((await next())?.event).toBe('listening');
      streams.push(next);
    }
    await callWebhook(workflow.hash, { n: 1 });
    for (const next of streams) expect((await next())?.event).toBe('sample');
  });

  test('report an extension, and the end', async () => {
    const workflow = await createWebhook();
    const { revision } = await listen(workflow);
    const next = await follow(workflow, revision);
    expect((await next())?.event).toBe('listening');
    const { until } = await listen(workflow);
    expect(await next()).toEqual({ event: 'listening', data: { until } });
    await ada.call('DELETE /orgs/:org/workflows/:id/sample-listener', { params: pathTo(ada, workflow) });
    expect(await next()).toEqual({ event: 'ended', data: {} });
    expect(await next()).toBeNull();
  });
});

describe('the URL', () => {
  async function webhookOf(workflow: WorkflowDetail) {
    return (await ada.call('GET /orgs/:org/workflows/:id/webhook', { params: pathTo(ada, workflow) })).data;
  }
  async function regenerate(workflow: WorkflowDetail, body = {}) {
    const answer = await ada.call('POST /orgs/:org/workflows/:id/webhook/regenerate', {
      params: pathTo(ada, workflow),
      body,
    });
    return answer.data;
  }

  test('a new hash works at once, the old one for 24 more hours', async () => {
    const workflow = await createWebhook();
    const after = await regenerate(workflow);
    expect(after.hash).not.toBe(workflow.hash);
    expect(after.previous.map((former) => former.hash)).toEqual([workflow.hash]);
    const until = new Date(after.previous[0]?.valid_until ?? 0).getTime();
    expect(Math.abs(until - Date.now() - 86_400_000)).toBeLessThan(60_000);
    for (const hash of [workflow.hash, after.hash]) {
      expect((await callWebhook(hash, {})).status).toBe(202);
    }
    const { db } = service.database;
    const shift = (to: string) =>
      db.query(`UPDATE former_webhook_hashes SET valid_until = now() + $2::interval WHERE workflow_id = $1`, [
        workflow.id,
        to,
      ]);
    await shift('1 minute');
    expect((await callWebhook(workflow.hash, {})).status).toBe(202);
    await shift('0');
    expect((await callWebhook(workflow.hash, {})).status).toBe(404);
    expect((await webhookOf(workflow)).previous).toEqual([]);
    expect((await prune(db, service.deps.config.retention)).formerWebhookHashes).toBe(1);
  });

  test('a second one in a row keeps both, unless they are to end now', async () => {
    const workflow = await createWebhook();
    const one = await regenerate(workflow);
    const two = await regenerate(workflow);
    expect(two.previous.map((former) => former.hash)).toEqual([one.hash, workflow.hash]);
    expect((await callWebhook(workflow.hash, {})).status).toBe(202);
    const three = await regenerate(workflow, { ends_previous_now: true });
    expect(three.previous).toEqual([]);
    const answers = await Promise.all(
      [workflow.hash, one.hash, two.hash, three.hash].map((hash) => callWebhook(hash, {})),
    );
    expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404, 202]);
  });

  test('an old hash of a workflow that accepts no calls is the same 404', async () => {
    const workflow = await createWebhook();
    await regenerate(workflow);
    await ada.call('POST /orgs/:org/workflows/:id/archive', { params: pathTo(ada, workflow) });
    expect((await callWebhook(workflow.hash, {})).status).toBe(404);
    expect(await webhookOf(workflow)).toMatchObject({ is_open: false, reason: 'workflow_archived' });
  });

  test('the panel shows a command with the sample, and how calls are signed', async () => {
    const workflow = await createWorkflow(ada, {
      ...WEBHOOK_FLOW,
      nodes: [
        {
          id: 'start',
          type: 'trigger.webhook',
          data: { config: { signature: { preset: 'github', credential_id: 7 } } },
        },
        ...WEBHOOK_FLOW.nodes.slice(1),
      ],
    });
    await ada.call('PUT /orgs/:org/workflows/:id/sample', {
      params: pathTo(ada, workflow),
      body: { data: { name: "O'Hara $(id)" } },
    });
    const panel = await webhookOf(workflow);
    expect(panel.url).toBe(`https://flows.example/api/v1/webhooks/${panel.hash}`);
    // Its behaviour is covered by webhook-curl.test.ts.
    expect(panel.curl.split('\n')).toEqual([
      "secret='put the secret here'",
      `body='{"name":"O'\\''Hara $(id)"}'`,
      expect.stringMatching(/^signature=/),
      expect.stringContaining(`curl -X POST '${panel.url}'`),
    ]);
    expect(panel).toMatchObject({
      is_open: true,
      signature: { preset: 'github', credential_id: 7, tolerance_s: 300 },
    });
  });
});

test('a sample set by hand replaces the previous one', async () => {
  const workflow = await createWebhook();
  const params = pathTo(ada, workflow);
  await listen(workflow);
  await callWebhook(workflow.hash, { n: 1 });
  const { data } = await ada.call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data: [1] } });
  expect(data).toMatchObject({ revision: 2, source: 'manual', data: [1], headers: null, execution_id: null });
  expect(await sampleOf(workflow)).toEqual(data);
});
