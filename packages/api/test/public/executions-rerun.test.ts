import { failure, success } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf, flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

let service: WorkingService;
let isBroken = true;
const runs = new Map<string, number>();
beforeAll(async () => {
  service = await startWorkingService();
  const counted = (id: string) => runs.set(id, (runs.get(id) ?? 0) + 1);
  for (const id of ['before', 'beside', 'after']) {
    service.behaviours.set(id, () => {
      counted(id);
      return success({ run: runs.get(id) ?? 0 });
    });
  }
  service.behaviours.set('broken', () => {
    counted('broken');
    return isBroken ? failure('refused', verbatim('no')) : success({ mended: true });
  });
});
beforeEach(() => {
  isBroken = true;
  runs.clear();
});
afterAll(() => service.stop());

const rerun = (id: number, body: unknown, headers: { [name: string]: string } = {}) =>
  service.api('POST', `/executions/${id}/rerun`, { key: service.key, body, headers });

async function failedOnce(): Promise<{ workflowId: number; id: number }> {
  const node = (id: string) => [id, 'test.effect', { config: { do: id } }] as const;
  const flow = flowOf(
    [node('before'), node('broken'), node('after')],
    ['start>before', 'before>broken', 'broken>after'],
  );
  const workflowId = await service.createWorkflow(flow);
  const id = await service.execute(workflowId, { n: 1 });
  expect((await service.finished(id)).status).toBe('failed');
  return { workflowId, id };
}

describe('202', () => {
  test('from the failed node: the same version, keeping what succeeded', async () => {
    const { workflowId, id } = await failedOnce();
    isBroken = false;
    const body = { flow_data: RUNNABLE_FLOW };
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body });
    const { status, json, headers } = await rerun(id, { from: 'failed_node' });
    expect(status).toBe(202);
    expect(headers.get('location')).toBe(json.polling_url);
    const detail = await service.finished(Number(json.execution_id));
    expect(detail).toMatchObject({
      status: 'completed',
      workflow_version: 1,
      input_data: { n: 1 },
      node_outputs: {
        before: { status: 'success', output: { run: 1 } },
        broken: { status: 'success', output: { mended: true } },
        after: { status: 'success' },
      },
    });
    expect(Object.fromEntries(runs)).toEqual({ before: 1, broken: 2, after: 1 });
    expect((await service.read(id)).status).toBe('failed');
    const [row] = await service.database.db.query<{ rerun_of: number }>(
      'SELECT rerun_of FROM executions WHERE id = $1',
      [detail.id],
    );
    expect(row?.rerun_of).toBe(id);
  });

  test('from the failed node with the saved version: what is unchanged is kept', async () => {
    const { workflowId, id } = await failedOnce();
    const fixed = flowOf(
      [
        ['before', 'test.effect', { config: { do: 'before' } }],
        ['broken', 'core.set', { config: { values: { fixed: true } } }],
        ['after', 'test.effect', { config: { do: 'after' } }],
      ],
      ['start>before', 'before>broken', 'broken>after'],
    );
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body: { flow_data: fixed } });
    const { json, status } = await rerun(id, { from: 'failed_node', version: 'saved' });
    expect(status).toBe(202);
    const detail = await service.finished(Number(json.execution_id));
    expect(detail).toMatchObject({ status: 'completed', workflow_version: 2, input_data: { n: 1 } });
    expect(Object.fromEntries(runs)).toEqual({ before: 1, broken: 1, after: 1 });
    const refused = await rerun(id, { from: 'start', version: 'saved' });
    expect([refused.status, refused.json.errors.map(({ pointer }) => pointer)]).toEqual([422, ['/version']]);
  });

  test('from the start: the saved version with the same input', async () => {
    const { workflowId, id } = await failedOnce();
    await service.api('PUT', `/workflows/${workflowId}`, {
      key: service.key,
      body: { flow_data: RUNNABLE_FLOW },
    });
    const { json } = await rerun(id, { from: 'start' });
    const detail = await service.finished(Number(json.execution_id));
    expect(detail).toMatchObject({ status: 'completed', workflow_version: 2, input_data: { n: 1 } });
    expect(Object.fromEntries(runs)).toEqual({ before: 1, broken: 1 });
  });

  test.each(['start', 'failed_node'] as const)(
    'test mode, from %s: what sent nothing then sends nothing now',
    async (from) => {
      const { workflowId, id } = await failedOnce();
      const setTestMode = (isTest: boolean) =>
        service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body: { is_test_mode: isTest } });
      const modeOfRerun = async (of: number) => {
        const { json } = await rerun(of, { from });
        return [(await service.finished(json.execution_id)).is_test_mode, json.execution_id] as const;
      };
      expect((await modeOfRerun(id))[0]).toBe(false);
      await setTestMode(true);
      const [isTest, tested] = await modeOfRerun(id);
      expect(isTest).toBe(true);
      await setTestMode(false);
      expect((await modeOfRerun(tested))[0]).toBe(true);
    },
  );

  test('an Idempotency-Key starts one rerun', async () => {
    const { id } = await failedOnce();
    const headers = { 'idempotency-key': 'again' };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => rerun(id, { from: 'start' }, headers)),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect((await rerun(id, { from: 'failed_node' }, headers)).status).toBe(409);
  });
});

describe('409', () => {
  test('one that has not ended or did not fail, or an inactive workflow', async () => {
    const release = Promise.withResolvers<void>();
    service.behaviours.set('held', async () => {
      await release.promise;
      return success({});
    });
    const workflowId = await service.createWorkflow(chainOf('held'));
    const id = await service.execute(workflowId);
    expect((await rerun(id, { from: 'start' })).json.code).toBe('execution_not_final');
    release.resolve();
    await service.finished(id);
    expect((await rerun(id, { from: 'failed_node' })).json.code).toBe('no_failed_node');
    await service.api('PUT', `/workflows/${workflowId}`, { key: service.key, body: { status: 'inactive' } });
    expect((await rerun(id, { from: 'start' })).json.code).toBe('workflow_inactive');
  });
});

describe('422', () => {
  test('no body: says what is missing', async () => {
    const { status, json } = await service.api('POST', '/executions/1/rerun', { key: service.key });
    expect(status).toBe(422);
    expect(json.errors).toMatchObject([{ pointer: '/from', code: 'required' }]);
  });

  test.each([
    [{}, '/from'],
    [{ from: 'middle' }, '/from'],
    [{ from: 'start', x: 1 }, '/x'],
  ])('%j', async (body, pointer) => {
    const { status, json } = await rerun(1, body);
    expect([status, json.errors[0]?.pointer]).toEqual([422, pointer]);
  });
});
