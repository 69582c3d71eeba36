import type { Body } from '@millrace/admin-api';
import { noteLastRuns } from '@millrace/service/workflows/last-runs';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditOf, createWorkflow, flowWith, pathTo } from './workflows-world.ts';

let service: TestService;
let editor: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false, limits: { folders: 4, favourites: 2 } });
  editor = await createPerson(service, 'editor');
});
afterAll(() => service.stop());

async function addFolder(person: TestPerson, name: string, parentId: number | null = null) {
  return person.call('POST /orgs/:org/folders', {
    params: { org: person.organisationId },
    body: { name, parent_id: parentId },
  });
}

function changeAll(
  person: TestPerson,
  ids: number[],
  change: Body<'POST /orgs/:org/workflow-changes'>['change'],
) {
  return person.call('POST /orgs/:org/workflow-changes', {
    params: { org: person.organisationId },
    body: { ids, change },
  });
}

async function namesIn(person: TestPerson, query: { folder?: string; favourites?: boolean }) {
  const { data } = await person.call('GET /orgs/:org/workflows', {
    params: { org: person.organisationId },
    query,
  });
  return data.items.map(({ name }) => name);
}

describe('folders', () => {
  test('are created, nested once, renamed, moved and listed by name', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const sales = await addFolder(person, ' Sales ');
    expect([sales.status, sales.data]).toEqual([200, { id: sales.data.id, name: 'Sales', parent_id: null }]);
    const orders = await addFolder(person, 'orders', sales.data.id);
    expect(orders.data.parent_id).toBe(sales.data.id);
    const deeper = await addFolder(person, 'Too deep', orders.data.id);
    expect([deeper.status, deeper.json.errors[0]?.pointer]).toEqual([422, '/parent_id']);
    const change = (folder: number, body: { name?: string; parent_id?: number | null }) =>
      person.call('PATCH /orgs/:org/folders/:folder', { params: { ...params, folder }, body });
    const archive = await addFolder(person, 'Archive');
    expect((await change(sales.data.id, { parent_id: archive.data.id })).status).toBe(422);
    expect((await change(archive.data.id, { parent_id: archive.data.id })).status).toBe(422);
    expect((await change(archive.data.id, { name: 'Zoo', parent_id: sales.data.id })).data).toEqual({
      id: archive.data.id,
      name: 'Zoo',
      parent_id: sales.data.id,
    });
    const { data } = await person.call('GET /orgs/:org/folders', { params });
    expect(data.items.map(({ name }) => name)).toEqual(['orders', 'Sales', 'Zoo']);
    const log = await service.database.db.query<{ action: string }>(
      `SELECT action FROM audit_log WHERE organisation_id = $1 AND action LIKE 'folder.%' ORDER BY id`,
      [person.organisationId],
    );
    expect(log.map(({ action }) => action)).toEqual([
      'folder.created',
      'folder.created',
      'folder.created',
      'folder.changed',
    ]);
  });

  test('have names of their own within one place, and a limit', async () => {
    const person = await createPerson(service, 'editor');
    const first = await addFolder(person, 'A');
    expect((await addFolder(person, 'A')).json.code).toBe('folder_exists');
    expect((await addFolder(person, 'A', first.data.id)).status).toBe(200);
    const answers = await Promise.all(['B', 'C', 'D', 'E'].map((name) => addFolder(person, name)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'too_many_folders',
      params: { max: 4 },
    });
  });

  test('keep their workflows when they are deleted: these move to where the folder was', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const sales = (await addFolder(person, 'Sales')).data.id;
    const orders = (await addFolder(person, 'Orders', sales)).data.id;
    const first = await createWorkflow(person, flowWith('a'), { name: 'First' });
    const second = await createWorkflow(person, flowWith('a'), { name: 'Second' });
    await changeAll(person, [first.id], { kind: 'move', folder_id: orders });
    await changeAll(person, [second.id], { kind: 'move', folder_id: sales });
    expect(await namesIn(person, { folder: String(orders) })).toEqual(['First']);
    const remove = (folder: number) =>
      person.call('DELETE /orgs/:org/folders/:folder', { params: { ...params, folder } });
    expect((await remove(orders)).status).toBe(204);
    expect(await namesIn(person, { folder: String(sales) })).toEqual(['Second', 'First']);
    await addFolder(person, 'Another', sales);
    expect((await remove(sales)).status).toBe(204);
    expect(await namesIn(person, { folder: 'none' })).toEqual(['Second', 'First']);
    expect((await remove(sales)).status).toBe(404);
    const { data } = await person.call('GET /orgs/:org/folders', { params });
    expect(data.items).toEqual([]);
  });

  test('are not changed by viewers, nor by members of other organisations', async () => {
    const folder = (await addFolder(editor, 'Ours')).data.id;
    const viewer = await createPerson(service, 'viewer', { organisationId: editor.organisationId });
    const stranger = await createPerson(service, 'editor');
    expect((await addFolder(viewer, 'Theirs')).status).toBe(403);
    const workflow = await createWorkflow(editor);
    expect((await changeAll(viewer, [workflow.id], { kind: 'archive' })).status).toBe(403);
    const theirs = await createWorkflow(stranger);
    const moved = await changeAll(stranger, [theirs.id], { kind: 'move', folder_id: folder });
    expect([moved.status, moved.json.code]).toEqual([404, 'not_found']);
    const params = { org: stranger.organisationId, folder };
    expect((await stranger.call('PATCH /orgs/:org/folders/:folder', { params, body: {} })).status).toBe(404);
    expect((await stranger.call('DELETE /orgs/:org/folders/:folder', { params })).status).toBe(404);
    expect((await addFolder(stranger, 'Inside', folder)).status).toBe(422);
    expect((await stranger.call('GET /orgs/:org/folders', { params })).data.items).toEqual([]);
    expect((await changeAll(stranger, [workflow.id], { kind: 'archive' })).data).toMatchObject({
      done: 0,
      refused: [{ id: workflow.id, code: 'not_found' }],
    });
  });

  test('are kept by export and import, and by a copy', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const sales = (await addFolder(person, 'Sales')).data.id;
    const orders = (await addFolder(person, 'Orders', sales)).data.id;
    const workflow = await createWorkflow(person, flowWith('a'), { name: 'Original' });
    await changeAll(person, [workflow.id], { kind: 'move', folder_id: orders });
    const { text } = await person.call('GET /orgs/:org/workflows/:id/export', {
      params: pathTo(person, workflow),
    });
    const file = JSON.parse(text);
    expect(file.folder).toEqual(['Sales', 'Orders']);
    const copy = await person.call('POST /orgs/:org/workflows/:id/duplicate', {
      params: pathTo(person, workflow),
      body: { name: 'Copy' },
    });
    expect(copy.data.folder_id).toBe(orders);
    const imported = await person.call('POST /orgs/:org/workflows', {
      params,
      body: { ...file, name: 'Imported' },
    });
    expect(imported.data.workflow.folder_id).toBe(orders);

    const other = await createPerson(service, 'editor');
    const there = await other.call('POST /orgs/:org/workflows', {
      params: { org: other.organisationId },
      body: file,
    });
    expect(there.status).toBe(200);
    const { data } = await other.call('GET /orgs/:org/folders', { params: { org: other.organisationId } });
    expect(data.items.map(({ name }) => name)).toEqual(['Orders', 'Sales']);
    expect(there.data.workflow.folder_id).toBe(data.items[0]?.id);

    // Keys know no folders, but accept the file.
    const key = await service.createKey({ organisationId: person.organisationId });
    const posted = await service.api('POST', '/workflows', { key, body: file });
    expect([posted.status, 'folder' in (posted.json as object)]).toEqual([201, false]);
  });
});

