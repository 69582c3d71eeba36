import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { belongsTo } from '@millrace/credentials/fields';
import { createCredentialService } from '@millrace/credentials/service';
import { lockCredential, updateCredential } from '@millrace/credentials/store';
import { unsealRow } from '@millrace/credentials/unseal';
import { type JsonObject, parseJson, stringifyJson } from '@millrace/engine';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { rotateSecrets } from '@millrace/service/secret-rotation/rotate';
import { auditActions } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type OidcProvider, startOidcProvider } from '@millrace/testing/oidc-provider';
import { type Outside, openOutside } from '@millrace/testing/outside';
import { createKeyFolder, type KeyFolder } from '@millrace/testing/secret-keys';
import { startTestService, type TestService } from '@millrace/testing/service';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const CALLBACK = 'https://flows.example/api/admin/oauth/callback';
const CONNECTION = 'POST /orgs/:org/credentials/:credential/connection';

let provider: OidcProvider;
let outside: Outside;
let folder: KeyFolder;
let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  provider = await startOidcProvider(CALLBACK);
  outside = await openOutside();
  folder = await createKeyFolder();
  service = await startTestService({
    runsWorker: false,
    config: { allowHosts: ['127.0.0.1'], dataDir: folder.dataDir },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  editor = await createPerson(service, 'editor');
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
  await outside.close();
  await provider.stop();
});
beforeEach(() => {
  outside.forget();
  provider.grants.length = 0;
});

let names = 0;
async function create(fields: JsonObject = {}, person = editor): Promise<number> {
  names += 1;
  const answer = await person.call('POST /orgs/:org/credentials', {
    params: { org: person.organisationId },
    body: {
      name: `service ${names}`,
      type: 'oauth2',
      hosts: [new URL(outside.url).host],
      fields: {
        authorization_url: `${provider.issuer}/auth`,
        token_url: `${provider.issuer}/token`,
        client_id: provider.clientId,
        client_secret: provider.clientSecret,
        client_authentication: 'basic',
        scope: 'openid offline_access',
        authorization_parameters: 'prompt=consent',
        ...fields,
      },
    },
  });
  expect(answer).toMatchObject({ status: 200 });
  return answer.data.id;
}

const MACHINE = {
  grant: 'client_credentials',
  authorization_url: null,
  authorization_parameters: null,
  scope: null,
};

const params = (id: number, person = editor) => ({ org: person.organisationId, credential: id });

/** Where the browser is after someone has approved at the provider. */
async function approve(id: number, person = editor): Promise<URL> {
  const { data } = await person.call(CONNECTION, { params: params(id, person) });
  return new URL(await provider.signIn(data.authorization_url, randomUUID()));
}

/** Where the callback sends the browser with this cookie. */
async function comeBack({ pathname, search }: URL, cookie: string | null = editor.cookie): Promise<string> {
  const answer = await fetch(`${service.url}${pathname}${search}`, {
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'cross-site', ...(cookie === null ? {} : { cookie }) },
  });
  expect(answer.status).toBe(302);
  return answer.headers.get('location')?.replace('https://flows.example', '') ?? '';
}

async function connected(fields: JsonObject = {}): Promise<number> {
  const id = await create(fields);
  const at = await comeBack(await approve(id));
  expect(at).toBe(`/o/${editor.organisationId}/credentials?connection=connected&credential=${id}`);
  provider.grants.length = 0;
  return id;
}

/** Stores the credential again as it would be without this setting. */
async function storeWithout(id: number, setting: string): Promise<void> {
  const { db, secretKeys } = service.deps;
  await db.forOrganisation(editor.organisationId, async (tx) => {
    const row = await lockCredential(tx, editor.organisationId, id);
    if (row === undefined) throw new Error(`there is no credential ${id}`);
    const { [setting]: left, ...others } = parseJson(row.settings) as JsonObject;
    expect(left).toBeDefined();
    const settings = stringifyJson(others);
    const secrets = await unsealRow(secretKeys, row);
    const sealed = await secretKeys.seal(tx, secrets, belongsTo({ ...row, settings }));
    const names = Object.keys(parseJson(secrets) as JsonObject);
    await updateCredential(tx, id, { ...row, settings, sealed: { ...sealed, names } });
  });
}

