import { createHook } from 'node:async_hooks';
import { argon2Sync, randomUUID } from 'node:crypto';
import {
  auditActions,
  createAccount,
  createBrowser,
  PASSWORD,
  SESSION_COOKIE,
} from '@millrace/testing/accounts';
import { createPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

/** Each test has people of its own; only the last one is about all of them. */
let service: TestService;
beforeAll(async () => {
  // All tests come from the same address.
  service = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 1_000 } });
});
afterAll(() => service.stop());

describe('204', () => {
  test("starts a session with a cookie that scripts can't read and other sites don't send", async () => {
    const person = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const { status, headers } = await browser.call('POST /sign-in', {
      body: { email: ` ${person.email.toUpperCase()} `, password: PASSWORD },
    });
    expect(status).toBe(204);
    const [cookie] = headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-millrace_session=[\w-]{64}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure$/,
    );
    expect((await browser.call('GET /me')).data.user.email).toBe(person.email);
    expect(await auditActions(service, person.organisationId)).toContain('user.signed_in');
  });

  test('every sign-in gets a new token, whatever cookie the browser sends (session fixation)', async () => {
    const person = await createAccount(service, 'editor');
    const attacker = await createPerson(service, 'viewer');
    const planted = attacker.cookie.split('=')[1] ?? '';
    const browser = createBrowser(service);
    browser.cookies.set(SESSION_COOKIE, planted);
    await browser.call('POST /sign-in', { body: { email: person.email, password: PASSWORD } });
    const own = browser.cookies.get(SESSION_COOKIE);
    expect(own).not.toBe(planted);
    // The planted cookie no longer grants access, least of all to the new session.
    expect((await attacker.call('GET /me')).status).toBe(401);
    await browser.call('POST /sign-in', { body: { email: person.email, password: PASSWORD } });
    expect(browser.cookies.get(SESSION_COOKIE)).not.toBe(own);
  });

  test('accepts the same password typed on another keyboard', async () => {
    const person = await createAccount(service, 'editor');
    const browser = createBrowser(service);
    const body = { email: person.email, password: PASSWORD.replace('c', 'ｃ') };
    expect((await browser.call('POST /sign-in', { body })).status).toBe(204);
  });

  test('rehashes a password that was hashed at a lower cost', async () => {
    const person = await createAccount(service, 'editor');
    const nonce = Buffer.alloc(16, 7);
    const cost = { memory: 64, passes: 1, parallelism: 1 };
    const hash = argon2Sync('argon2id', { ...cost, nonce, tagLength: 32, message: PASSWORD });
    const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
    const phc = `$argon2id$v=19$m=64,t=1,p=1$${text(nonce)}$${text(hash)}`;
    const { db } = service.database;
    await db.query('UPDATE users SET password_hash = $2 WHERE id = $1', [person.userId, phc]);
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(204);
    const [row] = await db.query<{ hash: string }>('SELECT password_hash AS hash FROM users WHERE id = $1', [
      person.userId,
    ]);
    expect(row?.hash).toMatch(/m=19456,t=2,p=1/);
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(204);
  });
});

