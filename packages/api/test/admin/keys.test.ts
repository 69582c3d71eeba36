import type { Role } from '@millrace/admin-api';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let admin: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  admin = await createPerson(service, 'org_admin');
});
afterAll(() => service.stop());

const DAY_MS = 86_400_000;

async function issue(person = admin, more: object = {}) {
  const org = person.organisationId;
  const body = { name: 'nightly import', scopes: ['workflows:read' as const], expires_at: null, ...more };
  const { status, data } = await person.call('POST /orgs/:org/keys', { params: { org }, body });
  expect(status).toBe(200);
  return data;
}

async function list(person = admin, query: { ended?: boolean; limit?: number; cursor?: string } = {}) {
  return (await person.call('GET /orgs/:org/keys', { params: { org: person.organisationId }, query })).data;
}

async function find(id: number) {
  const found = (await list(admin, { ended: true, limit: 200 })).items.find((key) => key.id === id);
  if (found === undefined) throw new Error(`key ${id} is not listed`);
  return found;
}

function set(id: number, assignment: string): Promise<unknown> {
  return service.database.db.query(`UPDATE api_keys SET ${assignment} WHERE id = $1`, [id]);
}

function use(secret: string): Promise<{ status: number }> {
  return fetch(`${service.url}/api/v1/workflows`, { headers: { authorization: `Bearer ${secret}` } });
}

/** A key of the organisation of `admin`, issued by someone who may belong to another. */
function issueAs(person: TestPerson) {
  const body = { name: 'theirs', scopes: ['workflows:read' as const], expires_at: null };
  return person.call('POST /orgs/:org/keys', { params: { org: admin.organisationId }, body });
}

function setRole({ memberId }: TestPerson, role: Role): Promise<unknown> {
  return service.database.db.query('UPDATE members SET role = $2 WHERE id = $1', [memberId, role]);
}

const keyParams = (id: number) => ({ params: { org: admin.organisationId, key: id } });

describe('issuing', () => {
  test('shows the secret once; it works, and no later response has it', async () => {
    const { key, secret, api_url } = await issue();
    expect(api_url).toBe('https://flows.example/api/v1');
    expect(key).toMatchObject({
      name: 'nightly import',
      state: 'valid',
      scopes: ['workflows:read'],
      effective_scopes: ['workflows:read'],
      issuer: 'org_admin',
      issued_by: admin.email,
      last_used_at: null,
      is_due: false,
    });
    expect(secret.endsWith(key.last_four)).toBe(true);
    expect((await use(secret)).status).toBe(200);
    const listed = await admin.call('GET /orgs/:org/keys', { params: { org: admin.organisationId } });
    const rows = await service.database.db.query<{ details: string }>(
      'SELECT a.details, k.* FROM audit_log a JOIN api_keys k ON k.id = a.api_key_id WHERE k.id = $1',
      [key.id],
    );
    const hidden = secret.slice(`mr_${key.key_id}_`.length);
    for (const text of [listed.text, JSON.stringify(rows), service.logs.join('\n')]) {
      expect(text).not.toContain(hidden.slice(0, 20));
    }
  });

  test('is recorded with who and from where', async () => {
    const { key } = await issue();
    const rows = await service.database.db.query(
      `SELECT action, actor, user_id, member_id, source_ip, request_id IS NOT NULL AS has_request
       FROM audit_log WHERE api_key_id = $1`,
      [key.id],
    );
    const by = { actor: 'user', user_id: admin.userId, member_id: admin.memberId };
    expect(rows).toEqual([{ action: 'api_key.issued', ...by, source_ip: '127.0.0.1', has_request: true }]);
  });

  test('by a system administrator who is not a member, the key is theirs, with their permissions', async () => {
    const root = await createPerson(service, 'system_admin');
    const { data } = await issueAs(root);
    expect(data.key).toMatchObject({ issuer: 'system_admin', issued_by: root.email });
    expect((await use(data.secret)).status).toBe(200);
    // Their role in their own organisation doesn't matter here.
    await setRole(root, 'org_admin');
    expect(await find(data.key.id)).toMatchObject({ issuer: 'removed', effective_scopes: [] });
    expect((await use(data.secret)).status).toBe(403);
    const here = await createPerson(service, 'viewer', {
      organisationId: admin.organisationId,
      email: root.email,
    });
    expect(await find(data.key.id)).toMatchObject({ issuer: 'viewer', effective_scopes: ['workflows:read'] });
    await admin.call('DELETE /orgs/:org/members/:member', {
      params: { org: admin.organisationId, member: here.memberId },
    });
    expect((await use(data.secret)).status).toBe(403);
  });

  test('a key of a removed account has no permissions', async () => {
    const [root, other] = [
      await createPerson(service, 'system_admin'),
      await createPerson(service, 'system_admin'),
    ];
    const { data } = await issueAs(root);
    await other.call('DELETE /users/:user', { params: { user: root.userId } });
    expect(await find(data.key.id)).toMatchObject({ issuer: 'removed', issued_by: root.email });
    expect((await use(data.secret)).status).toBe(403);
    // A new account with the same address is a different person.
    await createPerson(service, 'system_admin', { email: root.email });
    expect((await use(data.secret)).status).toBe(403);
  });

  test.each([
    [{ name: '  ' }, '/name'],
    [{ scopes: [] }, '/scopes'],
    [{ scopes: ['members:write'] }, '/scopes/0'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ expires_at: 'soon' }, '/expires_at'],
  ])('%j is refused', async (change, pointer) => {
    const body = { name: 'x', scopes: ['workflows:read'], expires_at: null, ...change } as never;
    const answer = await admin.call('POST /orgs/:org/keys', { params: { org: admin.organisationId }, body });
    expect(answer.status).toBe(422);
    expect(answer.json.errors?.[0]?.pointer).toBe(pointer);
  });
});

