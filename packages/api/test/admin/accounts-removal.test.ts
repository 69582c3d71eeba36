import { lockRoles } from '@millrace/identity/members/pages';
import { insertSession } from '@millrace/identity/sessions/store';
import { hashToken, makeSessionToken } from '@millrace/identity/sessions/tokens';
import {
  auditActions,
  codeOf,
  createAccount,
  createBrowser,
  PASSWORD,
  SESSION_COOKIE,
} from '@millrace/testing/accounts';
import { createAdminClient, createPerson, type TestPerson } from '@millrace/testing/admin';
import { allAtOnce } from '@millrace/testing/at-once';
import { createKeyFolder, type KeyFolder } from '@millrace/testing/secret-keys';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow } from './workflows-world.ts';

let service: TestService;
let folder: KeyFolder;
let admin: TestPerson;
beforeAll(async () => {
  folder = await createKeyFolder();
  service = await startTestService({ runsWorker: false, deps: { secretKeys: folder.open() } });
  admin = await createPerson(service, 'system_admin');
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

const remove = (id: number, by = admin) => by.call('DELETE /users/:user', { params: { user: id } });
const query = <Row>(text: string, values: readonly unknown[] = []) =>
  service.database.db.query<Row>(text, values);

/** A user in two organisations, an admin of the second. */
async function createBusyPerson(): Promise<{ readonly person: TestPerson; readonly second: TestPerson }> {
  const person = await createAccount(service, 'editor');
  return { person, second: await createPerson(service, 'org_admin', { email: person.email }) };
}

describe('the list of accounts', () => {
  test('shows all accounts with their memberships, page by page', async () => {
    const { person, second } = await createBusyPerson();
    const first = await admin.call('GET /users', { query: { limit: 1 } });
    expect(first.data.items).toEqual([
      expect.objectContaining({
        email: person.email,
        name: 'Test org_admin',
        has_password: true,
        has_second_factor: false,
        last_seen_at: expect.any(String),
      }),
    ]);
    expect(first.data.items[0]?.organisations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: person.organisationId, role: 'editor' }),
        expect.objectContaining({ id: second.organisationId, role: 'org_admin' }),
      ]),
    );
    const cursor = first.data.next_cursor ?? '';
    const next = await admin.call('GET /users', { query: { limit: 200, cursor } });
    expect(next.data.items.map(({ email }) => email)).toContain(admin.email);
    expect((await admin.call('GET /users', { query: { cursor, search: 'x' } })).status).toBe(422);
  });

  test('is searched by part of the address or name, taken literally', async () => {
    const person = await createPerson(service, 'viewer', { email: 'grace_hopper@example.com' });
    await person.call('PATCH /me', { body: { name: 'Grace 100% Hopper' } });
    const found = async (search: string) =>
      (await admin.call('GET /users', { query: { search } })).data.items.map(({ email }) => email);
    for (const search of ['GRACE_', '100%', ' hopper ']) expect(await found(search)).toEqual([person.email]);
    expect(await found('grace%hopper')).toEqual([]);
  });
});

