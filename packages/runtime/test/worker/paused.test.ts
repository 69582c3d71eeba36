import type { PgDatabase } from '@millrace/database/pool';
import { success } from '@millrace/engine';
import { pauseOrganisation, resumeOrganisation } from '@millrace/identity/organisations/pause';
import { decideApproval } from '@millrace/service/callbacks/use';
import { createStarter } from '@millrace/service/executions/accept';
import { settle } from '@millrace/service/pause/settle';
import { Scheduler } from '@millrace/service/schedules/scheduler';
import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { holdLocks } from '@millrace/testing/hold-locks';
import type { TestKey } from '@millrace/testing/service';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_EXECUTOR } from '../../src/executor.ts';
import { chainOf, flowOf } from './flows.ts';
import { cron, scheduledFlow } from './schedules-world.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

const BY = { actor: 'operator' } as const;
let service: WorkingService;
let key: TestKey;
beforeAll(async () => {
  service = await startWorkingService({ limits: { requestsPerMinutePerKey: 0 } });
});
afterAll(() => service.stop());
beforeEach(async () => {
  key = await service.createKey();
});

const db = () => service.database.db;
const pause = () => pauseOrganisation(db(), key.organisationId, BY);
const resume = () => resumeOrganisation(db(), key.organisationId, BY);

async function createWorkflow(flow: object): Promise<number> {
  const body = { name: 'paused', flow_data: flow, status: 'active' };
  return (await service.api('POST', '/workflows', { key, body })).json.id;
}

const start = (workflowId: number) =>
  service.api('POST', `/workflows/${workflowId}/execute`, { key, body: {} });

async function startedId(workflowId: number): Promise<number> {
  const answer = await start(workflowId);
  expect(answer.status).toBe(202);
  return Number(answer.json.execution_id);
}

