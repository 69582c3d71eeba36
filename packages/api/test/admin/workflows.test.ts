import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { RUNNABLE_FLOW, UNFINISHED_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOf, createWorkflow, flowWith, pathTo } from './workflows-world.ts';

let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  editor = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

const org = () => ({ org: editor.organisationId });

describe('GET /orgs/:org/workflows', () => {
  test('returns each workflow with its last runs and my drafts only, newest first', async () => {
    const person = await createPerson(service, 'editor');
    const first = await createWorkflow(person, flowWith('a'), { name: 'Older' });
    const second = await createWorkflow(person, flowWith('b'), { name: 'Newer' });
    await addRuns(person, first.id, 25);
    await person.call('PUT /orgs/:org/workflows/:id/draft', {
      params: pathTo(person, first),
      body: { flow_data: RUNNABLE_FLOW, base_version: 1, revision: 0 },
    });
    const { data } = await person.call('GET /orgs/:org/workflows', {
      params: { org: person.organisationId },
    });
    expect(data.items.map((item) => [item.name, item.has_draft])).toEqual([
      ['Newer', false],
      ['Older', true],
    ]);
    expect(data.items[0]).toMatchObject({
      id: second.id,
      last_run: null,
      last_runs: [],
      trigger_type: 'trigger.manual',
    });
    const older = data.items[1];
    expect(older?.last_runs).toHaveLength(20);
    expect(older?.last_run).toMatchObject({
      id: older?.last_runs[0]?.id,
      status: 'failed',
      duration_ms: 1_500,
      error: { code: 'x', message: 'why', node_id: null },
    });
    const ids = older?.last_runs.map((run) => run.id) ?? [];
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    const colleague = await createPerson(service, 'viewer', { organisationId: person.organisationId });
    const theirs = await colleague.call('GET /orgs/:org/workflows', {
      params: { org: person.organisationId },
    });
    expect(theirs.data.items.map((item) => item.has_draft)).toEqual([false, false]);
  });

  test('finds words in name, description and tags, and takes wildcards literally', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    await createWorkflow(person, flowWith('a'), { name: 'Nightly sync', tags: ['Sales'] });
    await createWorkflow(person, flowWith('a'), { name: 'Report', description: 'of nightly numbers, 100%' });
    await createWorkflow(person, flowWith('a'), { name: 'Report two', tags: ['sales', 'ops'] });
    const find = async (query: { search?: string; tag?: string }) => {
      const { data } = await person.call('GET /orgs/:org/workflows', { params, query });
      return data.items.map((item) => item.name);
    };
    expect(await find({ search: 'NIGHTLY' })).toEqual(['Report', 'Nightly sync']);
    expect(await find({ search: 'nightly sales' })).toEqual(['Nightly sync']);
    expect(await find({ search: 'ops' })).toEqual(['Report two']);
    expect(await find({ search: '100%' })).toEqual(['Report']);
    expect(await find({ search: '_' })).toEqual([]);
    expect(await find({ search: '\\' })).toEqual([]);
    expect(await find({ tag: 'sales' })).toEqual(['Report two']);
    await createWorkflow(person, flowWith('a'), { name: '日次レポートの送信', description: 'Ärger melden' });
    expect(await find({ search: 'レポート' })).toEqual(['日次レポートの送信']);
    expect(await find({ search: '送信\u3000äRGER' })).toEqual(['日次レポートの送信']);
    const { data } = await person.call('GET /orgs/:org/workflow-tags', { params });
    expect(data.tags.toSorted()).toEqual(['Sales', 'ops', 'sales']);
  });

  test('searches only the longest words, so that a search stays cheap', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const words = Array.from({ length: 8 }, (_, at) => `wordno${at}`);
    await createWorkflow(person, flowWith('a'), { name: words.join(' ') });
    const find = async (search: string) =>
      (await person.call('GET /orgs/:org/workflows', { params, query: { search } })).data.items.length;
    // "ord" is contained in another word; "x" and "y" are less selective than the eight.
    expect(await find(`x ${words.join(' ')} y ord ord`)).toBe(1);
    expect(await find([...words.slice(1), 'x'].join(' '))).toBe(0);
    const many = Array.from({ length: 99 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(' ');
    expect(await find(many)).toBe(0);
  });

  test('is paged, and a cursor belongs to its filters', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const made = [];
    for (const name of ['one', 'two', 'three'])
      made.push(await createWorkflow(person, flowWith('a'), { name }));
    const page = await person.call('GET /orgs/:org/workflows', { params, query: { limit: 2 } });
    expect(page.data.items.map((item) => item.name)).toEqual(['three', 'two']);
    const cursor = page.data.next_cursor ?? '';
    const rest = await person.call('GET /orgs/:org/workflows', { params, query: { limit: 2, cursor } });
    expect([rest.data.items.map((item) => item.name), rest.data.next_cursor]).toEqual([['one'], null]);
    const other = await person.call('GET /orgs/:org/workflows', { params, query: { search: 'one', cursor } });
    expect([other.status, other.json.errors[0]?.code]).toEqual([422, 'invalid_cursor']);
  });

  test('omits archived ones unless requested', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const workflow = await createWorkflow(person);
    await person.call('POST /orgs/:org/workflows/:id/archive', { params: pathTo(person, workflow) });
    const count = async (status?: 'all' | 'archived' | 'draft') =>
      (
        await person.call('GET /orgs/:org/workflows', {
          params,
          query: status === undefined ? {} : { status },
        })
      ).data.items.length;
    expect([await count(), await count('draft'), await count('archived'), await count('all')]).toEqual([
      0, 0, 1, 1,
    ]);
  });
});

