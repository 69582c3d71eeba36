import { randomUUID } from 'node:crypto';
import type { ResponseBody } from '@millrace/admin-api';
import { message } from '@millrace/messages';
import type { AdminExecutionFilters } from '@millrace/service/executions/admin-filters';
import { findAdminExecutions, MAX_SCANNED } from '@millrace/service/executions/admin-list';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const LIST = 'GET /orgs/:org/executions';

const NO_FILTERS: AdminExecutionFilters = {
  ...{ statuses: null, workflowId: null, triggerType: null, isTestMode: null, text: null, apiKeyId: null },
  ...{ sourceIp: null, errorWords: null, inputTexts: null, searchKey: null, after: null, before: null },
};

let service: TestService;
let viewer: TestPerson;
let key: TestKey;
let workflowId: number;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  viewer = await createPerson(service, 'viewer');
  key = await service.createKey({ organisationId: viewer.organisationId });
  workflowId = await createWorkflow('orders');
});
afterAll(() => service.stop());

async function createWorkflow(name: string): Promise<number> {
  const body = { name, flow_data: RUNNABLE_FLOW, status: 'active' };
  return (await service.api('POST', '/workflows', { key, body })).json.id;
}

interface Rows {
  readonly count?: number;
  readonly workflow?: number;
  readonly status?: string;
  readonly name?: string;
  readonly trigger?: string;
  readonly isTest?: boolean;
  readonly searchKeys?: { readonly [name: string]: string };
  readonly input?: object;
  readonly at?: string;
}

