import type { JsonObject } from '@millrace/engine';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { startHttp } from '@millrace/testing/test-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exampleFile, flowOf, Helpdesk } from './world.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ config: { allowHosts: ['127.0.0.1'] } });
});
afterAll(() => service.stop());

interface Scene {
  readonly admin: TestPerson;
  readonly helpdesk: Helpdesk;
  readonly file: JsonObject;
  readonly credentialId: number;
}

/** An organisation with a helpdesk, its credential and its connector. */
async function organise(): Promise<Scene> {
  const admin = await createPerson(service, 'org_admin');
  const helpdesk = new Helpdesk();
  const { url } = await startHttp(helpdesk.listener);
  const file = await exampleFile(url);
  const credential = await admin.call('POST /orgs/:org/credentials', {
    params: { org: admin.organisationId },
    body: {
      name: 'Helpdesk',
      type: 'bearer',
      hosts: ['127.0.0.1'],
      fields: { token: 'a-secret-token' },
    },
  });
  expect(credential.status, credential.text).toBe(200);
  expect((await upload(admin, file)).data).toEqual({ name: 'helpdesk', revision: 1, is_new: true });
  return { admin, helpdesk, file, credentialId: credential.data.id };
}

function upload(person: TestPerson, file: JsonObject | string) {
  return person.call('POST /orgs/:org/connectors', {
    params: { org: person.organisationId },
    body: { file: typeof file === 'string' ? file : JSON.stringify(file) },
  });
}

async function create(person: TestPerson, flow: JsonObject, status: 'draft' | 'active' = 'active') {
  return person.call('POST /orgs/:org/workflows', {
    params: { org: person.organisationId },
    body: { name: 'Tickets', status, flow_data: flow },
  });
}

async function workflowOf(person: TestPerson, flow: JsonObject, status: 'draft' | 'active' = 'active') {
  const { status: code, data, text } = await create(person, flow, status);
  expect(code, text).toBe(200);
  return data.workflow;
}

interface Ended {
  readonly status: string;
  readonly workflow_version: number;
  readonly node_outputs: { readonly [id: string]: { readonly output: JsonObject } };
}

/** Starts a workflow by the public API and waits for its end. */
async function start(person: TestPerson, workflowId: number, input: JsonObject = {}) {
  const key = await service.createKey({ organisationId: person.organisationId });
  const started = await service.api('POST', `/workflows/${workflowId}/execute`, {
    key,
    body: { input_data: input },
  });
  expect(started.status, started.text).toBe(202);
  const { execution_id: id } = started.json as unknown as { execution_id: number };
  return async (): Promise<Ended> => {
    const { json } = await service.api('GET', `/executions/${id}?wait=30`, { key });
    return json as unknown as Ended;
  };
}

const ticket = (scene: Scene, subject = '{{trigger.data.subject}}') =>
  flowOf('own.helpdesk.create_ticket', { credential_id: scene.credentialId, queue: 'billing', subject });

/** The file with another output of the first operation. */
function changed(file: JsonObject, change: JsonObject): JsonObject {
  const [first, ...rest] = file.operations as readonly JsonObject[];
  return { ...file, operations: [{ ...first, ...change }, ...rest] };
}

const problemsOf = (workflow: { readonly problems: readonly { readonly code: string }[] }) =>
  workflow.problems.map(({ code }) => code);

