import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** A right revoked after a request has started must not survive by sending the body slowly. */
let service: TestService;
let entered = Promise.withResolvers<void>();
beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    // The sender has been authorised by then, and the body is still to come.
    extend: (app) => app.addHook('preParsing', async () => entered.resolve()),
  });
});
afterAll(() => service.stop());

const BODY = JSON.stringify({ role: 'viewer' });

/** Creates an invitation; the second half of the body is sent after `meanwhile`. */
async function inviteSlowly(person: TestPerson, meanwhile: () => Promise<unknown>) {
  entered = Promise.withResolvers();
  const answer = Promise.withResolvers<{ status: number; code?: string }>();
  const sent = request(`${service.url}/api/admin/orgs/${person.organisationId}/invitations`, {
    method: 'POST',
    headers: {
      cookie: person.cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      'content-length': BODY.length,
    },
  });
  sent.once('error', answer.reject);
  sent.once('response', (response) => {
    json(response).then((body) => {
      answer.resolve({ status: response.statusCode ?? 0, ...(body as { readonly code?: string }) });
    }, answer.reject);
  });
  sent.write(BODY.slice(0, 5));
  await entered.promise;
  await meanwhile();
  sent.end(BODY.slice(5));
  return answer.promise;
}

const query = (text: string, values: readonly unknown[]) => service.database.db.query(text, values);

test.each<[string, (person: TestPerson) => Promise<unknown>, number, string]>([
  ['signed out', ({ cookie, call }) => call('POST /sign-out', { headers: { cookie } }), 401, 'signed_out'],
  [
    'given a lower role',
    ({ memberId }) => query(`UPDATE members SET role = 'editor' WHERE id = $1`, [memberId]),
    403,
    'insufficient_role',
  ],
  [
    'removed from the organisation',
    ({ memberId }) => query('UPDATE members SET removed_at = now() WHERE id = $1', [memberId]),
    404,
    'not_found',
  ],
])('who is %s while the body comes in changes nothing', async (_what, meanwhile, status, code) => {
  const person = await createPerson(service, 'org_admin');
  expect(await inviteSlowly(person, () => meanwhile(person))).toMatchObject({ status, code });
  expect(await query('SELECT FROM invitations WHERE organisation_id = $1', [person.organisationId])).toEqual(
    [],
  );
});

test('who still may does', async () => {
  const person = await createPerson(service, 'org_admin');
  expect(await inviteSlowly(person, async () => {})).toMatchObject({ status: 200 });
});