/** Inserts ended executions and returns their ids, oldest first. */
async function insert(person: TestPerson, rows: Rows): Promise<number[]> {
  const { count = 1, workflow = workflowId, status = 'completed', name = 'sample', trigger = 'api' } = rows;
  const inserted = await service.database.db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error, search_keys)
     SELECT $1, $2, 1, $3, $4, $5 || ' ' || n, $6, $9, t, t, CASE WHEN $3 IN ('completed', 'failed', 'cancelled') THEN t END,
       CASE WHEN $3 = 'failed' THEN '{"code": "no_stock", "message": "none left", "node_id": null}'::json END,
       $10
     FROM generate_series(1, $7::integer) n, (SELECT $8::timestamptz AS t) times ORDER BY n RETURNING id`,
    [
      person.organisationId,
      workflow,
      status,
      trigger,
      name,
      rows.isTest ?? false,
      count,
      rows.at ?? '2026-01-02T00:00:00Z',
      JSON.stringify(rows.input ?? {}),
      rows.searchKeys === undefined ? null : JSON.stringify(rows.searchKeys),
    ],
  );
  return inserted.map(({ id }) => id);
}

async function idsOf(person: TestPerson, query: object): Promise<number[]> {
  const { data, status, text } = await person.call(LIST, { params: { org: person.organisationId }, query });
  expect(status, text).toBe(200);
  return data.items.map(({ id }) => id);
}

describe('200', () => {
  test('each filter, and all of them combined', async () => {
    const person = await createPerson(service, 'viewer');
    const other = await createWorkflow('other');
    const [old = 0] = await insert(person, { at: '2026-01-01T00:00:00Z' });
    const [failed = 0] = await insert(person, { status: 'failed', name: 'Bestellung 100%_x' });
    const [cancelled = 0] = await insert(person, {
      status: 'cancelled',
      trigger: 'webhook',
      workflow: other,
    });
    const [test = 0] = await insert(person, { isTest: true, at: '2026-01-03T00:00:00Z' });
    expect(await idsOf(person, {})).toEqual([test, cancelled, failed, old]);
    expect(await idsOf(person, { status: 'failed' })).toEqual([failed]);
    expect(await idsOf(person, { status: 'cancelled,failed' })).toEqual([cancelled, failed]);
    expect(await idsOf(person, { status: 'completed,failed' })).toEqual([test, failed, old]);
    expect(await idsOf(person, { workflow: other })).toEqual([cancelled]);
    expect(await idsOf(person, { workflow: other, status: 'failed' })).toEqual([]);
    expect(await idsOf(person, { trigger: 'webhook' })).toEqual([cancelled]);
    expect(await idsOf(person, { test: 'yes' })).toEqual([test]);
    expect(await idsOf(person, { test: 'no' })).toEqual([cancelled, failed, old]);
    // LIKE wildcards are literal.
    expect(await idsOf(person, { text: 'BESTELLUNG 100%_' })).toEqual([failed]);
    expect(await idsOf(person, { text: '%' })).toEqual([failed]);
    expect(await idsOf(person, { after: '2026-01-02T00:00:00Z' })).toEqual([test, cancelled, failed]);
    expect(await idsOf(person, { before: '2026-01-01T23:59:59Z' })).toEqual([old]);
    expect(
      await idsOf(person, {
        ...{ status: 'cancelled,failed', workflow: workflowId, trigger: 'api', test: 'no', text: 'bestell' },
        ...{ after: '2026-01-01T12:00:00Z', before: '2026-01-02T12:00:00Z' },
      }),
    ).toEqual([failed]);
  });

  describe('searches in', () => {
    test('errors, by words of codes, nodes, sentences in both languages and what they are about', async () => {
      const person = await createPerson(service, 'viewer');
      const fail = async (error: object) => {
        const [id = 0] = await insert(person, { status: 'failed' });
        await service.database.db.query('ALTER TABLE executions DISABLE TRIGGER executions_guard_status');
        await service.database.db.query('UPDATE executions SET error = $2 WHERE id = $1', [
          id,
          JSON.stringify(error),
        ]);
        await service.database.db.query('ALTER TABLE executions ENABLE TRIGGER executions_guard_status');
        return id;
      };
      const old = await fail({ code: 'no_stock', message: 'None left of "tea"', node_id: null });
      const said = message('flow.at_node', {
        node: 'Ask the stock',
        problem: message('flow.not_in_range', { min: 17, max: 99 }),
      });
      const range = await fail({ code: 'invalid_config', message: said, node_id: 'ask' });
      const search = (text: string, more = {}) => idsOf(person, { in: 'error', text, ...more });
      expect(await search('NONE left')).toEqual([old]);
      expect(await search('no_stock')).toEqual([old]);
      expect(await search('whole number 99')).toEqual([range]);
      expect(await search('整数')).toEqual([range]);
      expect(await search('ask')).toEqual([range]);
      expect(await search('whole tea')).toEqual([]);
      expect(await search('stock')).toEqual([range, old]);
      expect(await search('stock', { status: 'failed,cancelled' })).toEqual([range, old]);
      expect(await search('stock', { status: 'completed' })).toEqual([]);
    });

    test('inputs, as text, up to a size', async () => {
      const person = await createPerson(service, 'viewer');
      const [quoted = 0] = await insert(person, { input: { note: 'the "Blue" one\nand more' } });
      const [plain = 0] = await insert(person, { input: { order: 'A-17', n: 12 } });
      const noise = Array.from({ length: 3_000 }, () => randomUUID()).join();
      await insert(person, { input: { order: 'A-17', noise } });
      const search = (text: string) => idsOf(person, { in: 'input', text });
      expect(await search('a-17')).toEqual([plain]);
      expect(await search('"n":12')).toEqual([plain]);
      expect(await search('"blue" ONE\nand')).toEqual([quoted]);
      expect(await search('zebra')).toEqual([]);
    });

    test('search keys, in any case, however the execution was started', async () => {
      const person = await createPerson(service, 'editor');
      const own = await service.createKey({ organisationId: person.organisationId });
      const flow = { ...RUNNABLE_FLOW, settings: { search_keys: { order: '{{trigger.data.order}}' } } };
      const create = async (settings = {}) => {
        const flowData = { ...flow, settings: { ...flow.settings, ...settings } };
        const body = { name: 'keyed', flow_data: flowData, status: 'active' };
        return (await service.api('POST', '/workflows', { key: own, body })).json.id as number;
      };
      const start = async (id: number, order: string | null) =>
        (await service.api('POST', `/workflows/${id}/execute`, { key: own, body: { input_data: { order } } }))
          .json.execution_id as number;
      const search = (text: string, more = {}) => idsOf(person, { in: 'keys', text, ...more });
      const workflow = await create();
      const single = await start(workflow, 'Order-1');
      await start(workflow, null);
      const held = await start(await create({ debounce: { seconds: 3_600 } }), 'ORDER-1');
      await service.api('POST', `/workflows/${workflow}/executions/batch`, {
        key: own,
        body: { items: [{ input_data: { order: 'order-1' } }, { input_data: { order: 'other' } }] },
      });
      const [third = 0] = await search('order-1', { limit: 1 });
      const [other = 0] = await search(' OTHER ');
      expect(third).toBeGreaterThan(held);
      expect(other).toBe(third + 1);
      expect(await search('order-1')).toEqual([third, held, single]);
      expect(await search('order')).toEqual([]);
      expect(await search('order-1', { workflow, limit: 1 })).toEqual([third]);
      const stranger = await createPerson(service, 'viewer');
      expect(await idsOf(stranger, { in: 'keys', text: 'order-1' })).toEqual([]);
      const { data } = await person.call('GET /orgs/:org/executions/:execution', {
        params: { org: person.organisationId, execution: single },
      });
      expect(data.search_keys).toEqual({ order: 'Order-1' });
      const stored = () =>
        service.database.db.query('SELECT FROM execution_search_keys WHERE organisation_id = $1', [
          person.organisationId,
        ]);
      expect(await stored()).toHaveLength(4);
      await service.database.db.query('DELETE FROM executions WHERE organisation_id = $1', [
        person.organisationId,
      ]);
      expect(await stored()).toHaveLength(0);
    });

    test('nothing of another list: a cursor belongs to what was looked for, and where', async () => {
      const person = await createPerson(service, 'viewer');
      await insert(person, { count: 3, name: 'tea', input: { drink: 'tea' } });
      const at = { params: { org: person.organisationId } };
      const { data } = await person.call(LIST, { ...at, query: { text: 'tea', limit: 1 } });
      const cursor = data.next_cursor ?? '';
      const other = await person.call(LIST, { ...at, query: { text: 'tea', in: 'input', limit: 1, cursor } });
      expect(other.status).toBe(422);
    });
  });

  test('the runs of a workflow by day, those of no other organisation', async () => {
    const path = { org: viewer.organisationId, id: workflowId };
    await service.database.db.query(
      `INSERT INTO workflow_runs (workflow_id, hour, organisation_id, completed, failed, durations)
       SELECT $1, date_trunc('hour', now()), $2, 3, 1, '{4}'`,
      [workflowId, viewer.organisationId],
    );
    const read = (person: TestPerson, params: { org: number; id: number }) =>
      person.call('GET /orgs/:org/workflows/:id/runs', { params, query: { range: 'month' } });
    const { data } = await read(viewer, path);
    expect(data).toMatchObject({ step: 'day', time_zone: 'UTC' });
    expect(data.bars).toHaveLength(30);
    expect(data.bars.at(-1)).toMatchObject({ completed: 3, failed: 1, median_ms: 5, p95_ms: 10 });
    const stranger = await createPerson(service, 'viewer');
    expect((await read(stranger, { org: stranger.organisationId, id: workflowId })).status).toBe(404);
  });

  test('the number of matching executions', async () => {
    const person = await createPerson(service, 'viewer');
    await insert(person, { count: 3 });
    await insert(person, { count: 2, status: 'failed' });
    const count = async (query: object) =>
      (await person.call(`${LIST}/count`, { params: { org: person.organisationId }, query })).data;
    expect(await count({})).toEqual({ count: 5, precision: 'exact' });
    expect(await count({ status: 'failed' })).toEqual({ count: 2, precision: 'exact' });
    expect(await count({ text: 'SAMPLE 3' })).toEqual({ count: 1, precision: 'exact' });
  });

  test('pages follow each other without gaps and with an end', async () => {
    const person = await createPerson(service, 'viewer');
    const ids = await insert(person, { count: 7 });
    const seen: number[] = [];
    let cursor: string | null = '';
    for (let page = 0; cursor !== null && page < 10; page++) {
      const { data }: { data: ResponseBody<typeof LIST> } = await person.call(LIST, {
        params: { org: person.organisationId },
        query: { limit: 3, ...(cursor === '' ? {} : { cursor }) },
      });
      seen.push(...data.items.map(({ id }) => id));
      cursor = data.next_cursor;
      expect(data.searched_back_to).toBeNull();
    }
    expect(seen).toEqual(ids.reverse());
  });

  /** All pages of a search; one ends when enough was checked, which may be sooner on a busy machine. */
  async function searchToTheEnd(person: TestPerson, query: object): Promise<ResponseBody<typeof LIST>[]> {
    const pages: ResponseBody<typeof LIST>[] = [];
    for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
      const more: object = cursor === null ? {} : { cursor };
      const { data }: { data: ResponseBody<typeof LIST> } = await person.call(LIST, {
        params: { org: person.organisationId },
        query: { ...query, ...more },
      });
      pages.push(data);
      cursor = data.next_cursor;
    }
    return pages;
  }

  test('a search for something rare says how far it got, and continues from there', async () => {
    const person = await createPerson(service, 'viewer');
    const [needle = 0] = await insert(person, { name: 'needle' });
    await insert(person, { count: MAX_SCANNED + 10, name: 'hay', status: 'cancelled' });
    for (const more of [{}, { status: 'cancelled,failed' }, { workflow: workflowId, status: 'cancelled' }]) {
      const pages = await searchToTheEnd(person, { text: 'needle', ...more });
      const last = pages.pop();
      expect(pages).not.toEqual([]);
      for (const page of pages) {
        expect(page).toMatchObject({ items: [], searched_back_to: '2026-01-02T00:00:00.000Z' });
      }
      expect(last).toMatchObject({ next_cursor: null, searched_back_to: null });
      expect(last?.items.map(({ id }) => id)).toEqual('status' in more ? [] : [needle]);
    }
  });

  test('a search that looked through exactly as many as there are says that it is over', async () => {
    const person = await createPerson(service, 'viewer');
    const searchKeys = { order: 'A-1' };
    await insert(person, { count: MAX_SCANNED, name: 'hay', status: 'cancelled', searchKeys });
    for (const more of [
      { text: 'needle' },
      { text: 'needle', statuses: ['cancelled', 'failed'] as const },
      { text: 'needle', workflowId },
      { searchKey: 'a-1', statuses: ['failed'] as const },
    ]) {
      const found = await service.database.db.forOrganisation(person.organisationId, (tx) =>
        findAdminExecutions(tx, person.organisationId, { ...NO_FILTERS, ...more }, null, 51, () => 0),
      );
      expect([more, found]).toEqual([more, { rows: [], searchedTo: null }]);
    }
  });

  test('a rare workflow is found at once, however common the status is', async () => {
    const person = await createPerson(service, 'viewer');
    const rare = await createWorkflow('rare');
    const [wanted = 0] = await insert(person, { workflow: rare, status: 'failed' });
    await insert(person, { count: MAX_SCANNED + 10, status: 'failed' });
    expect(await idsOf(person, { workflow: rare, status: 'failed' })).toEqual([wanted]);
  });

  test('shows trials of unsaved drafts by their version, and what a rerun repeats', async () => {
    const person = await createPerson(service, 'viewer');
    const [first = 0] = await insert(person, {});
    const [second = 0] = await insert(person, {});
    await service.database.db.query('ALTER TABLE executions DISABLE TRIGGER executions_guard_status');
    await service.database.db.query('UPDATE executions SET rerun_of = $1 WHERE id = $2', [first, second]);
    await service.database.db.query('ALTER TABLE executions ENABLE TRIGGER executions_guard_status');
    const { data } = await person.call(LIST, { params: { org: person.organisationId } });
    expect(data.items[0]).toMatchObject({ id: second, rerun_of: first, workflow_version: 1 });
  });
});

describe('422', () => {
  test.each([
    { status: 'done' },
    { status: 'failed,' },
    { trigger: 'a b' },
    { test: 'maybe' },
    { after: 'yesterday' },
    { limit: 201 },
    { cursor: 'x' },
    { unknown: 1 },
  ])('%j', async (query) => {
    const { status } = await viewer.call(LIST, {
      params: { org: viewer.organisationId },
      query: query as never,
    });
    expect(status).toBe(422);
  });

  test('a cursor for other filters', async () => {
    const person = await createPerson(service, 'viewer');
    await insert(person, { count: 3 });
    const params = { org: person.organisationId };
    const { data } = await person.call(LIST, { params, query: { limit: 1 } });
    const query = { limit: 1, status: 'failed', cursor: data.next_cursor ?? '' };
    expect((await person.call(LIST, { params, query })).status).toBe(422);
  });
});

test('executions of other organisations are in no list', async () => {
  const person = await createPerson(service, 'viewer');
  const stranger = await createPerson(service, 'viewer');
  await insert(person, {});
  expect(await idsOf(stranger, {})).toEqual([]);
  expect((await stranger.call(LIST, { params: { org: person.organisationId } })).status).toBe(404);
});

test('rows are reread by id, within one organisation only', async () => {
  const [first = 0, second = 0] = await insert(viewer, { count: 2 });
  const stranger = await createPerson(service, 'viewer');
  const ids = `${first},${second},999999999`;
  expect(await idsOf(viewer, { ids })).toEqual([second, first]);
  expect(await idsOf(stranger, { ids })).toEqual([]);
  const wrong = await viewer.call(LIST, { params: { org: viewer.organisationId }, query: { ids: '1,x' } });
  expect(wrong.status).toBe(422);
});
