import { ADMIN_API, type Endpoint } from '@millrace/admin-api';
import { issueKey } from '@millrace/identity/api-keys/keys';
import { createOrganisation } from '@millrace/identity/organisations/store';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { type ApiAnswer, type Method, send } from '@millrace/testing/api';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkflow } from './workflows-world.ts';

/** Typed, pasted or generated values: each is accepted unchanged or refused with a clear message, never a 500. */
let service: TestService;
let admin: TestPerson;
let org: string;
let workflowId: number;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  admin = await createPerson(service, 'org_admin');
  org = `/orgs/${admin.organisationId}`;
  workflowId = (await createWorkflow(admin)).id;
});
afterAll(() => service.stop());

function ask(method: Method, path: string, raw?: string): Promise<ApiAnswer> {
  return send(`${service.url}/api/admin${path}`, method, {
    headers: { cookie: admin.cookie, 'sec-fetch-site': 'same-origin' },
    ...(raw === undefined ? {} : { raw }),
  });
}

const ENDPOINTS = Object.entries(ADMIN_API as { readonly [name: string]: Endpoint });

interface Schema {
  readonly type?: string;
  readonly maximum?: number;
  readonly enum?: unknown;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly [keyword: string]: unknown;
}

/** Integers of a schema without an upper bound, by location. */
function unbounded(schema: unknown, at = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, maximum } = schema as Schema;
  if (type === 'integer' && maximum === undefined) return [at];
  return Object.entries(schema).flatMap(([name, value]) => unbounded(value, `${at}/${name}`));
}

describe('numbers', () => {
  test('every number an endpoint accepts is bounded by what can be stored', () => {
    const found = ENDPOINTS.flatMap(([name, { query, body }]) => unbounded({ query, body }, name));
    expect(found).toEqual([]);
  });

  test.each(['3000000000', '9007199254740993', '99999999999999999999'])(
    '%s for a version',
    async (number) => {
      const workflow = `${org}/workflows/${workflowId}`;
      expect((await ask('GET', `${workflow}/export?version=${number}`)).status).toBe(422);
      expect((await ask('POST', `${workflow}/run`, `{"version":${number}}`)).status).toBe(422);
      const body = `{"flow_data":{"nodes":[],"edges":[]},"base_version":${number},"revision":0}`;
      expect((await ask('PUT', `${workflow}/draft`, body)).status).toBe(422);
    },
  );

  test.each(['9007199254740993', '1e300', '99999999999999999999'])('%s for an id', async (number) => {
    const run = `${org}/workflows/${workflowId}/run`;
    expect((await ask('POST', run, `{"input_of":${number}}`)).status).toBe(422);
    expect((await ask('POST', run, `{"only_node":"set","outputs_of":${number}}`)).status).toBe(422);
    expect((await ask('GET', `${org}/executions?workflow=${number}`)).status).toBe(422);
    expect((await ask('GET', `${org}/executions/compare?a=${number}&b=1`)).status).toBe(422);
    const body = `{"flow_data":{"nodes":[],"edges":[]},"base_version":1,"revision":${number}}`;
    expect((await ask('PUT', `${org}/workflows/${workflowId}/draft`, body)).status).toBe(422);
  });
});

/** Free-text parameters, with those that the endpoint requires besides. */
const TEXTS = ENDPOINTS.filter(([name]) => name.startsWith('GET /orgs/:org/')).flatMap(
  ([name, { query }]) => {
    const { properties = {}, required = [] } = (query as Schema | undefined) ?? {};
    return Object.entries(properties)
      .filter(([, { type, enum: values }]) => type === 'string' && values === undefined)
      .map(([parameter]) => ({ name, parameter, others: required.filter((other) => other !== parameter) }));
  },
);

