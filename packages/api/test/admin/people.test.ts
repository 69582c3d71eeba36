import { randomUUID } from 'node:crypto';
import { lockRoles } from '@millrace/identity/members/pages';
import { auditActions } from '@millrace/testing/accounts';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { allAtOnce } from '@millrace/testing/at-once';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let systemAdmin: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  systemAdmin = await createPerson(service, 'system_admin');
});
afterAll(() => service.stop());

describe('members', () => {
  test('are listed page by page, newest first, with their details', async () => {
    const admin = await createPerson(service, 'org_admin');
    const org = admin.organisationId;
    const others = [];
    for (const role of ['viewer', 'editor'] as const)
      others.push(await createPerson(service, role, { organisationId: org }));
    await service.database.db.query(
      "INSERT INTO members (organisation_id, email, role) VALUES ($1, 'later@example.com', 'viewer')",
      [org],
    );
    const first = await admin.call('GET /orgs/:org/members', { params: { org }, query: { limit: 3 } });
    expect(first.data.items.map(({ email, name, role }) => [email, name, role])).toEqual([
      ['later@example.com', null, 'viewer'],
      [others[1]?.email, 'Test editor', 'editor'],
      [others[0]?.email, 'Test viewer', 'viewer'],
    ]);
    const cursor = first.data.next_cursor ?? '';
    const second = await admin.call('GET /orgs/:org/members', { params: { org }, query: { cursor } });
    expect(second.data.items.map(({ email }) => email)).toEqual([admin.email]);
    expect(second.data.next_cursor).toBeNull();
    const elsewhere = await createPerson(service, 'org_admin');
    const stolen = await elsewhere.call('GET /orgs/:org/members', {
      params: { org: elsewhere.organisationId },
      query: { cursor },
    });
    expect(stolen.status).toBe(422);
  });

  test('a new role applies from the next request', async () => {
    const admin = await createPerson(service, 'org_admin');
    const org = admin.organisationId;
    const editor = await createPerson(service, 'editor', { organisationId: org });
    const params = { org, member: editor.memberId };
    const { data } = await admin.call('PATCH /orgs/:org/members/:member', {
      params,
      body: { role: 'org_admin' },
    });
    expect(data).toMatchObject({ member: { role: 'org_admin' }, invitation_url: null });
    expect((await editor.call('GET /orgs/:org/members', { params: { org } })).status).toBe(200);
    await admin.call('PATCH /orgs/:org/members/:member', { params, body: { role: 'viewer' } });
    expect((await editor.call('GET /orgs/:org/members', { params: { org } })).status).toBe(403);
    expect((await admin.call('DELETE /orgs/:org/members/:member', { params })).status).toBe(204);
    expect((await editor.call('GET /orgs/:org/members', { params: { org } })).status).toBe(404);
    expect((await editor.call('GET /me')).data.organisations).toEqual([]);
    expect(await auditActions(service, org)).toEqual([
      'organisation.created',
      'member.added',
      'member.added',
      'member.role_changed',
      'member.role_changed',
      'member.removed',
    ]);
    const entries = await service.database.db.query<{ user_id: number; source_ip: string }>(
      `SELECT user_id, source_ip FROM audit_log WHERE organisation_id = $1 AND action = 'member.removed'`,
      [org],
    );
    expect(entries).toEqual([{ user_id: admin.userId, source_ip: '127.0.0.1' }]);
  });

  test('nobody grants or revokes a role above their own', async () => {
    const admin = await createPerson(service, 'org_admin');
    const org = admin.organisationId;
    const boss = await createPerson(service, 'system_admin', { organisationId: org });
    for (const [member, role] of [
      [admin.memberId, 'system_admin'],
      [boss.memberId, 'viewer'],
    ] as const) {
      const answer = await admin.call('PATCH /orgs/:org/members/:member', {
        params: { org, member },
        body: { role },
      });
      expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
    }
    const removal = await admin.call('DELETE /orgs/:org/members/:member', {
      params: { org, member: boss.memberId },
    });
    expect(removal.status).toBe(403);
    // From outside too: a system administrator is one in every organisation.
    const answer = await systemAdmin.call('PATCH /orgs/:org/members/:member', {
      params: { org, member: admin.memberId },
      body: { role: 'system_admin' },
    });
    expect(answer.status).toBe(200);
  });

  test('the last administrator of the organisation stays, also when two leave at once', async () => {
    const admin = await createPerson(service, 'org_admin');
    const org = admin.organisationId;
    const params = { org, member: admin.memberId };
    const lowered = await admin.call('PATCH /orgs/:org/members/:member', {
      params,
      body: { role: 'editor' },
    });
    expect([lowered.status, lowered.json.code]).toEqual([409, 'last_admin']);
    const removed = await systemAdmin.call('DELETE /orgs/:org/members/:member', { params });
    expect([removed.status, removed.json.code]).toEqual([409, 'last_admin']);
    const second = await createPerson(service, 'org_admin', { organisationId: org });
    const answers = await allAtOnce(service, (tx) => lockRoles(tx), [
      () => admin.call('DELETE /orgs/:org/members/:member', { params: { org, member: second.memberId } }),
      () => second.call('DELETE /orgs/:org/members/:member', { params }),
    ]);
    const left = await service.database.db.query(
      'SELECT FROM members WHERE organisation_id = $1 AND removed_at IS NULL',
      [org],
    );
    expect(left).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
  });

  test('the last administrator of the service with an account stays', async () => {
    const own = await startTestService({ runsWorker: false });
    const boss = await createPerson(own, 'system_admin');
    const org = boss.organisationId;
    await createPerson(own, 'org_admin', { organisationId: org });
    await own.database.db.query(
      `INSERT INTO members (organisation_id, email, role) VALUES ($1, 'without@example.com', 'system_admin')`,
      [org],
    );
    const params = { org, member: boss.memberId };
    const answer = await boss.call('PATCH /orgs/:org/members/:member', {
      params,
      body: { role: 'org_admin' },
    });
    expect([answer.status, answer.json.code]).toEqual([409, 'last_admin']);
    await createPerson(own, 'system_admin', { organisationId: org });
    const second = await boss.call('PATCH /orgs/:org/members/:member', {
      params,
      body: { role: 'org_admin' },
    });
    expect(second.status).toBe(200);
    await own.stop();
  });

  test('can leave by themselves, except the last administrator of the organisation', async () => {
    const admin = await createPerson(service, 'org_admin');
    const org = admin.organisationId;
    const viewer = await createPerson(service, 'viewer', { organisationId: org });
    const leave = (person: TestPerson) => person.call('POST /orgs/:org/leave', { params: { org } });
    expect((await leave(viewer)).status).toBe(204);
    expect((await viewer.call('GET /me')).data.organisations).toEqual([]);
    expect((await leave(viewer)).status).toBe(404);
    const last = await leave(admin);
    expect([last.status, last.json.code]).toEqual([409, 'last_admin']);
    expect((await leave(systemAdmin)).status).toBe(404);
    const [entry] = await service.database.db.query(
      `SELECT user_id, member_id FROM audit_log WHERE organisation_id = $1 AND action = 'member.removed'`,
      [org],
    );
    expect(entry).toEqual({ user_id: viewer.userId, member_id: viewer.memberId });
  });

  test("of another organisation don't exist", async () => {
    const [admin, other] = [
      await createPerson(service, 'org_admin'),
      await createPerson(service, 'org_admin'),
    ];
    const org = admin.organisationId;
    for (const member of [other.memberId, '0', '1e3', '9'.repeat(30), 'x']) {
      const params = { org, member };
      expect((await admin.call('DELETE /orgs/:org/members/:member', { params })).status).toBe(404);
      const body = { role: 'viewer' } as const;
      expect((await admin.call('PATCH /orgs/:org/members/:member', { params, body })).status).toBe(404);
    }
    expect((await other.call('GET /me')).data.organisations).toHaveLength(1);
  });
});

