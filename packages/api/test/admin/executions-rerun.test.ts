import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { type Act, CANCEL, DETAIL, endedExecution, RERUN } from './ended-execution.ts';

let service: WorkingService;
let organisationId: number;
let editor: TestPerson;
let viewer: TestPerson;
beforeAll(async () => {
  service = await startWorkingService();
  organisationId = service.key.organisationId;
  editor = await createPerson(service as never, 'editor', { organisationId });
  viewer = await createPerson(service as never, 'viewer', { organisationId });
});
afterAll(() => service.stop());

const of = (execution: number) => ({ params: { org: organisationId, execution } });

const ended = (...act: Act) => endedExecution(service, ...act);

async function auditOf(action: string) {
  const rows = await service.database.db.query<{ details: string; user_id: number; source_ip: string }>(
    'SELECT details, user_id, source_ip FROM audit_log WHERE organisation_id = $1 AND action = $2 ORDER BY id',
    [organisationId, action],
  );
  return rows.map(({ details, ...row }) => ({
    ...row,
    details: JSON.parse(details) as { readonly [name: string]: unknown },
  }));
}

describe('cancel', () => {
  test('ends it, with an audit entry; a second time changes nothing', async () => {
    const started = Promise.withResolvers<void>();
    service.behaviours.set('hang', ({ signal }) => {
      started.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const flow = flowOf([['act', 'test.effect', { config: { do: 'hang' } }]], ['start>act']);
    const id = await service.execute(await service.createWorkflow(flow));
    await started.promise;
    expect((await editor.call(CANCEL, of(id))).status).toBe(204);
    expect((await editor.call(CANCEL, of(id))).status).toBe(204);
    const { data } = await viewer.call(DETAIL, of(id));
    expect(data.execution.status).toBe('cancelled');
    const span = data.nodes.find((node) => node.node_id === 'act')?.spans[0];
    expect(span?.ended_at).toBe(data.execution.completed_at);
    const entries = await auditOf('execution.cancelled');
    expect(entries.filter(({ details }) => details.execution_id === id)).toEqual([
      { details: { execution_id: id }, user_id: editor.userId, source_ip: '127.0.0.1' },
    ]);
  });

  test('409 if it has ended in another way', async () => {
    const { id } = await ended(() => success({}));
    expect((await editor.call(CANCEL, of(id))).json.code).toBe('execution_final');
  });

  test('is refused to viewers, and so is a rerun', async () => {
    const { id } = await ended(() => success({}));
    for (const answer of [
      await viewer.call(CANCEL, of(id)),
      await viewer.call(RERUN, { ...of(id), body: { from: 'start' } }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([403, 'insufficient_role']);
    }
  });
});

describe('rerun', () => {
  test('from the start with different input, with the currently saved version', async () => {
    const { id, workflowId } = await ended(() => success({}));
    const { data } = await editor.call(RERUN, {
      ...of(id),
      body: { from: 'start', input_data: { order: 18 } },
    });
    await service.finished(data.execution_id);
    const { data: again } = await viewer.call(DETAIL, of(data.execution_id));
    expect(again.input_data).toEqual({ order: 18 });
    expect(again.execution).toMatchObject({ rerun_of: id, workflow_id: workflowId, status: 'completed' });
    const { data: first } = await viewer.call(DETAIL, of(id));
    expect(first.reruns).toEqual([{ execution_id: data.execution_id, status: 'completed' }]);
    const entries = await auditOf('execution.rerun');
    expect(entries.at(-1)).toMatchObject({
      user_id: editor.userId,
      details: { execution_id: data.execution_id, rerun_of: id, from: 'start', has_own_input: true },
    });
  });

  test('from the failed node, keeping what succeeded', async () => {
    let fails = true;
    const { id } = await ended(() =>
      fails ? failure('no_stock', verbatim('none left')) : success({ ok: true }),
    );
    fails = false;
    const { data } = await editor.call(RERUN, { ...of(id), body: { from: 'failed_node' } });
    await service.finished(data.execution_id);
    const { data: again } = await viewer.call(DETAIL, of(data.execution_id));
    expect(again.nodes.map((node) => [node.node_id, node.is_taken_over, node.spans.length])).toEqual([
      ['start', true, 0],
      ['first', true, 0],
      ['act', false, 1],
    ]);
  });

  test("input that doesn't match the schema is 422, and so is input from the failed node", async () => {
    const { id } = await ended(() => failure('no_stock', verbatim('none left')));
    const { workflow_id: workflowId } = (await viewer.call(DETAIL, of(id))).data.execution;
    const input_schema = { type: 'object', properties: { order: { type: 'integer' } } };
    const flow = flowOf([['set', 'core.set', { config: { values: {} } }]], ['start>set'], { input_schema });
    const body = { flow_data: flow };
    const put = await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body });
    expect(put.status, put.text).toBe(200);
    const wrong = await editor.call(RERUN, {
      ...of(id),
      body: { from: 'start', input_data: { order: 'x' } },
    });
    expect(wrong.json.errors.map(({ pointer }) => pointer)).toEqual(['/input_data/order']);
    const both = await editor.call(RERUN, { ...of(id), body: { from: 'failed_node', input_data: {} } });
    expect(both.json.errors.map(({ code }) => code)).toEqual(['not_allowed']);
  });

  test('409 if it has not ended, or if the workflow is inactive', async () => {
    const { id, workflowId } = await ended(() => success({}));
    expect((await editor.call(RERUN, { ...of(id), body: { from: 'failed_node' } })).json.code).toBe(
      'no_failed_node',
    );
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body: { status: 'inactive' } });
    expect((await editor.call(RERUN, { ...of(id), body: { from: 'start' } })).json.code).toBe(
      'workflow_inactive',
    );
  });
});
