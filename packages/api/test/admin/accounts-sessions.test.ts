import {
  auditActions,
  type Browser,
  createAccount,
  createBrowser,
  PASSWORD,
} from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 10_000 } });
});
afterAll(() => service.stop());

async function signedIn({ email }: TestPerson, password = PASSWORD): Promise<Browser> {
  const browser = createBrowser(service);
  expect((await browser.call('POST /sign-in', { body: { email, password } })).status).toBe(204);
  return browser;
}

const isSignedIn = async ({ call }: Browser): Promise<boolean> => (await call('GET /me')).status === 200;

describe('my sessions', () => {
  test('are listed with their location, newest first; the user agent is plain text', async () => {
    const person = await createAccount(service, 'viewer');
    const browser = createBrowser(service);
    const agent = '<img src=x onerror=alert(1)> {{constructor}}';
    await browser.call('POST /sign-in', {
      body: { email: person.email, password: PASSWORD },
      headers: { 'user-agent': agent },
    });
    const { data } = await browser.call('GET /me/sessions');
    expect(data.items.map((item) => [item.is_current, item.user_agent, item.source_ip])).toEqual([
      [true, agent, '127.0.0.1'],
      [false, 'test', '127.0.0.1'],
    ]);
  });

  test('an ended session is not listed', async () => {
    const person = await createAccount(service, 'viewer');
    await signedIn(person);
    await service.database.db.query(
      `UPDATE sessions SET last_seen_at = now() - interval '25 hours' WHERE user_id = $1 AND user_agent <> 'test'`,
      [person.userId],
    );
    expect((await person.call('GET /me/sessions')).data.items).toHaveLength(1);
  });

  test('end individually or all others at once, and never those of another user', async () => {
    const [person, other] = [await createAccount(service, 'viewer'), await createAccount(service, 'viewer')];
    const [first, second, third] = [await signedIn(person), await signedIn(person), await signedIn(person)];
    const { data } = await first.call('GET /me/sessions');
    const { data: theirs } = await other.call('GET /me/sessions');
    const foreign = await first.call('DELETE /me/sessions/:session', {
      params: { session: theirs.items[0]?.id ?? 0 },
    });
    expect(foreign.status).toBe(404);
    const ended = await first.call('DELETE /me/sessions/:session', {
      params: { session: data.items[0]?.id ?? 0 },
    });
    expect(ended.status).toBe(204);
    expect(await isSignedIn(third)).toBe(false);
    expect((await first.call('DELETE /me/sessions')).status).toBe(204);
    expect([await isSignedIn(first), await isSignedIn(second)]).toEqual([true, false]);
    expect((await other.call('GET /me')).status).toBe(200);
    expect(await auditActions(service, person.organisationId)).toEqual(
      expect.arrayContaining(['session.ended', 'session.others_ended']),
    );
  });
});

describe('my name', () => {
  test('is changed, without surrounding white space', async () => {
    const person = await createAccount(service, 'viewer');
    expect((await person.call('PATCH /me', { body: { name: '  Ada  ' } })).status).toBe(204);
    expect((await person.call('GET /me')).data.user.name).toBe('Ada');
    expect((await person.call('PATCH /me', { body: { name: '   ' } })).status).toBe(422);
  });
});

describe('my language', () => {
  test('follows the account to every browser, and is unset until chosen', async () => {
    const person = await createAccount(service, 'viewer');
    const language = async () => (await person.call('GET /me')).data.user.language;
    expect(await language()).toBeNull();
    expect((await person.call('PUT /me/language', { body: { language: 'ja' } })).status).toBe(204);
    expect(await language()).toBe('ja');
    const other = await signedIn(person);
    expect((await other.call('GET /me')).data.user.language).toBe('ja');
    expect((await person.call('PUT /me/language', { body: { language: 'xx' as 'en' } })).status).toBe(422);
    expect(await language()).toBe('ja');
  });
});

describe('my password', () => {
  const next = 'a completely new one';

  test('changing it ends all other sessions and gives this one a new token', async () => {
    const person = await createAccount(service, 'viewer');
    const [browser, other] = [await signedIn(person), await signedIn(person)];
    const before = new Map(browser.cookies);
    const { status } = await browser.call('PUT /me/password', {
      body: { current_password: PASSWORD, new_password: next },
    });
    expect(status).toBe(204);
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, false]);
    const stolen = createBrowser(service);
    for (const [name, value] of before) stolen.cookies.set(name, value);
    expect(await isSignedIn(stolen)).toBe(false);
    await signedIn(person, next);
    const old = await createBrowser(service).call('POST /sign-in', {
      body: { email: person.email, password: PASSWORD },
    });
    expect(old.status).toBe(401);
    expect(await auditActions(service, person.organisationId)).toContain('user.password_changed');
  });

  test('requires the current password and a good new one', async () => {
    const person = await createAccount(service, 'viewer');
    for (const [current, wanted, pointer] of [
      ['not the password', next, '/current_password'],
      [PASSWORD, 'short', '/new_password'],
      [PASSWORD, PASSWORD, '/new_password'],
      [PASSWORD, person.email, '/new_password'],
    ] as const) {
      const answer = await person.call('PUT /me/password', {
        body: { current_password: current, new_password: wanted },
      });
      expect([answer.status, answer.json.errors[0]?.pointer]).toEqual([422, pointer]);
    }
    expect((await person.call('GET /me')).status).toBe(200);
  });

  test("can't be guessed without limit from a stolen session", async () => {
    const person = await createAccount(service, 'viewer');
    const body = { current_password: 'not the password', new_password: next };
    const statuses = [];
    for (let index = 0; index < 11; index += 1)
      statuses.push((await person.call('PUT /me/password', { body })).status);
    expect(statuses).toEqual([...Array(10).fill(422), 429]);
  });

  test('an account with single sign-on only has none', async () => {
    const person = await createPerson(service, 'viewer');
    const answer = await person.call('PUT /me/password', {
      body: { current_password: PASSWORD, new_password: next },
    });
    expect([answer.status, answer.json.code]).toEqual([409, 'no_password']);
    expect((await person.call('GET /me')).data.user.has_password).toBe(false);
  });
});
