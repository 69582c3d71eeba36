import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Queryable } from '@millrace/database/database';
import { Meters } from '@millrace/runtime/meters/meters';
import { createSnapshots } from '@millrace/service/system/snapshot';
import { send } from '@millrace/testing/api';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { type MetricFamily, parseExposition } from '@millrace/testing/exposition';
import { insertWorkflow } from '@millrace/testing/rows';
import { startTestService, type TestService } from '@millrace/testing/service';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { METRICS } from '../../src/metrics/catalogue.ts';
import { createMetricsPage, METRICS_TYPE, type MetricsPage } from '../../src/metrics/page.ts';
import { createMetricsServer } from '../../src/metrics/server.ts';

const PATIENT = { timeout: 60_000 };
const PROMTOOL = '/usr/bin/promtool';
const BUSIEST = 20;
const ORGANISATIONS = 10_000;
const LIMITS = { executionsBytes: 1_000, dataBytes: 2_000, filesBytes: 3_000 };
const silent = pino({ level: 'silent' });

/** Without a worker, so that what waits goes on waiting. */
let database: TestDatabase;
let service: TestService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startTestService({ limits: { requestsPerMinutePerWebhook: 1 } });
});
afterAll(async () => {
  await service.stop();
  await database.drop();
});

function metersOf({ deps }: TestService): Meters {
  if (deps.meters === undefined) throw new Error('the service has no meters');
  return deps.meters;
}

interface PageOptions {
  readonly meters?: Meters;
  readonly db?: Queryable;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

function pageOf({
  meters = new Meters(BUSIEST),
  db = database.db,
  timeoutMs = 60_000,
  now,
}: PageOptions): MetricsPage {
  const everyMs = 10_000;
  const clock = now === undefined ? {} : { now };
  const snapshots = createSnapshots({ db, log: silent, everyMs, busiest: BUSIEST, ...clock });
  return createMetricsPage({ meters, pool: service.database.db, snapshots, limits: LIMITS, timeoutMs });
}

/** The value of one line; undefined without such a line. */
function find(
  families: Map<string, MetricFamily>,
  name: string,
  labels: { readonly [label: string]: string } = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(count|sum|bucket)$/, ''));
  const matches = (own: { readonly [label: string]: string }) =>
    Object.entries(labels).every(([label, value]) => own[label] === value);
  return family?.samples.find((sample) => sample.name === name && matches(sample.labels))?.value;
}

