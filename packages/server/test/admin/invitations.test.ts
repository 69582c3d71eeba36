import { randomUUID } from 'node:crypto';
import type { Role } from '@millrace/admin-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditActions, createAccount, createBrowser, PASSWORD } from '../support/accounts.ts';
import { createPerson, type TestPerson } from '../support/admin.ts';
import { allAtOnce } from '../support/at-once.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
});
afterAll(() => service.stop());

const newEmail = (): string => `new-${randomUUID()}@example.com`;

async function invite(admin: TestPerson, role: Role, email?: string): Promise<{ id: number; token: string }> {
  const { status, data } = await admin.call('POST /orgs/:org/invitations', {
    params: { org: admin.organisationId },
    body: { role, ...(email === undefined ? {} : { email }) },
  });
  expect(status).toBe(200);
  const [, token = ''] = /^https:\/\/flows\.example\/invitation#token=([\w-]{43})$/.exec(data.url) ?? [];
  return { id: data.invitation.id, token };
}

async function accept(token: string, email: string) {
  const browser = createBrowser(service);
  const body = { token, email, name: 'New', password: PASSWORD };
  const { status, json } = await browser.call('POST /invitation/accept', { body });
  return { status, code: json.code, browser };
}

const setRole = (email: string, role: Role) =>
  service.database.db.query('UPDATE members SET role = $2 WHERE email = $1', [email, role]);

describe('an invitation', () => {
  test('makes an account and a member, signed in, once', async () => {
    const admin = await createPerson(service, 'org_admin');
    const { token } = await invite(admin, 'editor');
    const shown = await createBrowser(service).call('POST /invitation/look-up', { body: { token } });
    expect(shown.data).toMatchObject({ role: 'editor', email: null, has_account: null });
    const email = newEmail();
    const { status, browser } = await accept(token, email.toUpperCase());
    expect(status).toBe(204);
    const { data } = await browser.call('GET /me');
    expect(data.user).toMatchObject({ email, name: 'New', is_system_admin: false });
    expect(data.organisations).toMatchObject([{ id: admin.organisationId, role: 'editor' }]);
    expect(await accept(token, newEmail())).toMatchObject({ status: 404, code: 'link_not_valid' });
    expect(await auditActions(service, admin.organisationId)).toEqual([
      'organisation.created',
      'member.added',
      'invitation.created',
      'member.added',
      'invitation.accepted',
      'user.signed_in',
    ]);
  });

  test('is joined with the account that is signed in', async () => {
    const [admin, person] = [
      await createPerson(service, 'org_admin'),
      await createAccount(service, 'viewer'),
    ];
    const { token } = await invite(admin, 'org_admin', person.email);
    const shown = await createBrowser(service).call('POST /invitation/look-up', { body: { token } });
    expect(shown.data).toMatchObject({ email: person.email, has_account: true });
    expect(await accept(token, person.email)).toMatchObject({ status: 409, code: 'account_exists' });
    const joined = await person.call('POST /invitation/join', { body: { token } });
    expect(joined.data).toEqual({ organisation_id: admin.organisationId });
    expect((await person.call('GET /me')).data.organisations).toHaveLength(2);
    expect((await person.call('POST /invitation/join', { body: { token } })).status).toBe(404);
  });

  test('accepted by several at the same moment makes one member', async () => {
    const admin = await createPerson(service, 'org_admin');
    const people = [await createPerson(service, 'viewer'), await createPerson(service, 'viewer')];
    const { id, token } = await invite(admin, 'viewer');
    const answers = await allAtOnce(
      service,
      (tx) => tx.query('SELECT FROM invitations WHERE id = $1 FOR UPDATE', [id]),
      people.map((person) => () => person.call('POST /invitation/join', { body: { token } })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 404]);
  });

  test('raises a role, brings a member with it nothing, and never lowers one', async () => {
    const admin = await createPerson(service, 'org_admin');
    const viewer = await createPerson(service, 'viewer', { organisationId: admin.organisationId });
    const { token } = await invite(admin, 'editor');
    const own = await admin.call('POST /invitation/join', { body: { token } });
    expect([own.status, own.json.code]).toEqual([409, 'already_member']);
    expect((await viewer.call('POST /invitation/join', { body: { token } })).status).toBe(200);
    expect((await viewer.call('GET /me')).data.organisations[0]?.role).toBe('editor');
  });

  test('is listed with its state and revoked, and its link then says so', async () => {
    const admin = await createPerson(service, 'org_admin');
    const params = { org: admin.organisationId };
    const [revoked, accepted, expired, open] = [
      await invite(admin, 'viewer', newEmail()),
      await invite(admin, 'viewer'),
      await invite(admin, 'viewer'),
      await invite(admin, 'viewer'),
    ];
    await admin.call('DELETE /orgs/:org/invitations/:invitation', {
      params: { ...params, invitation: revoked.id },
    });
    await accept(accepted.token, newEmail());
    await service.database.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [expired.id]);
    const { data, text } = await admin.call('GET /orgs/:org/invitations', { params });
    expect(data.items.map(({ id, state }) => [id, state])).toEqual([
      [open.id, 'open'],
      [expired.id, 'expired'],
      [accepted.id, 'accepted'],
      [revoked.id, 'revoked'],
    ]);
    expect(text).not.toContain(open.token);
    for (const { token } of [revoked, accepted, expired]) {
      expect(await accept(token, newEmail())).toMatchObject({ status: 404, code: 'link_not_valid' });
    }
    const again = await admin.call('DELETE /orgs/:org/invitations/:invitation', {
      params: { ...params, invitation: revoked.id },
    });
    expect(again.status).toBe(404);
  });
});

