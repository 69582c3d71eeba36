import { randomUUID } from 'node:crypto';
import { parseJson, stringifyJson } from '@millrace/engine';
import { RUNNABLE_FLOW, UNFINISHED_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
beforeAll(async () => {
  service = await startTestService();
  key = await service.createKey();
});
afterAll(() => service.stop());

const create = (body: unknown, headers: { [name: string]: string } = {}, who: TestKey = key) =>
  service.api('POST', '/workflows', { key: who, body, headers });
const createRaw = (raw: string | Uint8Array<ArrayBuffer>, headers: { [name: string]: string } = {}) =>
  service.api('POST', '/workflows', { key, raw, headers });

async function countOf(who: TestKey): Promise<number> {
  const rows = await service.database.db.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM workflows WHERE organisation_id = $1',
    [who.organisationId],
  );
  return rows[0]?.count ?? -1;
}

describe('201', () => {
  test('with only a name and flow_data, everything else has its default', async () => {
    const { status, json, headers } = await create({ name: '  Nightly  ', flow_data: UNFINISHED_FLOW });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: 'Nightly',
      description: '',
      status: 'draft',
      tags: [],
      is_test_mode: false,
      version: 1,
      flow_data: UNFINISHED_FLOW,
    });
    expect(json.problems).toEqual([expect.objectContaining({ code: 'no_trigger', node_id: null })]);
    expect(json.created_at).toBe(json.updated_at);
    expect(headers.get('location')).toBe(`https://flows.example/api/v1/workflows/${json.id}`);
    const read = await service.api('GET', `/workflows/${json.id}`, { key });
    expect(read.json).toEqual(json);
    expect(read.headers.get('etag')).toBe(headers.get('etag'));
  });

  test('every field that can be set is stored', async () => {
    const body = {
      name: 'a'.repeat(255),
      description: 'd'.repeat(10_000),
      tags: Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(64, 'x')),
      is_test_mode: true,
      status: 'active',
      flow_data: RUNNABLE_FLOW,
    };
    const { status, json } = await create(body);
    expect(status).toBe(201);
    expect(json).toMatchObject(body);
    expect(json.problems).toEqual([]);
  });

  test('flow_data comes back as sent: exact numbers, member order, __proto__, unknown members', async () => {
    const flow =
      '{"zeta":9007199254740993,"nodes":[],"edges":[],"big":1e400,"tiny":0.1234567890123456789,"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}';
    const { status, json, text } = await createRaw(`{"name":"exact","flow_data":${flow}}`);
    expect(status).toBe(201);
    expect(text).toContain(`"flow_data":${flow}`);
    const read = await service.api('GET', `/workflows/${json.id}`, { key });
    expect(read.text).toContain(`"flow_data":${flow}`);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test('if a member name occurs twice, the last one wins', async () => {
    const { json } = await createRaw('{"name":"first","name":"last","flow_data":{"nodes":[],"edges":[]}}');
    expect(json.name).toBe('last');
  });

  test('a byte order mark is dropped', async () => {
    const { status } = await createRaw('\uFEFF{"name":"bom","flow_data":{"nodes":[],"edges":[]}}');
    expect(status).toBe(201);
  });

  test('names are counted in characters, not in UTF-16 units', async () => {
    const { status } = await create({ name: '😀'.repeat(255), flow_data: UNFINISHED_FLOW });
    expect(status).toBe(201);
  });

  test.each(['draft', 'active', 'inactive', 'archived'] as const)(
    'the response of GET for an %s workflow can be posted back',
    async (status) => {
      const { json } = await create({ name: 'again', flow_data: RUNNABLE_FLOW });
      if (status === 'active' || status === 'inactive') {
        await service.api('PUT', `/workflows/${json.id}`, { key, body: { status } });
      }
      if (status === 'archived') await service.api('DELETE', `/workflows/${json.id}`, { key });
      const detail = await service.api('GET', `/workflows/${json.id}`, { key });
      expect(detail.json.status).toBe(status);
      const copy = await createRaw(detail.text);
      expect(copy.status).toBe(201);
      expect(copy.json.id).not.toBe(json.id);
      expect(copy.json.status).toBe(status === 'active' ? 'active' : 'draft');
    },
  );
});

