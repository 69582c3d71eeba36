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

type Status = 'draft' | 'active' | 'inactive' | 'archived';

const put = (id: number, body: unknown, headers: { [name: string]: string } = {}) =>
  service.api('PUT', `/workflows/${id}`, { key, body, headers });
const get = (id: number) => service.api('GET', `/workflows/${id}`, { key });

async function createWorkflow(status: Status = 'draft', flow: object = RUNNABLE_FLOW): Promise<number> {
  const { json } = await service.api('POST', '/workflows', { key, body: { name: 'a', flow_data: flow } });
  if (status === 'active' || status === 'inactive') await put(json.id, { status });
  if (status === 'archived') await service.api('DELETE', `/workflows/${json.id}`, { key });
  return json.id;
}

async function versionsOf(id: number): Promise<number> {
  const { json } = await service.api('GET', `/workflows/${id}/versions`, { key });
  return json.data.length;
}

describe('PUT 200', () => {
  test.each([
    { name: 'b' },
    { description: 'new' },
    { tags: ['x', 'y'] },
    { is_test_mode: true },
    { name: ' b ' },
  ])('a single field: %j', async (body) => {
    const id = await createWorkflow();
    const before = await get(id);
    const { status, json } = await put(id, body);
    expect(status).toBe(200);
    const expected = 'name' in body ? { name: 'b' } : body;
    expect(json).toEqual({ ...before.json, ...expected, updated_at: json.updated_at });
    expect(json.updated_at).not.toBe(before.json.updated_at);
    expect((await get(id)).json).toEqual(json);
  });

  test('other flow_data appends a version, each with its own update time and ETag', async () => {
    const id = await createWorkflow();
    const tags = new Set<string | null>();
    for (const n of [1, 2, 3, 4, 5]) {
      const { json, headers } = await put(id, { flow_data: { ...UNFINISHED_FLOW, n } });
      expect(json.version).toBe(n + 1);
      tags.add(headers.get('etag'));
    }
    expect(tags.size).toBe(5);
    expect(await versionsOf(id)).toBe(6);
  });

  test('flow_data with the same meaning is unchanged: member order and number notation', async () => {
    const id = await createWorkflow('draft', { nodes: [], edges: [], a: 1, b: [1] });
    const before = await get(id);
    const raw = '{"flow_data":{"b":[1.0],"a":1e0,"edges":[],"nodes":[]}}';
    const { status, text } = await service.api('PUT', `/workflows/${id}`, { key, raw });
    expect([status, text]).toEqual([200, before.text]);
    expect(await versionsOf(id)).toBe(1);
  });

  test('2^53 and 2^53+1 differ', async () => {
    const id = await createWorkflow('draft', { nodes: [], edges: [], n: 2 ** 53 });
    const raw = '{"flow_data":{"nodes":[],"edges":[],"n":9007199254740993}}';
    const { json } = await service.api('PUT', `/workflows/${id}`, { key, raw });
    expect(json.version).toBe(2);
  });

  test('an empty object changes nothing', async () => {
    const id = await createWorkflow();
    const before = await get(id);
    expect((await put(id, {})).text).toBe(before.text);
  });

  test.each<Status>(['draft', 'active', 'inactive', 'archived'])(
    'the body of GET of an %s workflow changes nothing',
    async (status) => {
      const id = await createWorkflow(status);
      const before = await get(id);
      const {
        status: code,
        text,
        headers,
      } = await service.api('PUT', `/workflows/${id}`, { key, raw: before.text });
      expect([code, text]).toEqual([200, before.text]);
      expect(headers.get('etag')).toBe(before.headers.get('etag'));
      expect(await versionsOf(id)).toBe(1);
    },
  );

  test('20 concurrent changes of flow_data create 20 versions', async () => {
    const id = await createWorkflow();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => put(id, { flow_data: { ...UNFINISHED_FLOW, n } })),
    );
    expect(answers.map(({ json }) => json.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 2),
    );
  });

  test('If-Match with the current ETag or * is accepted', async () => {
    const id = await createWorkflow();
    const etag = (await get(id)).headers.get('etag') ?? '';
    expect((await put(id, { name: 'b' }, { 'if-match': `"x", ${etag}` })).status).toBe(200);
    expect((await put(id, { name: 'c' }, { 'if-match': '*' })).status).toBe(200);
  });
});

const REACHABLE: Readonly<Record<Status, readonly Status[]>> = {
  draft: ['draft', 'active', 'inactive'],
  active: ['active', 'inactive'],
  inactive: ['inactive', 'active'],
  archived: ['archived', 'inactive'],
};