describe('a removed account', () => {
  test('leaves all organisations at once, and loses everything that could restore access', async () => {
    const { person, second } = await createBusyPerson();
    const open = await second.call('POST /orgs/:org/invitations', {
      params: { org: second.organisationId },
      body: { role: 'viewer' },
    });
    const boss = await createPerson(service, 'org_admin', { organisationId: second.organisationId });
    await boss.call('POST /orgs/:org/invitations', {
      params: { org: second.organisationId },
      body: { role: 'org_admin', email: person.email },
    });
    const key = await service.createKey({
      organisationId: person.organisationId,
      issuedBy: person.memberId,
    });
    const authorised = { headers: { authorization: `Bearer ${key.text}` } };
    expect((await fetch(`${service.url}/api/v1/workflows`, authorised)).status).toBe(200);

    expect((await remove(person.userId)).status).toBe(204);
    for (const each of [person, second]) expect((await each.call('GET /me')).json.code).toBe('signed_out');
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).json.code).toBe(
      'invalid_credentials',
    );
    expect((await fetch(`${service.url}/api/v1/workflows`, authorised)).status).toBe(403);
    expect(
      await query('SELECT FROM members WHERE email = $1 AND removed_at IS NULL', [person.email]),
    ).toEqual([]);
    // Neither invitations for them nor those by them work.
    expect(
      await query(
        `SELECT FROM invitations WHERE organisation_id = $1 AND accepted_at IS NULL AND revoked_at IS NULL`,
        [second.organisationId],
      ),
    ).toEqual([]);
    const token = open.data.url.split('#token=')[1] ?? '';
    expect((await createBrowser(service).call('POST /invitation/look-up', { body: { token } })).status).toBe(
      404,
    );
    expect((await admin.call('GET /users', { query: { search: person.email } })).data.items).toEqual([]);
    expect((await remove(person.userId)).status).toBe(404);
  });

  test('stays on record under its address, and so does who removed it', async () => {
    const { person, second } = await createBusyPerson();
    const org = second.organisationId;
    const boss = await createPerson(service, 'org_admin', { organisationId: org });
    await second.call('PATCH /orgs/:org', { params: { org }, body: { name: `Renamed ${org}` } });
    const workflow = await createWorkflow(second);
    await remove(person.userId);
    const { data } = await boss.call('GET /orgs/:org/audit', { params: { org }, query: {} });
    const by = (action: string) => data.items.find((item) => item.action === action);
    expect(by('organisation.renamed')).toMatchObject({ actor: 'user', actor_name: person.email });
    expect(by('user.removed')).toMatchObject({
      actor_name: admin.email,
      member: { id: second.memberId, email: person.email },
      details: { email: person.email },
      source_ip: '127.0.0.1',
    });
    expect(await auditActions(service, person.organisationId)).toEqual(
      expect.arrayContaining(['member.removed', 'user.removed']),
    );
    const versions = await boss.call('GET /orgs/:org/workflows/:id/versions', {
      params: { org, id: workflow.id },
      query: {},
    });
    expect(JSON.stringify(versions.data.items[0])).toContain('Test org_admin');
  });

  test('is a new account when the address comes back, without anything of the old one', async () => {
    const person = await createAccount(service, 'org_admin');
    const org = person.organisationId;
    const boss = await createPerson(service, 'org_admin', { organisationId: org });
    const enrolment = await person.call('POST /me/second-factor', { body: { password: PASSWORD } });
    const code = codeOf(enrolment.data.secret);
    await person.call('POST /me/second-factor/confirm', { body: { code } });
    const made = await person.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'viewer' },
    });
    await remove(person.userId);
    const invited = await boss.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'org_admin', email: person.email },
    });
    const token = invited.data.url.split('#token=')[1] ?? '';
    const browser = createBrowser(service);
    const account = { email: person.email, name: 'New', password: 'a completely new one' };
    expect((await browser.call('POST /invitation/accept', { body: { token, ...account } })).status).toBe(204);
    const { data } = await browser.call('GET /me');
    expect(data.user).toMatchObject({ email: person.email, name: 'New', has_second_factor: false });
    expect(data.user.id).not.toBe(person.userId);
    // What the former account granted stays void, although the same address may grant it again.
    const former = { token: made.data.url.split('#token=')[1] ?? '' };
    expect((await createBrowser(service).call('POST /invitation/look-up', { body: former })).status).toBe(
      404,
    );
    expect((await person.call('GET /me')).status).toBe(401);
  });

  test('leaves no private data behind', async () => {
    const { person } = await createBusyPerson();
    await remove(person.userId);
    const tables = await query<{ name: string }>(
      `SELECT conrelid::regclass::text AS name FROM pg_constraint
       WHERE contype = 'f' AND confrelid = 'users'::regclass AND confdeltype = 'c' ORDER BY name`,
    );
    // Whatever would be deleted with the row must be cleared explicitly, because the row stays: a new table belongs in emptyAccount.
    expect(tables.map(({ name }) => name)).toEqual([
      'execution_views',
      'pinned_outputs',
      'recovery_codes',
      'sample_listeners',
      'sessions',
      'workflow_drafts',
      'workflow_favourites',
    ]);
    for (const { name } of tables)
      expect(await query(`SELECT FROM ${name} WHERE user_id = $1`, [person.userId]), name).toEqual([]);
  });

  test('a session that starts at the same moment grants nothing', async () => {
    const person = await createAccount(service, 'viewer');
    await remove(person.userId);
    // A sign-in that had checked the password just before.
    const token = await makeSessionToken(service.database.db);
    await insertSession(service.database.db, {
      userId: person.userId,
      tokenHash: hashToken(token),
      lifetimeMs: 3_600_000,
      sourceIp: '127.0.0.1',
      userAgent: 'test',
    });
    const late = createAdminClient(service.url, `${SESSION_COOKIE}=${token}`);
    expect((await late('GET /me')).json.code).toBe('signed_out');
  });
});

describe('removing an account is refused', () => {
  test('to everyone but system administrators', async () => {
    const victim = await createPerson(service, 'viewer');
    const orgAdmin = await createPerson(service, 'org_admin', { organisationId: victim.organisationId });
    const answer = await remove(victim.userId, orgAdmin);
    expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
    expect((await orgAdmin.call('GET /users')).status).toBe(403);
    expect((await victim.call('GET /me')).status).toBe(200);
  });

  test.each(['0', '-1', '01', '1e3', '9007199254740993', 'me'])('for an id like %s', async (id) => {
    const answer = await admin.call('DELETE /users/:user', { params: { user: id } });
    expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
  });

  test('for the last administrator of the service, also when two remove each other at once', async () => {
    const alone = await startTestService({ runsWorker: false });
    const one = await createPerson(alone, 'system_admin');
    // No account, so nobody could sign in with it.
    await alone.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, 'ghost@example.com', 'system_admin')`,
      [one.organisationId],
    );
    const itself = await one.call('DELETE /users/:user', { params: { user: one.userId } });
    expect([itself.status, itself.json.code]).toEqual([409, 'last_admin']);
    const two = await createPerson(alone, 'system_admin');
    const answers = await allAtOnce(alone, lockRoles, [
      () => one.call('DELETE /users/:user', { params: { user: two.userId } }),
      () => two.call('DELETE /users/:user', { params: { user: one.userId } }),
    ]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([204, 409]);
    await alone.stop();
  });
});

test('an administrator of the service can be removed while another remains', async () => {
  const leaving = await createPerson(service, 'system_admin');
  const answer = await remove(leaving.userId, leaving);
  expect(answer.status).toBe(204);
  expect(answer.headers.get('set-cookie')).toMatch(/Max-Age=0/);
  expect((await leaving.call('GET /me')).status).toBe(401);
});