describe('201 with an Idempotency-Key', () => {
  test('the same request again gets the same response and creates nothing', async () => {
    const who = await service.createKey();
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create({ name: 'once', flow_data: RUNNABLE_FLOW }, headers, who);
    // Member order and whitespace don't make it a different request.
    const again = await service.api('POST', '/workflows', {
      key: who,
      raw: `{ "flow_data": ${JSON.stringify(RUNNABLE_FLOW)} , "name":"once" }`,
      headers,
    });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(await countOf(who)).toBe(1);
  });

  test('the response stays the first one after the workflow has changed', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'before', flow_data: UNFINISHED_FLOW };
    const first = await create(body, headers);
    await service.api('PUT', `/workflows/${first.json.id}`, { key, body: { name: 'after' } });
    expect((await create(body, headers)).text).toBe(first.text);
  });

  test('200 concurrent requests create one workflow and get one body', async () => {
    const who = await service.createKey();
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => create({ name: 'twin', flow_data: UNFINISHED_FLOW }, headers, who)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers: sent }) => !sent.has('idempotent-replayed'))).toHaveLength(1);
    expect(await countOf(who)).toBe(1);
  });

  test("a record expires after 24 hours by the database's clock", async () => {
    const who = await service.createKey();
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'old', flow_data: UNFINISHED_FLOW };
    const first = await create(body, headers, who);
    const age = (interval: string) =>
      service.database.db.query(
        'UPDATE idempotency_records SET created_at = now() - $1::interval WHERE organisation_id = $2',
        [interval, who.organisationId],
      );
    await age('23 hours 59 minutes');
    expect((await create(body, headers, who)).text).toBe(first.text);
    await age('24 hours 1 second');
    const later = await create(body, headers, who);
    expect(later.status).toBe(201);
    expect(later.json.id).not.toBe(first.json.id);
    expect((await create(body, headers, who)).text).toBe(later.text);
  });

  test("keys of one family share their Idempotency-Keys, other families don't", async () => {
    const who = await service.createKey();
    const sibling = await service.createKey({ organisationId: who.organisationId });
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'family', flow_data: UNFINISHED_FLOW };
    const first = await create(body, headers, who);
    expect((await create(body, headers, sibling)).text).not.toBe(first.text);
    await service.database.db.query(
      'UPDATE api_keys SET family_id = (SELECT family_id FROM api_keys WHERE id = $1) WHERE id = $2',
      [who.id, sibling.id],
    );
    expect((await create(body, headers, sibling)).text).toBe(first.text);
  });

  test("a refused request doesn't use up the key", async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expect((await create({ name: '', flow_data: UNFINISHED_FLOW }, headers)).status).toBe(422);
    expect((await create({ name: 'good', flow_data: UNFINISHED_FLOW }, headers)).status).toBe(201);
  });
});