describe('an invitation brings nobody what is not theirs', () => {
  test('a role above that of who invites', async () => {
    const admin = await createPerson(service, 'org_admin');
    const answer = await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'system_admin' },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
  });

  test('what its maker has lost since', async () => {
    const admin = await createPerson(service, 'org_admin');
    const { id, token } = await invite(admin, 'org_admin');
    await setRole(admin.email, 'viewer');
    expect(await accept(token, newEmail())).toMatchObject({ status: 404, code: 'link_not_valid' });
    const boss = await createPerson(service, 'system_admin');
    const { data } = await boss.call('GET /orgs/:org/invitations', {
      params: { org: admin.organisationId },
    });
    expect(data.items[0]).toMatchObject({ id, state: 'revoked' });
  });

  test('an invitation of somebody who is system administrator elsewhere stands', async () => {
    const [boss, org] = [await createPerson(service, 'system_admin'), await service.createOrganisation()];
    const { data } = await boss.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'org_admin' },
    });
    expect(data.invitation).toMatchObject({ state: 'open', invited_by: boss.email });
    const [, token = ''] = data.url.split('#token=');
    expect((await accept(token, newEmail())).status).toBe(204);
  });

  test('the account of another address, when it is for one', async () => {
    const [admin, person] = [await createPerson(service, 'org_admin'), await createPerson(service, 'viewer')];
    const { token } = await invite(admin, 'viewer', newEmail());
    expect(await accept(token, newEmail())).toMatchObject({ status: 409, code: 'address_taken' });
    const joined = await person.call('POST /invitation/join', { body: { token } });
    expect([joined.status, joined.json.code]).toEqual([409, 'address_taken']);
  });

  test('an account that somebody has already', async () => {
    const admin = await createPerson(service, 'org_admin');
    const person = await createAccount(service, 'viewer');
    const { token } = await invite(admin, 'viewer');
    expect(await accept(token, person.email)).toMatchObject({ status: 409, code: 'account_exists' });
    // Nothing has happened: the account has its password, the link works.
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(204);
    expect((await accept(token, newEmail())).status).toBe(204);
  });

  test.each([
    ['a member of another organisation', true, 'viewer'],
    ['a member with more rights than the invitation gives', false, 'system_admin'],
  ] as const)('the address of %s who has no account yet', async (_what, isElsewhere, role) => {
    const admin = await createPerson(service, 'org_admin');
    const [email, org] = [
      newEmail(),
      isElsewhere ? await service.createOrganisation() : admin.organisationId,
    ];
    await service.database.db.query(
      'INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, $3)',
      [org, email, role],
    );
    for (const bound of [undefined, email]) {
      const { token } = await invite(admin, 'editor', bound);
      expect(await accept(token, email)).toMatchObject({ status: 409, code: 'address_taken' });
    }
    expect(await service.database.db.query('SELECT FROM users WHERE email = $1', [email])).toEqual([]);
  });

  test('a member of this organisation without an account gets one', async () => {
    const admin = await createPerson(service, 'org_admin');
    const email = newEmail();
    await service.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, 'editor')`,
      [admin.organisationId, email],
    );
    const { token } = await invite(admin, 'editor', email);
    expect((await accept(token, email)).status).toBe(204);
  });

  test('those of another organisation do not exist', async () => {
    const [admin, other] = [
      await createPerson(service, 'org_admin'),
      await createPerson(service, 'org_admin'),
    ];
    const { id, token } = await invite(admin, 'viewer');
    const params = { org: other.organisationId, invitation: id };
    expect((await other.call('DELETE /orgs/:org/invitations/:invitation', { params })).status).toBe(404);
    const list = await other.call('GET /orgs/:org/invitations', { params: { org: other.organisationId } });
    expect(list.data.items).toEqual([]);
    expect((await accept(token, newEmail())).status).toBe(204);
  });
});