describe('favourites', () => {
  test('belong to one person, who may be a viewer, and have a limit', async () => {
    const viewer = await createPerson(service, 'viewer', { organisationId: editor.organisationId });
    const made = [];
    for (const name of ['one', 'two', 'three']) {
      made.push(await createWorkflow(editor, flowWith('a'), { name }));
    }
    const mark = (workflow: { id: number }, isFavourite: boolean) =>
      viewer.call('PUT /orgs/:org/workflows/:id/favourite', {
        params: pathTo(viewer, workflow),
        body: { is_favourite: isFavourite },
      });
    const [one = { id: 0 }, two = { id: 0 }, three = { id: 0 }] = made;
    for (const workflow of [one, two, one]) expect((await mark(workflow, true)).status).toBe(204);
    expect((await mark(three, true)).json).toMatchObject({ code: 'too_many_favourites', params: { max: 2 } });
    expect(await namesIn(viewer, { favourites: true })).toEqual(['two', 'one']);
    expect(await namesIn(editor, { favourites: true })).toEqual([]);
    await mark(one, false);
    expect((await mark(three, true)).status).toBe(204);
    expect(await namesIn(viewer, { favourites: true })).toEqual(['three', 'two']);
    expect((await mark({ id: 999_999 }, true)).status).toBe(404);
    const { data } = await viewer.call('GET /orgs/:org/workflows/:id', { params: pathTo(viewer, two) });
    expect(data.is_favourite).toBe(true);
  });
});