describe('401', () => {
  test('a wrong password, an unknown address and an account without a password are indistinguishable', async () => {
    const person = await createAccount(service, 'editor');
    const elsewhere = await createPerson(service, 'editor');
    const answers = [];
    for (const email of [person.email, `nobody-${randomUUID()}@example.com`, elsewhere.email]) {
      let hashes = 0;
      const hook = createHook({
        init(_id, type) {
          if (type === 'ARGON2REQUEST') hashes += 1;
        },
      }).enable();
      const body = { email, password: 'not the password' };
      const { status, json } = await createBrowser(service).call('POST /sign-in', { body });
      hook.disable();
      answers.push({ ...json, status, request_id: '', hashes });
    }
    expect(answers[0]).toMatchObject({ status: 401, code: 'invalid_credentials', hashes: 1 });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test('is recorded where the person is a member, without an actor', async () => {
    const person = await createAccount(service, 'editor');
    const body = { email: person.email, password: 'not the password' };
    await createBrowser(service).call('POST /sign-in', { body });
    const [entry] = await service.database.db.query<object>(
      `SELECT actor, user_id, member_id, source_ip, details FROM audit_log
       WHERE organisation_id = $1 AND action = 'user.sign_in_failed'`,
      [person.organisationId],
    );
    expect(entry).toEqual({
      actor: 'service',
      user_id: null,
      member_id: person.memberId,
      source_ip: '127.0.0.1',
      details: JSON.stringify({ email: person.email, wrong: 'password' }),
    });
  });
});

describe('429', () => {
  const wrong = (email: string) => ({ body: { email, password: 'not the password' } });

  test('from one address on one account, known or not, with the time to wait', async () => {
    const person = await createAccount(service, 'editor');
    for (const email of [person.email, `nobody-${randomUUID()}@example.com`]) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => createBrowser(service).call('POST /sign-in', wrong(email))),
      );
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([
        ...Array(10).fill(401),
        429,
        429,
      ]);
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.json.code).toBe('too_many_failed_authentications');
      expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(429);
    const other = await createAccount(service, 'editor');
    const otherBody = { email: other.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body: otherBody })).status).toBe(204);
  });

  test('guesses of others keep nobody out: a browser known to the account is counted separately', async () => {
    const person = await createAccount(service, 'editor');
    const body = { email: person.email, password: PASSWORD };
    const browser = createBrowser(service);
    await browser.call('POST /sign-in', { body });
    await browser.call('POST /sign-out');
    for (let index = 0; index < 11; index += 1)
      await createBrowser(service).call('POST /sign-in', wrong(person.email));
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(429);
    expect((await browser.call('POST /sign-in', { body })).status).toBe(204);
  });

  test("the cookie of a known browser grants nothing, counts for its own account only and can't be forged", async () => {
    const [person, victim] = [await createAccount(service, 'editor'), await createAccount(service, 'editor')];
    const browser = createBrowser(service);
    await browser.call('POST /sign-in', { body: { email: person.email, password: PASSWORD } });
    browser.cookies.delete(SESSION_COOKIE);
    expect((await browser.call('GET /me')).status).toBe(401);
    for (let index = 0; index < 11; index += 1)
      await createBrowser(service).call('POST /sign-in', wrong(victim.email));
    const name = '__Host-millrace_device';
    const genuine = browser.cookies.get(name) ?? '';
    const body = { email: victim.email, password: PASSWORD };
    for (const value of [genuine, genuine.replace(/^\d+/, String(victim.userId))]) {
      browser.cookies.set(name, value);
      expect((await browser.call('POST /sign-in', { body })).status).toBe(429);
    }
  });

  test("successful sign-ins don't count", async () => {
    const person = await createAccount(service, 'editor');
    const body = { email: person.email, password: PASSWORD };
    for (let index = 0; index < 12; index += 1) {
      expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(204);
    }
  });
});

test('all accounts together are limited per address, except in known browsers', async () => {
  const own = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 3 } });
  onTestFinished(() => own.stop());
  const person = await createAccount(own, 'editor');
  const right = { email: person.email, password: PASSWORD };
  const known = createBrowser(own);
  expect((await known.call('POST /sign-in', { body: right })).status).toBe(204);
  const statuses = [];
  for (let index = 0; index < 4; index += 1) {
    const body = { email: `somebody${index}@example.com`, password: 'not the password' };
    statuses.push((await createBrowser(own).call('POST /sign-in', { body })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429]);
  expect((await createBrowser(own).call('POST /sign-in', { body: right })).status).toBe(429);
  expect((await known.call('POST /sign-in', { body: right })).status).toBe(204);
  // The browser has its own limit.
  const guesses = [];
  for (let index = 0; index < 11; index += 1) {
    const body = { email: person.email, password: 'not the password' };
    guesses.push((await known.call('POST /sign-in', { body })).status);
  }
  expect(guesses).toEqual([...Array(10).fill(401), 429]);
});