describe('POST /orgs/:org/workflows', () => {
  test('a name is enough; the author is recorded for version 1', async () => {
    const { status, data } = await editor.call('POST /orgs/:org/workflows', {
      params: org(),
      body: { name: ' New ' },
    });
    expect(status).toBe(200);
    expect(data.workflow).toMatchObject({
      name: 'New',
      status: 'draft',
      version: 1,
      flow_data: UNFINISHED_FLOW,
    });
    expect(data.workflow.problems[0]?.code).toBe('no_trigger');
    expect(data.workflow.saved.author).toEqual({ kind: 'user', name: 'Test editor', is_me: true });
    const [entry] = await auditOf(service, data.workflow.id);
    expect(entry).toMatchObject({
      action: 'workflow.created',
      user_id: editor.userId,
      source_ip: '127.0.0.1',
    });
    expect(entry?.request_id).toMatch(/^req_/);
  });

  test('accepts what the public API returns for a workflow unchanged, as a draft', async () => {
    const key = await service.createKey({ organisationId: editor.organisationId });
    const created = await service.api('POST', '/workflows', {
      key,
      body: { name: 'Live', flow_data: RUNNABLE_FLOW, status: 'active', tags: ['a'], is_test_mode: true },
    });
    const { status, data } = await editor.call('POST /orgs/:org/workflows', {
      params: org(),
      body: created.json as never,
    });
    expect(status).toBe(200);
    expect(data.workflow).toMatchObject({
      name: 'Live',
      status: 'draft',
      tags: ['a'],
      is_test_mode: true,
      version: 1,
    });
    expect(data.workflow.flow_data).toEqual(RUNNABLE_FLOW);
  });

  test.each([
    [{ flow_data: RUNNABLE_FLOW }, '/name', 'required'],
    [{ name: 'x', flow_data: { nodes: 1, edges: [] } }, '/flow_data/nodes', 'invalid_type'],
    [{ name: 'x', flow_data: UNFINISHED_FLOW, status: 'active' }, '/flow_data/nodes', 'no_trigger'],
    [{ name: 'x', status: 'archived' }, '/status', 'invalid_value'],
    [{ name: 'x', nonsense: 1 }, '/nonsense', 'unknown_field'],
    [{ name: '  ' }, '/name', 'invalid_length'],
  ])('422: %j', async (body, pointer, code) => {
    const answer = await editor.call('POST /orgs/:org/workflows', { params: org(), body: body as never });
    expect(answer.status).toBe(422);
    expect(answer.json.errors[0]).toMatchObject({ pointer, code });
  });
});