describe('organisations', () => {
  test('are created, listed and renamed by a system administrator', async () => {
    const name = `Acme <b>${randomUUID()}</b>`;
    const made = await systemAdmin.call('POST /organisations', { body: { name: ` ${name} ` } });
    expect(made.data.name).toBe(name);
    const again = await systemAdmin.call('POST /organisations', { body: { name } });
    expect([again.status, again.json.code]).toEqual([409, 'organisation_exists']);
    const list = await systemAdmin.call('GET /organisations', { query: { limit: 1 } });
    expect(list.data.items).toEqual([made.data]);
    expect(list.data.next_cursor).not.toBeNull();
    const params = { org: made.data.id };
    const renamed = await systemAdmin.call('PATCH /orgs/:org', { params, body: { name: `${name} 2` } });
    expect(renamed.data).toEqual({ ...made.data, name: `${name} 2` });
    expect(await auditActions(service, made.data.id)).toEqual([
      'organisation.created',
      'organisation.renamed',
    ]);
  });

  test('a name that is taken, empty, or an id is refused', async () => {
    const [admin, other] = [
      await createPerson(service, 'org_admin'),
      await createPerson(service, 'org_admin'),
    ];
    const taken = (await other.call('GET /me')).data.organisations[0]?.name ?? '';
    const params = { org: admin.organisationId };
    expect((await admin.call('PATCH /orgs/:org', { params, body: { name: taken } })).status).toBe(409);
    for (const name of ['  ', '42', 'x'.repeat(256)]) {
      const answer = await admin.call('PATCH /orgs/:org', { params, body: { name } });
      expect([answer.status, answer.json.errors[0]?.pointer]).toEqual([422, '/name']);
    }
  });

  test('a member of several sees each with their role there', async () => {
    const person = await createPerson(service, 'viewer');
    const second = await createPerson(service, 'org_admin', { email: person.email });
    const { data } = await person.call('GET /me');
    expect(data.organisations).toHaveLength(2);
    expect(data.organisations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: person.organisationId, role: 'viewer' }),
        expect.objectContaining({ id: second.organisationId, role: 'org_admin' }),
      ]),
    );
  });
});