/** Stores a queued execution, as if it had been accepted before the pause. */
async function queue(workflowId: number, columns = ''): Promise<number> {
  const [row] = await db().query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name, is_test_mode, input)
     VALUES ($1, $2, 1, 'queued', 'api', 'queued', false, '{}') RETURNING id`,
    [key.organisationId, workflowId],
  );
  const id = row?.id ?? 0;
  if (columns !== '') await db().query(`UPDATE executions SET ${columns} WHERE id = $1`, [id]);
  return id;
}

async function statusOf(id: number): Promise<string | undefined> {
  const [row] = await db().query<{ status: string }>('SELECT status FROM executions WHERE id = $1', [id]);
  return row?.status;
}

async function completed(id: number): Promise<void> {
  await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe('completed');
}

/** Everything that the worker could claim before is claimed: an execution of another organisation, which came last, has ended. */
async function workerHasLooked(): Promise<void> {
  const id = await service.execute(await service.createWorkflow(chainOf('other')));
  expect(await service.finished(id)).toMatchObject({ status: 'completed' });
}

describe('while an organisation is paused', () => {
  test('what runs is taken back and continues with the same key, without a crash counted', async () => {
    const keys: string[] = [];
    const { promise: started, resolve: markStarted } = Promise.withResolvers<void>();
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    service.behaviours.set('held', async (context) => {
      keys.push(context.idempotencyKey);
      markStarted();
      if (keys.length > 1) return success({});
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      abort();
      return success({});
    });
    const id = await startedId(await createWorkflow(chainOf('held')));
    await started;
    expect(await pause()).toMatchObject({ paused_at: expect.any(Date) });
    expect(await settle(db(), key.organisationId, 0)).toEqual({ takenBack: 1 });
    await aborted;
    await workerHasLooked();
    expect(await statusOf(id)).toBe('queued');
    expect(keys).toHaveLength(1);
    expect(await resume()).toMatchObject({ paused_at: null });
    await completed(id);
    expect(keys).toEqual([keys[0], keys[0]]);
    const [row] = await db().query('SELECT crashed_attempts FROM executions WHERE id = $1', [id]);
    expect(row).toEqual({ crashed_attempts: 0 });
  });

  test('what may end in time does', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: started, resolve: markStarted } = Promise.withResolvers<void>();
    service.behaviours.set('short', async () => {
      markStarted();
      await released;
      return success({});
    });
    const id = await startedId(await createWorkflow(chainOf('short')));
    await started;
    await pause();
    const settling = settle(db(), key.organisationId, 60_000);
    release();
    expect(await settling).toEqual({ takenBack: 0 });
    expect(await statusOf(id)).toBe('completed');
  });

  test('nothing queued, woken, limited or suspect is leased, and others go on', async () => {
    const free = await createWorkflow(chainOf('free'));
    const limited = await createWorkflow({ ...RUNNABLE_FLOW, settings: { max_concurrency: 1 } });
    await pause();
    const ids = [
      await queue(free),
      await queue(free, 'crashed_attempts = 2'),
      await queue(limited, 'max_concurrency = 1'),
    ];
    await workerHasLooked();
    expect(await Promise.all(ids.map(statusOf))).toEqual(['queued', 'queued', 'queued']);
    await resume();
    await Promise.all(ids.map(completed));
  });

  test('starts are refused, whichever way they come, and say so', async () => {
    const id = await createWorkflow(WEBHOOK_FLOW);
    const webhook = await service.api('GET', `/workflows/${id}/webhook-info`, { key });
    const ended = await startedId(id);
    await completed(ended);
    await pause();
    const calls = [
      () => start(id),
      () =>
        service.api('POST', `/workflows/${id}/execute`, {
          key,
          body: {},
          headers: { 'idempotency-key': 'one' },
        }),
      () => service.api('POST', `/workflows/${id}/executions/batch`, { key, body: { items: [{}] } }),
      () => service.api('POST', `/executions/${ended}/rerun`, { key, body: { from: 'start' } }),
      () => service.api('POST', `/webhooks/${String(webhook.json.hash)}`, { body: {} }),
    ];
    for (const call of calls) {
      const answer = await call();
      expect(answer).toMatchObject({ status: 503, json: { code: 'organisation_paused' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await db().query('SELECT id FROM executions WHERE workflow_id = $1', [id])).toEqual([
      { id: ended },
    ]);
    await resume();
    expect((await start(id)).status).toBe(202);
  });

  test('a start that was looked up before is refused when it is stored', async () => {
    const id = await createWorkflow(chainOf('late'));
    const starter = createStarter({ db: db(), executor: NO_EXECUTOR, config: service.deps.config });
    const { executionId, now: acceptedAt, workflow } = await starter.lookUp(key.organisationId, id, null);
    if (workflow === null) throw new Error('the workflow is not there');
    await pause();
    const compiled = await service.deps.plans.get(id, 1);
    const order = { executionId, acceptedAt, workflow, version: 1, triggerType: 'api', input: {}, compiled };
    const refusal = expect.objectContaining({ code: 'organisation_paused' });
    await expect(starter.start(order)).rejects.toEqual(refusal);
    const together = db().transaction((tx) => starter.storeQueued(tx, key.organisationId, [order]));
    await expect(together).rejects.toEqual(refusal);
    expect(await statusOf(executionId)).toBeUndefined();
  });

  test('callbacks are refused, and work once it continues', async () => {
    const flow = flowOf(
      [['ask', 'wait.approval', { config: { title: 'Go on?', text: 'Really?' } }]],
      ['start>ask'],
    );
    const id = await startedId(await createWorkflow(flow));
    await expect.poll(() => statusOf(id), { timeout: 60_000 }).toBe('waiting_async');
    await pause();
    const [approval] = await db().query<{ id: number }>('SELECT id FROM callbacks WHERE execution_id = $1', [
      id,
    ]);
    const decision = { choice: 'approve', comment: '', decidedBy: { via: 'link', name: null } } as const;
    const decide = () => decideApproval(db(), key.organisationId, approval?.id ?? 0, decision);
    await expect(decide()).rejects.toMatchObject({ code: 'organisation_paused' });
    await resume();
    expect(await decide()).toBe('accepted');
    await completed(id);
  });

  test('its schedules do not fire', async () => {
    const id = await createWorkflow(scheduledFlow(cron('* * * * *')));
    await db().query(
      `UPDATE schedules SET next_fire_at = t, next_fire_time = t FROM (SELECT date_trunc('minute', now()) AS t) m WHERE workflow_id = $1`,
      [id],
    );
    await pause();
    const scheduler = new Scheduler(service.deps);
    const fires = () => db().query('SELECT FROM schedule_fires WHERE workflow_id = $1', [id]);
    expect(await scheduler.runDue()).toBeNull();
    expect(await fires()).toEqual([]);
    await resume();
    await scheduler.runDue();
    expect(await fires()).not.toEqual([]);
    await scheduler.stop();
  });

  test('settling waits for a transaction that may not have seen the pause', async () => {
    const { promise: started, resolve: markStarted } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let hasEnded = false;
    const earlier = holdLocks(db(), async (tx) => {
      await tx.query('SELECT 1');
      markStarted();
      await released;
      hasEnded = true;
    });
    await started;
    await pause();
    const { promise: looked, resolve: look } = Promise.withResolvers<void>();
    const watched: PgDatabase = {
      ...db(),
      query: async (text, values, name) => {
        const rows = await db().query(text, values, name);
        if (text.includes('pg_stat_activity')) look();
        return rows as never;
      },
    };
    const settled = settle(watched, key.organisationId, 0).then(() => hasEnded);
    await looked;
    release();
    await earlier;
    expect(await settled).toBe(true);
  });
});