describe('an uploaded connector', () => {
  test('runs: settings are checked, the credential is sent and masked, and a key makes repeats harmless', async () => {
    const scene = await organise();
    const { admin, helpdesk } = scene;
    const unfinished = await create(
      admin,
      flowOf('own.helpdesk.create_ticket', { credential_id: scene.credentialId }),
    );
    expect([unfinished.status, unfinished.json.errors.map(({ pointer }) => pointer)]).toEqual([
      422,
      expect.arrayContaining(['/flow_data/nodes/1/data/config/queue']),
    ]);
    const workflow = await workflowOf(admin, ticket(scene));
    const ended = await (await start(admin, workflow.id, { subject: 'It smokes' }))();
    expect(ended).toMatchObject({
      status: 'completed',
      node_outputs: { own: { output: { id: 1, url: 'https://helpdesk.example.com/1' } } },
    });
    const [request] = helpdesk.received;
    expect(request?.path).toBe('/api/queues/billing/tickets');
    expect(JSON.parse(request?.body ?? '')).toEqual({ subject: 'It smokes', priority: 'normal' });
    expect(request?.headers['idempotency-key']).toMatch(/^[\d]+-[\da-f]{32}$/);

    const shown = changed(scene.file, { output: { said: '{{args.response.body.echo}}' } });
    expect((await upload(admin, shown)).data.revision).toBe(2);
    const leaky = await workflowOf(admin, ticket(scene, 'Leak'));
    const masked = await (await start(admin, leaky.id))();
    expect(masked.node_outputs.own?.output).toEqual({ said: 'Bearer ***' });
  });

  test('sends nothing in test mode', async () => {
    const scene = await organise();
    const workflow = await workflowOf(scene.admin, ticket(scene, 'Dry'), 'draft');
    const run = await scene.admin.call('POST /orgs/:org/workflows/:id/run', {
      params: { org: scene.admin.organisationId, id: workflow.id },
      body: { input: {}, is_test_mode: true },
    });
    expect(run.status, run.text).toBe(200);
    const key = await service.createKey({ organisationId: scene.admin.organisationId });
    const { json } = await service.api('GET', `/executions/${run.data.execution_id}?wait=30`, { key });
    expect(json).toMatchObject({ status: 'completed', node_outputs: { own: { output: { dry_run: true } } } });
    expect(scene.helpdesk.received).toEqual([]);
  });

  test('is in the list, the palette and the audit log of its organisation', async () => {
    const { admin } = await organise();
    const params = { org: admin.organisationId };
    const viewer = await createPerson(service, 'viewer', { organisationId: admin.organisationId });
    const { data } = await viewer.call('GET /orgs/:org/connectors', { params });
    expect(data.items).toMatchObject([
      {
        name: 'helpdesk',
        title: 'Helpdesk',
        revision: 1,
        operations: 2,
        triggers: 1,
        uploaded_by: admin.email,
        workflows: 0,
      },
    ]);
    const types = await viewer.call('GET /orgs/:org/connector-types', { params });
    expect(types.data.items[0]?.items.map(({ type, title, group }) => [type, title, group])).toEqual([
      ['trigger.own.helpdesk.new_ticket', 'Helpdesk: New ticket', 'Helpdesk'],
      ['own.helpdesk.create_ticket', 'Helpdesk: Create a ticket', 'Helpdesk'],
      ['own.helpdesk.list_tickets', 'Helpdesk: List tickets', 'Helpdesk'],
    ]);
    expect(types.data.items[0]?.ja.nodes['own.helpdesk.create_ticket/title']).toBe(
      'ヘルプデスク: チケットを作成',
    );
    const outlines = await viewer.call('GET /orgs/:org/connector-types/outline', {
      params,
      query: { connectors: 'helpdesk,missing' },
    });
    expect(types.data.items).toMatchObject(outlines.data.items);
    expect(outlines.data.items[0]?.items).toHaveLength(3);
    const without = await viewer.call('GET /orgs/:org/connector-types/outline', {
      params,
      query: { connectors: 'missing' },
    });
    expect(without.data.items).toEqual([]);
    expect(outlines.text).not.toContain('config_schema');
    expect(outlines.data.items[0]?.ja.nodes).toMatchObject({
      Helpdesk: 'ヘルプデスク',
      'own.helpdesk.create_ticket/title': 'ヘルプデスク: チケットを作成',
    });
    const file = await viewer.call('GET /orgs/:org/connectors/:connector/file', {
      params: { ...params, connector: 'helpdesk' },
    });
    expect(file.json).toMatchObject({ id: 'helpdesk' });
    expect((await upload(viewer, '{}')).status).toBe(403);
    const audit = await admin.call('GET /orgs/:org/audit', { params });
    expect(audit.data.items.find(({ action }) => action === 'connector.uploaded')).toMatchObject({
      action: 'connector.uploaded',
      actor_name: admin.email,
      details: { name: 'helpdesk', revision: 1 },
    });
  });

  test('is not there for another organisation', async () => {
    const scene = await organise();
    const other = await createPerson(service, 'org_admin');
    const params = { org: other.organisationId };
    expect((await other.call('GET /orgs/:org/connectors', { params })).data.items).toEqual([]);
    expect((await other.call('GET /orgs/:org/connector-types', { params })).data.items).toEqual([]);
    const outlines = await other.call('GET /orgs/:org/connector-types/outline', {
      params,
      query: { connectors: 'helpdesk' },
    });
    expect(outlines.data.items).toEqual([]);
    const connector = { ...params, connector: 'helpdesk' };
    expect(
      (await other.call('GET /orgs/:org/connectors/:connector/file', { params: connector })).status,
    ).toBe(404);
    expect((await other.call('DELETE /orgs/:org/connectors/:connector', { params: connector })).status).toBe(
      404,
    );
    const refused = await create(other, ticket(scene));
    expect(refused.json.errors.map(({ code }) => code)).toContain('unknown_node_type');
    const draft = await workflowOf(other, ticket(scene), 'draft');
    expect(problemsOf(draft)).toContain('unknown_node_type');
    // A file of the same name is another connector.
    expect((await upload(other, await exampleFile())).data.revision).toBe(1);
  });
});