/** Does nothing where promtool isn't installed. */
function checkWithPromtool(page: string): void {
  const { error, status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], {
    input: page,
    encoding: 'utf8',
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return;
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}

async function insertQueued(organisationId: number, workflowId: number, count: number, limit: number | null) {
  await database.db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, max_concurrency, created_at)
     SELECT $1, $2, 1, 'queued', 'api', 'sample', false, '{}', $4, now() - interval '1 hour'
     FROM generate_series(1, $3::integer)`,
    [organisationId, workflowId, count, limit],
  );
}

describe('a process that works', () => {
  let organisation: string;
  const page = async () =>
    parseExposition(await pageOf({ meters: metersOf(service), db: service.database.db })());

  beforeAll(async () => {
    const key = await service.createKey();
    organisation = String(key.organisationId);
    const node = (id: string, type: string, config: object = {}) => ({ id, type, data: { config } });
    const create = async (first: string, next: object): Promise<number> => {
      const nodes = [node('start', first), next];
      const edges = [{ source: 'start', target: 'next' }];
      const body = { name: 'sample', status: 'active', flow_data: { nodes, edges } };
      const { json } = await service.api('POST', '/workflows', { key, body });
      return json.id;
    };
    const set = node('next', 'core.set', { values: { done: true } });
    const workflows = [await create('trigger.manual', set)];
    for (const code of ['out_of_stock', 'workflow_failed']) {
      const fail = node('next', 'core.fail', { code, message: 'no' });
      workflows.push(await create('trigger.manual', fail));
    }
    for (const id of workflows) await service.api('POST', `/workflows/${id}/execute`, { key, body: {} });
    const hook = await create('trigger.webhook', set);
    const { json } = await service.api('GET', `/workflows/${hook}/webhook-info`, { key });
    const call = () => service.api('POST', `/webhooks/${String(json.hash)}`, { body: {} });
    expect([(await call()).status, (await call()).status]).toEqual([202, 429]);
    const hasEnded = async () => {
      const families = await page();
      const failed = families.get('millrace_executions_failed_total')?.samples ?? [];
      const failures = failed.reduce((sum, { value }) => sum + value, 0);
      const completed = find(families, 'millrace_executions_completed_total');
      const starts = find(families, 'millrace_http_request_duration_seconds_count', { kind: 'start' });
      return completed === 2 && failures === 2 && starts === 3;
    };
    await vi.waitUntil(hasEnded, PATIENT);
  });

  test('shows what it accepted and how that ended', async () => {
    const families = await page();
    const value = (name: string, labels = {}) => find(families, name, labels);
    expect(value('millrace_executions_accepted_total', { trigger: 'api' })).toBe(3);
    expect(value('millrace_executions_accepted_total', { trigger: 'webhook' })).toBe(1);
    expect(value('millrace_executions_failed_total', { code: 'out_of_stock' })).toBe(1);
    expect(value('millrace_organisation_executions_accepted_total', { organisation })).toBe(4);
    expect(value('millrace_organisation_executions_failed_total', { organisation })).toBe(2);
    expect(value('millrace_node_duration_seconds_count', { type: 'core.set' })).toBe(2);
    expect(value('millrace_node_failures_total', { type: 'core.fail' })).toBe(2);
    expect(value('millrace_http_requests_refused_total', { reason: 'rate_limited' })).toBe(1);
    expect(value('millrace_worker_slots')).toBe(service.deps.config.worker.concurrency);
    expect(value('millrace_worker_data_limit_bytes')).toBe(service.deps.config.worker.dataBytes);
    expect(value('millrace_shedding')).toBe(0);
    expect(value('millrace_request_body_limit_bytes')).toBe(service.deps.config.limits.bodyBudgetBytes);
    expect(value('millrace_database_pool_limit', { pool: 'transactions' })).toBe(8);
    expect(value('millrace_database_up')).toBe(1);
    expect(value('millrace_database_size_bytes')).toBeGreaterThan(1_000_000);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
    expect(value('nodejs_eventloop_lag_p99_seconds')).toBeDefined();
  });

  test('shows every metric of the catalogue, with its type and labels, in the format that Prometheus reads', async () => {
    // What takes organisations that store and queue something to appear.
    const { workflowId, organisationId } = await insertWorkflow(database.db, 'catalogue');
    await insertQueued(organisationId, workflowId, 1, null);
    await database.db.query('INSERT INTO storage_usage (organisation_id, bytes) VALUES ($1, 7)', [
      organisationId,
    ]);
    await database.db.query(
      `INSERT INTO workers (id, host, pid, heartbeat_at, lease_expires_at)
       SELECT gen_random_uuid(), 'elsewhere', 7, now(), now() + days * interval '1 day' FROM unnest(ARRAY[-1, 1, 2]) AS days`,
    );
    const meters = metersOf(service);
    // Set by whoever sends traces.
    meters.spans = () => ({ exported: 7, dropped: 2 });
    const text = await pageOf({ meters })();
    checkWithPromtool(text);
    expect(find(parseExposition(text), 'millrace_trace_spans_dropped_total')).toBe(2);
    expect(find(parseExposition(text), 'millrace_workers')).toBe(2);
    const own = parseExposition(text)
      .values()
      .filter(({ name }) => name.startsWith('millrace_'))
      .toArray();
    expect(own.map(({ name }) => name).sort()).toEqual(Object.keys(METRICS).sort());
    for (const { name, type, help, samples } of own) {
      const info = METRICS[name as keyof typeof METRICS];
      const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
      labels.delete('le');
      expect({ name, type, help, labels: [...labels] }).toEqual({ name, ...info });
      expect(name.endsWith('_total'), `${name} is a ${type}`).toBe(type === 'counter');
    }
  });
});

test('the page asks Node for no handles: one that is being collected as garbage would end the process', async () => {
  const inside = process as unknown as Record<'_getActiveHandles' | '_getActiveRequests', () => unknown>;
  const asked = [vi.spyOn(inside, '_getActiveHandles'), vi.spyOn(inside, '_getActiveRequests')];
  const page = await pageOf({ meters: metersOf(service) })();
  expect(page).toContain('nodejs_active_resources{');
  expect(page).not.toMatch(/nodejs_active_(handles|requests)/);
  for (const spy of asked) {
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  }
});

test('a process that has just started shows what alerts are about as zero: Prometheus sees no increase from nothing', async () => {
  const families = parseExposition(await pageOf({})());
  const rules = readFileSync(new URL('../../../../deploy/monitoring/alerts.yml', import.meta.url), 'utf8');
  const codes = [...rules.matchAll(/code="(\w+)"/g)].map(([, code = '']) => code);
  expect(codes).toEqual(['worker_crashed']);
  for (const code of codes) expect(find(families, 'millrace_executions_failed_total', { code })).toBe(0);
  for (const reason of ['queue_full', 'overloaded_process', 'database_unavailable']) {
    expect(find(families, 'millrace_http_requests_refused_total', { reason })).toBe(0);
  }
});

describe('10,000 organisations', () => {
  beforeAll(async () => {
    const { organisationId, workflowId } = await insertWorkflow(database.db, 'largest');
    await insertQueued(organisationId, workflowId, 30, null);
    await insertQueued(organisationId, workflowId, 30, 5);
    await database.db.query(
      `WITH others AS (INSERT INTO organisations (name) SELECT 'other ' || i FROM generate_series(1, $1::integer) i
         RETURNING id), stored AS (INSERT INTO storage_usage (organisation_id, bytes) SELECT id, 100 FROM others)
       INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input)
       SELECT id, $2, 1, 'queued', 'api', 'sample', false, '{}' FROM others`,
      [ORGANISATIONS, workflowId],
    );
  });

  test('leave the page small: the busiest have lines of their own, and the others share one', async () => {
    const [limited] = await database.db.query<{ id: number }>(
      `UPDATE organisations SET executions_storage_bytes = 1234 WHERE name = 'other 1' RETURNING id`,
    );
    const meters = new Meters(BUSIEST);
    for (let id = 1; id <= ORGANISATIONS; id += 1) {
      meters.startsAccepted('api', id);
      meters.executionEnded({ organisationId: id, workflowId: id }, `code_${id}`, 1);
    }
    const text = await pageOf({ meters })();
    checkWithPromtool(text);
    const families = parseExposition(text);
    const own = families.values().filter(({ name }) => name.startsWith('millrace_'));
    const lines = own.map(({ name, samples }) => ({ name, lines: samples.length })).toArray();
    const long = lines.filter(
      ({ name }) =>
        name !== 'millrace_execution_duration_seconds' && name !== 'millrace_executions_failed_total',
    );
    for (const each of long) expect(each.lines, each.name).toBeLessThanOrEqual(3 * (BUSIEST + 1));
    expect(text.length).toBeLessThan(100_000);
    const accepted = families.get('millrace_organisation_executions_accepted_total')?.samples ?? [];
    expect(accepted).toHaveLength(BUSIEST + 1);
    expect(find(families, 'millrace_organisation_executions_accepted_total', { organisation: 'other' })).toBe(
      ORGANISATIONS - BUSIEST,
    );
    const sum = (name: string) => families.get(name)?.samples.reduce((all, { value }) => all + value, 0);
    const queued = find(families, 'millrace_executions', { status: 'queued' });
    expect(queued).toBeGreaterThan(ORGANISATIONS);
    expect(sum('millrace_organisation_queue_executions')).toBe(queued);
    const queues = families.get('millrace_organisation_queue_executions')?.samples ?? [];
    expect(
      Math.max(...queues.filter(({ labels }) => labels.organisation !== 'other').map(({ value }) => value)),
    ).toBe(60);
    expect(find(families, 'millrace_queue_oldest_seconds')).toBeGreaterThanOrEqual(3_600);
    expect(
      find(families, 'millrace_organisation_storage_bytes', { organisation: 'other', part: 'executions' }),
    ).toBeGreaterThanOrEqual((ORGANISATIONS - BUSIEST) * 100);
    const limits = families.get('millrace_organisation_storage_limit_bytes')?.samples ?? [];
    const ofExecutions = limits.filter(({ labels }) => labels.part === 'executions');
    expect(ofExecutions).toHaveLength(BUSIEST);
    expect(ofExecutions.find(({ labels }) => labels.organisation === String(limited?.id))?.value).toBe(1_234);
  });
});

describe('reading the database', () => {
  /** Counts what is asked. */
  function counted(db: Queryable) {
    const counts = { statements: 0 };
    const query: Queryable['query'] = (text, values, name) => {
      counts.statements += 1;
      return db.query(text, values, name);
    };
    return { query, counts };
  }

  test('happens once in a while, however often and by however many it is scraped', async () => {
    let nowMs = 0;
    const { query, counts } = counted(database.db);
    const page = pageOf({ db: { query }, now: () => nowMs });
    await Promise.all(Array.from({ length: 50 }, () => page()));
    const once = counts.statements;
    expect(once).toBeGreaterThan(0);
    nowMs += 9_999;
    for (let scrape = 0; scrape < 50; scrape += 1) await page();
    expect(counts.statements).toBe(once);
    nowMs += 1;
    await page();
    expect(counts.statements).toBe(2 * once);
  });

  test('delays no page for longer than its timeout', async () => {
    const text = await pageOf({ db: { query: () => new Promise<never>(() => {}) }, timeoutMs: 0 })();
    const families = parseExposition(text);
    expect(find(families, 'millrace_executions_completed_total')).toBe(0);
    expect(families.has('millrace_executions')).toBe(false);
  });

  test('that fails shows as such, next to what was read before, until that is too old', async () => {
    let nowMs = 0;
    let isAway = false;
    const query: Queryable['query'] = (text, values, name) =>
      isAway ? Promise.reject(new Error('away')) : database.db.query(text, values, name);
    const page = pageOf({ db: { query }, now: () => nowMs });
    const read = async () => {
      const families = parseExposition(await page());
      return [
        find(families, 'millrace_database_up'),
        find(families, 'millrace_database_reading_age_seconds'),
        families.has('millrace_executions'),
      ];
    };
    expect(await read()).toEqual([1, 0, true]);
    isAway = true;
    nowMs = 60_000;
    expect(await read()).toEqual([0, 60, true]);
    nowMs = 121_000;
    expect(await read()).toEqual([0, undefined, false]);
    isAway = false;
    nowMs = 131_000;
    expect(await read()).toEqual([1, 0, true]);
  });
});

describe('deploy/monitoring and docs/monitoring.md', () => {
  const root = new URL('../../../../', import.meta.url);
  const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
  const SUFFIX = /_(bucket|sum|count)$/;

  test('name only metrics that exist, and the dashboard shows each of them', async () => {
    const page = parseExposition(await pageOf({})());
    const known = new Set([...Object.keys(METRICS), ...page.keys()]);
    const isKnown = (name: string) => known.has(name) || known.has(name.replace(SUFFIX, ''));
    const namesIn = (text: string) => text.match(/\b(?:millrace|process|nodejs)_[a-z0-9_]+\b/g) ?? [];
    const dashboard = read('deploy/monitoring/dashboard.json');
    const expressions = JSON.stringify(
      (JSON.parse(dashboard) as { panels: { targets?: object[] }[] }).panels.map(({ targets }) => targets),
    );
    const rules = read('deploy/monitoring/alerts.yml');
    for (const text of [expressions, rules, read('deploy/monitoring/alerts.test.yml')]) {
      const names = namesIn(text).filter((name) => name !== 'millrace_token');
      expect(names.length).toBeGreaterThan(10);
      expect(names.filter((name) => !isKnown(name))).toEqual([]);
    }
    const shown = new Set(namesIn(expressions).flatMap((name) => [name, name.replace(SUFFIX, '')]));
    expect(Object.keys(METRICS).filter((name) => !shown.has(name))).toEqual([]);
  });

  test('the page lists every metric, and says what to do at every alert', () => {
    const page = read('docs/monitoring.md');
    const rows = page.split('\n').filter((line) => line.startsWith('| `millrace_'));
    const expected = Object.entries(METRICS).map(([name, { type, labels, help }]) => {
      const cell = labels.length === 0 ? '' : ` ${labels.map((label) => `\`${label}\``).join(', ')}`;
      return `| \`${name}\` | ${type} |${cell} | ${help} |`;
    });
    expect(rows).toEqual(expected);
    const alerts = [...read('deploy/monitoring/alerts.yml').matchAll(/- alert: (\w+)/g)].map(
      ([, name]) => name,
    );
    const documented = [...page.matchAll(/^\| `(Millrace\w+)` \|/gm)].map(([, name]) => name);
    expect(documented).toEqual(alerts);
    const tested = new Set(
      [...read('deploy/monitoring/alerts.test.yml').matchAll(/alertname: (\w+)/g)].map(([, name]) => name),
    );
    expect(alerts.filter((name) => !tested.has(name))).toEqual([]);
  });

  test('promtool accepts the rules, and their tests pass', () => {
    const cwd = new URL('deploy/monitoring/', root);
    const commands = [
      ['check', 'rules', 'alerts.yml'],
      ['check', 'config', 'prometheus.yml'],
      ['test', 'rules', 'alerts.test.yml'],
    ];
    for (const command of commands) {
      const { error, status, stdout, stderr } = spawnSync(PROMTOOL, command, { cwd, encoding: 'utf8' });
      if (error !== undefined && 'code' in error && error.code === 'ENOENT') return;
      expect({ command, status }, stdout + stderr).toEqual({ command, status: 0 });
    }
  });
});

