import { auditActions, codeOf, createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { createKeyFolder, type KeyFolder } from '@millrace/testing/secret-keys';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let folder: KeyFolder;
beforeAll(async () => {
  folder = await createKeyFolder();
  service = await startTestService({
    runsWorker: false,
    limits: { failedAuthPerMinutePerIp: 10_000 },
    deps: { secretKeys: folder.open() },
  });
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

interface Enrolled {
  readonly person: TestPerson;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

async function enrol(): Promise<Enrolled> {
  return switchOn(await createAccount(service, 'editor'));
}

async function switchOn(person: TestPerson): Promise<Enrolled> {
  const { data } = await person.call('POST /me/second-factor', { body: { password: PASSWORD } });
  const confirmed = await person.call('POST /me/second-factor/confirm', {
    body: { code: codeOf(data.secret) },
  });
  expect(confirmed.status).toBe(200);
  return { person, secret: data.secret, recoveryCodes: confirmed.data.recovery_codes };
}

/** As if the last code had been used long ago. */
async function forgetLastCode({ userId }: TestPerson): Promise<void> {
  await service.database.db.query('UPDATE users SET totp_last_step = NULL WHERE id = $1', [userId]);
}

/** The result of `work`, repeated if a new time step starts meanwhile. */
async function withinOneStep<T>(work: () => Promise<T>): Promise<T> {
  const step = (): number => Math.floor(Date.now() / 30_000);
  for (;;) {
    const before = step();
    const result = await work();
    if (step() === before) return result;
  }
}

async function signIn({ email }: TestPerson, code?: string) {
  const body = { email, password: PASSWORD, ...(code === undefined ? {} : { code }) };
  const { status, json } = await createBrowser(service).call('POST /sign-in', { body });
  return { status, code: json.code };
}

describe('setting it up', () => {
  test('takes effect once the first code is confirmed, and creates ten recovery codes', async () => {
    const person = await createAccount(service, 'editor');
    const enrolment = await person.call('POST /me/second-factor', { body: { password: PASSWORD } });
    expect(enrolment.data.uri).toContain(`secret=${enrolment.data.secret}`);
    expect(enrolment.data.uri).toMatch(/^otpauth:\/\/totp\/Millrace:/);
    expect((await signIn(person)).status).toBe(204);
    const wrong = await person.call('POST /me/second-factor/confirm', { body: { code: '000000' } });
    expect([wrong.status, wrong.json.errors[0]?.code]).toEqual([422, 'wrong_code']);
    const body = { code: codeOf(enrolment.data.secret) };
    const { data } = await person.call('POST /me/second-factor/confirm', { body });
    expect(new Set(data.recovery_codes).size).toBe(10);
    expect(await signIn(person)).toEqual({ status: 401, code: 'second_factor_required' });
    expect((await person.call('GET /me')).data.user.has_second_factor).toBe(true);
    expect(await auditActions(service, person.organisationId)).toContain('user.second_factor_on');
    const again = await person.call('POST /me/second-factor', { body: { password: PASSWORD } });
    expect([again.status, again.json.code]).toEqual([409, 'second_factor_on']);
  });

  test('requires the password, even when signed in', async () => {
    const person = await createAccount(service, 'editor');
    const answer = await person.call('POST /me/second-factor', { body: { password: 'not the password' } });
    expect([answer.status, answer.json.errors[0]?.code]).toEqual([422, 'wrong_password']);
    const elsewhere = await createPerson(service, 'editor');
    const none = await elsewhere.call('POST /me/second-factor', { body: { password: PASSWORD } });
    expect([none.status, none.json.code]).toEqual([409, 'no_password']);
  });

  test('encrypts the secret, bound to this account', async () => {
    const { person, secret } = await enrol();
    const [row] = await service.database.db.query<{ sealed: Buffer; codes: number }>(
      `SELECT totp_ciphertext AS sealed, (SELECT count(*) FROM recovery_codes WHERE user_id = u.id) AS codes
       FROM users u WHERE id = $1`,
      [person.userId],
    );
    expect(row?.codes).toBe(10);
    expect(row?.sealed.includes(secret)).toBe(false);
    const other = await enrol();
    await service.database.db.query(
      'UPDATE users SET totp_ciphertext = $2, totp_last_step = NULL WHERE id = $1',
      [other.person.userId, row?.sealed],
    );
    expect((await signIn(other.person, codeOf(secret))).status).toBe(500);
  });
});

describe('signing in', () => {
  test('each code is accepted once, even in concurrent sign-ins', async () => {
    const { person, secret } = await enrol();
    await forgetLastCode(person);
    const code = codeOf(secret);
    const answers = await Promise.all([signIn(person, code), signIn(person, code), signIn(person, code)]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 401, 401]);
    expect(await signIn(person, code)).toEqual({ status: 401, code: 'invalid_second_factor' });
  });

  test('accepts one step early or late, no more, and none older than the last accepted', async () => {
    const { person, secret } = await enrol();
    // With a space, as the app shows it.
    const statusOf = async (steps: number): Promise<number> =>
      (await signIn(person, codeOf(secret, steps).replace(/(...)/, '$1 '))).status;
    expect(await statusOf(-3)).toBe(401);
    expect(await statusOf(3)).toBe(401);
    const early = await withinOneStep(async () => {
      await forgetLastCode(person);
      return statusOf(-1);
    });
    expect(early).toBe(204);
    expect(await statusOf(1)).toBe(204);
    expect(await statusOf(0)).toBe(401);
  });

  test('never reveals whether the password was right', async () => {
    const { person, secret } = await enrol();
    const body = { email: person.email, password: 'not the password', code: codeOf(secret, 1) };
    const { json } = await createBrowser(service).call('POST /sign-in', { body });
    expect(json.code).toBe('invalid_credentials');
  });

  test('codes are limited far below what guessing takes', async () => {
    const { person, secret } = await enrol();
    const statuses = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await signIn(person, '000000')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await signIn(person, codeOf(secret, 1))).status).toBe(429);
  });

  test('browsers known from before it was turned on get no extra guesses', async () => {
    const person = await createAccount(service, 'editor');
    const body = { email: person.email, password: PASSWORD };
    const browsers = [createBrowser(service), createBrowser(service)];
    for (const browser of browsers) expect((await browser.call('POST /sign-in', { body })).status).toBe(204);
    await switchOn(person);
    const statuses = [];
    for (const browser of browsers)
      for (let index = 0; index < 3; index += 1)
        statuses.push((await browser.call('POST /sign-in', { body: { ...body, code: '000000' } })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test('each recovery code works once, in any notation', async () => {
    const { person, recoveryCodes } = await enrol();
    const [first = ''] = recoveryCodes;
    expect((await signIn(person, first.toUpperCase().replaceAll('-', ' '))).status).toBe(204);
    expect(await signIn(person, first)).toEqual({ status: 401, code: 'invalid_second_factor' });
    expect(await auditActions(service, person.organisationId)).toContain('user.recovery_code_used');
  });

  test("another user's recovery code doesn't work", async () => {
    const [mine, other] = [await enrol(), await enrol()];
    expect((await signIn(mine.person, other.recoveryCodes[0])).status).toBe(401);
  });
});

describe('changing it', () => {
  test('new recovery codes replace the old ones', async () => {
    const { person, secret, recoveryCodes } = await enrol();
    const body = { password: PASSWORD, code: codeOf(secret, 1) };
    const { data } = await person.call('POST /me/second-factor/recovery-codes', { body });
    expect((await signIn(person, recoveryCodes[0])).status).toBe(401);
    expect((await signIn(person, data.recovery_codes[0])).status).toBe(204);
  });

  test('turning it off requires both password and code', async () => {
    const { person, recoveryCodes } = await enrol();
    const [code = ''] = recoveryCodes;
    for (const [body, pointer] of [
      [{ password: 'not the password', code }, '/password'],
      [{ password: PASSWORD, code: '000000' }, '/code'],
    ] as const) {
      const refused = await person.call('POST /me/second-factor/off', { body });
      expect([refused.status, refused.json.errors[0]?.pointer]).toEqual([422, pointer]);
    }
    const off = await person.call('POST /me/second-factor/off', { body: { password: PASSWORD, code } });
    expect(off.status).toBe(204);
    expect((await signIn(person)).status).toBe(204);
    expect(await auditActions(service, person.organisationId)).toContain('user.second_factor_off');
    const again = await person.call('POST /me/second-factor/off', { body: { password: PASSWORD, code } });
    expect([again.status, again.json.code]).toEqual([409, 'second_factor_off']);
  });
});
