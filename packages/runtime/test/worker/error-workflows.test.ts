import { failure } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { flowOf } from './flows.ts';
import { type ExecutionBody, startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
beforeAll(async () => {
  // One key makes the requests of all tests.
  service = await startWorkingService({ limits: { requestsPerMinutePerKey: 0 } });
  service.behaviours.set('fail', () => failure('broken', verbatim('it broke')));
});
afterAll(() => service.stop());

const FAILING = [['work', 'test.effect', { config: { do: 'fail' } }]] as const;

function failing(errorWorkflowId: number, fields: object = {}): Promise<number> {
  const flow = flowOf(FAILING, ['start>work'], { error_workflow_id: errorWorkflowId });
  return service.createWorkflow(flow, fields);
}

async function executionsOf(workflowId: number): Promise<ExecutionBody[]> {
  const page = await service.api('GET', `/executions?workflow_id=${workflowId}`, { key: service.key });
  return page.json.data as unknown as ExecutionBody[];
}

async function theOnlyOne(workflowId: number): Promise<ExecutionBody> {
  await expect.poll(async () => (await executionsOf(workflowId)).length).toBe(1);
  const [item] = await executionsOf(workflowId);
  return service.finished(item?.id ?? 0);
}

async function followUps(): Promise<number> {
  return (await service.database.db.query('SELECT FROM execution_follow_ups')).length;
}

test('starts with the error and the failed execution', async () => {
  const handler = await service.createWorkflow(flowOf([], []), { name: 'tell somebody' });
  const id = await service.execute(await failing(handler, { name: 'fails' }), { n: 1 });
  const failed = await service.finished(id);
  expect(await theOnlyOne(handler)).toMatchObject({
    status: 'completed',
    trigger_type: 'error',
    parent: null,
    input_data: {
      error: { code: 'broken', message: 'it broke', node_id: 'work' },
      execution: {
        id,
        workflow_name: 'fails',
        display_name: failed.display_name,
        input_data: { n: 1 },
        started_at: failed.started_at,
        completed_at: failed.completed_at,
      },
    },
  });
  await expect.poll(followUps).toBe(0);
});

test('starts once per failure, however many workers see it', async () => {
  onTestFinished(() => service.stopWorkers());
  for (let n = 0; n < 3; n++) await service.startWorker({ pollMs: 20 });
  const handler = await service.createWorkflow(flowOf([], []));
  const workflowId = await failing(handler);
  const ids = await Promise.all(Array.from({ length: 25 }, () => service.execute(workflowId)));
  for (const id of ids) await service.finished(id);
  await expect.poll(followUps).toBe(0);
  const rows = await service.database.db.query<{ id: number }>(
    `SELECT (input #>> '{execution,id}')::bigint AS id FROM executions WHERE workflow_id = $1 ORDER BY 1`,
    [handler],
  );
  expect(rows.map((row) => row.id)).toEqual(ids.toSorted((a, b) => a - b));
});

test('that fails itself starts none', async () => {
  const first = await failing(1_000_000);
  const flow = flowOf(FAILING, ['start>work'], { error_workflow_id: first });
  await service.api('PUT', `/workflows/${first}`, { key: service.key, body: { flow_data: flow } });
  await service.finished(await service.execute(first));
  await expect.poll(async () => (await executionsOf(first)).length).toBe(2);
  const [second] = await executionsOf(first);
  expect(await service.finished(second?.id ?? 0)).toMatchObject({ status: 'failed', trigger_type: 'error' });
  await expect.poll(followUps).toBe(0);
  expect(await executionsOf(first)).toHaveLength(2);
});

test('inherits test mode', async () => {
  const handler = await service.createWorkflow(flowOf([], []));
  await service.finished(await service.execute(await failing(handler, { is_test_mode: true })));
  expect((await theOnlyOne(handler)).is_test_mode).toBe(true);
});

test("that is archived doesn't start; the log says so", async () => {
  const handler = await service.createWorkflow(flowOf([], []));
  await service.api('DELETE', `/workflows/${handler}`, { key: service.key });
  const id = await service.execute(await failing(handler));
  await service.finished(id);
  await expect.poll(followUps).toBe(0);
  expect(await executionsOf(handler)).toEqual([]);
  const warnings = service.logs
    .map((line) => JSON.parse(line))
    .filter(({ msg, execution_id }) => /not started/.test(msg) && execution_id === id);
  expect(warnings).toMatchObject([{ error_workflow_id: handler }]);
});

test("of another organisation doesn't start", async () => {
  const key = await service.createKey();
  const body = { name: 'theirs', flow_data: flowOf([], []), status: 'active' };
  const other = await service.api('POST', '/workflows', { key, body });
  await service.finished(await service.execute(await failing(other.json.id)));
  await expect.poll(followUps).toBe(0);
  const rows = await service.database.db.query('SELECT FROM executions WHERE workflow_id = $1', [
    other.json.id,
  ]);
  expect(rows).toEqual([]);
});

describe('of the organisation', () => {
  const setDefault = (id: number | null) =>
    service.database.db.query(
      `INSERT INTO organisation_settings (organisation_id, error_workflow_id) VALUES ($1, $2)
       ON CONFLICT (organisation_id) DO UPDATE SET error_workflow_id = excluded.error_workflow_id`,
      [service.key.organisationId, id],
    );
  afterEach(() => setDefault(null));

  test('starts for workflows that name none, and for no others', async () => {
    const own = await service.createWorkflow(flowOf([], []));
    const handler = await service.createWorkflow(flowOf(FAILING, ['start>work']), { name: 'for all' });
    await setDefault(handler);
    const withOwn = await service.execute(await failing(own));
    const without = await service.execute(await service.createWorkflow(flowOf(FAILING, ['start>work'])));
    for (const id of [withOwn, without]) await service.finished(id);
    const started = await theOnlyOne(handler);
    expect(started).toMatchObject({
      ...{ status: 'failed', trigger_type: 'error' },
      input_data: { error: { code: 'broken' }, execution: { id: without } },
    });
    await theOnlyOne(own);
    // Neither its failure as an error workflow nor one of its own starts it again.
    await service.finished(await service.execute(handler));
    await expect.poll(followUps).toBe(0);
    expect(await executionsOf(handler)).toHaveLength(2);
  });

  test('starts for the parent that waits and not for its child, and for nothing once it is unset', async () => {
    const handler = await service.createWorkflow(flowOf([], []));
    const child = await service.createWorkflow(flowOf(FAILING, ['start>work']));
    const call = ['call', 'flow.call', { config: { workflow_id: child } }] as const;
    const parent = await service.createWorkflow(flowOf([call], ['start>call']));
    await setDefault(handler);
    const failed = await service.finished(await service.execute(parent));
    expect((await executionsOf(child)).map(({ status }) => status)).toEqual(['failed']);
    expect((await theOnlyOne(handler)).input_data).toMatchObject({ execution: { id: failed.id } });
    await setDefault(null);
    await service.finished(await service.execute(child));
    await expect.poll(followUps).toBe(0);
    expect(await executionsOf(handler)).toHaveLength(1);
  });
});