describe('text in a query', () => {
  test.each(TEXTS)('$name?$parameter with U+0000 is refused', async ({ name, parameter, others }) => {
    const path = name
      .slice(4)
      .replace(':org', String(admin.organisationId))
      .replace(':id', String(workflowId));
    const query = [`${parameter}=a%00b`, ...others.map((other) => `${other}=a`)].join('&');
    const { status, json } = await ask('GET', `${path}?${query}`);
    expect([status, json.errors[0]?.pointer]).toEqual([422, `/${parameter}`]);
  });

  test.each(['%', '_', '\\', '%%%%', "'", '"', '.*', '(a+)+$', '🙂', '\u05d0'])(
    '%s is matched literally',
    async (text) => {
      await createWorkflow(admin, undefined, { name: 'nothing of it' });
      const { id } = await createWorkflow(admin, undefined, { name: `a${text}b`, tags: [text] });
      const params = { org: admin.organisationId };
      const found = await admin.call('GET /orgs/:org/workflows', { params, query: { search: text } });
      expect(found.data.items.map((item) => item.id)).toEqual([id]);
      const tagged = await admin.call('GET /orgs/:org/workflows', { params, query: { tag: text } });
      expect(tagged.data.items.map((item) => item.id)).toEqual([id]);
      const runs = await admin.call('GET /orgs/:org/executions', { params, query: { text } });
      expect(runs.status).toBe(200);
      const audit = await admin.call('GET /orgs/:org/audit', { params, query: { who: `nobody ${text}` } });
      expect(audit.data.items).toEqual([]);
    },
  );
});

