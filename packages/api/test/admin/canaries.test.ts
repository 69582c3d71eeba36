import { randomBytes } from 'node:crypto';
import { makeSetupToken } from '@millrace/identity/setup/setup';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { type Browser, codeOf, createBrowser, SESSION_COOKIE } from '@millrace/testing/accounts';
import type { ApiAnswer, Method } from '@millrace/testing/api';
import { send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Every secret passes through the service once; then the test searches for it wherever it must not appear. */
let service: TestService;
const admin = { email: 'ada@example.com', name: 'Ada', password: 'canary of the first password' };
const NEW_PASSWORD = 'canary of the second password';
const CLIENT_SECRET = 'canary-client-secret';
/** Where each secret may appear: the endpoints that issue it. */
const secrets = new Map<string, { readonly value: string; readonly shownBy: readonly string[] }>();
/** Every response, by endpoint. */
const answers: { readonly name: string; readonly text: string }[] = [];

beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    config: {
      secretKeys: { current: randomBytes(32), previous: [] },
      singleSignOn: {
        issuer: 'http://127.0.0.1:9',
        clientId: 'millrace',
        clientSecret: CLIENT_SECRET,
        name: 'Login',
        newMembers: null,
      },
    },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  await live();
});
afterAll(() => service.stop());

function keep(name: string, value: string, ...shownBy: string[]): string {
  expect(value, name).not.toBe('');
  secrets.set(name, { value, shownBy });
  return value;
}

/** A browser whose responses are recorded. */
function open(): Browser {
  const browser = createBrowser(service);
  const call = (async (name: string, ...rest: never[]) => {
    const answer = await (browser.call as (...all: unknown[]) => Promise<ApiAnswer>)(name, ...rest);
    // Cookies are checked separately.
    const headers = [...answer.headers].filter(([header]) => header !== 'set-cookie');
    answers.push({ name, text: JSON.stringify(headers) + answer.text });
    return answer;
  }) as Browser['call'];
  return { ...browser, call };
}

/** From the first start to the last error. */
async function live(): Promise<void> {
  const token = keep('set-up token', (await makeSetupToken(service.database.db)) ?? '');
  const browser = open();
  keep('first password', admin.password);
  keep('new password', NEW_PASSWORD);
  keep('client secret', CLIENT_SECRET);
  await browser.call('POST /setup', { body: { token, ...admin } });
  keep('first session', browser.cookies.get(SESSION_COOKIE) ?? '');
  await useSecondFactor(browser);
  await makeMistakes(browser);
  const org = (await browser.call('GET /me')).data.organisations[0]?.id ?? 0;
  await useOrganisation(browser, org);
  await browser.go('/api/admin/single-sign-on/start');
  await browser.go('/api/admin/single-sign-on/callback?code=canary-code&state=canary-state');
  keep('code of the provider', 'canary-code');
}

async function useSecondFactor(browser: Browser): Promise<void> {
  const { password } = admin;
  const { data } = await browser.call('POST /me/second-factor', { body: { password } });
  const secret = keep('TOTP secret', data.secret, 'POST /me/second-factor');
  const confirmed = await browser.call('POST /me/second-factor/confirm', { body: { code: codeOf(secret) } });
  for (const [index, code] of confirmed.data.recovery_codes.entries())
    keep(`recovery code ${index}`, code, 'POST /me/second-factor/confirm');
  const [first = ''] = confirmed.data.recovery_codes;
  const next = await browser.call('POST /me/second-factor/recovery-codes', {
    body: { password, code: first },
  });
  for (const [index, code] of next.data.recovery_codes.entries())
    keep(`new recovery code ${index}`, code, 'POST /me/second-factor/recovery-codes');
  await browser.call('PUT /me/password', {
    body: { current_password: password, new_password: NEW_PASSWORD },
  });
  keep('second session', browser.cookies.get(SESSION_COOKIE) ?? '');
  const again = open();
  const body = { email: admin.email, password: NEW_PASSWORD };
  await again.call('POST /sign-in', { body });
  await again.call('POST /sign-in', { body: { ...body, code: next.data.recovery_codes[0] ?? '' } });
  keep('third session', again.cookies.get(SESSION_COOKIE) ?? '');
}