describe('the list', () => {
  test("shows what the issuer's role removes, also when it changes later", async () => {
    const issuer = await createPerson(service, 'org_admin', { organisationId: admin.organisationId });
    const { key } = await issue(issuer, { scopes: ['workflows:read', 'workflows:write'] });
    const member = { org: admin.organisationId, member: issuer.memberId };
    await admin.call('PATCH /orgs/:org/members/:member', { params: member, body: { role: 'viewer' } });
    expect(await find(key.id)).toMatchObject({ issuer: 'viewer', effective_scopes: ['workflows:read'] });
    await admin.call('DELETE /orgs/:org/members/:member', { params: member });
    expect(await find(key.id)).toMatchObject({ issuer: 'removed', effective_scopes: [] });
  });

  test('shows each state', async () => {
    const { key } = await issue(admin, { expires_at: new Date(Date.now() + 200 * DAY_MS).toISOString() });
    expect((await find(key.id)).state).toBe('valid');
    await set(key.id, "expires_at = now() + interval '13 days'");
    expect((await find(key.id)).state).toBe('expiring');
    await set(key.id, 'locked_at = now()');
    expect((await find(key.id)).state).toBe('locked');
    await set(key.id, "expires_at = now() - interval '1 second'");
    expect((await find(key.id)).state).toBe('expired');
    await set(key.id, 'revoked_at = now()');
    expect((await find(key.id)).state).toBe('revoked');
    expect((await list()).items.map(({ id }) => id)).not.toContain(key.id);
  });

  test('continues page by page', async () => {
    const other = await createPerson(service, 'org_admin');
    for (let count = 0; count < 3; count += 1) await issue(other);
    const first = await list(other, { limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await list(other, { limit: 2, cursor: first.next_cursor ?? '' });
    expect([second.items.length, second.next_cursor]).toEqual([1, null]);
  });

  test('marks keys older than 90 days that were not rotated, and reminds of them', async () => {
    const { key } = await issue();
    const reminders = async () =>
      (await admin.call('GET /orgs/:org/key-reminders', { params: { org: admin.organisationId } })).data
        .items;
    await set(key.id, "created_at = now() - interval '89 days'");
    expect((await find(key.id)).is_due).toBe(false);
    await set(key.id, "created_at = now() - interval '90 days'");
    expect((await find(key.id)).is_due).toBe(true);
    expect((await reminders()).map(({ id }) => id)).toContain(key.id);
    await admin.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
    expect((await find(key.id)).is_due).toBe(false);
    expect((await reminders()).map(({ id }) => id)).not.toContain(key.id);
  });
});

describe('rotating', () => {
  test('issues a successor, and shows where the old key is still used', async () => {
    const { key, secret } = await issue();
    const { data } = await admin.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
    expect(data.key).toMatchObject({ name: 'nightly import', state: 'valid' });
    expect(data.predecessor).toMatchObject({
      id: key.id,
      state: 'rotated',
      successor: { id: data.key.id, key_id: data.key.key_id, last_four: data.key.last_four },
      is_used_since_rotation: false,
    });
    const leftMs =
      Date.parse(data.predecessor.valid_until ?? '') - Date.parse(data.predecessor.rotated_at ?? '');
    expect(leftMs).toBe(DAY_MS);
    expect((await use(data.secret)).status).toBe(200);
    expect((await use(secret)).status).toBe(200);
    expect(await find(key.id)).toMatchObject({
      is_used_since_rotation: true,
      last_used_ip: '127.0.0.1',
      uses_since_rotation: [{ ip: '127.0.0.1', at: expect.any(String) }],
    });
  });

  test("makes the successor the rotator's, limited by their role; the old key stays its issuer's", async () => {
    const { key, secret } = await issue();
    const rotator = await createPerson(service, 'org_admin', { organisationId: admin.organisationId });
    const { data } = await rotator.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
    expect(data.key).toMatchObject({ issued_by: rotator.email, issuer: 'org_admin' });
    expect(data.predecessor).toMatchObject({ issued_by: admin.email });
    await admin.call('DELETE /orgs/:org/members/:member', {
      params: { org: admin.organisationId, member: rotator.memberId },
    });
    expect((await use(data.secret)).status).toBe(403);
    expect((await use(secret)).status).toBe(200);
  });

  test('happens once: a rotated key names its successor', async () => {
    const { key } = await issue();
    const { data } = await admin.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
    const again = await admin.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
    expect([again.status, again.json.code]).toEqual([409, 'key_rotated']);
    expect(again.json.detail).toContain(`mr_${data.key.key_id}_...${data.key.last_four}`);
  });

  test.each(['revoked_at = now()', "expires_at = now() - interval '1 second'"])(
    'a key that has ended (%s) is refused',
    async (assignment) => {
      const { key } = await issue();
      await set(key.id, assignment);
      const answer = await admin.call('POST /orgs/:org/keys/:key/rotate', keyParams(key.id));
      expect([answer.status, answer.json.code]).toEqual([409, 'key_ended']);
    },
  );
});

describe('revoking and unlocking', () => {
  test('a revoked key is refused at once and for good', async () => {
    const { key, secret } = await issue();
    const { data } = await admin.call('POST /orgs/:org/keys/:key/revoke', keyParams(key.id));
    expect(data.state).toBe('revoked');
    expect((await use(secret)).status).toBe(401);
    expect((await admin.call('POST /orgs/:org/keys/:key/revoke', keyParams(key.id))).status).toBe(200);
  });

  test('an unlocked key works again', async () => {
    const { key, secret } = await issue();
    await set(key.id, 'locked_at = now(), consecutive_failures = 10');
    expect((await use(secret)).status).toBe(401);
    const { data } = await admin.call('POST /orgs/:org/keys/:key/unlock', keyParams(key.id));
    expect(data.state).toBe('valid');
    expect((await use(secret)).status).toBe(200);
  });

  test.each(['rotate', 'revoke', 'unlock'] as const)(
    '%s: 404 for a key of another organisation',
    async (what) => {
      const stranger = await createPerson(service, 'org_admin');
      const { key } = await issue();
      const params = { org: stranger.organisationId, key: key.id };
      expect((await stranger.call(`POST /orgs/:org/keys/:key/${what}`, { params })).status).toBe(404);
      expect((await find(key.id)).state).toBe('valid');
    },
  );

  test('an editor can neither see nor change any of it', async () => {
    const editor = await createPerson(service, 'editor', { organisationId: admin.organisationId });
    const answer = await editor.call('GET /orgs/:org/keys', { params: { org: admin.organisationId } });
    expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
  });
});
