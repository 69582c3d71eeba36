import { randomUUID } from 'node:crypto';
import { grantMembership } from '@millrace/identity/members/store';
import type { SingleSignOnSettings } from '@millrace/identity/single-sign-on/settings';
import {
  auditActions,
  type Browser,
  createAccount,
  createBrowser,
  PASSWORD,
  SESSION_COOKIE,
} from '@millrace/testing/accounts';
import { createPerson } from '@millrace/testing/admin';
import { type OidcAccount, type OidcProvider, startOidcProvider } from '@millrace/testing/oidc-provider';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

const CALLBACK = 'https://flows.example/api/admin/single-sign-on/callback';

let provider: OidcProvider;
/** With the provider, for all tests that don't start another. */
let shared: TestService;
let service: TestService;
beforeAll(async () => {
  provider = await startOidcProvider(CALLBACK);
  shared = await start({});
});
afterAll(async () => {
  await shared.stop();
  await provider.stop();
});
beforeEach(() => {
  service = shared;
});
afterEach(async () => {
  if (service !== shared) await service.stop();
});

function start(settings: Partial<SingleSignOnSettings>): Promise<TestService> {
  const { issuer, clientId, clientSecret } = provider;
  const singleSignOn = {
    issuer,
    clientId,
    clientSecret,
    name: 'Example Login',
    newMembers: null,
    ...settings,
  };
  // All tests come from the same address.
  const limits = { failedAuthPerMinutePerIp: 10_000 };
  return startTestService({ runsWorker: false, limits, config: { singleSignOn } });
}

/** The provider's redirect address for a user with these claims. */
async function comeBack(
  browser: Browser,
  account: OidcAccount,
  returnTo = '/',
  change: (authorization: URL) => void = () => {},
  at = provider,
): Promise<string> {
  const login = randomUUID();
  at.accounts.set(login, account);
  const redirect = await browser.go(
    `/api/admin/single-sign-on/start?return_to=${encodeURIComponent(returnTo)}`,
    { 'sec-fetch-site': 'same-origin' },
  );
  expect(redirect.status).toBe(302);
  const authorization = new URL(redirect.headers.get('location') ?? '');
  change(authorization);
  const { pathname, search } = new URL(await at.signIn(authorization.href, login));
  return `${pathname}${search}`;
}

/** Signs in and returns where the browser ends up. */
async function signIn(
  account: OidcAccount,
  browser = createBrowser(service),
  returnTo = '/',
): Promise<string> {
  const answer = await browser.go(await comeBack(browser, account, returnTo));
  expect(answer.status).toBe(302);
  return answer.headers.get('location') ?? '';
}

/** An address that no other test uses. */
const addressOf = (name: string): string => `${name}@${randomUUID()}.example`;
const verified = (email: string): OidcAccount => ({ email, email_verified: true, name: 'Ada Lovelace' });
const problem = (name: string): string => `https://flows.example/sign-in?problem=${name}`;

