import { randomBytes } from 'node:crypto';
import { addCredential } from '@millrace/credentials/credentials';
import { createGuardedHttpClient } from '@millrace/egress/guarded-client';
import type { HttpClient } from '@millrace/engine';
import { createSecretKeys } from '@millrace/secrets/keys';
import { type Outside, openOutside } from '@millrace/testing/outside';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startWorkingService, type WorkingService } from '../../runtime/test/worker/service-with-worker.ts';

const TOKEN = 'xoxb-canary-0123456789';
const LINE = 'POST /api/chat.postMessage';
const sent = { ok: true, channel: 'C1', ts: '1503435956.000247', message: { text: 'Order 17' } };

/** Slack, as far as the service can tell. */
let slack: Outside;
let service: WorkingService;
let credentialId: number;
const guarded = createGuardedHttpClient({ allowHosts: ['127.0.0.1'] });

/** Reaches the test's server under the address of Slack. */
const toSlack: HttpClient = {
  send(request, ...rest) {
    const { origin, pathname, search } = new URL(request.url);
    if (origin !== 'https://slack.com') throw new Error(`a request to ${origin}`);
    return guarded.send({ ...request, url: slack.url + pathname + search }, ...rest);
  },
};

beforeAll(async () => {
  slack = await openOutside();
  const secretKeys = { current: randomBytes(32), previous: [] };
  service = await startWorkingService({ config: { secretKeys }, http: toSlack });
  const row = await addCredential(
    { db: service.database.db, keys: createSecretKeys(service.deps.config) },
    {
      organisationId: service.key.organisationId,
      name: 'Slack',
      type: 'bearer',
      hosts: ['slack.com'],
      fields: { token: TOKEN },
    },
    { actor: 'operator' },
  );
  credentialId = row.id;
});
beforeEach(() => slack.forget());
afterAll(async () => {
  await service.stop();
  await guarded.close();
  await slack.close();
});

async function run(more: object = {}, data: object = {}) {
  const config = { credential_id: credentialId, channel: 'C1', text: 'Order {{trigger.data.id}}' };
  const flow = {
    nodes: [
      { id: 'start', type: 'trigger.manual', data: {} },
      { id: 'tell', type: 'connector.slack.send_message', data: { config, ...data } },
    ],
    edges: [{ source: 'start', target: 'tell' }],
  };
  const id = await service.createWorkflow(flow, more);
  return service.finished(await service.execute(id, { id: 17 }));
}

test('an operation runs like any other node, and its secret is masked', async () => {
  slack.on(LINE, ({ headers }) => ({ body: { ...sent, message: { heard: headers.authorization } } }));
  const execution = await run();
  expect(execution.status).toBe('completed');
  expect(slack.to(LINE).map(({ body, headers }) => [body, headers.authorization])).toEqual([
    [{ channel: 'C1', text: 'Order 17', unfurl_links: true }, `Bearer ${TOKEN}`],
  ]);
  expect(execution.node_outputs.tell?.output).toEqual({
    channel: 'C1',
    ts: '1503435956.000247',
    message: { heard: 'Bearer ***' },
  });
  expect(JSON.stringify(execution)).not.toContain('canary');
});

test('a request that was limited is sent again', async () => {
  slack.on(LINE, (_, nth) =>
    nth === 1 ? { status: 429, headers: { 'retry-after': '0' }, body: { ok: false } } : { body: sent },
  );
  const execution = await run();
  expect(execution.node_outputs.tell).toMatchObject({ status: 'success', attempts: 2 });
  expect(slack.to(LINE)).toHaveLength(2);
});

test('a message that may have been posted is not posted again', async () => {
  slack.on(LINE, { status: 502, body: 'bad gateway' });
  const execution = await run();
  expect(execution).toMatchObject({
    status: 'failed',
    error: { code: 'connector_unavailable', node_id: 'tell' },
  });
  expect(slack.to(LINE)).toHaveLength(1);
});

test('test mode shows the request and posts nothing', async () => {
  const execution = await run({ is_test_mode: true });
  expect(execution.node_outputs.tell?.output).toMatchObject({
    dry_run: true,
    service: 'slack',
    request: { url: 'https://slack.com/api/chat.postMessage', body: { channel: 'C1', text: 'Order 17' } },
  });
  expect(slack.received).toEqual([]);
  expect(JSON.stringify(execution)).not.toContain('canary');
});