describe('a replaced connector', () => {
  test('leaves executions under way and saved versions as they are, until workflows are updated', async () => {
    const scene = await organise();
    const { admin, helpdesk, file } = scene;
    const workflow = await workflowOf(admin, ticket(scene, 'Slow'));
    let open: () => void = () => {};
    helpdesk.gate = new Promise((resolve) => {
      open = resolve;
    });
    const ended = await start(admin, workflow.id);
    await expect.poll(() => helpdesk.received.length).toBe(1);
    expect(
      (await upload(admin, changed(file, { output: { number: '{{args.response.body.id}}' } }))).status,
    ).toBe(200);
    open();
    expect((await ended()).node_outputs.own?.output).toMatchObject({ id: 1 });
    // Another process, which has compiled nothing yet.
    const version = { workflowId: workflow.id, version: 1 };
    const [row] = await service.database.db.query<{ flow_data: string }>(
      'SELECT flow_data FROM workflow_versions WHERE workflow_id = $1',
      [workflow.id],
    );
    const { typesToRun } = await import('../src/types.ts');
    const types = await typesToRun(service.deps.registry, service.database.db, version, row?.flow_data ?? '');
    expect(types.isFinal).toBe(true);
    expect((await (await start(admin, workflow.id))()).node_outputs.own?.output).toMatchObject({ id: 2 });

    const params = { org: admin.organisationId, connector: 'helpdesk' };
    const list = await admin.call('GET /orgs/:org/connectors', { params });
    expect(list.data.items).toMatchObject([{ workflows: 1, outdated: 1 }]);
    const renewed = await admin.call('POST /orgs/:org/connectors/:connector/workflows', {
      params,
      body: { after: 0 },
    });
    expect(renewed.data).toEqual({ saved: 1, refused: [], next: null });
    const third = await (await start(admin, workflow.id))();
    expect([third.workflow_version, third.node_outputs.own?.output]).toEqual([2, { number: 3 }]);

    // An earlier version comes back with its revision.
    const restored = await admin.call('POST /orgs/:org/workflows/:id/versions/:version/restore', {
      params: { org: admin.organisationId, id: workflow.id, version: 1 },
      body: { base_version: 2 },
    });
    expect(restored.status, restored.text).toBe(200);
    expect((await (await start(admin, workflow.id))()).node_outputs.own?.output).toMatchObject({ id: 4 });
  });

  test('without an operation in use: workflows go on, and are not saved with it', async () => {
    const scene = await organise();
    const { admin, file } = scene;
    const workflow = await workflowOf(admin, ticket(scene, 'Here'));
    const [, second] = file.operations as readonly JsonObject[];
    const without = { ...file, operations: [second ?? null], ja: {} };
    expect((await upload(admin, without)).status).toBe(200);
    expect((await (await start(admin, workflow.id))()).status).toBe('completed');
    const params = { org: admin.organisationId, connector: 'helpdesk' };
    const renewed = await admin.call('POST /orgs/:org/connectors/:connector/workflows', {
      params,
      body: { after: 0 },
    });
    expect(renewed.data).toMatchObject({ saved: 0, refused: [{ id: workflow.id, name: 'Tickets' }] });
    const saved = await admin.call('POST /orgs/:org/workflows/:id/versions', {
      params: { org: admin.organisationId, id: workflow.id },
      body: { flow_data: ticket(scene, 'There'), base_version: 1 },
    });
    expect([saved.status, saved.json.errors.map(({ code }) => code)]).toEqual([422, ['unknown_node_type']]);
  });

  test('updates come to every workflow, however many before it are refused', async () => {
    const scene = await organise();
    const { admin, file } = scene;
    const list = flowOf('own.helpdesk.list_tickets', { credential_id: scene.credentialId, queue: 'billing' });
    const stays: number[] = [];
    for (let count = 0; count < 21; count += 1) {
      stays.push((await workflowOf(admin, ticket(scene, `No. ${count}`))).id);
    }
    const last = await workflowOf(admin, list);
    const [, second] = file.operations as readonly JsonObject[];
    await upload(admin, { ...file, operations: [second ?? null], ja: {} });
    const params = { org: admin.organisationId, connector: 'helpdesk' };
    const step = (after: number) =>
      admin.call('POST /orgs/:org/connectors/:connector/workflows', { params, body: { after } });
    const first = (await step(0)).data;
    expect([first.saved, first.refused.map(({ id }) => id), first.next]).toEqual([
      0,
      stays.slice(0, 20),
      stays[19],
    ]);
    expect(first.refused[0]).toMatchObject({ name: 'Tickets', code: 'validation_failed' });
    const next = (await step(first.next ?? 0)).data;
    expect([next.saved, next.refused.map(({ id }) => id), next.next]).toEqual([1, stays.slice(20), null]);
    const found = await admin.call('GET /orgs/:org/workflows/:id', {
      params: { org: admin.organisationId, id: last.id },
    });
    expect(found.data.version).toBe(2);
  });

  test('the same file again is no revision', async () => {
    const { admin, file } = await organise();
    expect((await upload(admin, file)).data).toEqual({ name: 'helpdesk', revision: 1, is_new: false });
  });
});

