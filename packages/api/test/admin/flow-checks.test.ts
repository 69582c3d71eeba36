import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let viewer: TestPerson;
let editor: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  viewer = await createPerson(service, 'viewer');
  editor = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

const org = () => ({ org: viewer.organisationId });

test('flow-checks report structure errors, problems, missing credentials and handles; nothing is stored', async () => {
  const check = async (flow_data: object) =>
    (
      await viewer.call('POST /orgs/:org/flow-checks', {
        params: org(),
        body: { flow_data: flow_data as never },
      })
    ).data;
  const nodes = [
    { id: '__proto__', type: 'trigger.manual' },
    {
      id: 'if',
      type: 'core.if',
      data: { on_error: 'branch', config: { conditions: [{ left: 1, operator: 'equals', right: 1 }] } },
    },
    { id: 'call', type: 'http.request', data: { config: { url: 'https://x.example', credential_id: 4711 } } },
    { id: 'odd', type: 'no.such' },
  ];
  const found = await check({ nodes, edges: [{ source: '__proto__', target: 'if' }] });
  expect(found.structure_errors).toEqual([]);
  expect(found.problems.map((problem) => [problem.node_id, problem.code])).toEqual(
    expect.arrayContaining([
      ['odd', 'unknown_node_type'],
      ['call', 'credential_not_found'],
    ]),
  );
  expect(new Map(Object.entries(found.handles))).toEqual(
    new Map([
      ['__proto__', ['out']],
      ['call', ['out']],
      ['if', ['true', 'false', 'error']],
      ['odd', []],
    ]),
  );
  const broken = await check({ nodes: [...nodes, nodes[1], null], edges: 'x' });
  expect(broken.problems).toEqual([]);
  expect(broken.structure_errors.map((error) => error.code)).toEqual(
    expect.arrayContaining(['duplicate_id', 'invalid_type']),
  );
});

test('node types are those of the catalogue', async () => {
  const { data } = await viewer.call('GET /node-types');
  const byType = new Map(data.items.map((item) => [item.type, item]));
  expect(byType.get('core.if')).toMatchObject({ kind: 'pure', group: 'core', handles: ['true', 'false'] });
  expect(byType.get('http.request')).toMatchObject({ kind: 'effect', group: 'http' });
  expect(byType.get('http.request')?.default_timeout_ms).toBeGreaterThan(0);
  expect(byType.get('trigger.webhook')).toMatchObject({
    kind: 'trigger',
    default_retry: { max_attempts: 1 },
  });
});

test('outlines say of each type what a flow shows of it', async () => {
  for (const [outline, whole] of [
    ['GET /node-types/outline', 'GET /node-types'],
    ['GET /connectors/outline', 'GET /connectors'],
  ] as const) {
    const { items } = (await viewer.call(outline)).data;
    const all = (await viewer.call(whole)).data.items;
    expect(items.map(({ type }) => type)).toEqual(all.map(({ type }) => type));
    for (const [index, item] of items.entries()) {
      expect(all[index]).toMatchObject(item);
      expect('description' in item).toBe(item.group === 'trigger');
    }
  }
  const { items } = (await viewer.call('GET /node-types/outline')).data;
  expect(items.find(({ type }) => type === 'trigger.schedule')?.first_config).toHaveProperty(
    'timezone',
    'UTC',
  );
  // A form may do without fields, but a new one begins with one.
  expect(items.find(({ type }) => type === 'trigger.form')?.first_config).toMatchObject({
    title: '',
    fields: [{ name: 'message' }],
  });
  const { ja } = (await viewer.call('GET /connectors/outline')).data;
  expect(ja.nodes).toHaveProperty(
    ['connector.google_sheets.read_rows/title'],
    'Google スプレッドシート: 行を読み取り',
  );
});

