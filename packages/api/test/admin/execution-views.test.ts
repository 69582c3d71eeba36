import { MAX_OWN_VIEWS, MAX_SHARED_VIEWS } from '@millrace/service/executions/views';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

const VIEWS = 'GET /orgs/:org/execution-views';
const FILTERS = { status: 'failed', in: 'error' as const, text: 'timed out', range: 'day' as const };

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
});
afterAll(() => service.stop());

const paramsOf = (person: TestPerson) => ({ org: person.organisationId });

async function namesFor(person: TestPerson): Promise<string[]> {
  const { data } = await person.call(VIEWS, { params: paramsOf(person) });
  return data.items.map(({ name }) => name);
}

const save = (person: TestPerson, name: string, isShared = false, filters: object = FILTERS) =>
  person.call('POST /orgs/:org/execution-views', {
    params: paramsOf(person),
    body: { name, is_shared: isShared, filters },
  });

const remove = (person: TestPerson, view: number) =>
  person.call('DELETE /orgs/:org/execution-views/:view', { params: { ...paramsOf(person), view } });

async function team() {
  const editor = await createPerson(service, 'editor');
  const at = { organisationId: editor.organisationId };
  const viewer = await createPerson(service, 'viewer', at);
  const admin = await createPerson(service, 'org_admin', at);
  return { editor, viewer, admin };
}

test('200: one person sees their own views and what others share, by name, and replaces their own', async () => {
  const { editor, viewer } = await team();
  await save(editor, ' Timeouts ', true);
  await save(editor, 'mine');
  await save(viewer, 'Alone');
  expect(await namesFor(viewer)).toEqual(['Alone', 'Timeouts']);
  expect(await namesFor(editor)).toEqual(['mine', 'Timeouts']);
  const { data } = await save(editor, 'mine', false, { workflow: 3 });
  expect(data).toMatchObject({ name: 'mine', filters: { workflow: 3 }, is_own: true, may_delete: true });
  const listed = await viewer.call(VIEWS, { params: paramsOf(viewer) });
  expect(listed.data.items[1]).toMatchObject({
    filters: FILTERS,
    is_shared: true,
    is_own: false,
    may_delete: false,
  });
  expect(await namesFor(await createPerson(service, 'org_admin'))).toEqual([]);
});

test("204 and 404: a view is deleted by its owner; a shared one by an administrator, too, and nobody else's is found", async () => {
  const { editor, viewer, admin } = await team();
  const { id: shared } = (await save(editor, 'shared', true)).data;
  const { id: own } = (await save(editor, 'own')).data;
  for (const [person, view] of [
    [viewer, shared],
    [viewer, own],
    [admin, own],
    [await createPerson(service, 'org_admin'), shared],
  ] as const) {
    expect((await remove(person, view)).status).toBe(404);
  }
  expect((await remove(admin, shared)).status).toBe(204);
  expect((await remove(editor, own)).status).toBe(204);
  expect(await namesFor(editor)).toEqual([]);
});

test('403: a viewer shares nothing', async () => {
  const { viewer } = await team();
  expect((await save(viewer, 'x', true)).status).toBe(403);
});

test('409: as many as fit a menu', async () => {
  const { editor, viewer } = await team();
  await service.database.db.query(
    `INSERT INTO execution_views (organisation_id, user_id, name, is_shared, filters)
     SELECT $1, id, 'view ' || n, email = $3, '{}' FROM users, generate_series(1, $4::integer) n
     WHERE email IN ($2, $3)`,
    [editor.organisationId, viewer.email, editor.email, MAX_OWN_VIEWS],
  );
  expect((await save(viewer, 'one more')).json.code).toBe('too_many_views');
  expect((await save(viewer, 'view 1')).status).toBe(200);
  const second = await createPerson(service, 'editor', { organisationId: editor.organisationId });
  await service.database.db.query(
    `INSERT INTO execution_views (organisation_id, user_id, name, is_shared, filters)
     SELECT $1, id, 'shared ' || n, true, '{}' FROM users, generate_series(1, $3::integer) n WHERE email = $2`,
    [editor.organisationId, second.email, MAX_SHARED_VIEWS - MAX_OWN_VIEWS - 1],
  );
  expect((await save(second, 'the last', true)).status).toBe(200);
  expect((await save(second, 'one more', true)).json.code).toBe('too_many_views');
});

test('422: no name, and unknown filters', async () => {
  const { viewer } = await team();
  expect((await save(viewer, '  ')).status).toBe(422);
  expect((await save(viewer, 'x'.repeat(101))).status).toBe(422);
  expect((await save(viewer, 'x', false, { colour: 'blue' })).status).toBe(422);
});
