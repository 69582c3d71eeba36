import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { allAtOnce } from '@millrace/testing/at-once';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

let service: TestService;
let admin: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  admin = await createPerson(service, 'org_admin');
});
afterAll(() => service.stop());

test('a member removed while their role changes stays removed', async () => {
  const person = await createPerson(service, 'viewer', { organisationId: admin.organisationId });
  const params = { org: admin.organisationId, member: person.memberId };
  const [change] = await allAtOnce(
    service,
    (tx) => tx.query('UPDATE members SET removed_at = now() WHERE id = $1', [person.memberId]),
    [() => admin.call('PATCH /orgs/:org/members/:member', { params, body: { role: 'org_admin' } })],
  );
  expect([change?.status, change?.json.code]).toEqual([404, 'not_found']);
  expect((await person.call('GET /me')).data.organisations).toEqual([]);
});

test('a member promoted above the one who demotes them, at the same moment, stays promoted', async () => {
  const boss = await createPerson(service, 'system_admin');
  const person = await createPerson(service, 'editor', { organisationId: admin.organisationId });
  const params = { org: admin.organisationId, member: person.memberId };
  const [change] = await allAtOnce(
    service,
    (tx) => tx.query(`UPDATE members SET role = 'system_admin' WHERE id = $1`, [person.memberId]),
    [() => admin.call('PATCH /orgs/:org/members/:member', { params, body: { role: 'viewer' } })],
  );
  expect([change?.status, change?.json.code]).toEqual([403, 'insufficient_role']);
  expect((await boss.call('GET /me')).data.user.is_system_admin).toBe(true);
  expect((await person.call('GET /me')).data.user.is_system_admin).toBe(true);
});

test('a key rotated twice at once has one successor', async () => {
  const org = admin.organisationId;
  const issued = await admin.call('POST /orgs/:org/keys', {
    params: { org },
    body: { name: 'twice', scopes: ['workflows:read'], expires_at: null },
  });
  const { id } = issued.data.key;
  const rotate = () => admin.call('POST /orgs/:org/keys/:key/rotate', { params: { org, key: id } });
  const answers = await allAtOnce(
    service,
    (tx) => tx.query('SELECT FROM api_keys WHERE id = $1 FOR UPDATE', [id]),
    [rotate, rotate],
  );
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
  const successor = answers.find(({ status }) => status === 200);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.json).toMatchObject({
    code: 'key_rotated',
    detail: expect.stringContaining(`key ${successor?.data.key.id}, mr_${successor?.data.key.key_id}`),
  });
});

test('a key revoked while it is rotated has no successor', async () => {
  const org = admin.organisationId;
  const issued = await admin.call('POST /orgs/:org/keys', {
    params: { org },
    body: { name: 'revoked', scopes: ['workflows:read'], expires_at: null },
  });
  const { id } = issued.data.key;
  const [rotation] = await allAtOnce(
    service,
    (tx) => tx.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [id]),
    [() => admin.call('POST /orgs/:org/keys/:key/rotate', { params: { org, key: id } })],
  );
  expect([rotation?.status, rotation?.json.code]).toEqual([409, 'key_ended']);
  const rows = await service.database.db.query(
    'SELECT FROM api_keys WHERE organisation_id = $1 AND name = $2',
    [org, 'revoked'],
  );
  expect(rows).toHaveLength(1);
});
