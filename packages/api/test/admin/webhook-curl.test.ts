import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { JsonObject } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow, pathTo } from './workflows-world.ts';

/** The command shown in a webhook's panel works when pasted into a shell. */
let service: TestService;
let ada: TestPerson;
beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    config: { secretKeys: { current: randomBytes(32), previous: [] } },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  ada = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

const run = promisify(execFile);

async function createSecret(value: string): Promise<number> {
  const { data, status, text } = await ada.call('POST /orgs/:org/credentials', {
    params: { org: ada.organisationId },
    body: { name: `signs ${randomBytes(4).toString('hex')}`, type: 'secret', hosts: [], fields: { value } },
  });
  expect(status, text).toBe(200);
  return data.id;
}

/** Characters that are hard to pass through a shell unharmed. */
const SAMPLE = { name: `O'Hara "$HOME" \`id\` $(id) \\n %s !`, lines: ['a\nb', '漢字 🙂'], n: 9.5 };

async function createWebhook(signature: JsonObject | null) {
  const config = signature === null ? {} : { signature };
  const [start, ...others] = WEBHOOK_FLOW.nodes;
  const workflow = await createWorkflow(ada, {
    ...WEBHOOK_FLOW,
    nodes: [{ ...start, data: { config } }, ...others],
  } as JsonObject);
  const params = pathTo(ada, workflow);
  await ada.call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data: SAMPLE } });
  await ada.call('POST /orgs/:org/workflows/:id/sample-listener', { params });
  const { data } = await ada.call('GET /orgs/:org/workflows/:id/webhook', { params });
  return { workflow, params, command: data.curl.replace(new URL(data.url).origin, service.url) };
}

async function paste(command: string, secret: string | null) {
  const filled =
    secret === null
      ? command
      : command.replace("'put the secret here'", `'${secret.replaceAll("'", "'\\''")}'`);
  const { stdout } = await run('sh', ['-c', `${filled} --silent`]);
  return JSON.parse(stdout) as { readonly captured?: boolean; readonly code?: string };
}

const STANDARD = `whsec_${Buffer.from([0, 255, 10, 13, 39, 92, 1, 2]).toString('base64')}`;

describe.each<[string, JsonObject | null, string | null]>([
  ['without a signature', null, null],
  ['github', { preset: 'github' }, `it's "a" $secret`],
  ['slack', { preset: 'slack' }, 'of slack'],
  ['stripe', { preset: 'stripe' }, 'whsec_of_stripe'],
  ['standard_webhooks', { preset: 'standard_webhooks' }, STANDARD],
  ['zoom', { preset: 'zoom' }, 'of zoom'],
  ['paddle', { preset: 'paddle' }, 'pdl_ntfset_1'],
  ['zendesk', { preset: 'zendesk' }, 'of zendesk'],
  ['hmac', { preset: 'hmac', header: 'X-Sign' }, 'mine'],
  [
    'hmac with all there is',
    {
      preset: 'hmac',
      header: 'X-Sign',
      prefix: `v1 '`,
      algorithm: 'sha512',
      encoding: 'base64',
      timestamp_header: 'X-Time',
      signed: 'timestamp.body',
    },
    'mine',
  ],
])('%s', (_name, signature, secret) => {
  test('the call is accepted and becomes the sample', async () => {
    const credential = secret === null ? null : await createSecret(secret);
    const { params, command } = await createWebhook(
      signature === null ? null : { ...signature, credential_id: credential },
    );
    expect(await paste(command, secret)).toMatchObject({ success: true, captured: true });
    const { data } = await ada.call('GET /orgs/:org/workflows/:id/sample', { params });
    expect(data.sample).toMatchObject({ source: 'webhook', data: SAMPLE });
    expect(JSON.stringify(data.sample?.headers)).not.toMatch(/sign/i);
  });
});

test('with another secret it is refused, and the listening continues', async () => {
  const { params, command } = await createWebhook({
    preset: 'github',
    credential_id: await createSecret('right'),
  });
  expect(await paste(command, 'wrong')).toMatchObject({ code: 'invalid_signature' });
  const { data } = await ada.call('GET /orgs/:org/workflows/:id/sample', { params });
  expect(data.sample).toMatchObject({ source: 'manual' });
  expect(await paste(command, 'right')).toMatchObject({ captured: true });
});