describe('admits', () => {
  test('someone with an account, by the verified address in any case, back to where they were going', async () => {
    const person = await createAccount(service, 'editor');
    await service.database.db.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [
      person.userId,
    ]);
    const browser = createBrowser(service);
    const { data } = await browser.call('GET /state');
    expect(data.single_sign_on).toBe('Example Login');
    const at = await signIn(verified(person.email.toUpperCase()), browser, '/o/1/workflows?status=active');
    expect(at).toBe('https://flows.example/o/1/workflows?status=active');
    const me = await browser.call('GET /me');
    expect(me.data.user).toMatchObject({ id: person.userId, has_password: true });
    expect([...browser.cookies.keys()].sort()).toEqual(['__Host-millrace_device', SESSION_COOKIE]);
    expect(await auditActions(service, person.organisationId)).toContain('user.signed_in');
  });

  test('a member without an account, who then has one without a password', async () => {
    await createPerson(service, 'viewer');
    const organisationId = await service.createOrganisation();
    const email = addressOf('ada');
    await service.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, 'editor')`,
      [organisationId, email],
    );
    const browser = createBrowser(service);
    expect(await signIn(verified(email), browser)).toBe('https://flows.example/');
    const { data } = await browser.call('GET /me');
    expect(data.user).toMatchObject({ name: 'Ada Lovelace', has_password: false });
    expect(data.organisations).toMatchObject([{ id: organisationId, role: 'editor' }]);
    const body = { email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(401);
  });

  test.each([
    ['with characters that cannot be stored', 'Ada\u0000\ud800 Lovelace', 'Ada   Lovelace'],
    ['longer than names are here', `${'🙂'.repeat(254)}ab`, `${'🙂'.repeat(254)}a`],
    ['of nothing that can be seen', '\u0000\u200b', 'ada'],
    ['with characters that turn the text round', 'Ada \u202eecalevoL\u202c', 'Ada  ecalevoL'],
  ])('someone new whose name is %s', async (_what, given, name) => {
    const { organisationId } = await createPerson(service, 'viewer');
    const email = addressOf('ada');
    await service.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, 'editor')`,
      [organisationId, email],
    );
    const browser = createBrowser(service);
    await signIn({ ...verified(email), name: given }, browser);
    expect((await browser.call('GET /me')).data.user.name).toBe(name);
  });

  test('someone invited by that address, and makes them a member', async () => {
    const admin = await createPerson(service, 'org_admin');
    const email = addressOf('bea');
    await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'editor', email: email.replace('b', 'B') },
    });
    const browser = createBrowser(service);
    await signIn(verified(email), browser);
    const { data } = await browser.call('GET /me');
    expect(data.organisations).toMatchObject([{ id: admin.organisationId, role: 'editor' }]);
    expect(await auditActions(service, admin.organisationId)).toContain('invitation.accepted');
  });

  test('anyone from the provider, if the operator says so', async () => {
    service = await start({ newMembers: 'viewer' });
    const first = await createPerson(service, 'org_admin');
    await service.createOrganisation();
    const browser = createBrowser(service);
    await signIn(verified('somebody@example.com'), browser);
    const { data } = await browser.call('GET /me');
    expect(data.organisations).toMatchObject([{ id: first.organisationId, role: 'viewer' }]);
  });

  test('before setup, only a system administrator named by the operator', async () => {
    service = await start({});
    const organisationId = await service.createOrganisation();
    expect(await signIn(verified('boss@example.com'))).toBe(problem('setup_needed'));
    await service.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, 'boss@example.com', 'system_admin')`,
      [organisationId],
    );
    expect(await signIn(verified('boss@example.com'))).toBe('https://flows.example/');
  });
});

describe('refuses', () => {
  test.each([
    ['somebody nobody knows', () => verified('stranger@example.com'), 'unknown_person'],
    [
      'an address that is not verified',
      (email: string) => ({ email, email_verified: false }),
      'email_unverified',
    ],
    ['an address of which nothing is said', (email: string) => ({ email }), 'email_unverified'],
    ['somebody without an address', () => ({ name: 'Ada' }), 'email_unverified'],
    [
      'an address that becomes that of somebody else in lower case (the sign of Kelvin)',
      (email: string) => verified(email.replace('k', '\u212A')),
      'email_unverified',
    ],
  ])('%s', async (_what, accountOf, name) => {
    const email = addressOf('known');
    await createAccount(service, 'editor', { email });
    const users = () => service.database.db.query('SELECT id FROM users ORDER BY id');
    const before = await users();
    const browser = createBrowser(service);
    expect(await signIn(accountOf(email), browser)).toBe(problem(name));
    expect(browser.cookies.size).toBe(0);
    expect(await users()).toEqual(before);
  });

  test('a response that another browser requested (login CSRF), and one that is used twice', async () => {
    const person = await createAccount(service, 'editor');
    const [attacker, victim] = [createBrowser(service), createBrowser(service)];
    const path = await comeBack(attacker, verified(person.email));
    const planted = await victim.go(path);
    expect(planted.headers.get('location')).toBe(problem('stale'));
    await comeBack(victim, verified(person.email));
    expect((await victim.go(path)).headers.get('location')).toBe(problem('stale'));
    expect((await attacker.go(path)).headers.get('location')).toBe('https://flows.example/');
    expect((await attacker.go(path)).headers.get('location')).toBe(problem('stale'));
    expect(victim.cookies.has(SESSION_COOKIE)).toBe(false);
  });

  test.each([
    ['another state', 'stale', (url: URL) => url.searchParams.set('state', 'A'.repeat(43))],
    ['no state', 'stale', (url: URL) => url.searchParams.delete('state')],
    ['another code', 'failed', (url: URL) => url.searchParams.set('code', 'A'.repeat(43))],
    ['another issuer', 'failed', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
  ] as const)('%s', async (_what, told, change) => {
    const person = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const url = new URL(await comeBack(browser, verified(person.email)), service.url);
    change(url);
    const answer = await browser.go(`${url.pathname}${url.search}`);
    expect(answer.headers.get('location')).toBe(problem(told));
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
  });

  test('a sign-in replaced by a later one, which itself still completes', async () => {
    const person = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const former = await comeBack(browser, verified(person.email), '/o/1/keys');
    const present = await comeBack(browser, verified(person.email), '/o/1/members');
    const told = `${problem('stale')}&next=${encodeURIComponent('/o/1/members')}`;
    expect((await browser.go(former)).headers.get('location')).toBe(told);
    expect((await browser.go(present)).headers.get('location')).toBe('https://flows.example/o/1/members');
  });

  test('an ID token made for another sign-in (nonce)', async () => {
    const person = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const path = await comeBack(browser, verified(person.email), '/', (url) =>
      url.searchParams.set('nonce', 'A'.repeat(43)),
    );
    expect((await browser.go(path)).headers.get('location')).toBe(problem('failed'));
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
  });

  test.each(['//evil.example', '/\\evil.example', 'https://evil.example', '/%0d%0aset-cookie:x', '/a b', ''])(
    'redirecting to %j',
    async (returnTo) => {
      const person = await createAccount(service, 'editor');
      const at = new URL(await signIn(verified(person.email), createBrowser(service), returnTo));
      expect(at.origin).toBe('https://flows.example');
    },
  );

  test('while the provider is down, with a message on the sign-in page; later it works', async () => {
    const gone = await startOidcProvider(CALLBACK);
    await gone.stop();
    service = await start({ issuer: gone.issuer });
    const answer = await createBrowser(service).go('/api/admin/single-sign-on/start');
    expect(answer.headers.get('location')).toBe(problem('unavailable'));
  });
});

describe('reports that the provider is down on the way back', () => {
  /** Returns from a provider of the test's own, which has become unavailable in the meantime. */
  async function comeBackTo(
    path: string,
    prepare: (own: OidcProvider) => void | Promise<void>,
  ): Promise<string | null> {
    const own = await startOidcProvider(CALLBACK);
    onTestFinished(() => own.stop());
    const { issuer, clientId, clientSecret } = own;
    service = await start({ issuer, clientId, clientSecret });
    const { email } = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const back = await comeBack(browser, verified(email), path, () => {}, own);
    await prepare(own);
    const answer = await browser.go(back);
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
    return answer.headers.get('location');
  }

  test('when it accepts no connections', async () => {
    const told = await comeBackTo('/o/1/keys', (own) => own.stop());
    expect(told).toBe(`${problem('unavailable')}&next=${encodeURIComponent('/o/1/keys')}`);
  });

  test.each(['/token', '/me'])('when %s answers with 503', async (path) => {
    const told = await comeBackTo('/', (own) => own.breakDown(path, 503));
    expect(told).toBe(problem('unavailable'));
  });

  test('when its response breaks off', async () => {
    expect(await comeBackTo('/', (own) => own.breakDown('/token', 'cut'))).toBe(problem('unavailable'));
  });

  test.each(['server_error', 'temporarily_unavailable'])(
    'when it sends the browser back with %s',
    async (error) => {
      const browser = createBrowser(service);
      const url = new URL(await comeBack(browser, verified(addressOf('ada'))), service.url);
      url.searchParams.delete('code');
      url.searchParams.set('error', error);
      const answer = await browser.go(`${url.pathname}${url.search}`);
      expect(answer.headers.get('location')).toBe(problem('unavailable'));
    },
  );
});

test("an account created in advance with someone else's address is useless to its creator", async () => {
  const admin = await createPerson(service, 'org_admin');
  const { data } = await admin.call('POST /orgs/:org/invitations', {
    params: { org: admin.organisationId },
    body: { role: 'viewer' },
  });
  const token = data.url.split('#token=')[1] ?? '';
  const attacker = createBrowser(service);
  const email = 'victim@example.com';
  await attacker.call('POST /invitation/accept', {
    body: { token, email, name: 'Victim', password: PASSWORD },
  });
  await attacker.call('POST /me/second-factor', { body: { password: PASSWORD } });
  const meant = await service.createOrganisation();
  const { db } = service.database;
  await grantMembership(db, meant, email, 'editor', { actor: 'operator' }, { isVouchedFor: true });
  expect((await attacker.call('GET /me')).data.organisations).toHaveLength(1);
  const owner = createBrowser(service);
  await signIn(verified(email), owner);
  expect((await owner.call('GET /me')).data.user).toMatchObject({
    has_password: false,
    has_second_factor: false,
  });
  expect((await owner.call('GET /me')).data.organisations).toHaveLength(2);
  expect((await attacker.call('GET /me')).status).toBe(401);
  const body = { email, password: PASSWORD };
  expect((await attacker.call('POST /sign-in', { body })).status).toBe(401);
  expect(await auditActions(service, admin.organisationId)).toContain('user.address_proved');
});

test('without a provider there is nothing to start', async () => {
  const plain = await startTestService({ runsWorker: false });
  const browser = createBrowser(plain);
  expect((await browser.call('GET /state')).data.single_sign_on).toBeNull();
  expect((await browser.go('/api/admin/single-sign-on/start')).status).toBe(404);
  await plain.stop();
});

test('the client secret, codes and tokens are in no log', async () => {
  const person = await createAccount(service, 'editor');
  const browser = createBrowser(service);
  const path = await comeBack(browser, verified(person.email));
  await browser.go(path);
  await browser.go(path.replace(/code=[^&]+/, 'code=wrong'));
  const code = new URLSearchParams(path.split('?')[1]).get('code') ?? 'none';
  const logs = service.logs.join('\n');
  for (const secret of [provider.clientSecret, code, browser.cookies.get(SESSION_COOKIE) ?? 'none'])
    expect(logs).not.toContain(secret);
});
