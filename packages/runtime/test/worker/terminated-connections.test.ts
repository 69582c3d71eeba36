import { randomUUID } from 'node:crypto';
import { createDatabase, type PgDatabase } from '@millrace/database/pool';
import { success } from '@millrace/engine';
import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf } from './flows.ts';
import { startWorkingService, type WorkingService } from './service-with-worker.ts';

let service: WorkingService;
let superuser: PgDatabase;
beforeAll(async () => {
  service = await startWorkingService();
  superuser = createDatabase(service.database.superuserUrl, { lanes: 1 });
});
afterAll(async () => {
  await superuser.close();
  await service.stop();
});

async function terminateAll(): Promise<void> {
  await superuser.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

test('connections terminated repeatedly under load: nothing acknowledged is lost, nothing runs twice under one key', async () => {
  const effects = new Map<number, number>();
  service.behaviours.set('counted', (context) => {
    effects.set(context.execution.id, (effects.get(context.execution.id) ?? 0) + 1);
    return success({});
  });
  const pure = await service.createWorkflow(RUNNABLE_FLOW);
  const withEffect = await service.createWorkflow(chainOf('counted'));
  const hook = await service.createWorkflow(WEBHOOK_FLOW);
  const { json: info } = await service.api('GET', `/workflows/${hook}/webhook-info`, { key: service.key });

  const accepted = new Set<number>();
  const statuses = new Map<number, number>();
  async function startOne(index: number): Promise<void> {
    const headers = { 'idempotency-key': randomUUID() };
    for (;;) {
      const answer =
        index % 3 === 2
          ? await service.api('POST', `/webhooks/${String(info.hash)}`, { body: { index } })
          : await service.api('POST', `/workflows/${index % 3 === 0 ? pure : withEffect}/execute`, {
              key: service.key,
              headers,
              body: { input_data: { index } },
            });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status !== 202) continue;
      accepted.add(Number(answer.json.execution_id));
      return;
    }
  }
  let isLoading = true;
  const killer = (async () => {
    let rounds = 0;
    for (; isLoading; rounds += 1) {
      const before = accepted.size;
      await expect.poll(() => !isLoading || accepted.size >= before + 25).toBe(true);
      await terminateAll();
    }
    return rounds;
  })();
  let next = 0;
  const clients = Array.from({ length: 16 }, async () => {
    while (next < 400) {
      next += 1;
      await startOne(next);
    }
  });
  await Promise.all(clients);
  isLoading = false;
  expect(await killer).toBeGreaterThan(3);

  expect([...statuses.keys()].filter((status) => status !== 202 && status !== 503)).toEqual([]);
  expect(accepted.size).toBe(400);
  const { db } = service.database;
  const isOver = async () =>
    (await db.query("SELECT FROM executions WHERE status NOT IN ('completed')").catch(() => [null])).length;
  await expect.poll(isOver, { interval: 200 }).toBe(0);
  const rows = await db.query<{ id: number }>('SELECT id FROM executions');
  const stored = new Set(rows.map((row) => row.id));
  expect([...accepted].filter((id) => !stored.has(id))).toEqual([]);
  const starts = await db.query<{ count: number }>(
    'SELECT count(*) FROM executions WHERE workflow_id = ANY($1) GROUP BY input::text HAVING count(*) > 1',
    [[pure, withEffect]],
  );
  expect(starts).toEqual([]);
  // Whatever is stored has run, including what was stored although its caller got a 503.
  const withEffects = await db.query<{ id: number }>('SELECT id FROM executions WHERE workflow_id = $1', [
    withEffect,
  ]);
  expect(withEffects.filter(({ id }) => (effects.get(id) ?? 0) === 0)).toEqual([]);
});
