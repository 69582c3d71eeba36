import { Agent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@millrace/cli/settings/config';
import type { ExecutionStatus } from '@millrace/engine';
import { changeLimits } from '@millrace/identity/organisations/limits';
import { waitForEnd, watchExecution } from '@millrace/runtime/watch';
import { Worker } from '@millrace/runtime/worker';
import type { AdmissionSettings } from '@millrace/service/settings';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW, WEBHOOK_FLOW } from '@millrace/testing/flows';
import {
  createTestServices,
  startTestService,
  type TestKey,
  type TestService,
} from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { buildApp } from '../../src/app.ts';

const NO_LIMITS = { requestsPerMinutePerKey: 0, requestsPerMinutePerWebhook: 0 };

function startLimited(admission: Partial<AdmissionSettings>): Promise<TestService> {
  const { admission: defaults } = loadConfig({});
  return startTestService({
    runsWorker: false,
    limits: NO_LIMITS,
    config: { admission: { ...defaults, ...admission } },
  });
}

/** An organisation with a workflow, as its API client sees it. */
interface Tenant {
  readonly key: TestKey;
  readonly workflowId: number;
}

async function newTenant(service: TestService, flow: object = RUNNABLE_FLOW): Promise<Tenant> {
  const key = await service.createKey();
  const { json } = await service.api('POST', '/workflows', {
    key,
    body: { name: 'sample', flow_data: flow },
  });
  return { key, workflowId: json.id };
}

const execute = (
  service: TestService,
  { key, workflowId }: Tenant,
  headers: { [name: string]: string } = {},
) => service.api('POST', `/workflows/${workflowId}/execute`, { key, headers, body: {} });

async function countOf(service: TestService, { workflowId }: Tenant, status: string): Promise<number> {
  const [row] = await service.database.db.query<{ count: number }>(
    'SELECT count(*) AS count FROM executions WHERE workflow_id = $1 AND status = $2',
    [workflowId, status],
  );
  return row?.count ?? -1;
}

/**
 * What is stored while the queue is counted again may count twice until the next count, so a start too many is refused. Counts are repeated
 * after a second, which on a busy machine is within a test: for its duration, no time passes.
 */