describe('a change to several workflows', () => {
  test('archives, and lists those it could not change with the reason', async () => {
    const first = await createWorkflow(editor);
    const second = await createWorkflow(editor);
    const { data } = await changeAll(editor, [first.id, 999_999, second.id], { kind: 'archive' });
    expect(data).toMatchObject({ done: 2, refused: [{ id: 999_999, code: 'not_found' }] });
    expect((await auditOf(service, second.id)).map(({ action }) => action)).toEqual([
      'workflow.created',
      'workflow.archived',
    ]);
    // What is archived already stays so, and is recorded once.
    expect((await changeAll(editor, [first.id], { kind: 'archive' })).data.done).toBe(1);
    expect(await auditOf(service, first.id)).toHaveLength(2);
  });

  test('adds and removes tags, and refuses too many', async () => {
    const plain = await createWorkflow(editor, flowWith('a'), { tags: ['old', 'kept'] });
    const full = await createWorkflow(editor, flowWith('a'), {
      tags: Array.from({ length: 50 }, (_, index) => `tag ${index}`),
    });
    const archived = await createWorkflow(editor);
    await changeAll(editor, [archived.id], { kind: 'archive' });
    const { data } = await changeAll(editor, [plain.id, full.id, archived.id], {
      kind: 'tag',
      add: ['new', 'kept'],
      remove: ['old'],
    });
    expect(data.done).toBe(1);
    expect(data.refused.map(({ id, code, key }) => [id, code, key])).toEqual([
      [full.id, 'validation_failed', 'api.too_many_tags'],
      [archived.id, 'workflow_archived', 'service.change_archived'],
    ]);
    const { data: changed } = await editor.call('GET /orgs/:org/workflows/:id', {
      params: pathTo(editor, plain),
    });
    expect(changed.tags).toEqual(['kept', 'new']);
  });

  test('moves without changing the update time, records it, and moves archived ones too', async () => {
    const person = await createPerson(service, 'editor');
    const folder = (await addFolder(person, 'Here')).data.id;
    const workflow = await createWorkflow(person);
    await changeAll(person, [workflow.id], { kind: 'archive' });
    const before = await person.call('GET /orgs/:org/workflows/:id', { params: pathTo(person, workflow) });
    await changeAll(person, [workflow.id], { kind: 'move', folder_id: folder });
    await changeAll(person, [workflow.id], { kind: 'move', folder_id: folder });
    const after = await person.call('GET /orgs/:org/workflows/:id', { params: pathTo(person, workflow) });
    expect(after.data).toEqual({ ...before.data, folder_id: folder });
    expect((await auditOf(service, workflow.id)).map(({ action }) => action)).toEqual([
      'workflow.created',
      'workflow.archived',
      'workflow.moved',
    ]);
    const tooMany = Array.from({ length: 201 }, (_, index) => index + 1);
    expect((await changeAll(person, tooMany, { kind: 'archive' })).status).toBe(422);
  });
});

describe('the order of the list', () => {
  test('is by name, last change, last run or creation, and a cursor belongs to its order', async () => {
    const person = await createPerson(service, 'editor');
    const params = { org: person.organisationId };
    const made = new Map<string, number>();
    for (const name of ['beta', 'Alpha', 'gamma']) {
      made.set(name, (await createWorkflow(person, flowWith('a'), { name })).id);
    }
    const run = (name: string) =>
      person.call('POST /orgs/:org/workflows/:id/run', {
        params: { ...params, id: made.get(name) ?? 0 },
        body: {},
      });
    await run('gamma');
    await run('beta');
    await noteLastRuns(service.database.db);
    await changeAll(person, [made.get('Alpha') ?? 0], { kind: 'tag', add: ['x'], remove: [] });
    const read = async (sort: 'created' | 'name' | 'updated' | 'last_run', cursor?: string) =>
      (
        await person.call('GET /orgs/:org/workflows', {
          params,
          query: { sort, limit: 2, ...(cursor === undefined ? {} : { cursor }) },
        })
      ).data;
    const orders = {
      created: ['gamma', 'Alpha', 'beta'],
      name: ['Alpha', 'beta', 'gamma'],
      updated: ['Alpha', 'gamma', 'beta'],
      last_run: ['beta', 'gamma', 'Alpha'],
    } as const;
    for (const [sort, expected] of Object.entries(orders)) {
      const first = await read(sort as keyof typeof orders);
      const rest = await read(sort as keyof typeof orders, first.next_cursor ?? '');
      expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(expected);
    }
    const { next_cursor: cursor } = await read('name');
    const elsewhere = await person.call('GET /orgs/:org/workflows', {
      params,
      query: { sort: 'updated', limit: 2, cursor: cursor ?? '' },
    });
    expect([elsewhere.status, elsewhere.json.errors[0]?.code]).toEqual([422, 'invalid_cursor']);
  });

  test('a last run is noted even if it was committed after later ones', async () => {
    const person = await createPerson(service, 'editor');
    const { id } = await createWorkflow(person);
    const lastOf = async () => {
      const [row] = await service.database.db.query<{ last_execution_id: number }>(
        'SELECT last_execution_id FROM workflows WHERE id = $1',
        [id],
      );
      return row?.last_execution_id;
    };
    const insert = (executionId: number) =>
      service.database.db.query(
        `INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
           is_test_mode, input) VALUES ($1, $2, $3, 1, 'queued', 'api', 'run', false, '{}')`,
        [executionId, person.organisationId, id],
      );
    const other = await createWorkflow(person);
    const [row] = await service.database.db.query<{ id: number }>(
      `SELECT nextval('execution_ids') AS id FROM generate_series(1, 2)`,
    );
    const early = row?.id ?? 0;
    await service.database.db.query(
      `INSERT INTO executions (id, organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input) VALUES ($1, $2, $3, 1, 'queued', 'api', 'run', false, '{}')`,
      [early + 1, person.organisationId, other.id],
    );
    await noteLastRuns(service.database.db);
    expect(await lastOf()).toBe(0);
    await insert(early);
    await noteLastRuns(service.database.db);
    expect(await lastOf()).toBe(early);
  });
});
