import { randomUUID } from 'node:crypto';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';

const IMPORT = 'POST /orgs/:org/workflows/:id/import';
const FLOW = {
  nodes: [{ id: 'start', type: 'trigger.manual', position: { x: 0, y: 0 }, data: {} }],
  edges: [],
  settings: { input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } },
};

let service: TestService;
let key: TestKey;
let editor: TestPerson;
let viewer: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  key = await service.createKey();
  const { organisationId } = key;
  editor = await createPerson(service, 'editor', { organisationId });
  viewer = await createPerson(service, 'viewer', { organisationId });
});
afterAll(() => service.stop());

async function createWorkflow(): Promise<number> {
  const { json } = await service.api('POST', '/workflows', {
    key,
    body: { name: 'sample', flow_data: FLOW },
  });
  return json.id;
}

const optionsOf = (id: number, importId: string, firstRow: number, inputs: readonly object[]) => ({
  params: { org: key.organisationId, id },
  body: { import_id: importId, first_row: firstRow, inputs: [...inputs] as never },
});

test('rows start once per import, refused ones say why, and a part is one audit entry', async () => {
  const id = await createWorkflow();
  const importId = randomUUID();
  const part = optionsOf(id, importId, 1, [{ n: 1 }, { n: 'x' }, { n: 3 }]);
  const first = await editor.call(IMPORT, part);
  expect(first.status).toBe(200);
  expect(first.data.rows).toMatchObject([
    { execution_id: expect.any(Number), errors: [] },
    { execution_id: null, errors: [{ field: 'n', key: 'flow.wrong_type' }] },
    { execution_id: expect.any(Number), errors: [] },
  ]);
  expect((await editor.call(IMPORT, part)).data).toEqual(first.data);
  await editor.call(IMPORT, optionsOf(id, importId, 4, [{ n: 4 }]));
  await editor.call(IMPORT, optionsOf(id, randomUUID(), 1, [{ n: 1 }]));
  const rows = await service.database.db.query<{ input: string; trigger_type: string; source_ip: string }>(
    'SELECT input, trigger_type, source_ip FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  expect(rows.map(({ input }) => input)).toEqual(['{"n":1}', '{"n":3}', '{"n":4}', '{"n":1}']);
  expect(new Set(rows.map((row) => `${row.trigger_type} ${row.source_ip}`))).toEqual(
    new Set(['manual 127.0.0.1']),
  );
  const audit = await service.database.db.query<{ details: string; user_id: number }>(
    `SELECT details, user_id FROM audit_log WHERE action = 'execution.started' ORDER BY id`,
  );
  expect(audit.map(({ details, user_id: userId }) => [JSON.parse(details).count, userId])).toEqual([
    [2, editor.userId],
    [1, editor.userId],
    [1, editor.userId],
  ]);
});

test('a corrected row of the same import is not mistaken for the one before', async () => {
  const id = await createWorkflow();
  const importId = randomUUID();
  await editor.call(IMPORT, optionsOf(id, importId, 1, [{ n: 1 }]));
  const { data } = await editor.call(IMPORT, optionsOf(id, importId, 1, [{ n: 2 }]));
  expect(data.rows).toMatchObject([{ execution_id: null, errors: [{ key: 'service.item_key_reused' }] }]);
});

test('needs an editor of the organisation, and a workflow that can be started', async () => {
  const id = await createWorkflow();
  const part = optionsOf(id, randomUUID(), 1, [{ n: 1 }]);
  expect((await viewer.call(IMPORT, part)).status).toBe(403);
  const stranger = await createPerson(service, 'editor');
  expect((await stranger.call(IMPORT, part)).status).toBe(404);
  const elsewhere = { ...part, params: { org: stranger.organisationId, id } };
  expect((await stranger.call(IMPORT, elsewhere)).status).toBe(404);
  expect((await editor.call(IMPORT, optionsOf(id, 'no-uuid', 1, [{ n: 1 }]))).status).toBe(422);
  expect((await editor.call(IMPORT, optionsOf(id, randomUUID(), 1, []))).status).toBe(422);
  await service.api('DELETE', `/workflows/${id}`, { key });
  expect((await editor.call(IMPORT, part)).status).toBe(409);
});
