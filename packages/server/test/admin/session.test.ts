import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdminClient, createPerson, type TestPerson } from '../support/admin.ts';
import { send } from '../support/api.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let person: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  person = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

describe('200', () => {
  test('tells who is signed in, and the organisations', async () => {
    const { status, data } = await person.call('GET /me');
    expect(status).toBe(200);
    expect(data.user).toMatchObject({ email: person.email, is_system_admin: false });
    expect(data.organisations).toEqual([
      expect.objectContaining({ id: person.organisationId, role: 'editor' }),
    ]);
  });

  test('a system administrator sees all organisations', async () => {
    const admin = await createPerson(service, 'system_admin');
    const { data } = await admin.call('GET /me');
    expect(data.organisations).toContainEqual(
      expect.objectContaining({ id: person.organisationId, role: 'system_admin' }),
    );
  });

  test('anyone may ask what the service needs', async () => {
    const { status, data } = await createAdminClient(service.url, null)('GET /state');
    expect([status, data.needs_setup]).toEqual([200, false]);
  });
});

describe('204', () => {
  test('signing out ends the session, whatever the browser keeps', async () => {
    const other = await createPerson(service, 'viewer');
    const { status, headers } = await other.call('POST /sign-out');
    expect(status).toBe(204);
    expect(headers.get('set-cookie')).toMatch(/^__Host-millrace_session=; .*Max-Age=0; Secure$/);
    expect((await other.call('GET /me')).status).toBe(401);
  });
});

describe('401', () => {
  test.each([
    ['no cookie', ''],
    ['an empty one', '__Host-millrace_session='],
    ['an unknown one', `__Host-millrace_session=${'A'.repeat(43)}`],
    ['one without the prefix', 'UNPREFIXED'],
    ['two of them', 'TWICE'],
  ])('%s', async (_what, given) => {
    const cookie = given
      .replace('UNPREFIXED', person.cookie.replace('__Host-', ''))
      .replace('TWICE', `${person.cookie}; ${person.cookie}`);
    const answer = await createAdminClient(service.url, cookie)('GET /me');
    expect([answer.status, answer.json.code]).toEqual([401, 'signed_out']);
  });

  test('a session that was idle for too long, and one that is too old', async () => {
    for (const change of [`last_seen_at = now() - interval '25 hours'`, 'expires_at = now()']) {
      const other = await createPerson(service, 'viewer');
      expect((await other.call('GET /me')).status).toBe(200);
      await service.database.db.query(`UPDATE sessions SET ${change} WHERE user_id = $1`, [other.userId]);
      expect((await other.call('GET /me')).status).toBe(401);
    }
  });

  test('an API key opens nothing here', async () => {
    const key = await service.createKey({ organisationId: person.organisationId });
    const answer = await send(`${service.url}/api/admin/me`, 'GET', {
      key,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(answer.status).toBe(401);
  });
});

describe('403: what another site makes the browser send', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{}],
  ])('%j', async (headers) => {
    const answer = await send(`${service.url}/api/admin/sign-out`, 'POST', {
      headers: { cookie: person.cookie, ...headers } as { [name: string]: string },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 'cross_site_request']);
    expect((await person.call('GET /me')).status).toBe(200);
  });
});
