import { randomBytes } from 'node:crypto';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createAccount, createBrowser, PASSWORD } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { allAtOnce } from '@millrace/testing/at-once';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Concurrent changes to people; see also races.test.ts. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    config: { secretKeys: { current: randomBytes(32), previous: [] } },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
});
afterAll(() => service.stop());

const query = <Row>(text: string, values: readonly unknown[] = []) =>
  service.database.db.query<Row>(text, values);

/** Signs in with the password, which was correct when checked; `change` happens before the session is created. */
async function signInDuring(person: TestPerson, change: string) {
  const browser = createBrowser(service);
  const [answer] = await allAtOnce(
    service,
    async (tx) => {
      await tx.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [person.userId]);
      await tx.query(`UPDATE users SET ${change} WHERE id = $1`, [person.userId]);
      await tx.query('DELETE FROM sessions WHERE user_id = $1', [person.userId]);
    },
    [() => browser.call('POST /sign-in', { body: { email: person.email, password: PASSWORD } })],
  );
  return { browser, answer };
}

describe('a sign-in whose password was right a moment ago', () => {
  test.each([
    ['that was changed meanwhile', `password_hash = password_hash || 'x'`],
    ['that single sign-on took away from who has no right to the address', 'password_hash = NULL'],
    [
      'of an account that has a second factor now',
      `totp_confirmed_at = now(), totp_key_id = (SELECT id FROM secret_keys LIMIT 1), totp_ciphertext = 'x'`,
    ],
  ])('%s starts no session', async (_what, change) => {
    const person = await createAccount(service, 'editor');
    const { browser, answer } = await signInDuring(person, change);
    expect([answer?.status, answer?.json.code]).toEqual([401, 'invalid_credentials']);
    expect(browser.cookies.size).toBe(0);
    expect(await query('SELECT FROM sessions WHERE user_id = $1', [person.userId])).toEqual([]);
  });

  test('that is still right starts one', async () => {
    const person = await createAccount(service, 'editor');
    const { browser, answer } = await signInDuring(person, `name = 'Other'`);
    expect(answer?.status).toBe(204);
    expect((await browser.call('GET /me')).data.user.name).toBe('Other');
  });
});

test('of two concurrent password changes one counts, and the other session is signed out', async () => {
  const person = await createAccount(service, 'viewer');
  const thief = await createPerson(service, 'viewer', { email: person.email });
  const change = (by: TestPerson, next: string) => () =>
    by.call('PUT /me/password', { body: { current_password: PASSWORD, new_password: next } });
  const answers = await allAtOnce(
    service,
    (tx) => tx.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [person.userId]),
    [change(person, 'first of two passwords'), change(thief, 'second of two passwords')],
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 422]);
  const lost = answers.find(({ status }) => status === 422);
  expect(lost?.json.errors).toEqual([
    expect.objectContaining({ pointer: '/current_password', code: 'wrong_password' }),
  ]);
  expect(await query('SELECT FROM sessions WHERE user_id = $1', [person.userId])).toHaveLength(1);
});

describe('a name taken concurrently is reported as taken', () => {
  test('of an organisation', async () => {
    const { organisationId: org, call } = await createPerson(service, 'org_admin');
    const [answer] = await allAtOnce(
      service,
      (tx) => tx.query(`INSERT INTO organisations (name) VALUES ('Twin')`),
      [() => call('PATCH /orgs/:org', { params: { org }, body: { name: 'Twin' } })],
    );
    expect([answer?.status, answer?.json.code]).toEqual([409, 'organisation_exists']);
  });

  test('of a credential', async () => {
    const { organisationId: org, call } = await createPerson(service, 'editor');
    const body = { name: 'first', type: 'bearer', hosts: ['api.example.com'], fields: { token: 'secret' } };
    const { data } = await call('POST /orgs/:org/credentials', { params: { org }, body });
    const params = { org, credential: data.id };
    const [answer] = await allAtOnce(
      service,
      (tx) =>
        tx.query(`INSERT INTO credentials (organisation_id, name, type) VALUES ($1, 'Twin', 'secret')`, [
          org,
        ]),
      [() => call('PATCH /orgs/:org/credentials/:credential', { params, body: { name: 'Twin' } })],
    );
    expect(answer?.json.errors).toEqual([expect.objectContaining({ pointer: '/name', code: 'name_taken' })]);
  });
});
