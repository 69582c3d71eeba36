import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { ADMIN_API, type Endpoint } from '@millrace/admin-api';
import { createVectorService } from '@millrace/ports/vectors';
import { prepareSecretKeys } from '@millrace/secrets/keys';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createWorkflow } from './workflows-world.ts';

/** Requirements for each endpoint of the admin API, tried with existing objects; see also attacks.test.ts. */
let service: TestService;
const routes: string[] = [];
let owner: World;
let stranger: World;
/** The cookie of a system administrator. */
let administrator: string;
beforeAll(async () => {
  service = await startTestService({
    config: { secretKeys: { current: randomBytes(32), previous: [] } },
    extend: (app) => {
      app.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push(`${each} ${url}`);
      });
    },
  });
  await prepareSecretKeys(service.deps.db, service.deps.secretKeys, { makesKey: true });
  owner = await createWorld();
  stranger = await createWorld();
  administrator = (await createPerson(service, 'system_admin')).cookie;
});
afterAll(() => service.stop());

/** Path parameters of existing objects. */
type Params = { readonly [name: string]: string | number };

/** An administrator and the content of their organisation: two of everything listed, so that there is a second page. */
interface World {
  readonly person: TestPerson;
  readonly params: Params;
}

const ASKING_FLOW = {
  nodes: [
    { id: 'start', type: 'trigger.webhook', data: {} },
    { id: 'ask', type: 'wait.approval', data: { config: { title: 'Go on?', text: '' } } },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'ask' }],
};

async function createWorld(): Promise<World> {
  const person = await createPerson(service, 'org_admin');
  const org = person.organisationId;
  const { id } = await createWorkflow(person, ASKING_FLOW as never);
  await createWorkflow(person);
  for (const key of ['first', 'second']) {
    await service.deps.db.query(
      `INSERT INTO ai_memories (workflow_id, organisation_id, key, turns, bytes, expires_at)
       VALUES ($1, $2, $3, '[]', 2, now() + interval '1 day')`,
      [id, org, key],
    );
  }
  const item = { text: 'text', metadata: {}, vector: [3, 4] };
  await createVectorService({ db: service.deps.db, maxBytes: 0 })({ organisationId: org }).put(
    'docs',
    { model: 'small', dimension: 2 },
    [
      { key: 'first', ...item },
      { key: 'second', ...item },
    ],
  );
  const at = { params: { org, id } };
  await person.call('POST /orgs/:org/workflows/:id/versions', {
    ...at,
    body: {
      base_version: 1,
      flow_data: { ...ASKING_FLOW, edges: [{ source: 'start', target: 'ask' }] } as never,
    },
  });
  await person.call('PUT /orgs/:org/workflows/:id/draft', {
    ...at,
    body: { base_version: 2, revision: 0, flow_data: ASKING_FLOW as never },
  });
  for (const input of [{}, {}])
    await person.call('POST /orgs/:org/workflows/:id/run', { ...at, body: { input } });
  const list = () => person.call('GET /orgs/:org/approvals', { params: { org } });
  await vi.waitFor(async () => expect((await list()).data.items).toHaveLength(2), { timeout: 60_000 });
  const [approval] = (await list()).data.items;
  const file = await service.deps.files.save(
    {
      organisationId: org,
      executionId: approval?.execution_id ?? 0,
      name: 'a.txt',
      type: 'text/plain',
      declaredBytes: null,
    },
    Readable.from([Buffer.from('text')]),
  );
  return {
    person,
    params: {
      ...at.params,
      version: 1,
      node: 'ask',
      file: file.$file,
      ...(await createRest(person)),
      ...idsOf(approval),
    },
  };
}

function idsOf(approval: { readonly id: number; readonly execution_id: number } | undefined): Params {
  return { approval: approval?.id ?? 0, execution: approval?.execution_id ?? 0 };
}

const ALERT_RULE = {
  ...{ kind: 'failure' as const, workflow_id: null, count: null, seconds: null, channel: 'webhook' as const },
  ...{ language: 'en' as const, group_seconds: 0, quiet_hours: null, is_enabled: true },
};