describe('400', () => {
  test.each([
    ['{', 'invalid_json'],
    ['{"name": "a",}', 'invalid_json'],
    ["{'name': 1}", 'invalid_json'],
    ['nonsense', 'invalid_json'],
    [`${'['.repeat(101)}${']'.repeat(101)}`, 'json_too_deep'],
    [`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`, 'json_too_deep'],
    ['"\u0000"', 'invalid_json'],
  ])("a body that can't be parsed: %.20s", async (raw, code) => {
    const { status, json } = await createRaw(raw);
    expect([status, json.code]).toEqual([400, code]);
  });

  test.each([
    ['{"name":', 'ends too early'],
    ['{"a":"b', 'ends too early'],
    ['{"a":NaN}', 'at character 6.'],
    ['{"a":}', 'at character 6.'],
    ['[1,,2]', 'at character 4.'],
    ["{'a':1}", 'at character 2.'],
    ['{"a":1,}', 'at character 8.'],
    ['{} {}', 'at character 4.'],
    ['[01]', 'at character 3.'],
    ['"\\x"', 'at character 2.'],
    ['xx', 'at character 1.'],
    ['{"a":"b\nc"}', 'at character 8.'],
    [`[${'1,'.repeat(500)}nul]`, 'at character 1002.'],
  ])('says where JSON ends early or goes wrong: %.20s', async (raw, where) => {
    const { status, json } = await service.api('POST', '/workflows', { key, raw });
    expect([status, json.code]).toEqual([400, 'invalid_json']);
    expect(json.detail).toContain(where);
  });

  test('a body that is not UTF-8', async () => {
    const { status, json } = await createRaw(new Uint8Array([0x22, 0xff, 0xfe, 0x22]));
    expect([status, json.code]).toEqual([400, 'invalid_body']);
  });

  test.each(['', 'a b', 'ä', 'x'.repeat(256)])('a malformed Idempotency-Key: %.20s', async (text) => {
    const headers = { 'idempotency-key': text };
    const { status, json } = await create({ name: 'a', flow_data: UNFINISHED_FLOW }, headers);
    expect([status, json.code]).toEqual([400, 'invalid_idempotency_key']);
  });
});

describe('409', () => {
  test('an Idempotency-Key with another body, valid or not', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await create({ name: 'one', flow_data: { nodes: [], edges: [], n: 2 ** 53 } }, headers);
    const bodies = [
      '{"name":"two","flow_data":{"nodes":[],"edges":[],"n":9007199254740992}}',
      '{"name":"one","flow_data":{"nodes":[],"edges":[],"n":9007199254740993}}',
      '{"name":5}',
    ];
    for (const body of bodies) {
      const { status, json } = await createRaw(body, headers);
      expect([status, json.code]).toEqual([409, 'idempotency_key_reused']);
    }
  });
});

describe('413', () => {
  test('a body over 5 MiB; one just under it is read', async () => {
    const pad = (length: number) =>
      `{"name":"big","flow_data":{"nodes":[],"edges":[],"pad":"${'x'.repeat(length)}"}}`;
    expect((await createRaw(pad(5 * 1024 * 1024))).json.code).toBe('body_too_large');
    expect((await createRaw(pad(5 * 1024 * 1024 - 1000))).status).toBe(201);
  });
});