describe('names of members that every object inherits', () => {
  test.each(['__proto__', 'constructor', 'prototype', 'toString'])('%s is data, or unknown', async (name) => {
    const member = JSON.stringify(name);
    const workflow = `${org}/workflows/${workflowId}`;
    for (const [method, path, raw] of [
      ['PATCH', `${org}/settings`, `{${member}:{"time_zone":"UTC"}}`],
      ['PATCH', `${org}/settings`, `{"retention_days":{${member}:1}}`],
      ['POST', `${org}/workflows`, `{"name":"x",${member}:1}`],
      ['POST', `${org}/workflows`, `{"template":{"id":"order-paid","vars":{${member}:1}}}`],
      ['POST', `${org}/workflows`, `{"template":{"id":${member}}}`],
      ['POST', `${org}/credentials`, `{"name":"x","type":${member},"hosts":[],"fields":{}}`],
      ['POST', `${workflow}/run`, `{"only_node":${member}}`],
      ['GET', `${org}/workflows?${name}=1`, undefined],
    ] as const) {
      expect([path, raw, (await ask(method, path, raw)).status]).toEqual([path, raw, 422]);
    }
    const flow = `{"nodes":[{"id":${member},"type":${member},"data":{"config":{${member}:{"polluted":1}}}}],
      "edges":[],"settings":{"vars":{${member}:{"polluted":1}}},${member}:{"polluted":1}}`;
    const params = { org: admin.organisationId, id: workflowId };
    const { draft } = (await admin.call('GET /orgs/:org/workflows/:id/draft', { params })).data;
    const put = await ask(
      'PUT',
      `${workflow}/draft`,
      `{"flow_data":${flow},"base_version":1,"revision":${draft?.revision ?? 0}}`,
    );
    expect(put.status, put.text).toBe(200);
    const read = await ask('GET', `${workflow}/draft`);
    expect(read.text.match(/"polluted":1/g)).toHaveLength(3);
    const check = await ask('POST', `${org}/flow-checks`, `{"flow_data":${flow}}`);
    expect(check.status).toBe(200);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe('bodies', () => {
  test('that are too large are refused before they are read, by the limit of the endpoint', async () => {
    const { bodyBytes, flowBodyBytes } = service.deps.config.limits;
    const big = (bytes: number) => `{"name":"${'x'.repeat(bytes)}"}`;
    expect((await ask('PATCH', '/me', big(bodyBytes))).status).toBe(413);
    expect((await ask('POST', `${org}/workflows`, big(flowBodyBytes))).status).toBe(413);
    expect((await ask('POST', `${org}/workflows`, big(bodyBytes))).status).toBe(422);
  });

  test('that no endpoint reads are refused for everyone', async () => {
    const answer = await send(`${service.url}/api/admin${org}/workflows`, 'POST', {
      raw: 'x'.repeat(1_000_000),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(answer.status).toBe(401);
  });

  test('that are nested without end', async () => {
    const deep = (levels: number) =>
      `{"flow_data":{"nodes":${'['.repeat(levels)}${']'.repeat(levels)},"edges":[]}}`;
    for (const levels of [1_000, 200_000]) {
      const { status, json } = await ask('POST', `${org}/flow-checks`, deep(levels));
      expect([status, json.code]).toEqual([400, 'json_too_deep']);
    }
  });

  test('of another type, compressed, or in another encoding', async () => {
    for (const headers of [
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'multipart/form-data; boundary=x' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-encoding': 'gzip' },
    ] as readonly { readonly [name: string]: string }[]) {
      const answer = await send(`${service.url}/api/admin/me`, 'PATCH', {
        raw: '{"name":"x"}',
        headers: { cookie: admin.cookie, 'sec-fetch-site': 'same-origin', ...headers },
      });
      expect([headers, answer.status]).toEqual([headers, 415]);
    }
  });

  test('with lone surrogates and U+0000', async () => {
    for (const text of ['\\u0000', '\\ud800', '\\udc00x']) {
      expect((await ask('PATCH', '/me', `{"name":"${text}"}`)).status).toBe(422);
      expect((await ask('PATCH', org, `{"name":"${text}"}`)).status).toBe(422);
    }
  });
});

describe('cursors', () => {
  test.each(['workflows', 'executions', 'audit', 'members', 'invitations', 'keys', 'approvals'])(
    'of %s that were tampered with or are malformed are 422',
    async (list) => {
      const cursors = [
        'x',
        'A'.repeat(32),
        'A'.repeat(1_000),
        "' OR 1=1 --",
        Buffer.alloc(24).toString('base64url'),
      ];
      for (const cursor of cursors) {
        const { status, json } = await ask('GET', `${org}/${list}?cursor=${encodeURIComponent(cursor)}`);
        expect([cursor, status, json.errors[0]?.pointer]).toEqual([cursor, 422, '/cursor']);
      }
    },
  );

  test('issued by a list work for that list and its filters only', async () => {
    await createWorkflow(admin);
    const first = await ask('GET', `${org}/workflows?limit=1`);
    const cursor = String(first.json.next_cursor);
    expect((await ask('GET', `${org}/workflows?cursor=${cursor}`)).status).toBe(200);
    const flipped = `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`;
    for (const path of [
      `workflows?cursor=${flipped}`,
      `workflows?cursor=${cursor}=`,
      `workflows?cursor=${cursor}&status=all`,
      `workflows?cursor=${cursor}&search=a`,
      `audit?cursor=${cursor}`,
      `members?cursor=${cursor}`,
      `workflows/${workflowId}/versions?cursor=${cursor}`,
    ]) {
      expect([path, (await ask('GET', `${org}/${path}`)).status]).toEqual([path, 422]);
    }
  });
});

describe('names with invisible or text-reversing characters', () => {
  const NAME = 'invoice \u202efdp.exe';
  const FLOW = { nodes: [], edges: [] };

  test.each([
    ['POST', '/orgs/ORG/keys', { name: NAME, scopes: ['workflows:read'], expires_at: null }],
    ['POST', '/orgs/ORG/workflows', { name: NAME, flow_data: FLOW }],
    ['PATCH', '/orgs/ORG', { name: NAME }],
    ['PATCH', '/me', { name: NAME }],
  ] as const)('are refused: %s %s', async (method, path, body) => {
    const answer = await ask(method, path.replace('/orgs/ORG', org), JSON.stringify(body));
    expect([answer.status, answer.json.errors]).toEqual([
      422,
      [
        {
          pointer: '/name',
          field: 'name',
          code: 'hidden_character',
          message: expect.stringContaining('remove U+202E'),
          key: 'identity.name_hidden',
          params: { character: 'U+202E' },
        },
      ],
    ]);
  });

  test('are refused by the public API and the command line', async () => {
    const body = { name: NAME, flow_data: FLOW };
    const { db } = service.database;
    const by = { actor: 'operator' } as const;
    const { text: key } = await issueKey(
      db,
      { organisationId: admin.organisationId, name: 'x', scopes: ['workflows:write'] },
      by,
    );
    const { status, json } = await service.api('POST', '/workflows', { key, body });
    expect([status, json.errors?.[0]?.code]).toEqual([422, 'hidden_character']);
    const issue = { organisationId: admin.organisationId, name: NAME, scopes: ['workflows:read'] };
    await expect(issueKey(db, issue, by)).rejects.toThrow('remove U+202E');
    await expect(createOrganisation(db, NAME, by)).rejects.toThrow('remove U+202E');
  });
});