function stopTime(): void {
  beforeEach(() => {
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
}

describe('the queue of an organisation', () => {
  stopTime();
  const LIMIT = 5;
  let service: TestService;
  beforeAll(async () => {
    service = await startLimited({ queuedPerOrganisation: LIMIT });
  });
  afterAll(() => service.stop());

  test('is exact within one process: of concurrent starts as many as fit are accepted', async () => {
    const tenant = await newTenant(service);
    const answers = await Promise.all(Array.from({ length: 40 }, () => execute(service, tenant)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(LIMIT);
    expect(await countOf(service, tenant, 'queued')).toBe(LIMIT);
    for (const { status, json, headers } of answers.filter((answer) => answer.status !== 202)) {
      expect([status, json.code]).toEqual([429, 'queue_full']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(json.detail).toContain(`${LIMIT} executions waiting`);
    }
  });

  test('leaves others alone, and a repeated start gets its receipt even when it is full', async () => {
    const tenant = await newTenant(service);
    const headers = { 'idempotency-key': 'the-first' };
    const first = await execute(service, tenant, headers);
    for (let index = 1; index < LIMIT; index += 1) await execute(service, tenant);
    expect((await execute(service, tenant)).status).toBe(429);
    const again = await execute(service, tenant, headers);
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect((await execute(service, tenant, { 'idempotency-key': 'another' })).status).toBe(429);
    expect((await execute(service, await newTenant(service))).status).toBe(202);
  });

  test("may be changed for one of them, and for others it isn't", async () => {
    const [small, large, free, usual] = await Promise.all([1, 2, 3, 4].map(() => newTenant(service)));
    if (small === undefined || large === undefined || free === undefined || usual === undefined)
      throw new Error();
    const { db } = service.database;
    await changeLimits(db, small.key.organisationId, { queued: 2 }, { actor: 'operator' });
    await changeLimits(db, large.key.organisationId, { queued: LIMIT + 3 }, { actor: 'operator' });
    await changeLimits(db, free.key.organisationId, { queued: 0 }, { actor: 'operator' });
    // Another process, which has read no limits yet.
    const other = buildApp({ ...service.deps });
    await other.listen({ host: '127.0.0.1', port: 0 });
    const { port } = other.server.address() as AddressInfo;
    const limitOf = async ({ key, workflowId }: Tenant): Promise<string | undefined> => {
      const url = `http://127.0.0.1:${port}/api/v1/workflows/${workflowId}/execute`;
      const start = () => send(url, 'POST', { key: key.text, body: {} });
      const answers = await Promise.all(Array.from({ length: LIMIT + 5 }, start));
      const refused = answers.find(({ status }) => status === 429);
      return /(\d+) executions waiting/.exec(refused?.json.detail ?? '')?.[1];
    };
    const limits = [];
    for (const tenant of [small, large, free, usual]) limits.push(await limitOf(tenant));
    expect(limits).toEqual(['2', `${LIMIT + 3}`, undefined, `${LIMIT}`]);
    expect(await countOf(service, free, 'queued')).toBe(LIMIT + 5);
    expect(await countOf(service, small, 'queued')).toBeLessThanOrEqual(2);
    await other.close();
  });

  test('takes a batch as a whole or refuses it, and answers repeated items even when it is full', async () => {
    const tenant = await newTenant(service);
    const batch = (items: readonly object[]) =>
      service.api('POST', `/workflows/${tenant.workflowId}/executions/batch`, {
        key: tenant.key,
        body: { items },
      });
    const keyed = Array.from({ length: LIMIT - 1 }, (_, n) => ({ idempotency_key: `item-${n}` }));
    expect((await batch(keyed)).status).toBe(202);
    const refused = await batch([{}, {}]);
    expect([refused.status, refused.json.code]).toEqual([429, 'queue_full']);
    expect(await countOf(service, tenant, 'queued')).toBe(LIMIT - 1);
    expect((await batch([...keyed, {}])).json).toMatchObject({ started: 1, replayed: LIMIT - 1 });
    expect((await batch(keyed)).json).toMatchObject({ started: 0, replayed: LIMIT - 1 });
  });

  test('counts what any process has stored', async () => {
    const tenant = await newTenant(service);
    const { db } = service.database;
    await db.query(
      `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input)
       SELECT $1, $2, 1, 'queued', 'schedule', 'sample', false, '{}' FROM generate_series(1, $3::integer)`,
      [tenant.key.organisationId, tenant.workflowId, LIMIT],
    );
    expect((await execute(service, tenant)).status).toBe(429);
  });

  test('refuses webhooks, and answers events that were received before', async () => {
    const plain = await newTenant(service, WEBHOOK_FLOW);
    const trigger = {
      id: 'start',
      type: 'trigger.webhook',
      data: { config: { deduplicate: { by: 'path', name: 'id' } } },
    };
    const { key } = plain;
    const flow = { ...WEBHOOK_FLOW, nodes: [trigger, ...WEBHOOK_FLOW.nodes.slice(1)] };
    const { json } = await service.api('POST', '/workflows', {
      key,
      body: { name: 'once', flow_data: flow },
    });
    const hashOf = async (id: number) =>
      (await service.api('GET', `/workflows/${id}/webhook-info`, { key })).json.hash as string;
    const [hash, once] = [await hashOf(plain.workflowId), await hashOf(json.id)];
    const call = (to: string, body: object) => service.api('POST', `/webhooks/${to}`, { body });
    const event = await call(once, { id: 1 });
    for (let index = 1; index < LIMIT; index += 1) expect((await call(hash, {})).status).toBe(202);
    const refused = [await call(hash, {}), await call(once, { id: 2 })];
    expect(refused.map((answer) => [answer.status, answer.json.code])).toEqual([
      [429, 'queue_full'],
      [429, 'queue_full'],
    ]);
    expect(refused.every(({ headers }) => headers.get('retry-after') !== null)).toBe(true);
    const again = await call(once, { id: 1 });
    expect([again.status, again.json.execution_id]).toEqual([202, event.json.execution_id]);
  });

  test('refuses a rerun', async () => {
    const tenant = await newTenant(service);
    const { json } = await execute(service, tenant);
    await service.api('POST', `/executions/${json.execution_id}/cancel`, { key: tenant.key });
    for (let status = 202; status === 202; ) ({ status } = await execute(service, tenant));
    const rerun = await service.api('POST', `/executions/${json.execution_id}/rerun`, {
      key: tenant.key,
      body: { from: 'start' },
    });
    expect([rerun.status, rerun.json.code]).toEqual([429, 'queue_full']);
  });
});

describe('the queue of the service', () => {
  stopTime();
  let service: TestService;
  afterEach(() => service.stop());

  test('is full for those who wait already, but not for an organisation with nothing waiting', async () => {
    service = await startLimited({ queuedInService: 6 });
    const greedy = await newTenant(service);
    const answers = [];
    for (let index = 0; index < 8; index += 1) answers.push(await execute(service, greedy));
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(202), 503, 503]);
    expect(answers[7]?.json.code).toBe('overloaded');
    expect(Number(answers[7]?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const bystander = await newTenant(service);
    expect((await execute(service, bystander)).status).toBe(202);
    expect((await execute(service, bystander)).status).toBe(503);
  });

  test('has no limits with 0', async () => {
    service = await startLimited({ queuedInService: 0, queuedPerOrganisation: 0 });
    const tenant = await newTenant(service);
    const answers = await Promise.all(Array.from({ length: 50 }, () => execute(service, tenant)));
    expect(answers.every(({ status }) => status === 202)).toBe(true);
  });
});

describe('an overload of 20,000 starts', () => {
  const LIMIT = 300;
  const STARTS = 20_000;
  const CONCURRENT = 64;
  /** One start of the bystander for this many of the other organisation. */
  const PER_BYSTANDER = 200;

  test('what is accepted completes, the rest is refused with Retry-After, and a bystander is accepted throughout', async () => {
    const service = await startLimited({ queuedPerOrganisation: LIMIT });
    const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENT });
    const [greedy, bystander] = [await newTenant(service), await newTenant(service)];
    const counts = { accepted: 0, refused: 0, withoutRetryAfter: 0 };
    const ofBystander: number[] = [];
    const { services, slots } = createTestServices(service.deps);
    const worker = new Worker({ ...service.deps, http: service.deps.egress.http, services, slots });
    let sent = 0;

    async function startOne(): Promise<void> {
      sent += 1;
      // The second half comes while the queue is being worked off.
      if (sent === STARTS / 2) await worker.start();
      if (sent % PER_BYSTANDER === 0) ofBystander.push((await post(service, bystander, agent)).status);
      const { status, retryAfter } = await post(service, greedy, agent);
      if (status === 202) counts.accepted += 1;
      if (status === 429) counts.refused += 1;
      if (status === 429 && !(retryAfter >= 1)) counts.withoutRetryAfter += 1;
    }

    try {
      const clients = Array.from({ length: CONCURRENT }, async () => {
        while (sent < STARTS) await startOne();
      });
      await Promise.all(clients);
      await untilDrained(service);
      expect(counts.accepted + counts.refused).toBe(sent);
      expect(counts.accepted).toBeGreaterThanOrEqual(LIMIT);
      expect(counts.refused).toBeGreaterThanOrEqual(STARTS / 2 - LIMIT - CONCURRENT);
      expect(counts.withoutRetryAfter).toBe(0);
      expect(await countOf(service, greedy, 'completed')).toBe(counts.accepted);
      expect(new Set(ofBystander)).toEqual(new Set([202]));
      expect(await countOf(service, bystander, 'completed')).toBe(ofBystander.length);
    } finally {
      agent.destroy();
      await worker.stop();
      await services.close();
      await service.stop();
    }
  });
});

/** A start without the checks of the test client, which take longer than the start itself. */
function post(
  { port }: TestService,
  { key, workflowId }: Tenant,
  agent: Agent,
): Promise<{ status: number; retryAfter: number }> {
  return new Promise((resolve, reject) => {
    const path = `/api/v1/workflows/${workflowId}/execute`;
    const headers = { authorization: `Bearer ${key.text}` };
    request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      response.resume().on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: Number(response.headers['retry-after'] ?? 0),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

/** Waits until nothing is left to run. */
async function untilDrained({ database: { db }, deps }: TestService): Promise<void> {
  for (;;) {
    const [open] = await db.query<{ id: number }>(
      'SELECT id FROM executions WHERE completed_at IS NULL ORDER BY id DESC LIMIT 1',
    );
    if (open === undefined) return;
    const watch = watchExecution(deps.notifier, open.id, new AbortController().signal);
    const read = async () =>
      (
        await db.query<{ status: ExecutionStatus }>('SELECT status FROM executions WHERE id = $1', [open.id])
      )[0];
    await waitForEnd(watch, read).finally(watch.close);
  }
}