describe('415', () => {
  test.each([
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'nonsense' },
    { 'content-encoding': 'gzip' },
  ])('%o', async (headers) => {
    const { status, json } = await createRaw('{}', headers);
    expect([status, json.code]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('422', () => {
  const good = { name: 'a', flow_data: UNFINISHED_FLOW };
  test.each([
    [undefined, '', 'invalid_type'],
    [[], '', 'invalid_type'],
    [null, '', 'invalid_type'],
    [{ flow_data: UNFINISHED_FLOW }, '/name', 'required'],
    [{ name: 'a' }, '/flow_data', 'required'],
    [{ ...good, name: '   ' }, '/name', 'invalid_length'],
    [{ ...good, name: 'a'.repeat(256) }, '/name', 'invalid_length'],
    [{ ...good, name: 5 }, '/name', 'invalid_type'],
    [{ ...good, description: 'd'.repeat(10_001) }, '/description', 'too_long'],
    [{ ...good, description: null }, '/description', 'invalid_type'],
    [{ ...good, tags: 'a' }, '/tags', 'invalid_type'],
    [{ ...good, tags: [''] }, '/tags/0', 'too_short'],
    [{ ...good, tags: ['a', 'x'.repeat(65)] }, '/tags/1', 'too_long'],
    [{ ...good, tags: ['a', 'b', 'a'] }, '/tags/2', 'duplicate_item'],
    [{ ...good, tags: Array.from({ length: 51 }, String) }, '/tags', 'too_many_items'],
    [{ ...good, is_test_mode: 'true' }, '/is_test_mode', 'invalid_type'],
    [{ ...good, status: 'running' }, '/status', 'invalid_value'],
    [{ ...good, status: 'inactive' }, '/status', 'invalid_value'],
    [{ ...good, status: 'archived' }, '/status', 'invalid_value'],
    [{ ...good, webhook_hash: 'x' }, '/webhook_hash', 'unknown_field'],
    [{ ...good, 'a/b~c': 1 }, '/a~1b~0c', 'unknown_field'],
    [{ ...good, flow_data: [] }, '/flow_data', 'invalid_type'],
    [{ ...good, flow_data: { nodes: {}, edges: [] } }, '/flow_data/nodes', 'invalid_type'],
    [
      { ...good, flow_data: { nodes: [], edges: [{ source: 'x', target: 'y' }] } },
      '/flow_data/edges/0/source',
      'unknown_node',
    ],
    [{ ...good, flow_data: UNFINISHED_FLOW, status: 'active' }, '/flow_data/nodes', 'no_trigger'],
    [{ ...good, name: 'a\u0000b' }, '/name', 'unsupported_character'],
    [
      { ...good, flow_data: { ...UNFINISHED_FLOW, x: ['\ud800'] } },
      '/flow_data/x/0',
      'unsupported_character',
    ],
  ])('%j is refused at %s', async (body, pointer, code) => {
    const { status, json } = await create(body);
    expect(status).toBe(422);
    expect(json.errors[0]).toEqual({
      pointer,
      field: pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~'),
      code,
      message: expect.any(String),
    });
  });

  test.each([
    [{ name: '' }, 'must have 1 to 255 characters, not counting whitespace at either end'],
    [{ description: 'd'.repeat(10_001) }, 'must have at most 10000 characters'],
    [{ tags: [''] }, 'must have at least 1 character'],
    [{ tags: ['x'.repeat(65)] }, 'must have at most 64 characters'],
    [{ tags: Array.from({ length: 51 }, (_tag, index) => `t${index}`) }, 'must have at most 50 items'],
  ])('says the limit of what is too long or too short: %j', async (members, message) => {
    const { json } = await create({ ...good, ...members });
    expect(json.errors.map((error) => error.message)).toEqual([message]);
  });

  test.each(['1e400', '9007199254740993'])('an exact number is not an object: %s', async (number) => {
    const { status, json } = await createRaw(`{"name":"a","flow_data":${number}}`);
    expect([status, json.errors[0]?.pointer]).toEqual([422, '/flow_data']);
    const start = await service.api('POST', '/workflows/1/execute', { key, raw: `{"input_data":${number}}` });
    expect([start.status, start.json.errors[0]?.pointer]).toEqual([422, '/input_data']);
  });

  test('__proto__ beside the fields is an unknown field like any other', async () => {
    const { status, json } = await createRaw(
      '{"name":"a","flow_data":{"nodes":[],"edges":[]},"__proto__":{"status":"active"}}',
    );
    expect([status, json.errors[0]?.pointer]).toEqual([422, '/__proto__']);
  });

  test('every mistake is reported at once', async () => {
    const { json } = await create({ name: 1, tags: [2, 'a', 'a'], other: true });
    expect(json.errors.map(({ pointer }) => pointer).sort()).toEqual(
      ['/flow_data', '/name', '/other', '/tags/0', '/tags/2'].sort(),
    );
  });

  test('a body with very many mistakes gets a short response', async () => {
    const tags = Array.from({ length: 500_000 }, () => 1);
    const { status, json } = await create({ name: 'a', flow_data: UNFINISHED_FLOW, tags });
    expect(status).toBe(422);
    expect(json.errors.length).toBeLessThanOrEqual(100);
  });

  test('more nodes than allowed', async () => {
    const nodes = Array.from({ length: 2001 }, (_, index) => ({ id: `n${index}`, type: 'core.set' }));
    const { status, json } = await create({ name: 'a', flow_data: { nodes, edges: [] } });
    expect([status, json.errors[0]?.code]).toEqual([422, 'too_many_nodes']);
  });
});

test('the service only stores what parses back', () => {
  const text = '{"a":1e400,"b":[0.1234567890123456789]}';
  expect(stringifyJson(parseJson(text))).toBe(text);
});
