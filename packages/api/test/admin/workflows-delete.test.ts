import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { holdLocks } from '@millrace/testing/hold-locks';
import { startTestService, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditOf, createWorkflow, flowWith, pathTo } from './workflows-world.ts';

let service: TestService;
let admin: TestPerson;
let editor: TestPerson;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  admin = await createPerson(service, 'org_admin');
  editor = await createPerson(service, 'editor', { organisationId: admin.organisationId });
});
afterAll(() => service.stop());

function remove(person: TestPerson, workflow: { readonly id: number }, name = 'A workflow') {
  return person.call('DELETE /orgs/:org/workflows/:id', { params: pathTo(person, workflow), body: { name } });
}

test('an administrator deletes an archived workflow with everything that belongs to it', async () => {
  const workflow = await createWorkflow(editor);
  const params = pathTo(editor, workflow);
  await editor.call('PUT /orgs/:org/workflows/:id/draft', {
    params,
    body: { flow_data: flowWith('draft'), base_version: 1, revision: 0 },
  });
  await editor.call('PUT /orgs/:org/workflows/:id/sample', { params, body: { data: 1 } });
  await editor.call('POST /orgs/:org/workflows/:id/webhook/regenerate', { params, body: {} });
  const { db } = service.database;
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, started_at, completed_at)
     SELECT $1, $2, 1, 'completed', 'api', 'run', false, '{}', now(), now() FROM generate_series(1, 1100)`,
    [admin.organisationId, workflow.id],
  );
  const early = await remove(admin, workflow);
  expect([early.status, early.json.code]).toEqual([409, 'workflow_not_archived']);
  await editor.call('POST /orgs/:org/workflows/:id/archive', { params });
  expect((await remove(editor, workflow)).json.code).toBe('insufficient_role');
  const mistyped = await remove(admin, workflow, 'a workflow');
  expect([mistyped.status, mistyped.json.errors[0]?.pointer]).toEqual([422, '/name']);
  expect((await remove(admin, workflow)).status).toBe(204);
  const tables = [
    'executions',
    'workflow_versions',
    'workflow_drafts',
    'workflow_samples',
    'former_webhook_hashes',
  ];
  for (const table of tables) {
    expect(
      await db.query(`SELECT workflow_id FROM ${table} WHERE workflow_id = $1`, [workflow.id]),
      table,
    ).toEqual([]);
  }
  expect((await admin.call('GET /orgs/:org/workflows/:id', { params })).status).toBe(404);
  const entry = (await auditOf(service, workflow.id)).at(-1);
  expect(entry).toMatchObject({ action: 'workflow.deleted', user_id: admin.userId });
  expect((await remove(admin, workflow)).status).toBe(404);
});

test('is refused while an execution has not ended, and nothing is lost', async () => {
  const workflow = await createWorkflow(editor);
  const params = pathTo(editor, workflow);
  const run = await editor.call('POST /orgs/:org/workflows/:id/run', { params, body: {} });
  await editor.call('POST /orgs/:org/workflows/:id/archive', { params });
  const refused = await remove(admin, workflow);
  expect([refused.status, refused.json.code]).toEqual([409, 'workflow_running']);
  const key = await service.createKey({ organisationId: admin.organisationId });
  await service.api('POST', `/executions/${run.data.execution_id}/cancel`, { key });
  expect((await remove(admin, workflow)).status).toBe(204);
});

test('a start accepted before is waited for, and keeps the workflow', async () => {
  const workflow = await createWorkflow(editor);
  await editor.call('POST /orgs/:org/workflows/:id/archive', { params: pathTo(editor, workflow) });
  const { db } = service.database;
  let removal: ReturnType<typeof remove> | undefined;
  await holdLocks(db, async (tx) => {
    await tx.query(
      `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input) VALUES ($1, $2, 1, 'queued', 'api', 'run', false, '{}')`,
      [admin.organisationId, workflow.id],
    );
    removal = remove(admin, workflow);
    await expect
      .poll(() =>
        db.query(
          `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      )
      .toHaveLength(1);
  });
  expect((await removal)?.json.code).toBe('workflow_running');
});
