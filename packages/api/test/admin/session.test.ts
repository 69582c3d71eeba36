import { randomBytes } from 'node:crypto';
import { UNATTENDED_HEADER } from '@millrace/admin-api';
import { createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { createAdminClient, createPerson, type TestPerson } from '@millrace/testing/admin';
import { send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

let service: TestService;
let person: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  person = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

describe('200', () => {
  test('returns who is signed in, and the organisations', async () => {
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

  test('anyone may ask what the service requires', async () => {
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
    ['one that was made up', `__Host-millrace_session=${'A'.repeat(64)}`],
    ['one of a former form', `__Host-millrace_session=${'A'.repeat(43)}`],
    ['one whose last character is wrong', 'CHANGED'],
    ['one without the prefix', 'UNPREFIXED'],
    ['two of them', 'TWICE'],
  ])('%s', async (_what, given) => {
    const cookie = given
      .replace('UNPREFIXED', person.cookie.replace('__Host-', ''))
      .replace(
        'CHANGED',
        person.cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
      )
      .replace('TWICE', `${person.cookie}; ${person.cookie}`);
    const answer = await createAdminClient(service.url, cookie)('GET /me');
    expect([answer.status, answer.json.code]).toEqual([401, 'signed_out']);
  });

  test('a session that was idle for too long, or is too old', async () => {
    for (const change of [`last_seen_at = now() - interval '25 hours'`, 'expires_at = now()']) {
      const other = await createPerson(service, 'viewer');
      expect((await other.call('GET /me')).status).toBe(200);
      await service.database.db.query(`UPDATE sessions SET ${change} WHERE user_id = $1`, [other.userId]);
      expect((await other.call('GET /me')).status).toBe(401);
    }
  });

  test('an API key grants nothing here', async () => {
    const key = await service.createKey({ organisationId: person.organisationId });
    const answer = await send(`${service.url}/api/admin/me`, 'GET', {
      key,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(answer.status).toBe(401);
  });
});

describe('403: requests that another site makes the browser send', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
    // Two proxies, or someone adding one: a browser sends it once.
    [{ 'sec-fetch-site': 'same-origin, cross-site' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://flows.example' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: '' }],
    [{ origin: 'https://flows.example/' }],
    [{ origin: 'https://flows.example.evil.example' }],
    [{ origin: 'https://flows.example:8443' }],
    [{ origin: 'https://evil@flows.example' }],
    // The public URL is https: a page over http is another site, whatever its host.
    [{ origin: 'http://flows.example' }],
    [{}],
  ])('%j', async (headers) => {
    const answer = await send(`${service.url}/api/admin/sign-out`, 'POST', {
      headers: { cookie: person.cookie, ...headers } as { [name: string]: string },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 'cross_site_request']);
    expect((await person.call('GET /me')).status).toBe(200);
  });
});

describe('made-up tokens', () => {
  const madeUp = (): string => `__Host-millrace_session=${randomBytes(48).toString('base64url')}`;

  test('are refused without a database query, and limited per address', async () => {
    const limited = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 3 } });
    const [valid, ended] = [await createPerson(limited, 'viewer'), await createPerson(limited, 'viewer')];
    await ended.call('POST /sign-out');
    const lookUps = watchLookUps(limited);
    const answers = [];
    for (let index = 0; index < 5; index += 1)
      answers.push(await createAdminClient(limited.url, madeUp())('GET /me'));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
    expect(answers[4]?.json.code).toBe('too_many_failed_authentications');
    expect(Number(answers[4]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(lookUps.count()).toBe(0);
    // From the same address: a valid session works, an ended one leads to the sign-in, which works, too.
    for (let index = 0; index < 20; index += 1) expect((await valid.call('GET /me')).status).toBe(200);
    expect((await ended.call('GET /me')).json.code).toBe('signed_out');
    const { email } = await createAccount(limited, 'viewer');
    const signIn = await createBrowser(limited).call('POST /sign-in', {
      body: { email, password: PASSWORD },
    });
    expect(signIn.status).toBe(204);
    await limited.stop();
  });

  test('200 at once beside a valid session: none of its requests is refused', async () => {
    const limited = await startTestService({ runsWorker: false });
    const valid = await createPerson(limited, 'viewer');
    const guesses = Array.from({ length: 200 }, () => createAdminClient(limited.url, madeUp())('GET /me'));
    const good = Array.from({ length: 100 }, () => valid.call('GET /me'));
    const statuses = async (calls: readonly Promise<{ readonly status: number }>[]) =>
      Object.groupBy(await Promise.all(calls), ({ status }) => status);
    expect((await statuses(good))[200]).toHaveLength(100);
    const refused = await statuses(guesses);
    expect([refused[401]?.length, refused[429]?.length]).toEqual([30, 170]);
    await limited.stop();
  });
});

/** Counts the statements that look up sessions. */
function watchLookUps({ deps: { db } }: TestService): { count(): number } {
  const spy = vi.spyOn(db, 'query');
  return { count: () => spy.mock.calls.filter(([, , name]) => name === 'find_session').length };
}

describe('automatic requests of an unattended page', () => {
  const lastSeen = async (userId: number): Promise<number> => {
    const [row] = await service.database.db.query<{ at: Date }>(
      'SELECT last_seen_at AS at FROM sessions WHERE user_id = $1',
      [userId],
    );
    return row?.at.getTime() ?? 0;
  };

  test("don't count as use of the session, so it ends when idle for too long", async () => {
    const other = await createPerson(service, 'viewer');
    await service.database.db.query(
      `UPDATE sessions SET last_seen_at = now() - interval '23 hours' WHERE user_id = $1`,
      [other.userId],
    );
    const before = await lastSeen(other.userId);
    const headers = { [UNATTENDED_HEADER]: '1' };
    const params = { org: other.organisationId };
    expect((await other.call('GET /me', { headers })).status).toBe(200);
    expect((await other.call('GET /orgs/:org/workflows', { params, headers })).status).toBe(200);
    expect(await lastSeen(other.userId)).toBe(before);
    expect((await other.call('GET /me')).status).toBe(200);
    expect(await lastSeen(other.userId)).toBeGreaterThan(before);
  });
});