describe('the server', () => {
  async function listen(token: string | null, page: MetricsPage = async () => 'page\n'): Promise<string> {
    const server = createMetricsServer({ page, token, log: silent });
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('serves the page at /metrics only', async () => {
    const url = await listen(null);
    const found = await send(`${url}/metrics`, 'GET');
    expect([found.status, found.text, found.headers.get('content-type')]).toEqual([
      200,
      'page\n',
      METRICS_TYPE,
    ]);
    expect(await send(`${url}/metrics`, 'HEAD')).toMatchObject({ status: 200, text: '' });
    expect((await send(`${url}/metrics?x=1`, 'GET')).status).toBe(200);
    expect((await send(`${url}/`, 'GET')).status).toBe(404);
    expect((await send(`${url}/metrics`, 'POST', { body: {} })).status).toBe(405);
  });

  test('needs the token, if there is one', async () => {
    const url = `${await listen('correct-horse-battery')}/metrics`;
    const status = async (authorization?: string) =>
      (await send(url, 'GET', authorization === undefined ? {} : { headers: { authorization } })).status;
    expect(await status()).toBe(401);
    expect(await status('Bearer correct-horse-batterz')).toBe(401);
    expect(await status('Bearer ')).toBe(401);
    expect(await status('Bearer correct-horse-battery')).toBe(200);
  });

  test('without a token, refuses requests to this machine under another name', async () => {
    const { port } = new URL(await listen(null));
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        get({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on('error', reject);
      });
    expect(await statusFor('attacker.example')).toBe(403);
    expect(await statusFor('127.0.0.1.attacker.example')).toBe(403);
    expect(await statusFor(`localhost:${port}`)).toBe(200);
    expect(await statusFor(`[::1]:${port}`)).toBe(200);
  });

  test('responds with 500 when the page fails', async () => {
    const url = await listen(null, () => Promise.reject(new Error('broken')));
    const { status, text } = await send(`${url}/metrics`, 'GET');
    expect([status, text.includes('broken')]).toEqual([500, false]);
  });
});