describe('PUT /orgs/:org/workflows/:id', () => {
  test('changes the given fields, once per observed state', async () => {
    const workflow = await createWorkflow(editor);
    const params = pathTo(editor, workflow);
    const body = { updated_at: workflow.updated_at, name: 'Renamed', tags: ['x'], status: 'active' as const };
    const [one, two] = await Promise.all([
      editor.call('PUT /orgs/:org/workflows/:id', { params, body }),
      editor.call('PUT /orgs/:org/workflows/:id', { params, body: { ...body, name: 'Other' } }),
    ]);
    expect(new Set([one.status, two.status])).toEqual(new Set([200, 412]));
    expect([one.json.code, two.json.code]).toContain('precondition_failed');
    const { data } = await editor.call('GET /orgs/:org/workflows/:id', { params });
    expect(data).toMatchObject({ tags: ['x'], status: 'active', version: 1 });
    expect(
      (await auditOf(service, workflow.id)).map((entry) => [entry.action, JSON.parse(entry.details)]),
    ).toEqual([
      ['workflow.created', expect.anything()],
      [
        'workflow.changed',
        { workflow_id: workflow.id, changed: ['name', 'tags'], from_status: 'draft', status: 'active' },
      ],
    ]);
  });

  test('422 for problems that prevent activation', async () => {
    const workflow = await createWorkflow(editor, UNFINISHED_FLOW);
    const answer = await editor.call('PUT /orgs/:org/workflows/:id', {
      params: pathTo(editor, workflow),
      body: { updated_at: workflow.updated_at, status: 'active' },
    });
    expect([answer.status, answer.json.errors[0]?.code]).toEqual([422, 'no_trigger']);
  });
});

test('duplicating copies the saved flow, description, tags and test mode into a new draft', async () => {
  const workflow = await createWorkflow(editor, WEBHOOK_FLOW, { tags: ['t'], description: 'd' });
  const { status, data } = await editor.call('POST /orgs/:org/workflows/:id/duplicate', {
    params: pathTo(editor, workflow),
    body: { name: 'Copy' },
  });
  expect(status).toBe(200);
  expect(data).toMatchObject({ name: 'Copy', status: 'draft', version: 1, tags: ['t'], description: 'd' });
  expect(data.flow_data).toEqual(workflow.flow_data);
  const hashOf = async (id: number) =>
    (await editor.call('GET /orgs/:org/workflows/:id/webhook', { params: pathTo(editor, { id }) })).data.hash;
  expect(await hashOf(data.id)).not.toBe(await hashOf(workflow.id));
});

test('an archived workflow is restored as inactive; restoring another is 409', async () => {
  const workflow = await createWorkflow(editor);
  const params = pathTo(editor, workflow);
  expect((await editor.call('POST /orgs/:org/workflows/:id/restore', { params })).json.code).toBe(
    'workflow_not_archived',
  );
  const archived = await editor.call('POST /orgs/:org/workflows/:id/archive', { params });
  expect(archived.data.status).toBe('archived');
  const again = await editor.call('POST /orgs/:org/workflows/:id/archive', { params });
  expect(again.data.updated_at).toBe(archived.data.updated_at);
  const restored = await editor.call('POST /orgs/:org/workflows/:id/restore', { params });
  expect(restored.data.status).toBe('inactive');
  const actions = (await auditOf(service, workflow.id)).map((entry) => entry.action);
  expect(actions).toEqual(['workflow.created', 'workflow.archived', 'workflow.restored']);
});

test('an export can be posted to the public API unchanged, and contains no id', async () => {
  const workflow = await createWorkflow(editor, flowWith('exported'), { name: 'Out', tags: ['t'] });
  const file = await editor.call('GET /orgs/:org/workflows/:id/export', { params: pathTo(editor, workflow) });
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="workflow-${workflow.id}.json"`);
  const key = await service.createKey();
  const posted = await service.api('POST', '/workflows', { key, raw: file.text });
  expect([posted.status, posted.json.name, posted.json.flow_data]).toEqual([
    201,
    'Out',
    flowWith('exported'),
  ]);
  const missing = await editor.call('GET /orgs/:org/workflows/:id/export', {
    params: pathTo(editor, workflow),
    query: { version: 2 },
  });
  expect(missing.status).toBe(404);
});

/** Ended executions, every third one failed. */
async function addRuns(person: TestPerson, workflowId: number, count: number): Promise<void> {
  await service.database.db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, $2, 1, CASE WHEN n = $3 THEN 'failed' ELSE 'completed' END, 'api', 'run', false, '{}', now(), now(),
       now() + interval '1500 milliseconds',
       CASE WHEN n = $3 THEN '{"code": "x", "message": "why", "node_id": null}'::json END
     FROM generate_series(1, $3::integer) n`,
    [person.organisationId, workflowId, count],
  );
}
