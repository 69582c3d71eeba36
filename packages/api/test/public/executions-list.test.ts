import { failure } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainOf } from '../../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingService,
} from '../../../runtime/test/worker/service-with-worker.ts';

let service: WorkingService;
let good: number;
let bad: number;
/** Newest first. */
let ids: number[];
beforeAll(async () => {
  service = await startWorkingService();
  service.behaviours.set('fails', () => failure('refused', verbatim('no')));
  good = await service.createWorkflow(RUNNABLE_FLOW);
  bad = await service.createWorkflow(chainOf('fails'));
  ids = [];
  for (let index = 0; index < 7; index++) ids.unshift(await service.execute(index % 3 === 2 ? bad : good));
  for (const id of ids) await service.finished(id);
});
afterAll(() => service.stop());

const list = (query = '') => service.api('GET', `/executions${query}`, { key: service.key });
async function idsOf(query: string): Promise<number[]> {
  const { status, json, text } = await list(query);
  expect(status, text).toBe(200);
  return json.data.map((item) => item.id);
}

describe('200', () => {
  test('newest first, without input and node outputs', async () => {
    const { json } = await list();
    expect(json.data.map((item) => item.id)).toEqual(ids);
    expect(json.pagination).toEqual({ next_cursor: null, has_more: false, limit: 20 });
    expect(json.data[0]).not.toHaveProperty('input_data');
    expect(json.data[0]).not.toHaveProperty('node_outputs');
  });

  test('the cursor leads through all pages, each execution once', async () => {
    const found: number[] = [];
    let query = '?limit=3';
    for (let page = 0; page < 3; page++) {
      const { json } = await list(query);
      found.push(...json.data.map((item) => item.id));
      expect(json.pagination.has_more).toBe(page < 2);
      query = `?limit=3&cursor=${json.pagination.next_cursor}`;
    }
    expect(found).toEqual(ids);
  });

  test('tokens of children count whatever is asked for', async () => {
    const [id = 0] = ids;
    const { db } = service.database;
    await db.query(
      `INSERT INTO execution_child_tokens (execution_id, child_id, organisation_id, tokens)
       SELECT id, id + 1000, organisation_id, 7 FROM executions WHERE id = $1`,
      [id],
    );
    for (const query of ['?limit=1', `?limit=1&workflow_id=${good}&status=completed`]) {
      const { json } = await list(query);
      expect([query, json.data[0]?.id, json.data[0]?.consumed_ai_tokens]).toEqual([query, id, 7]);
    }
  });

  test('filters on workflow and status', async () => {
    const ofBad = ids.filter((_, index) => (6 - index) % 3 === 2);
    expect(await idsOf(`?workflow_id=${bad}`)).toEqual(ofBad);
    expect(await idsOf('?status=failed')).toEqual(ofBad);
    expect(await idsOf(`?status=completed&workflow_id=${bad}`)).toEqual([]);
    expect(await idsOf(`?status=completed`)).toEqual(ids.filter((id) => !ofBad.includes(id)));
    expect(await idsOf('?workflow_id=999999')).toEqual([]);
    for (const status of ['queued', 'running', 'cancelled'])
      expect(await idsOf(`?status=${status}`)).toEqual([]);
  });

  test('bounds on creation are inclusive and may have any offset', async () => {
    const { created_at: middle } = await service.read(ids[3] ?? 0);
    const after = await idsOf(`?created_after=${middle}`);
    const before = await idsOf(`?created_before=${middle}`);
    expect(after).toContain(ids[3]);
    expect(before).toContain(ids[3]);
    expect([...new Set([...after, ...before])].sort((a, b) => b - a)).toEqual(ids);
    const elsewhere = new Date(Date.parse(middle) + 9 * 3_600_000).toISOString().replace('Z', '+09:00');
    expect(await idsOf(`?created_after=${encodeURIComponent(elsewhere)}`)).toEqual(after);
    expect(await idsOf(`?created_after=${middle}&created_before=${middle}`)).toContain(ids[3]);
    expect(await idsOf('?created_after=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await idsOf('?created_before=2000-01-01T00:00:00Z')).toEqual([]);
  });

  test('bounds on creation hold in a long history, whose ids are cut to a minute around them', async () => {
    const own = await service.createKey();
    const { db } = service.database;
    await db.query(
      `WITH w AS (
         INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
         VALUES ($1::bigint, 'old', 'active', 1, rpad('', 35, 'h') || lpad($1::bigint::text, 8, '0')) RETURNING id
       ), v AS (
         INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
         SELECT id, 1, $1::bigint, '{}' FROM w RETURNING workflow_id
       )
       INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
         is_test_mode, input, created_at, started_at, completed_at)
       SELECT $1::bigint, v.workflow_id, 1, 'completed', 'api', 'old', false, '{}', t, t, t
       FROM v, generate_series(1, 1000) n, LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n * interval '20 seconds' AS t) times
       ORDER BY n`,
      [own.organisationId],
    );
    const count = async (query: string): Promise<string[]> => {
      const { json } = await service.api('GET', `/executions?limit=100&${query}`, { key: own });
      return json.data.map((item) => String(item.created_at));
    };
    const hour = await count('created_after=2026-01-01T01:00:00Z&created_before=2026-01-01T01:10:00Z');
    expect(hour).toHaveLength(31);
    expect([hour.at(0), hour.at(-1)]).toEqual(['2026-01-01T01:10:00.000Z', '2026-01-01T01:00:00.000Z']);
    expect(await count('created_before=2026-01-01T00:00:20Z')).toHaveLength(1);
    expect(await count('created_after=2026-01-01T05:33:00Z')).toHaveLength(2);
    expect((await count('created_before=2026-01-01T03:00:00Z')).at(0)).toBe('2026-01-01T03:00:00.000Z');
  });

  test('another organisation sees nothing, even with a filter on the workflow', async () => {
    const stranger = await service.createKey();
    for (const query of ['', `?workflow_id=${good}`]) {
      const { json } = await service.api('GET', `/executions${query}`, { key: stranger });
      expect(json.data).toEqual([]);
    }
  });
});

describe('422', () => {
  test.each([
    ['status=waiting_async', '/status'],
    ['status=done', '/status'],
    ['limit=0', '/limit'],
    ['limit=101', '/limit'],
    ['limit=ten', '/limit'],
    ['workflow_id=0', '/workflow_id'],
    ['workflow_id=x', '/workflow_id'],
    ['created_after=2026-11-20', '/created_after'],
    ['created_after=2026-11-20T09:30:00', '/created_after'],
    ['created_before=2026-02-30T00:00:00Z', '/created_before'],
    ['created_before=yesterday', '/created_before'],
    ['cursor=abc', '/cursor'],
    ['page=2', '/page'],
  ])('%s', async (query, pointer) => {
    const { status, json } = await list(`?${query}`);
    expect(status).toBe(422);
    expect(json.errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  test.each([
    ['limit=9007199254740993', 'must be 100 or less'],
    ['workflow_id=9007199254740992', 'must be 9007199254740991 or less'],
    ['workflow_id=1.0', 'must be a whole number'],
  ])('a whole number is told its bounds, whatever its length: %s', async (query, message) => {
    const { json } = await list(`?${query}`);
    expect(json.errors.map((error) => error.message)).toEqual([message]);
  });

  test('the largest id there can be is a filter like any other', async () => {
    const { status, json } = await list('?workflow_id=9007199254740991');
    expect([status, json.data]).toEqual([200, []]);
  });

  test('a cursor of other filters or of another organisation', async () => {
    const { json } = await list('?limit=1');
    const cursor = json.pagination.next_cursor;
    expect((await list(`?limit=1&status=completed&cursor=${cursor}`)).status).toBe(422);
    const stranger = await service.createKey();
    expect((await service.api('GET', `/executions?cursor=${cursor}`, { key: stranger })).status).toBe(422);
  });
});

test('the scope executions:read is needed', async () => {
  const key = await service.createKey({ scopes: ['executions:execute'] });
  expect((await service.api('GET', '/executions', { key })).status).toBe(403);
});
