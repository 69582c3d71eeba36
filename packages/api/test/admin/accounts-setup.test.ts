import { makeSetupToken } from '@millrace/identity/setup/setup';
import { createBrowser, SESSION_COOKIE } from '@millrace/testing/accounts';
import { createPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ runsWorker: false });
});
afterEach(() => service.stop());

const ADA = { email: 'Ada@Example.com', name: ' Ada Lovelace ', password: 'analytical engine' };

async function newToken(): Promise<string> {
  return (await makeSetupToken(service.database.db)) ?? '';
}

describe('the first account', () => {
  test('administers the service and the first organisation, and is signed in', async () => {
    const organisationId = await service.createOrganisation();
    await service.createOrganisation();
    const browser = createBrowser(service);
    expect((await browser.call('GET /state')).data.needs_setup).toBe(true);
    const { status } = await browser.call('POST /setup', { body: { token: await newToken(), ...ADA } });
    expect(status).toBe(204);
    expect([...browser.cookies.keys()]).toContain(SESSION_COOKIE);
    const { data } = await browser.call('GET /me');
    expect(data.user).toMatchObject({
      email: 'ada@example.com',
      name: 'Ada Lovelace',
      is_system_admin: true,
      has_password: true,
      shows_first_steps: true,
    });
    await browser.call('PUT /me/first-steps', { body: { shown: false } });
    expect((await browser.call('GET /me')).data.user.shows_first_steps).toBe(false);
    expect(data.organisations).toHaveLength(2);
    expect((await browser.call('GET /state')).data.needs_setup).toBe(false);
    const members = await service.database.db.query('SELECT organisation_id, role FROM members');
    expect(members).toEqual([{ organisation_id: organisationId, role: 'system_admin' }]);
    expect(await makeSetupToken(service.database.db)).toBeNull();
  });

  test('creates the organisation Main if there is none', async () => {
    await createBrowser(service).call('POST /setup', { body: { token: await newToken(), ...ADA } });
    expect(await service.database.db.query('SELECT name FROM organisations')).toEqual([{ name: 'Main' }]);
  });

  test('is created once: of links used at the same moment, one works, and none later', async () => {
    const tokens = [await newToken(), await newToken(), await newToken()];
    const answers = await Promise.all(
      tokens.map((token, index) =>
        createBrowser(service).call('POST /setup', {
          body: { token, ...ADA, email: `ada${index}@example.com` },
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 404, 404]);
    expect(await service.database.db.query('SELECT FROM users')).toHaveLength(1);
    expect(await service.database.db.query('SELECT FROM setup_links')).toHaveLength(0);
  });

  test('a later start ends the links of earlier ones, but not those created shortly before', async () => {
    const [early, beside] = [await newToken(), await newToken()];
    await service.database.db.query(
      `UPDATE setup_links SET created_at = now() - interval '11 minutes' WHERE token_hash = sha256($1::bytea)`,
      [Buffer.from(early)],
    );
    await newToken();
    const call = createBrowser(service).call;
    const refused = await call('POST /setup', { body: { token: early, ...ADA } });
    expect([refused.status, refused.json.code]).toEqual([404, 'link_not_valid']);
    expect((await call('POST /setup', { body: { token: beside, ...ADA } })).status).toBe(204);
  });
});

describe('refusals', () => {
  test('a wrong or empty token, or one of a service that has an account', async () => {
    const call = createBrowser(service).call;
    const token = await newToken();
    for (const wrong of ['x', 'A'.repeat(43), `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`]) {
      expect((await call('POST /setup', { body: { token: wrong, ...ADA } })).status).toBe(404);
    }
    await createPerson(service, 'viewer');
    expect((await call('POST /setup', { body: { token, ...ADA } })).status).toBe(404);
  });

  test.each([
    ['short', 'elevenchars', 'password_too_short'],
    ['of few characters', 'abababababababab', 'password_too_simple'],
    ['a common one with a number', 'Password1234', 'password_too_common'],
    ['keys in a row', '1q2w3e4r5t6y', 'password_too_common'],
    ['the address', 'ada@example.com', 'password_too_personal'],
    ['the name with a number', 'AdaLovelace1815', 'password_too_personal'],
    ['too long', 'long '.repeat(201), 'too_long'],
  ])('a password that is %s; the link still works', async (_what, password, code) => {
    const call = createBrowser(service).call;
    const token = await newToken();
    const answer = await call('POST /setup', { body: { token, ...ADA, password } });
    expect([answer.status, answer.json.errors[0]?.pointer]).toEqual([422, '/password']);
    if (code !== 'too_long') expect(answer.json.errors[0]?.code).toBe(code);
    expect((await call('POST /setup', { body: { token, ...ADA } })).status).toBe(204);
  });

  test.each([
    ['no host', 'ada'],
    ['white space', 'ada b@example.com'],
    ['what nobody sees', 'ada\u200b@example.com'],
    ['what turns text round', 'ada\u202e@example.com'],
    ['a letter that only looks like K, and is k in lower case', '\u212Aate@example.com'],
  ])('an address with %s', async (_what, email) => {
    const body = { token: await newToken(), ...ADA, email };
    const answer = await createBrowser(service).call('POST /setup', { body });
    expect([answer.status, answer.json.errors[0]?.pointer]).toEqual([422, '/email']);
  });
});

test('neither the token nor the password is stored or logged in plain text', async () => {
  const token = await newToken();
  await createBrowser(service).call('POST /setup', { body: { token, ...ADA } });
  const [user] = await service.database.db.query<{ password_hash: string }>(
    'SELECT password_hash FROM users',
  );
  expect(user?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  const audit = JSON.stringify(await service.database.db.query('SELECT * FROM audit_log'));
  for (const text of [service.logs.join('\n'), audit]) {
    expect(text).not.toContain(token);
    expect(text).not.toContain(ADA.password);
  }
});