test('the catalogue is sent once to each browser, compressed', async () => {
  const url = `${service.url}/api/admin/node-types`;
  const headers = { cookie: viewer.cookie, 'sec-fetch-site': 'same-origin' };
  const first = await fetch(url, { headers });
  await first.body?.cancel();
  expect(first.headers.get('content-encoding')).toBe('gzip');
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  const again = await fetch(url, {
    headers: { ...headers, 'if-none-match': first.headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
  const stranger = await fetch(url, { headers: { ...headers, cookie: '', 'if-none-match': '*' } });
  expect(stranger.status).toBe(401);
});

test('operations of connectors come apart from the catalogue, by service and with their Japanese', async () => {
  const { data } = await viewer.call('GET /connectors');
  const byType = new Map(data.items.map((item) => [item.type, item]));
  expect(byType.get('connector.google_sheets.read_rows')).toMatchObject({
    title: 'Google Sheets: Read rows',
    group: 'Google Sheets',
    kind: 'effect',
    output_example: { count: 2 },
  });
  expect(data.ja.nodes).toMatchObject({
    'Google Sheets': 'Google スプレッドシート',
    'connector.google_sheets.read_rows/title': 'Google スプレッドシート: 行を読み取り',
  });
  expect(data.ja.choices).toMatchObject({ 'connector.google_sheets.append_rows/RAW': 'そのまま' });
  const catalogue = await viewer.call('GET /node-types');
  expect(catalogue.data.items.filter(({ type }) => byType.has(type))).toEqual([]);
});

test('the next ten fire times, and problems of a schedule', async () => {
  const preview = async (config: object) =>
    (
      await viewer.call('POST /orgs/:org/schedule-previews', {
        params: org(),
        body: { config: config as never },
      })
    ).data;
  const good = await preview({ schedule: { type: 'cron', cron: '30 2 * * *' }, timezone: 'Europe/Berlin' });
  expect(good.fires).toHaveLength(10);
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Berlin',
    hour: '2-digit',
    minute: '2-digit',
  });
  expect(new Set(good.fires.slice(0, 3).map((fire) => clock.format(new Date(fire))))).toEqual(
    new Set(['02:30']),
  );
  expect([good.timezone, good.faults]).toEqual(['Europe/Berlin', []]);
  const bad = await preview({ schedule: { type: 'cron', cron: '99 2 * * *' }, timezone: 'Europe/Berlin' });
  expect([bad.fires, bad.faults[0]?.pointer]).toEqual([[], '/schedule/cron']);
  expect((await preview({})).faults.map((fault) => fault.pointer).toSorted()).toEqual([
    '/schedule',
    '/timezone',
  ]);
});

describe('importing from another product', () => {
  const fetchNode = {
    ...{ name: 'Fetch', type: 'n8n-nodes-base.httpRequest', typeVersion: 4.2, position: [0, 0] },
    parameters: { url: 'https://api.example.com/x', headerParameters: {} },
  };
  const set = {
    ...{ name: 'Edit', type: 'n8n-nodes-base.set', typeVersion: 3.4, position: [200, 0] },
    parameters: {
      assignments: { assignments: [{ id: '1', name: 'a', value: '={{ $json.b }}', type: 'string' }] },
    },
  };
  const connections = { Fetch: { main: [[{ node: 'Edit', type: 'main', index: 0 }]] } };
  const importing = (
    content: object | string,
    person = editor,
    others: { readonly name?: string; readonly from?: 'n8n' | 'dify' } = {},
  ) =>
    person.call('POST /orgs/:org/import', {
      params: { org: person.organisationId },
      body: { content: content as never, ...others },
    });

  test('a workflow: one with all of its triggers, and what became of each node; nothing is stored', async () => {
    const trigger = (name: string, type: string) => ({
      name,
      type,
      typeVersion: 1,
      position: [0, 0],
      parameters: {},
    });
    const nodes = [
      trigger('Hook', 'n8n-nodes-base.webhook'),
      trigger('Daily', 'n8n-nodes-base.cron'),
      fetchNode,
      set,
    ];
    const both = [[{ node: 'Fetch', type: 'main', index: 0 }]];
    const { status, data } = await importing({
      nodes,
      connections: { ...connections, Hook: { main: both }, Daily: { main: both } },
    });
    expect([status, data.product, data.workflows.length]).toEqual([200, 'n8n', 1]);
    expect(data.nodes.map(({ node }) => node).toSorted()).toEqual(['Daily', 'Edit', 'Fetch', 'Hook']);
    const { data: list } = await editor.call('GET /orgs/:org/workflows', {
      params: { org: editor.organisationId },
    });
    expect(list.items).toEqual([]);
  });

  test('copied nodes, which nothing starts, and have no name', async () => {
    const { data } = await importing({ nodes: [fetchNode, set], connections }, editor, { name: 'Orders' });
    expect(data.workflows[0]?.name).toBe('Orders');
    const types = data.workflows[0]?.flow_data.nodes.map(({ type }) => type);
    expect(types?.toSorted()).toEqual(['core.set', 'http.request', 'trigger.manual']);
    expect(data.nodes.map(({ node }) => node)).toEqual(['Fetch', 'Edit']);
  });

  test('what each workflow still needs before it can be activated', async () => {
    const slack = {
      ...{ name: 'Tell', type: 'n8n-nodes-base.slack', typeVersion: 2.2, position: [400, 0] },
      parameters: { select: 'channel', channelId: { mode: 'id', value: 'C1' }, text: 'Done' },
    };
    const { data } = await importing({ nodes: [fetchNode, set, slack], connections });
    const [workflow] = data.workflows;
    const created = await editor.call('POST /orgs/:org/workflows', {
      params: { org: editor.organisationId },
      body: { name: 'Orders', flow_data: workflow?.flow_data ?? {} },
    });
    expect(workflow?.problems).not.toEqual([]);
    const stored = await editor.call('GET /orgs/:org/workflows/:id', {
      params: { org: editor.organisationId, id: created.data.workflow.id },
    });
    expect(workflow?.problems).toEqual(stored.data.problems);
  });

  test('a product that is named is not guessed', async () => {
    const content = { nodes: [fetchNode, set], connections };
    expect((await importing(content, editor, { from: 'dify' })).status).toBe(422);
    const { status, data } = await importing(content, editor, { from: 'n8n' });
    expect([status, data.product]).toEqual([200, 'n8n']);
  });

  test('the text of a file, which may be YAML', async () => {
    const { status, data } = await importing(`app:
  mode: workflow
  name: Report
kind: app
workflow:
  graph:
    nodes:
    - {id: start, data: {type: start, title: Start}}
    - {id: finish, data: {type: end, title: Finish, outputs: []}}
    edges:
    - {source: start, target: finish}
`);
    expect([status, data.product, data.workflows[0]?.name]).toEqual([200, 'dify', 'Report']);
    expect(data.workflows[0]?.flow_data.nodes.map(({ type }) => type)).toEqual([
      'trigger.manual',
      'core.set',
    ]);
  });

  test.each([
    ['unknown_product', { nodes: [{ id: 'a', type: 'core.set' }] }],
    ['not_yaml', 'app:\n  name: "Report'],
    ['too_deep', `app: ${'['.repeat(1_000)}`],
    ['no_nodes', { nodes: [], connections: {} }],
    ['too_many_nodes', { nodes: Array.from({ length: 2_001 }, () => set), connections: {} }],
  ])('422 %s', async (code, content) => {
    const { status, json } = await importing(content);
    expect([status, json.errors.map((error) => [error.pointer, error.code])]).toEqual([
      422,
      [['/content', code]],
    ]);
  });

  test('403 for viewers', async () => {
    expect((await importing({ nodes: [set] }, viewer)).json.code).toBe('insufficient_role');
  });
});