describe('PUT of status', () => {
  const all = Object.keys(REACHABLE) as Status[];
  test.each(all.flatMap((from) => all.map((to) => [from, to] as const)))('%s to %s', async (from, to) => {
    const id = await createWorkflow(from);
    const { status, json } = await put(id, { status: to });
    if (REACHABLE[from].includes(to)) {
      expect([status, json.status]).toEqual([200, to]);
    } else {
      expect([status, json.errors[0]?.pointer, json.errors[0]?.code]).toEqual([
        422,
        '/status',
        'invalid_transition',
      ]);
      expect((await get(id)).json.status).toBe(from);
    }
  });

  test('422: a workflow with problems does not become active; one error per problem', async () => {
    const flow = {
      nodes: [
        ...RUNNABLE_FLOW.nodes,
        { id: 'odd', type: 'core.unknown' },
        { id: 'lost', type: 'core.unknown2' },
      ],
      edges: RUNNABLE_FLOW.edges,
    };
    const id = await createWorkflow('draft', flow);
    const problems = (await get(id)).json.problems as { pointer: string; code: string }[];
    const { status, json } = await put(id, { status: 'active' });
    expect(status).toBe(422);
    expect(json.errors.map(({ pointer, code }) => ({ pointer, code }))).toEqual(
      problems.map(({ pointer, code }) => ({ pointer, code })),
    );
    expect((await put(id, { status: 'active', flow_data: RUNNABLE_FLOW })).status).toBe(200);
  });

  test("422: an active workflow doesn't accept a flow with problems", async () => {
    const id = await createWorkflow('active');
    expect((await put(id, { flow_data: UNFINISHED_FLOW })).status).toBe(422);
    expect((await put(id, { flow_data: UNFINISHED_FLOW, status: 'inactive' })).status).toBe(200);
  });
});

describe('PUT refused', () => {
  test('404: a workflow of another organisation is like an unknown id, and nothing is changed', async () => {
    const id = await createWorkflow();
    const other = await service.createKey();
    const answer = await service.api('PUT', `/workflows/${id}`, { key: other, body: { name: 'mine' } });
    expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
    expect((await get(id)).json.name).toBe('a');
    expect((await put(999_999, { name: 'x' })).status).toBe(404);
  });

  test('409: an archived workflow accepts nothing but its restoration', async () => {
    const id = await createWorkflow('archived');
    const before = await get(id);
    for (const body of [{ name: 'b' }, { flow_data: UNFINISHED_FLOW }, { status: 'inactive', tags: ['x'] }]) {
      const { status, json } = await put(id, body);
      expect([status, json.code]).toEqual([409, 'workflow_archived']);
    }
    expect((await get(id)).text).toBe(before.text);
  });

  test.each(['"1-1"', 'W/"1-1"', '"x"', '', 'nonsense'])('412: If-Match: %s', async (tag) => {
    const id = await createWorkflow();
    const { status, json, headers } = await put(id, { name: 'b' }, { 'if-match': tag });
    expect([status, json.code]).toEqual([412, 'precondition_failed']);
    expect(headers.get('etag')).toBe((await get(id)).headers.get('etag'));
  });

  test('412: of two changes based on the same state, one is refused', async () => {
    const id = await createWorkflow();
    const etag = (await get(id)).headers.get('etag') ?? '';
    const answers = await Promise.all(['b', 'c'].map((name) => put(id, { name }, { 'if-match': etag })));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 412]);
  });

  test.each([
    [{ name: '' }, '/name'],
    [{ name: null }, '/name'],
    [{ flow_data: null }, '/flow_data'],
    [{ flow_data: { nodes: [] } }, '/flow_data/edges'],
    [{ tags: ['a', 'a'] }, '/tags/1'],
    [{ status: 'gone' }, '/status'],
    [{ other: 1 }, '/other'],
    [[], ''],
    [undefined, ''],
  ])('422: %j', async (body, pointer) => {
    const { status, json } = await put(await createWorkflow(), body);
    expect([status, json.errors[0]?.pointer]).toEqual([422, pointer]);
  });

  test('422 comes before 404: validation is checked before the look-up', async () => {
    expect((await put(999_999, { flow_data: { nodes: 1, edges: [] } })).status).toBe(422);
  });
});

describe('DELETE', () => {
  test('200: the list item, archived; again the same response; flow_data is kept', async () => {
    const id = await createWorkflow('active');
    const first = await service.api('DELETE', `/workflows/${id}`, { key });
    expect([first.status, first.json.status]).toEqual([200, 'archived']);
    expect(first.json).not.toHaveProperty('flow_data');
    const second = await service.api('DELETE', `/workflows/${id}`, { key });
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect((await get(id)).json).toMatchObject({ status: 'archived', flow_data: RUNNABLE_FLOW });
  });

  test('404: a workflow of another organisation, which keeps it', async () => {
    const id = await createWorkflow();
    const other = await service.createKey();
    expect((await service.api('DELETE', `/workflows/${id}`, { key: other })).status).toBe(404);
    expect((await get(id)).json.status).toBe('draft');
  });

  test('412: If-Match with another state', async () => {
    const id = await createWorkflow();
    const { status } = await service.api('DELETE', `/workflows/${id}`, {
      key,
      headers: { 'if-match': '"0-0"' },
    });
    expect(status).toBe(412);
  });
});