describe('a workflow that is older than its connector', () => {
  test('gets its revision, and its trigger, when it becomes active', async () => {
    const { admin, file } = await organise();
    const early = { ...file, id: 'later' };
    const flow = {
      nodes: [
        {
          id: 'start',
          type: 'trigger.own.later.new_ticket',
          data: { config: { credential_id: 1, queue: 'a' } },
        },
      ],
      edges: [],
    };
    const workflow = await workflowOf(admin, flow, 'draft');
    expect(problemsOf(workflow)).toContain('unknown_node_type');
    expect((await upload(admin, early)).status).toBe(200);
    const credentialId = (
      await admin.call('GET /orgs/:org/credentials', { params: { org: admin.organisationId } })
    ).data.items[0]?.id;
    const params = { org: admin.organisationId, id: workflow.id };
    const named = {
      ...flow,
      nodes: [{ ...flow.nodes[0], data: { config: { credential_id: credentialId ?? 0, queue: 'a' } } }],
    };
    const saved = await admin.call('POST /orgs/:org/workflows/:id/versions', {
      params,
      body: { flow_data: named as unknown as JsonObject, base_version: 1 },
    });
    expect(saved.status, saved.text).toBe(200);
    const active = await admin.call('PUT /orgs/:org/workflows/:id', {
      params,
      body: { status: 'active', updated_at: saved.data.updated_at },
    });
    expect(active.status, active.text).toBe(200);
    const polls = await service.database.db.query(
      'SELECT FROM polls WHERE workflow_id = $1 AND next_poll_at IS NOT NULL',
      [workflow.id],
    );
    expect(polls).toHaveLength(1);
    // Archiving ends the polls, whatever becomes of the connector.
    await admin.call('POST /orgs/:org/workflows/:id/archive', { params });
    const left = await service.database.db.query(
      'SELECT FROM polls WHERE workflow_id = $1 AND next_poll_at IS NOT NULL',
      [workflow.id],
    );
    expect(left).toEqual([]);
  });
});