const CONNECTOR = {
  title: 'Things',
  base_url: 'https://things.example.com',
  hosts: ['things.example.com'],
  authentication: { types: ['bearer'], description: 'A token.' },
  reason: '{{args.response.body.error}}',
  operations: [
    {
      ...{
        id: 'list',
        title: 'List',
        description: 'Lists things.',
        effect: false,
        settings: {},
        required: [],
      },
      request: { method: 'GET', path: '/things' },
      output: { things: '{{args.response.body}}' },
    },
  ],
};

async function createRest(person: TestPerson): Promise<Params> {
  const params = { org: person.organisationId };
  const member = await createPerson(service, 'viewer', { organisationId: person.organisationId });
  const connector = `things_${person.organisationId}`;
  const file = JSON.stringify({ ...CONNECTOR, id: connector });
  await person.call('POST /orgs/:org/connectors', { params, body: { file } });
  const ids: { [name: string]: number | string } = { member: member.memberId, connector };
  for (const name of ['first', 'second']) {
    const key = { name, scopes: ['workflows:read' as const], expires_at: null };
    ids.key = (await person.call('POST /orgs/:org/keys', { params, body: key })).data.key.id;
    const credential = { name, type: 'bearer', hosts: ['api.example.com'], fields: { token: 'secret' } };
    ids.credential = (await person.call('POST /orgs/:org/credentials', { params, body: credential })).data.id;
    const secret = { name: `signs ${name}`, type: 'secret', hosts: [], fields: { value: 'c2VjcmV0' } };
    const signs = (await person.call('POST /orgs/:org/credentials', { params, body: secret })).data.id;
    const target = { credential_id: signs, url: 'https://hooks.example.invalid/' };
    const rule = { ...ALERT_RULE, name, target };
    ids.rule = (await person.call('POST /orgs/:org/alert-rules', { params, body: rule })).data.id;
    await person.call('POST /orgs/:org/alert-rules/:rule/test', { params: { ...params, rule: ids.rule } });
    ids.folder = (await person.call('POST /orgs/:org/folders', { params, body: { name } })).data.id;
    const view = { name, is_shared: false, filters: { status: 'failed' } };
    ids.view = (await person.call('POST /orgs/:org/execution-views', { params, body: view })).data.id;
    const invited = await person.call('POST /orgs/:org/invitations', { params, body: { role: 'viewer' } });
    ids.invitation = invited.data.invitation.id;
  }
  // Another browser's session: their own is still needed.
  const { organisationId, email } = person;
  const again = await createPerson(service, 'org_admin', { organisationId, email });
  ids.session = (await again.call('GET /me')).data.session.id;
  return ids;
}

