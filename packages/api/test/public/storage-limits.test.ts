import type { AddressInfo } from 'node:net';
import { changeLimits } from '@millrace/identity/organisations/limits';
import { prune } from '@millrace/service/retention/prune';
import { tallyStorage } from '@millrace/service/storage/tally';
import { createPerson } from '@millrace/testing/admin';
import { type ApiAnswer, send } from '@millrace/testing/api';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { flowOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';
import { buildApp } from '../../src/app.ts';

let service: WorkingService;
const others: FastifyInstance[] = [];
beforeEach(async () => {
  service = await startWorkingService();
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((app) => app.close()));
  await service.stop();
});

/** What organisations have stored, as counted and as it is. */
async function usage(organisationId: number) {
  const { db } = service.database;
  await tallyStorage(db);
  const [row] = await db.query<{ counted: number; stored: number }>(
    `SELECT coalesce((SELECT bytes FROM storage_usage WHERE organisation_id = $1), 0) AS counted,
       coalesce((SELECT sum(octet_length(input::text) + coalesce(octet_length(first_records::text), 0))
           FROM executions WHERE organisation_id = $1), 0)
         + coalesce((SELECT sum(octet_length(records::text)) FROM execution_checkpoints WHERE organisation_id = $1), 0)
         AS stored`,
    [organisationId],
  );
  if (row === undefined) throw new Error('no row');
  return row;
}

/** Starts one execution through another process, which has this limit and has known nothing so far. */
async function startElsewhere(
  executionsBytes: number,
  { workflowId, key = service.key.text }: { readonly workflowId: number; readonly key?: string },
): Promise<ApiAnswer> {
  const { config } = service.deps;
  const app = buildApp({
    ...service.deps,
    config: { ...config, storage: { executionsBytes, dataBytes: 0 } },
  });
  others.push(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/api/v1/workflows/${workflowId}/execute`;
  return send(url, 'POST', { key, body: {} });
}

async function endAndAge(): Promise<void> {
  await service.database.db.query(
    `ALTER TABLE executions DISABLE TRIGGER executions_guard_status;
     UPDATE executions SET created_at = created_at - interval '100 days', started_at = started_at - interval '100 days',
       completed_at = completed_at - interval '100 days';
     ALTER TABLE executions ENABLE TRIGGER executions_guard_status`,
  );
}

describe('what an organisation stores', () => {
  test('is counted to the byte, and retention gives it back', async () => {
    const { organisationId } = service.key;
    const flow = flowOf(
      [
        ['one', 'core.set', { config: { values: { text: 'grüße {{trigger.data.name}}' } } }],
        ['wait', 'core.delay', { config: { duration_ms: 10 } }],
      ],
      ['start>one', 'one>wait'],
    );
    const workflowId = await service.createWorkflow(flow);
    for (const name of ['Ada', '名前', 'x'.repeat(50_000)]) {
      await service.finished(await service.execute(workflowId, { name }));
    }
    const before = await usage(organisationId);
    expect(before.counted).toBe(before.stored);
    expect(before.counted).toBeGreaterThan(100_000);
    await endAndAge();
    await prune(service.database.db, service.deps.config.retention);
    expect(await usage(organisationId)).toEqual({ counted: 0, stored: 0 });
  });

  test('includes children, and what deleting a workflow takes with it', async () => {
    const { organisationId } = service.key;
    const child = await service.createWorkflow(RUNNABLE_FLOW, { status: 'active' });
    const config = { workflow_id: child, input: { from: 'parent' } };
    const parent = await service.createWorkflow(flowOf([['call', 'flow.call', { config }]], ['start>call']));
    await service.finished(await service.execute(parent));
    const { counted, stored } = await usage(organisationId);
    expect(counted).toBe(stored);
    const { db } = service.database;
    await db.query('DELETE FROM executions WHERE workflow_id = $1', [child]);
    const left = await usage(organisationId);
    expect(left.counted).toBe(left.stored);
    expect(left.counted).toBeLessThan(counted);
  });
});

describe('an organisation that has used up its storage', () => {
  test('starts nothing until retention makes room; others do', async () => {
    const workflowId = await service.createWorkflow(RUNNABLE_FLOW);
    const first = await startElsewhere(1_000, { workflowId });
    expect(first.status).toBe(202);
    await service.finished(first.json.execution_id);
    await service.finished(await service.execute(workflowId, { text: 'x'.repeat(2_000) }));
    await usage(service.key.organisationId);
    const refused = await startElsewhere(1_000, { workflowId });
    expect([refused.status, refused.json.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'storage_full',
      '600',
    ]);
    expect((await startElsewhere(0, { workflowId })).status).toBe(202);
    const limitTo = (executionsBytes: number | null) =>
      changeLimits(
        service.database.db,
        service.key.organisationId,
        { executionsBytes },
        { actor: 'operator' },
      );
    await limitTo(0);
    const unlimited = await startElsewhere(1_000, { workflowId });
    expect(unlimited.status).toBe(202);
    await service.finished(unlimited.json.execution_id);
    await limitTo(900);
    expect((await startElsewhere(0, { workflowId })).json.code).toBe('storage_full');
    await limitTo(null);
    const bystander = await service.createKey();
    const { json } = await service.api('POST', '/workflows', {
      key: bystander,
      body: { name: 'bystander', flow_data: RUNNABLE_FLOW },
    });
    const accepted = await startElsewhere(1_000, { workflowId: json.id, key: bystander.text });
    expect(accepted.status).toBe(202);
    await service.finished(first.json.execution_id);
    await service.database.db.query('DELETE FROM executions WHERE completed_at IS NOT NULL');
    await usage(service.key.organisationId);
    expect((await startElsewhere(1_000, { workflowId })).status).toBe(202);
  });

  test('is shown to its members and on the system page, each part with its limit', async () => {
    const { organisationId } = service.key;
    const workflowId = await service.createWorkflow(RUNNABLE_FLOW);
    await service.finished(await service.execute(workflowId, {}));
    const { counted } = await usage(organisationId);
    const { storage, files } = service.deps.config;
    await service.database.db.query(
      'INSERT INTO file_usage (organisation_id, files, bytes) VALUES ($1, 2, 7)',
      [organisationId],
    );
    const parts = [
      { part: 'executions', bytes: counted, limit_bytes: storage.executionsBytes },
      { part: 'data', bytes: 0, limit_bytes: storage.dataBytes },
      { part: 'files', bytes: 7, limit_bytes: files.organisationBytes },
    ];
    const testService = service as never;
    const member = await createPerson(testService, 'viewer', { organisationId });
    const own = await member.call('GET /orgs/:org/storage', { params: { org: organisationId } });
    expect(own.data).toEqual({ parts });
    expect((await member.call('GET /system/storage')).status).toBe(403);
    const root = await createPerson(testService, 'system_admin');
    const { items } = (await root.call('GET /system/storage')).data;
    expect(items[0]).toEqual({ organisation: { id: organisationId, name: expect.any(String) }, parts });
  });
});