describe('a service without authentication', () => {
  test('is called by operations and triggers without a credential', async () => {
    const { admin, helpdesk, file } = await organise();
    helpdesk.isOpen = true;
    const { authentication: _none, ...open } = file;
    expect((await upload(admin, { ...open, id: 'open' })).status).toBe(200);
    const types = await admin.call('GET /orgs/:org/connector-types', {
      params: { org: admin.organisationId },
    });
    const made = types.data.items.flatMap(({ items }) => items).filter(({ type }) => type.includes('open'));
    expect(made).toHaveLength(3);
    expect(JSON.stringify(made)).not.toContain('credential_id');
    const flow = flowOf('own.open.create_ticket', { queue: 'billing', subject: 'Anybody' });
    const workflow = await workflowOf(admin, flow);
    expect((await (await start(admin, workflow.id))()).status).toBe('completed');
    expect(helpdesk.tickets).toEqual([{ id: 1, subject: 'Anybody' }]);
    expect(helpdesk.received[0]?.headers.authorization).toBeUndefined();
    const polling = {
      nodes: [{ id: 'start', type: 'trigger.own.open.new_ticket', data: { config: { queue: 'billing' } } }],
      edges: [],
    };
    expect((await workflowOf(admin, polling as unknown as JsonObject)).status).toBe('active');
  });
});

describe('deleting', () => {
  test('is refused while a workflow has it, and keeps what runs', async () => {
    const scene = await organise();
    const { admin } = scene;
    const workflow = await workflowOf(admin, ticket(scene, 'Kept'));
    const params = { org: admin.organisationId, connector: 'helpdesk' };
    const refused = await admin.call('DELETE /orgs/:org/connectors/:connector', { params });
    expect([refused.status, refused.json.code]).toEqual([409, 'connector_in_use']);
    expect(refused.json.detail).toContain(`${workflow.id} ("Tickets")`);
    await admin.call('POST /orgs/:org/workflows/:id/archive', {
      params: { org: admin.organisationId, id: workflow.id },
    });
    expect((await admin.call('DELETE /orgs/:org/connectors/:connector', { params })).status).toBe(204);
    expect(problemsOf(await workflowOf(admin, ticket(scene), 'draft'))).toContain('unknown_node_type');
    await admin.call('POST /orgs/:org/workflows/:id/restore', {
      params: { org: admin.organisationId, id: workflow.id },
    });
    const back = await admin.call('GET /orgs/:org/workflows/:id', {
      params: { org: admin.organisationId, id: workflow.id },
    });
    expect(problemsOf(back.data)).toContain('unknown_node_type');
    // Uploading it again continues its revisions.
    expect((await upload(admin, scene.file)).data.revision).toBe(2);
  });
});

describe('limits', () => {
  test('of a file and of an organisation', async () => {
    const admin = await createPerson(service, 'org_admin');
    const file = await exampleFile();
    const faulty = await upload(admin, { ...file, base_url: 'https://elsewhere.example/api' });
    expect([faulty.status, faulty.json.code, faulty.json.errors[0]?.pointer]).toEqual([
      422,
      'invalid_connector',
      '/hosts',
    ]);
    const broken = await upload(admin, '{"id": "a",\n "title" 1}');
    expect(broken.json.errors[0]?.message).toContain('line 2, column 10');
    const large = await upload(admin, `${JSON.stringify(file)}${' '.repeat(256 * 1024)}`);
    expect([large.status, large.json.errors[0]?.message]).toEqual([422, expect.stringContaining('262144')]);
    const ids = Array.from({ length: 50 }, (_unused, index) => `c${index}`);
    for (const id of ids) expect((await upload(admin, { ...file, id })).status, id).toBe(200);
    const many = await upload(admin, { ...file, id: 'another' });
    expect([many.status, many.json.code]).toEqual([409, 'too_many_connectors']);
    // A new revision of one of them is possible.
    expect((await upload(admin, { ...file, id: 'c7', title: 'New', ja: {} })).data.revision).toBe(2);
  });
});