/** A process with caches of its own. */
function startProcess() {
  const { db, secretKeys: keys, log, egress } = service.deps;
  const openCredentials = createCredentialService({ db, keys, log, egress });
  const masked = new Set<string>();
  const caller = {
    organisationId: editor.organisationId,
    onSecret: (secret: string) => void masked.add(secret),
  };
  return {
    masked,
    async send(id: number, path = '/things') {
      const limits = { timeoutMs: 60_000, maxResponseBytes: 1_000_000, maxRedirects: 0 };
      const request = await openCredentials(caller).authenticate(id, {
        method: 'GET',
        url: `${outside.url}${path}`,
        headers: {},
        ...limits,
      });
      expect(JSON.stringify(request.shown)).toContain('[hidden]');
      return request.send(new AbortController().signal);
    },
  };
}

const tokensSent = () => outside.received.map(({ headers }) => headers.authorization);

async function find(id: number) {
  const { data } = await editor.call('GET /orgs/:org/credentials', {
    params: { org: editor.organisationId },
  });
  return data.items.find((item) => item.id === id);
}

/** Moves the times of a credential's tokens. */
function age(id: number, changes: string) {
  return service.deps.db.query(`UPDATE credential_grants SET ${changes} WHERE credential_id = $1`, [id]);
}

const OLD = `obtained_at = now() - interval '1 minute'`;
const DUE = `${OLD}, renew_at = now() - interval '1 second'`;
const EXPIRED = `${DUE}, expires_at = now() - interval '1 second'`;

beforeEach(() => outside.on('GET /things', { body: { ok: true } }));