interface Listed extends Endpoint {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

const ENDPOINTS: readonly Listed[] = Object.entries(ADMIN_API as { readonly [name: string]: Endpoint }).map(
  ([name, endpoint]) => {
    const [method = '', path = ''] = name.split(' ');
    return { name, method, path, ...endpoint };
  },
);

/** What an endpoint needs besides its path to reach the look-up of the object in the path. */
const SENT: { readonly [name: string]: { readonly query?: string; readonly body?: object } } = {
  'GET /orgs/:org/workflows/:id/sample-listener/events': { query: '?after=0' },
  'GET /orgs/:org/executions/:execution/files': { query: `?ids=${randomUUID()}` },
  'GET /orgs/:org/workflows/:id/runs': { query: '?range=day' },
  'POST /orgs/:org/executions/:execution/rerun': { body: { from: 'start' } },
  'POST /orgs/:org/workflows/:id/memories/forget': { body: { key: null } },
  'GET /orgs/:org/workflows/:id/memories/turns': { query: '?key=first' },
  'GET /orgs/:org/vector-items': { query: '?collection=docs' },
  'GET /orgs/:org/vector-items/text': { query: '?collection=docs&key=first' },
  'POST /orgs/:org/vector-collections/delete': { body: { name: 'gone' } },
  'POST /orgs/:org/vector-items/delete': { body: { collection: 'docs', key: 'gone' } },
  'POST /orgs/:org/approvals/:approval/decision': { body: { choice: 'approve' } },
  'PATCH /orgs/:org/members/:member': { body: { role: 'editor' } },
  'PATCH /orgs/:org/folders/:folder': { body: { name: 'changed' } },
  'PUT /orgs/:org/workflows/:id/favourite': { body: { is_favourite: true } },
  'PATCH /orgs/:org/alert-rules/:rule': { body: { name: 'changed' } },
  'PATCH /orgs/:org/credentials/:credential': { body: { name: 'changed' } },
  'POST /orgs/:org/connectors/:connector/workflows': { body: { after: 0 } },
  'PUT /orgs/:org/credentials/:credential/expiry': { body: { expires_at: null } },
  'POST /orgs/:org/credentials/:credential/test': { body: {} },
  'PUT /orgs/:org/workflows/:id': { body: { updated_at: '2026-01-01T00:00:00Z', name: 'changed' } },
  'POST /orgs/:org/workflows/:id/duplicate': { body: { name: 'copy' } },
  'DELETE /orgs/:org/workflows/:id': { body: { name: 'A workflow' } },
  'POST /orgs/:org/workflows/:id/webhook/regenerate': { body: {} },
  'PUT /orgs/:org/workflows/:id/draft': { body: { flow_data: ASKING_FLOW, base_version: 1, revision: 0 } },
  'POST /orgs/:org/workflows/:id/versions': { body: { flow_data: ASKING_FLOW, base_version: 1 } },
  'POST /orgs/:org/workflows/:id/versions/:version/restore': { body: { base_version: 2 } },
  'PUT /orgs/:org/workflows/:id/versions/:version/pin': { body: { pinned: true } },
  'POST /orgs/:org/workflows/:id/run': { body: {} },
  'POST /orgs/:org/workflows/:id/import': {
    body: { import_id: '6f1c1c1e-6a0c-4d35-9c59-0c2a3f6f9b11', first_row: 1, inputs: [{}] },
  },
  'PUT /orgs/:org/workflows/:id/sample': { body: { data: {} } },
  'PUT /orgs/:org/workflows/:id/pins': { body: { node_id: 'start', output: {} } },
};

interface Answered {
  readonly status: number;
  readonly json: { readonly [member: string]: unknown };
}

/** Calls an endpoint; of a stream it only reads the start. `more`: a query. */
async function ask(
  { name, method, path }: Listed,
  cookie: string | null,
  params: Params,
  more = '',
  headers: { readonly [name: string]: string } = { 'sec-fetch-site': 'same-origin' },
): Promise<Answered> {
  const { query: needed = '', body } = SENT[name] ?? {};
  const query = needed === '' ? more : `${needed}${more.replace('?', '&')}`;
  const filled = path.replace(/:(\w+)/g, (_match, param: string) => String(params[param]));
  const response = await fetch(`${service.url}/api/admin${filled}${query}`, {
    method,
    headers: {
      ...headers,
      ...(cookie === null ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get('content-type')?.split(';')[0]?.endsWith('json') === true;
  if (isJson) return { status: response.status, json: (await response.json()) as Answered['json'] };
  await response.body?.cancel();
  return { status: response.status, json: {} };
}

/** A refusal without the parts that differ between requests. */
function bare({ status, json }: Answered): object {
  return { ...json, status, instance: '', request_id: '' };
}

const NOWHERE = 9_007_199_254_740_991;

describe('the contract and the routes agree', () => {
  // Single sign-on has two more pages, but without a provider they aren't registered.
  test('every endpoint is registered, and nothing else responds below /api/admin', () => {
    const registered = routes
      .filter((route) => route.includes(' /api/admin') && !route.startsWith('HEAD '))
      .map((route) => route.replace(' /api/admin', ' '));
    // Where people come back from a service: a page, which checks session and role by itself.
    const pages = ['GET /oauth/callback'];
    expect([...registered].sort()).toEqual([...Object.keys(ADMIN_API), ...pages].sort());
  });

  test('HEAD works wherever GET does', () => {
    const heads = routes
      .filter((route) => route.startsWith('HEAD /api/admin'))
      .map((route) => route.slice(5));
    const gets = routes.filter((route) => route.startsWith('GET /api/admin')).map((route) => route.slice(4));
    expect(heads.sort()).toEqual(gets.sort());
  });
});

describe('another site reads nothing and changes nothing', () => {
  test.each(ENDPOINTS)('$name', async (endpoint) => {
    const origins: readonly { readonly [name: string]: string }[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: 'https://flows.example' },
      { origin: 'https://evil.example' },
      { origin: 'https://flows.example.evil.example' },
      { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
      { origin: 'null' },
      { origin: '' },
    ];
    const refusals = await Promise.all(
      origins.map((headers) => ask(endpoint, owner.person.cookie, owner.params, '', headers)),
    );
    const told = refusals.map(({ status, json }, index) => [origins[index], status, json.code]);
    expect(told).toEqual(origins.map((headers) => [headers, 403, 'cross_site_request']));
  });
});

const guarded = ENDPOINTS.filter(({ access }) => access !== 'anyone');
const ofOrganisation = guarded.filter(({ path }) => path.startsWith('/orgs/:org'));

describe('without a session nothing is accessible', () => {
  test.each(guarded)('$name', async (endpoint) => {
    const [name, token = ''] = owner.person.cookie.split('=');
    const cookies = [
      null,
      `${name}=`,
      `${name}=${token}x`,
      `${name}=${token.slice(0, -1)}`,
      `millrace_session=${token}`,
      `__Secure-millrace_session=${token}`,
      `${name}="${token}"`,
      // A second one was planted (cookie tossing): there is no way to know which is genuine.
      `${owner.person.cookie}; ${name}=${'A'.repeat(43)}`,
      `${name}=${'A'.repeat(43)}; ${owner.person.cookie}`,
      `${owner.person.cookie}; ${owner.person.cookie}`,
    ];
    const refusals = await Promise.all(cookies.map((cookie) => ask(endpoint, cookie, owner.params)));
    const told = refusals.map(({ status, json }, index) => [cookies[index], status, json.code]);
    expect(told).toEqual(cookies.map((cookie) => [cookie, 401, 'signed_out']));
  });
});

describe("an organisation without membership doesn't exist", () => {
  test.each(ofOrganisation)('$name', async (endpoint) => {
    const { cookie } = stranger.person;
    const elsewhere = await ask(endpoint, cookie, owner.params);
    const nowhere = await ask(endpoint, cookie, { ...owner.params, org: NOWHERE });
    expect(elsewhere.status).toBe(404);
    expect(bare(elsewhere)).toEqual(bare(nowhere));
  });
});

describe('ids of another organisation in queries and bodies', () => {
  test('match nothing', async () => {
    const { person, params: own } = stranger;
    const params = { org: person.organisationId };
    const [workflow, execution] = [Number(owner.params.id), Number(owner.params.execution)];
    const listed = await person.call('GET /orgs/:org/executions', { params, query: { workflow } });
    expect(listed.data.items).toEqual([]);
    const mine = Number(own.execution);
    for (const query of [
      { a: execution, b: mine },
      { a: mine, b: execution },
    ]) {
      expect((await person.call('GET /orgs/:org/executions/compare', { params, query })).status).toBe(404);
    }
    const at = { ...params, id: Number(own.id) };
    for (const body of [{ input_of: execution }, { only_node: 'ask', outputs_of: execution }]) {
      const { status, json } = await person.call('POST /orgs/:org/workflows/:id/run', { params: at, body });
      expect([status, json.errors[0]?.code]).toEqual([422, 'not_found']);
    }
  });

  test('refer to no credential', async () => {
    const { person } = stranger;
    const params = { org: person.organisationId };
    const flowOf = (credential_id: unknown) => ({
      nodes: [
        { id: 'start', type: 'trigger.manual', data: {} },
        {
          id: 'call',
          type: 'http.request',
          data: {
            config: { method: 'GET', url: 'https://a.example/', auth: { type: 'credential', credential_id } },
          },
        },
      ],
      edges: [{ source: 'start', target: 'call' }],
    });
    const check = async (credential: unknown) => {
      const body = { flow_data: flowOf(credential) as never };
      const { data } = await person.call('POST /orgs/:org/flow-checks', { params, body });
      return data.problems.map(({ code }) => code);
    };
    expect(await check(stranger.params.credential)).toEqual([]);
    expect(await check(owner.params.credential)).toEqual(['credential_not_found']);
    const body = {
      name: 'x',
      status: 'active',
      flow_data: flowOf(owner.params.credential) as never,
    } as const;
    const { json } = await person.call('POST /orgs/:org/workflows', { params, body });
    expect(json.errors.map(({ code }) => code)).toEqual(['credential_not_found']);
  });
});

describe('a cursor of another organisation is invalid', () => {
  // A list that belongs to an object counts its own entries; the object is what another organisation doesn't find.
  const paged = ofOrganisation.filter(
    ({ path, query }) =>
      !path.includes('/:credential/') && 'cursor' in ((query as { properties?: object })?.properties ?? {}),
  );

  test.each(paged)('$name', async (endpoint) => {
    const first = await ask(endpoint, owner.person.cookie, owner.params, '?limit=1');
    const cursor = String(first.json.next_cursor);
    expect(cursor).toMatch(/^[\w-]{32,}$/);
    const next = `?limit=1&cursor=${cursor}`;
    expect((await ask(endpoint, owner.person.cookie, owner.params, next)).status).toBe(200);
    expect((await ask(endpoint, stranger.person.cookie, stranger.params, next)).status).toBe(422);
  });
});

/** Endpoints whose path names more than the organisation; the service's own objects belong to none. */
const ofObjects = ENDPOINTS.filter(
  ({ path, access }) => /:(?!org\b)/.test(path) && access !== 'system_admin',
);

/** Not ids as the API writes them, although a lenient number parser might accept them. */
const NO_IDS = [
  ...['0', '-1', '1e3', '1.0', '+1', '0x10', '01', '9007199254740992', '9223372036854775808'],
  ...['%20', '1%20', '%00', '1%00', 'null', "1'", '%EF%BC%91', '9'.repeat(10_000)],
];

describe('a malformed id is the same 404 as an unknown one', () => {
  const numbered = ENDPOINTS.filter(({ path }) => /:(?!node\b)/.test(path));
  test.each(numbered)('$name', async (endpoint) => {
    const cookie = endpoint.access === 'system_admin' ? administrator : owner.person.cookie;
    for (const name of [...endpoint.path.matchAll(/:(\w+)/g)].map(([, found = '']) => found)) {
      if (name === 'node') continue;
      const nowhere = await ask(endpoint, cookie, { ...owner.params, [name]: NOWHERE });
      const answers = await Promise.all(
        NO_IDS.map((id) => ask(endpoint, cookie, { ...owner.params, [name]: id })),
      );
      const told = answers.map((answer, index) => [name, NO_IDS[index]?.slice(0, 20), bare(answer)]);
      expect(told).toEqual(NO_IDS.map((id) => [name, id.slice(0, 20), bare(nowhere)]));
    }
  });
});

describe('resources of another organisation are the same 404 as unknown ones', () => {
  test.each(ofObjects)('$name', async (endpoint) => {
    const { person, params } = stranger;
    const own = { org: person.organisationId };
    const nothing = Object.fromEntries(Object.keys(params).map((name) => [name, NOWHERE]));
    const taken = await ask(endpoint, person.cookie, { ...owner.params, ...own });
    expect(taken.status, JSON.stringify(taken.json)).toBe(404);
    expect(bare(taken)).toEqual(bare(await ask(endpoint, person.cookie, { ...nothing, ...own })));
  });

  // Removals last: they end what the others need.
  const inOrder = [...ofObjects].sort(
    (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
  );
  test.each(inOrder)('they exist for their own members: $name', async (endpoint) => {
    const { status, json } = await ask(endpoint, owner.person.cookie, owner.params);
    expect([404, 401, 403, 500], JSON.stringify(json)).not.toContain(status);
  });
});
