import { ADMIN_API, type Endpoint, isAtLeast, ROLES, type Role } from '@millrace/admin-api';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type ApiAnswer, type Method, send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Requirements for each endpoint of the admin API, including future ones. */
let service: TestService;
const people = {} as Record<Role, TestPerson>;
let stranger: TestPerson;
/** The cookie of an ended session. */
let ended: string;
beforeAll(async () => {
  // Made-up tokens are limited by address; session.test.ts covers that.
  service = await startTestService({ runsWorker: false, limits: { failedAuthPerMinutePerIp: 10_000 } });
  const organisationId = await service.createOrganisation();
  for (const role of ROLES) people[role] = await createPerson(service, role, { organisationId });
  stranger = await createPerson(service, 'org_admin');
  const left = await createPerson(service, 'system_admin');
  await left.call('POST /sign-out');
  ended = left.cookie;
});
afterAll(() => service.stop());

const ENDPOINTS = Object.entries(ADMIN_API).map(([name, endpoint]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name, method: method as Method, path, ...(endpoint as Endpoint) };
});
type Listed = (typeof ENDPOINTS)[number];

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** Requests things that don't exist, in an organisation that does. */
function ask(
  { method, path, body }: Listed,
  cookie: string | null,
  headers: { readonly [name: string]: string } = SAME_ORIGIN,
): Promise<ApiAnswer> {
  const filled = path
    .replace(':org', String(people.viewer.organisationId))
    .replace(/:(\w+)/g, '9007199254740991');
  return send(`${service.url}/api/admin${filled}`, method, {
    headers: { ...headers, ...(cookie === null ? {} : { cookie }) },
    // Refused before it is read: its content doesn't matter.
    ...(body === undefined ? {} : { body: {} }),
  });
}

const changing = ENDPOINTS.filter(({ method }) => method !== 'GET');
const guarded = ENDPOINTS.filter(({ access }) => access !== 'anyone');

describe('requests that another site makes a browser send are refused', () => {
  test.each(changing)('$name', async (endpoint) => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ]) {
      const answer = await ask(endpoint, people.system_admin.cookie, headers as Record<string, string>);
      expect([headers, answer.status, answer.json.code]).toEqual([headers, 403, 'cross_site_request']);
    }
  });
});

describe('without signing in there is no access', () => {
  test.each(guarded)('$name', async (endpoint) => {
    for (const cookie of [null, ended, `__Host-millrace_session=${'A'.repeat(64)}`]) {
      const answer = await ask(endpoint, cookie);
      expect([answer.status, answer.json.code]).toEqual([401, 'signed_out']);
    }
  });
});

describe('lower roles are refused', () => {
  const withRole = guarded.filter(({ access }) => access !== 'signed_in' && access !== 'viewer');
  test.each(withRole)('$name needs $access', async (endpoint) => {
    for (const role of ROLES.filter((each) => !isAtLeast(each, endpoint.access as Role))) {
      const answer = await ask(endpoint, people[role].cookie);
      expect([role, answer.status, answer.json.code]).toEqual([role, 403, 'insufficient_role']);
    }
  });
});

describe("an organisation without membership doesn't exist", () => {
  test.each(guarded.filter(({ path }) => path.startsWith('/orgs/:org')))('$name', async (endpoint) => {
    const answer = await ask(endpoint, stranger.cookie);
    expect([answer.status, answer.json.code, answer.json.key]).toEqual([
      404,
      'not_found',
      'api.organisation_not_found',
    ]);
  });
});

describe('responses are never cached', () => {
  test.each(ENDPOINTS.filter(({ method }) => method === 'GET'))('$name', async (endpoint) => {
    const answer = await ask(endpoint, null);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });
});