describe('connecting', () => {
  test('stores tokens, which are sent, masked and never shown', async () => {
    const id = await create();
    expect((await find(id))?.connection).toEqual({ state: 'missing', connected_at: null });
    const worker = startProcess();
    await expect(worker.send(id)).rejects.toMatchObject({ code: 'credential_not_connected' });
    expect(await comeBack(await approve(id))).toContain('connection=connected');
    expect((await find(id))?.connection).toEqual({ state: 'connected', connected_at: expect.any(String) });
    expect((await worker.send(id)).status).toBe(200);
    const [sent] = tokensSent();
    const token = sent?.replace('Bearer ', '') ?? '';
    expect(token.length).toBeGreaterThan(20);
    expect(worker.masked).toContain(token);
    expect(await auditActions(service, editor.organisationId)).toContain('credential.connected');
    const rows = await service.deps.db.query('SELECT encode(ciphertext, $1) FROM credential_grants', [
      'escape',
    ]);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(service.logs.join('')).not.toContain(token);
  });

  test('asks with PKCE, a state and the address to register', async () => {
    const id = await create();
    const { data } = await editor.call(CONNECTION, { params: params(id) });
    const asked = new URL(data.authorization_url).searchParams;
    const types = await editor.call('GET /orgs/:org/credential-types', {
      params: { org: editor.organisationId },
    });
    expect(types.data.oauth_redirect_uri).toBe(CALLBACK);
    expect(Object.fromEntries(asked)).toEqual({
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: CALLBACK,
      scope: 'openid offline_access',
      prompt: 'consent',
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const stored = JSON.stringify(
      await service.deps.db.query(`SELECT encode(state_hash, 'base64') FROM credential_connections`),
    );
    expect(stored).not.toContain(asked.get('state'));
  });

  test('works once, in the session that began it, and for ten minutes', async () => {
    const id = await create();
    const used = await approve(id);
    expect(await comeBack(used)).toContain('connection=connected');
    expect(await comeBack(used)).toBe('/?connection=stale');

    const other = await createPerson(service, 'editor', { organisationId: editor.organisationId });
    const theirs = await approve(id);
    expect(await comeBack(theirs, other.cookie)).toBe('/?connection=stale');
    expect(await comeBack(theirs, null)).toBe('/?connection=stale');
    expect(await comeBack(theirs)).toContain('connection=connected');

    const late = await approve(id);
    await service.deps.db.query('UPDATE credential_connections SET expires_at = now()');
    expect(await comeBack(late)).toBe('/?connection=stale');
    const invented = new URL(`${CALLBACK}?code=x&state=${'a'.repeat(43)}`);
    expect(await comeBack(invented)).toBe('/?connection=stale');
  });

  test('takes an editor, also when they come back', async () => {
    const id = await create();
    const viewer = await createPerson(service, 'viewer', { organisationId: editor.organisationId });
    expect((await viewer.call(CONNECTION, { params: params(id) })).status).toBe(403);
    const leaving = await createPerson(service, 'editor', { organisationId: editor.organisationId });
    const back = await approve(id, leaving);
    await service.deps.db.query(`UPDATE members SET role = 'viewer' WHERE id = $1`, [leaving.memberId]);
    expect(await comeBack(back, leaving.cookie)).toBe('/?connection=stale');
    const stranger = await createPerson(service, 'editor');
    const answer = await stranger.call(CONNECTION, {
      params: { org: stranger.organisationId, credential: id },
    });
    expect(answer.status).toBe(404);
    expect((await find(id))?.connection).toMatchObject({ state: 'missing' });
  });

  test.each([
    ['error=access_denied', 'refused'],
    ['code=invented', 'rejected'],
    ['code=invented&iss=https://other.example', 'rejected'],
  ])('that ends with %s is %s', async (query, problem) => {
    const id = await create();
    const back = await approve(id);
    const state = back.searchParams.get('state');
    const at = await comeBack(new URL(`${CALLBACK}?${query}&state=${state}`));
    expect(at).toContain(`connection=${problem}&credential=${id}`);
    expect((await find(id))?.connection).toMatchObject({ state: 'missing' });
  });

  test('is for credentials that a person approves', async () => {
    const id = await create(MACHINE);
    expect((await find(id))?.connection).toBeNull();
    const { status, json } = await editor.call(CONNECTION, { params: params(id) });
    expect([status, json]).toEqual([409, expect.objectContaining({ code: 'credential_without_person' })]);
  });
});

describe('tokens', () => {
  test('are renewed once, however many ask in how many processes', async () => {
    const id = await connected();
    await age(id, EXPIRED);
    const [one, other] = [startProcess(), startProcess()];
    const calls = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? one : other).send(id));
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200));
    expect(provider.grants).toEqual(['refresh_token']);
    expect(new Set(tokensSent()).size).toBe(1);
  });

  test('are renewed again with the refresh token that replaced the first', async () => {
    const id = await connected();
    for (const state of [DUE, EXPIRED, DUE]) {
      await age(id, state);
      await startProcess().send(id);
    }
    expect(provider.grants).toEqual(['refresh_token', 'refresh_token', 'refresh_token']);
    expect(new Set(tokensSent()).size).toBe(3);
  });

  test('are renewed once more after a 401, and not if they are new', async () => {
    const id = await connected();
    outside.on('GET /things', (_request, nth) => (nth === 1 ? { status: 401 } : { body: {} }));
    await age(id, OLD);
    expect((await startProcess().send(id)).status).toBe(200);
    expect(provider.grants).toEqual(['refresh_token']);
    expect(new Set(tokensSent()).size).toBe(2);
    outside.on('GET /things', { status: 401 });
    expect((await startProcess().send(id)).status).toBe(401);
    expect(provider.grants).toEqual(['refresh_token']);
  });

  test('that the provider has revoked end the connection until somebody connects again', async () => {
    const id = await connected();
    await provider.revokeAll();
    await age(id, EXPIRED);
    const worker = startProcess();
    await expect(worker.send(id)).rejects.toMatchObject({
      code: 'credential_disconnected',
      retryable: false,
    });
    await expect(startProcess().send(id)).rejects.toMatchObject({ code: 'credential_disconnected' });
    expect(provider.grants).toEqual(['refused refresh_token']);
    expect(outside.received).toEqual([]);
    expect((await find(id))?.connection).toEqual({ state: 'ended', connected_at: null });
    expect(await auditActions(service, editor.organisationId)).toContain('credential.disconnected');
    expect(await comeBack(await approve(id))).toContain('connection=connected');
    expect((await worker.send(id)).status).toBe(200);
  });

  test('are used to their end while the provider is down', async () => {
    const id = await connected({ token_url: `${provider.issuer}/token?down` });
    provider.breakDown('/token?down', 503);
    await age(id, DUE);
    expect((await startProcess().send(id)).status).toBe(200);
    await age(id, EXPIRED);
    const failing = startProcess().send(id);
    await expect(failing).rejects.toMatchObject({ code: 'credential_token_unavailable', retryable: true });
    expect((await find(id))?.connection).toMatchObject({ state: 'connected' });
  });

  test('without a refresh token are used to their end', async () => {
    const id = await connected({ scope: 'openid' });
    await age(id, DUE);
    expect((await startProcess().send(id)).status).toBe(200);
    outside.on('GET /things', { status: 401 });
    expect((await startProcess().send(id)).status).toBe(401);
    await age(id, EXPIRED);
    await expect(startProcess().send(id)).rejects.toMatchObject({ code: 'credential_disconnected' });
    expect(provider.grants).toEqual([]);
  });

  test('that expire at once are fetched for each request', async () => {
    const tokenUrl = `${outside.url}/short`;
    outside.on('POST /short', { body: { access_token: 'short-lived', token_type: 'Bearer', expires_in: 0 } });
    const id = await create({ ...MACHINE, token_url: tokenUrl });
    expect((await startProcess().send(id)).status).toBe(200);
    expect(outside.to('POST /short')).toHaveLength(1);
  });

  test('are taken over from a process that died while it fetched them', async () => {
    const id = await connected();
    await age(id, `${EXPIRED}, lease = gen_random_uuid(), lease_until = now() - interval '1 second'`);
    expect((await startProcess().send(id)).status).toBe(200);
    expect(provider.grants).toEqual(['refresh_token']);
  });

  test('of an app are fetched by itself', async () => {
    const id = await create(MACHINE);
    const [one, two] = [startProcess(), startProcess()];
    await Promise.all([one.send(id), two.send(id), one.send(id)]);
    expect(provider.grants).toEqual(['client_credentials']);
    expect(new Set(tokensSent()).size).toBe(1);
  });

  test('of a service account are fetched with a token it has signed', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const tokenUrl = `${outside.url}/token`;
    outside.on('POST /token', {
      body: { access_token: 'of-the-robot', token_type: 'Bearer', expires_in: 3600 },
    });
    const { data } = await editor.call('POST /orgs/:org/credentials', {
      params: { org: editor.organisationId },
      body: {
        name: 'robot',
        type: 'google_service_account',
        hosts: [new URL(outside.url).host],
        fields: {
          client_email: 'robot@project.example',
          private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
          scope: 'drive',
          subject: 'ada@example.com',
          token_url: tokenUrl,
        },
      },
    });
    const worker = startProcess();
    await worker.send(data.id);
    await worker.send(data.id);
    const [exchange, ...others] = outside.to('POST /token');
    expect(others).toEqual([]);
    const form = new URLSearchParams(exchange?.text);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload } = await jwtVerify(form.get('assertion') ?? '', publicKey, { audience: tokenUrl });
    expect(payload).toMatchObject({ iss: 'robot@project.example', sub: 'ada@example.com', scope: 'drive' });
    expect(outside.to('GET /things').map(({ headers }) => headers.authorization)).toEqual([
      'Bearer of-the-robot',
      'Bearer of-the-robot',
    ]);
  });

  test('of an app with a wrong secret are refused, with the reason', async () => {
    const id = await create({ ...MACHINE, client_secret: 'wrong' });
    const failing = startProcess().send(id);
    await expect(failing).rejects.toMatchObject({
      code: 'credential_token_refused',
      retryable: false,
      message: expect.stringContaining('invalid_client'),
    });
    expect(outside.received).toEqual([]);
  });

  test('survive a rotation of the key and a new name, and are forgotten when a setting changes', async () => {
    const id = await connected();
    await rotateSecrets(service.deps.db as never, service.deps.secretKeys, { actor: 'operator' });
    await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: { name: 'renamed', fields: { client_secret: provider.clientSecret } },
    });
    await age(id, EXPIRED);
    expect((await startProcess().send(id)).status).toBe(200);
    await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: { fields: { scope: 'openid' } },
    });
    expect((await find(id))?.connection).toMatchObject({ state: 'missing' });
    await expect(startProcess().send(id)).rejects.toMatchObject({ code: 'credential_not_connected' });
  });

  test('survive a new client secret although the credential was stored before its type got another field', async () => {
    const id = await connected();
    await storeWithout(id, 'token_header');
    await editor.call('PATCH /orgs/:org/credentials/:credential', {
      params: params(id),
      body: { fields: { client_secret: provider.clientSecret } },
    });
    expect((await startProcess().send(id)).status).toBe(200);
  });

  test('go nowhere if someone moves them to another credential', async () => {
    const [mine, other] = [await connected(), await connected()];
    await service.deps.db.query(
      `UPDATE credential_grants g SET ciphertext = o.ciphertext FROM credential_grants o
       WHERE g.credential_id = $1 AND o.credential_id = $2`,
      [mine, other],
    );
    await expect(startProcess().send(mine)).rejects.toMatchObject({ code: 'credential_unreadable' });
    expect(outside.received).toEqual([]);
  });
});