async function makeMistakes(browser: Browser): Promise<void> {
  const wrong = keep('password of a failed sign-in', 'canary that somebody mistyped');
  await open().call('POST /sign-in', { body: { email: admin.email, password: wrong } });
  await open().call('POST /sign-in', { body: { email: `nobody@example.com`, password: wrong } });
  await open().call('POST /sign-in', {
    body: { email: admin.email, password: NEW_PASSWORD, code: '000000' },
  });
  await browser.call('PUT /me/password', { body: { current_password: wrong, new_password: wrong } });
  const weak = keep('password that is too weak', 'weakCanary');
  await browser.call('PUT /me/password', {
    body: { current_password: NEW_PASSWORD, new_password: weak },
  });
  const lost = keep('token of no link', `canary-link-${'x'.repeat(31)}`);
  await open().call('POST /invitation/look-up', { body: { token: lost } });
  await open().call('POST /setup', { body: { token: lost, ...admin } });
  // In bodies that are refused.
  for (const raw of [`{"email":"a@b","password":"${wrong}"`, `{"email":"a@b","password":"${wrong}","x":1}`]) {
    const answer = await send(`${service.url}/api/admin/sign-in`, 'POST', {
      raw,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    answers.push({ name: 'POST /sign-in', text: answer.text });
  }
  for (const path of [`/sign-in?password=${encodeURIComponent(wrong)}`, `/invitation?token=${lost}`]) {
    const answer = await send(`${service.url}/api/admin${path}`, 'POST', {
      headers: { 'sec-fetch-site': 'same-origin', authorization: `Bearer ${lost}` },
    });
    answers.push({ name: 'mistake', text: answer.text });
  }
}

async function useOrganisation(browser: Browser, org: number): Promise<void> {
  const params = { org };
  for (const name of ['accepted', 'open', 'revoked']) {
    const { data } = await browser.call('POST /orgs/:org/invitations', { params, body: { role: 'editor' } });
    const token = keep(`invitation ${name}`, data.url.split('=')[1] ?? '', 'POST /orgs/:org/invitations');
    if (name === 'accepted') {
      const body = {
        token,
        email: 'bea@example.com',
        name: 'Bea',
        password: keep('password of Bea', 'canary of Bea, the editor'),
      };
      await open().call('POST /invitation/accept', { body });
    }
    if (name === 'revoked')
      await browser.call('DELETE /orgs/:org/invitations/:invitation', {
        params: { org, invitation: data.invitation.id },
      });
  }
  const key = { name: 'key', scopes: ['workflows:read' as const], expires_at: null };
  const issued = await browser.call('POST /orgs/:org/keys', { params, body: key });
  const text = keep('API key', issued.data.secret, 'POST /orgs/:org/keys');
  const rotate = 'POST /orgs/:org/keys/:key/rotate';
  const rotated = await browser.call(rotate, { params: { org, key: issued.data.key.id } });
  keep('rotated API key', rotated.data.secret, rotate);
  for (const path of ['/api/v1/workflows', `/api/v1/workflows?key=${text}`, `/api/v1/workflows/${text}`]) {
    const answer = await send(`${service.url}${path}`, 'GET', { key: text });
    answers.push({ name: 'public API', text: answer.text });
  }
  await useCredentials(browser, org);
  await useWorkflows(browser, org);
}

async function useCredentials(browser: Browser, org: number): Promise<void> {
  const params = { org };
  const [token, next] = [keep('token', 'canary-token'), keep('changed token', 'canary-changed')];
  const body = { name: 'shop', type: 'bearer', hosts: ['api.example.com'], fields: { token } };
  const { data } = await browser.call('POST /orgs/:org/credentials', { params, body });
  const at = { params: { org, credential: data.id } };
  await browser.call('PATCH /orgs/:org/credentials/:credential', {
    ...at,
    body: { fields: { token: next } },
  });
  for (const fields of [{ token, more: token }, { token: [token] }])
    await browser.call('POST /orgs/:org/credentials', { params, body: { ...body, fields } as never });
  await browser.call('POST /orgs/:org/credentials', { params, body });
  await browser.call('GET /orgs/:org/credentials/:credential/usage', at);
}

async function useWorkflows(browser: Browser, org: number): Promise<void> {
  const flow_data = { nodes: [{ id: 'start', type: 'trigger.webhook', data: {} }], edges: [] } as never;
  const created = await browser.call('POST /orgs/:org/workflows', {
    params: { org },
    body: { name: 'hook', flow_data },
  });
  const at = { params: { org, id: created.data.workflow.id } };
  const show = 'GET /orgs/:org/workflows/:id/webhook';
  const again = 'POST /orgs/:org/workflows/:id/webhook/regenerate';
  const { data } = await browser.call(show, at);
  const hash = keep('webhook hash', data.hash, show, again);
  keep('new webhook hash', (await browser.call(again, { ...at, body: {} })).data.hash, show, again);
  for (const method of ['POST', 'GET', 'DELETE'] as readonly Method[]) {
    const answer = await send(`${service.url}/api/v1/webhooks/${hash}`, method);
    answers.push({ name: 'webhook', text: answer.text });
  }
  await browser.call('GET /orgs/:org/workflows/:id/export', at);
  await browser.call('GET /orgs/:org/workflows/:id', at);
  await browser.call('GET /orgs/:org/executions', { params: { org } });
  for (const name of [
    'audit',
    'audit/csv',
    'audit/jsonl',
    'keys',
    'members',
    'invitations',
    'credentials',
    'workflows',
  ])
    await browser.call(`GET /orgs/:org/${name}` as 'GET /orgs/:org/keys', { params: { org } });
  await browser.call('GET /me/sessions');
  await browser.call('GET /system');
}

test('the recorded traffic is large enough to be meaningful', () => {
  expect(secrets.size).toBeGreaterThan(35);
  expect(new Set([...secrets.values()].map(({ value }) => value)).size).toBe(secrets.size);
  expect(answers.length).toBeGreaterThan(50);
  const audit = answers.find(({ name }) => name === 'GET /orgs/:org/audit/jsonl');
  for (const action of [
    'api_key.rotated',
    'credential.updated',
    'invitation.accepted',
    'user.sign_in_failed',
  ])
    expect(audit?.text).toContain(action);
  expect(service.logs.join('\n')).toContain('single sign-on refused');
});

test('no log line contains a secret', () => {
  const logs = service.logs.join('\n');
  expect([...secrets].filter(([, { value }]) => logs.includes(value)).map(([name]) => name)).toEqual([]);
});

test('no response contains one, except those that issue it', () => {
  const found = [...secrets].flatMap(([name, { value, shownBy }]) =>
    answers
      .filter((answer) => answer.text.includes(value) && !shownBy.includes(answer.name))
      .map((answer) => `${name} in ${answer.name}`),
  );
  expect(found).toEqual([]);
});

test('no table row contains one in plain text, except the webhook address, which is shown again', async () => {
  const { db } = service.database;
  const tables = await db.query<{ name: string }>(
    `SELECT quote_ident(table_name) AS name FROM information_schema.tables WHERE table_schema = current_schema()
     AND table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
    const text = rows.map((row) => row.text).join('\n');
    // Bytes are shown as hexadecimal digits.
    for (const [secret, { value }] of secrets)
      if (text.includes(value) || text.includes(Buffer.from(value).toString('hex')))
        found.push(`${secret} in ${name}`);
  }
  expect(found.sort()).toEqual(['new webhook hash in workflows', 'webhook hash in former_webhook_hashes']);
});
