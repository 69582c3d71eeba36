import { randomUUID } from 'node:crypto';
import type { Role } from '@millrace/admin-api';
import { setPasswordByOperator } from '@millrace/identity/accounts/operator';
import { lockAddress } from '@millrace/identity/addresses/proof';
import { grantMembership } from '@millrace/identity/members/store';
import {
  auditActions,
  type Browser,
  createAccount,
  createBrowser,
  PASSWORD,
} from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { allAtOnce } from '@millrace/testing/at-once';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
});
afterAll(() => service.stop());

const OPERATOR = { actor: 'operator' } as const;
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
  test('creates an account and a membership, signed in, once', async () => {
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

  test('can be accepted by an account that is signed in', async () => {
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

  test('accepted several times at once creates one membership', async () => {
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

  test('raises a role, changes nothing for a member, and never lowers one', async () => {
    const admin = await createPerson(service, 'org_admin');
    const viewer = await createPerson(service, 'viewer', { organisationId: admin.organisationId });
    const { token } = await invite(admin, 'editor');
    const own = await admin.call('POST /invitation/join', { body: { token } });
    expect([own.status, own.json.code]).toEqual([409, 'already_member']);
    expect((await viewer.call('POST /invitation/join', { body: { token } })).status).toBe(200);
    expect((await viewer.call('GET /me')).data.organisations[0]?.role).toBe('editor');
  });

  test('is listed with its state, and its link reports when it was revoked', async () => {
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

describe("an invitation doesn't grant", () => {
  test('a role above that of its creator', async () => {
    const admin = await createPerson(service, 'org_admin');
    const answer = await admin.call('POST /orgs/:org/invitations', {
      params: { org: admin.organisationId },
      body: { role: 'system_admin' },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
  });

  test('what its creator has lost since', async () => {
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

  test.each(['has another role for a while', 'leaves and comes back'])(
    'anything after it ended because its creator %s',
    async (what) => {
      const boss = await createPerson(service, 'org_admin');
      const org = boss.organisationId;
      const admin = await createPerson(service, 'org_admin', { organisationId: org });
      const { id, token } = await invite(admin, 'editor');
      const params = { org, member: admin.memberId };
      if (what === 'leaves and comes back') {
        await admin.call('POST /orgs/:org/leave', { params: { org } });
        await createPerson(service, 'org_admin', { organisationId: org, email: admin.email });
      } else {
        for (const role of ['viewer', 'org_admin'] as const)
          await boss.call('PATCH /orgs/:org/members/:member', { params, body: { role } });
      }
      expect(await accept(token, newEmail())).toMatchObject({ status: 404, code: 'link_not_valid' });
      const { data } = await boss.call('GET /orgs/:org/invitations', { params: { org } });
      expect(data.items).toMatchObject([{ id, state: 'revoked', ended_at: expect.any(String) }]);
      expect(await auditActions(service, org)).toContain('invitation.revoked');
    },
  );

  test('but one by someone who is a system administrator elsewhere is valid', async () => {
    const [boss, org] = [await createPerson(service, 'system_admin'), await service.createOrganisation()];
    const { data } = await boss.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'org_admin' },
    });
    expect(data.invitation).toMatchObject({ state: 'open', invited_by: boss.email });
    const [, token = ''] = data.url.split('#token=');
    expect((await accept(token, newEmail())).status).toBe(204);
  });

  test('the account of another address, if it is for one address', async () => {
    const [admin, person] = [await createPerson(service, 'org_admin'), await createPerson(service, 'viewer')];
    const { token } = await invite(admin, 'viewer', newEmail());
    expect(await accept(token, newEmail())).toMatchObject({ status: 409, code: 'address_taken' });
    const joined = await person.call('POST /invitation/join', { body: { token } });
    expect([joined.status, joined.json.code]).toEqual([409, 'address_taken']);
  });

  test('an account that exists already', async () => {
    const admin = await createPerson(service, 'org_admin');
    const person = await createAccount(service, 'viewer');
    const { token } = await invite(admin, 'viewer');
    expect(await accept(token, person.email)).toMatchObject({ status: 409, code: 'account_exists' });
    // Nothing has changed: the account has its password, the link works.
    const body = { email: person.email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body })).status).toBe(204);
    expect((await accept(token, newEmail())).status).toBe(204);
  });

  test.each([
    ['a member of another organisation', true, 'viewer'],
    ['a member with more rights than the invitation gives', false, 'system_admin'],
  ] as const)('the address of %s without an account', async (_what, isElsewhere, role) => {
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

  test('but a member of this organisation without an account gets one', async () => {
    const admin = await createPerson(service, 'org_admin');
    const email = newEmail();
    await service.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, $2, 'editor')`,
      [admin.organisationId, email],
    );
    const { token } = await invite(admin, 'editor', email);
    expect((await accept(token, email)).status).toBe(204);
  });

  test('access to invitations of another organisation', async () => {
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

describe("an account created with someone else's address", () => {
  /** An org admin who created an account for someone else's address with their own invitation. */
  async function squat() {
    const [squatter, email] = [await createPerson(service, 'org_admin'), newEmail()];
    const { token } = await invite(squatter, 'org_admin', email);
    const { browser } = await accept(token, email);
    const { data } = await browser.call('GET /me');
    return { email, browser, userId: data.user.id, org: squatter.organisationId, squatter };
  }

  const tokenOf = (url: string | null): string => url?.split('#token=')[1] ?? 'none';
  const organisationsOf = async (browser: Browser) =>
    (await browser.call('GET /me')).data.organisations ?? [];

  test('gets no membership that the operator grants to the address: it waits for the owner', async () => {
    const { email, browser, org } = await squat();
    const organisationId = await service.createOrganisation();
    const { db } = service.database;
    const given = await grantMembership(db, organisationId, email, 'editor', OPERATOR, {
      isVouchedFor: true,
    });
    if (given.kind !== 'waits') throw new Error('the squatter is a member');
    expect(await organisationsOf(browser)).toMatchObject([{ id: org }]);

    const shown = await createBrowser(service).call('POST /invitation/look-up', {
      body: { token: given.invitation.token },
    });
    expect(shown.data).toMatchObject({ email, has_account: true, takes_over: true });
    const key = await browser.call('POST /orgs/:org/keys', {
      params: { org },
      body: { name: 'left behind', scopes: ['workflows:read'], expires_at: null },
    });
    const link = await browser.call('POST /orgs/:org/invitations', {
      params: { org },
      body: { role: 'viewer' },
    });
    await browser.call('POST /me/second-factor', { body: { password: PASSWORD } });

    const owner = createBrowser(service);
    const body = { token: given.invitation.token, email, name: 'Owner', password: 'another horse battery' };
    expect((await owner.call('POST /invitation/accept', { body })).status).toBe(204);
    const me = (await owner.call('GET /me')).data;
    expect(me.user).toMatchObject({ name: 'Owner', has_second_factor: false });
    expect(new Set(me.organisations.map(({ id }) => id))).toEqual(new Set([org, organisationId]));
    // Nothing from before grants access.
    expect((await browser.call('GET /me')).status).toBe(401);
    const signIn = { email, password: PASSWORD };
    expect((await createBrowser(service).call('POST /sign-in', { body: signIn })).status).toBe(401);
    const headers = { authorization: `Bearer ${key.data.secret}` };
    expect((await fetch(`${service.url}/api/v1/workflows`, { headers })).status).toBe(401);
    expect(await accept(tokenOf(link.data.url), newEmail())).toMatchObject({ code: 'link_not_valid' });
    expect(await auditActions(service, org)).toContain('user.address_proved');
    // From now on it is theirs.
    const next = await service.createOrganisation();
    const direct = await grantMembership(db, next, email, 'viewer', OPERATOR, { isVouchedFor: true });
    expect(direct.kind).toBe('member');
  });

  test('gets no higher role from a system administrator, but a lower one at once', async () => {
    const { email, browser, org } = await squat();
    const boss = await createPerson(service, 'system_admin');
    const { data: members } = await boss.call('GET /orgs/:org/members', { params: { org } });
    const member = members.items.find((item) => item.email === email)?.id ?? 0;
    expect(members.items[0]).toMatchObject({ email, is_address_proved: false });
    const change = (role: Role) =>
      boss.call('PATCH /orgs/:org/members/:member', { params: { org, member }, body: { role } });
    const raised = await change('system_admin');
    expect(raised.data).toMatchObject({
      member: { role: 'org_admin' },
      invitation_url: expect.stringContaining('#token='),
    });
    expect((await browser.call('GET /me')).data.user.is_system_admin).toBe(false);
    expect((await change('viewer')).data).toMatchObject({ member: { role: 'viewer' }, invitation_url: null });
    expect(await organisationsOf(browser)).toMatchObject([{ id: org, role: 'viewer' }]);
    // The account's owner signs in and opens the link: it was theirs all along, and nothing ends.
    const token = tokenOf(raised.data.invitation_url);
    expect((await browser.call('POST /invitation/join', { body: { token } })).status).toBe(200);
    expect((await browser.call('GET /me')).data.user.is_system_admin).toBe(true);
  });

  test("is not proved by an organisation administrator's invitation", async () => {
    const { email, userId } = await squat();
    const admin = await createPerson(service, 'org_admin');
    const { token } = await invite(admin, 'viewer', email);
    const shown = await createBrowser(service).call('POST /invitation/look-up', { body: { token } });
    expect(shown.data).toMatchObject({ has_account: true, takes_over: false });
    expect(await accept(token, email)).toMatchObject({ status: 409, code: 'account_exists' });
    const rows = await service.database.db.query('SELECT email_verified_at FROM users WHERE id = $1', [
      userId,
    ]);
    expect(rows).toEqual([{ email_verified_at: null }]);
  });

  test("becomes the owner's with a password from the operator, with everything that was pending", async () => {
    const { email, browser, org } = await squat();
    const organisationId = await service.createOrganisation();
    const { db } = service.database;
    await grantMembership(db, organisationId, email, 'editor', OPERATOR, { isVouchedFor: true });
    await setPasswordByOperator(db, email, 'another horse battery');
    expect((await browser.call('GET /me')).status).toBe(401);
    const owner = createBrowser(service);
    await owner.call('POST /sign-in', { body: { email, password: 'another horse battery' } });
    expect(new Set((await organisationsOf(owner)).map(({ id }) => id))).toEqual(
      new Set([org, organisationId]),
    );
  });

  test('created at the moment of the grant gets nothing either', async () => {
    const [admin, email] = [await createPerson(service, 'org_admin'), newEmail()];
    const { token } = await invite(admin, 'viewer', email);
    const organisationId = await service.createOrganisation();
    const { db } = service.database;
    await allAtOnce<unknown>(service, (tx) => lockAddress(tx, email), [
      () => accept(token, email),
      () => grantMembership(db, organisationId, email, 'editor', OPERATOR, { isVouchedFor: true }),
    ]);
    const doubtful = await db.query(
      `SELECT FROM members m JOIN users u ON u.email = m.email
       WHERE m.organisation_id = $1 AND m.email = $2 AND u.email_verified_at IS NULL`,
      [organisationId, email],
    );
    expect(doubtful).toEqual([]);
  });
});

test("a system administrator's invitation for an address shows whose it is; one without an address doesn't", async () => {
  const boss = await createPerson(service, 'system_admin');
  for (const isBound of [true, false]) {
    const email = newEmail();
    const { token } = await invite(boss, 'viewer', ...(isBound ? [email] : []));
    await accept(token, email);
    const { data } = await boss.call('GET /users', { query: { search: email } });
    expect(data.items).toMatchObject([{ email, is_address_proved: isBound }]);
  }
});
