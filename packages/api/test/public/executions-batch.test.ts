import { randomUUID } from 'node:crypto';
import type { ApiAnswer } from '@millrace/testing/api';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';

/** `text` is required and must be a string. */
const STRICT_FLOW = {
  ...RUNNABLE_FLOW,
  settings: {
    input_schema: {
      type: 'object',
      properties: { text: { type: 'string' }, n: { type: 'integer' } },
      required: ['text'],
    },
  },
};

let service: TestService;
let key: TestKey;
let workflowId: number;
let strictId: number;
beforeAll(async () => {
  service = await startTestService({
    runsWorker: false,
    limits: { batchBodyBytes: 1024 * 1024 },
    // Now and then, limits need statements of their own: the statements of a batch are counted here.
    config: {
      admission: { queuedPerOrganisation: 0, queuedInService: 0 },
      storage: { executionsBytes: 0, dataBytes: 0 },
    },
  });
  key = await service.createKey();
  workflowId = await createWorkflow(RUNNABLE_FLOW);
  strictId = await createWorkflow(STRICT_FLOW);
});
afterAll(() => service.stop());
afterEach(() => vi.restoreAllMocks());

async function createWorkflow(flow: object): Promise<number> {
  const { json } = await service.api('POST', '/workflows', {
    key,
    body: { name: 'sample', flow_data: flow },
  });
  return json.id;
}

function batch(
  id: number | string,
  body: unknown,
  headers: { [name: string]: string } = {},
): Promise<ApiAnswer> {
  return service.api('POST', `/workflows/${id}/executions/batch`, { key, body, headers });
}

const execute = (id: number, body: object, itemKey: string) =>
  service.api('POST', `/workflows/${id}/execute`, { key, body, headers: { 'idempotency-key': itemKey } });

interface Entry {
  readonly outcome: string;
  readonly receipt: { readonly execution_id: number };
}
const entriesOf = ({ json }: ApiAnswer) => json.data as unknown as readonly Entry[];
const idsOf = (answer: ApiAnswer) => entriesOf(answer).map(({ receipt }) => receipt.execution_id);
const outcomesOf = (answer: ApiAnswer) => entriesOf(answer).map(({ outcome }) => outcome);

async function inputsOf(id: number): Promise<unknown[]> {
  const rows = await service.database.db.query<{ input: string }>(
    'SELECT input FROM executions WHERE workflow_id = $1 ORDER BY id',
    [id],
  );
  return rows.map(({ input }) => JSON.parse(input));
}

const textItems = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ input_data: { text: `${n}` } }));

describe('202', () => {
  test('the receipts of single starts, in the order of the items', async () => {
    const id = await createWorkflow(STRICT_FLOW);
    const answer = await batch(id, { items: textItems(3) });
    expect(answer.status).toBe(202);
    expect(answer.json).toMatchObject({ started: 3, replayed: 0, refused: 0 });
    const [first] = entriesOf(answer);
    expect(first).toEqual({
      outcome: 'started',
      receipt: {
        execution_id: expect.any(Number),
        status: 'running',
        polling_url: `https://flows.example/api/v1/executions/${first?.receipt.execution_id}`,
        started_at: expect.stringMatching(/Z$/),
      },
    });
    const details = await Promise.all(
      idsOf(answer).map((executionId) => service.api('GET', `/executions/${executionId}`, { key })),
    );
    expect(details.map(({ json }) => json)).toMatchObject([
      { input_data: { text: '0' }, trigger_type: 'api', workflow_version: 1, workflow_id: id },
      { input_data: { text: '1' } },
      { input_data: { text: '2' } },
    ]);
  });

  test('an item without input_data starts with {}, and numbers stay exact', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const raw = '{"items":[{},{"input_data":{"big":9007199254740993}}]}';
    const { status, json } = await service.api('POST', `/workflows/${id}/executions/batch`, { key, raw });
    expect([status, json.started]).toEqual([202, 2]);
    const rows = await service.database.db.query<{ input: string }>(
      'SELECT input FROM executions WHERE workflow_id = $1 ORDER BY id',
      [id],
    );
    expect(rows.map(({ input }) => input)).toEqual(['{}', '{"big":9007199254740993}']);
  });

  test('mode each starts what fits and says in place what does not', async () => {
    const id = await createWorkflow(STRICT_FLOW);
    const items = [{ input_data: { text: 'a' } }, { input_data: { text: 1 } }, { input_data: { text: 'c' } }];
    const answer = await batch(id, { mode: 'each', items });
    expect(answer.json).toMatchObject({ started: 2, replayed: 0, refused: 1 });
    expect(outcomesOf(answer)).toEqual(['started', 'refused', 'started']);
    expect(answer.json.data[1]).toMatchObject({
      problem: {
        code: 'validation_failed',
        errors: [{ pointer: '/items/1/input_data/text', field: 'items.1.input_data.text' }],
      },
    });
    expect(await inputsOf(id)).toEqual([{ text: 'a' }, { text: 'c' }]);
  });

  test('1,000 items cost as many statements as three', async () => {
    const id = await createWorkflow(STRICT_FLOW);
    const { db } = service.deps;
    const forOrganisation = db.forOrganisation.bind(db);
    /** How often each statement was sent meanwhile. */
    async function statementsOf(count: number): Promise<Map<string, number>> {
      const outside = vi.spyOn(db, 'query');
      const sent: string[] = [];
      vi.spyOn(db, 'forOrganisation').mockImplementation((organisationId, work) =>
        forOrganisation(organisationId, (tx) =>
          work({
            query: (...statement) => {
              sent.push(statement[0]);
              return tx.query(...statement);
            },
          }),
        ),
      );
      const items = textItems(count).map((item, n) => ({ ...item, idempotency_key: `${count}-${n}` }));
      const answer = await batch(id, { items }, { 'idempotency-key': randomUUID() });
      expect([answer.status, answer.json.started]).toEqual([202, count]);
      expect(idsOf(answer)).toEqual(idsOf(answer).toSorted((a, b) => a - b));
      sent.push(...outside.mock.calls.map(([statement]) => statement));
      vi.restoreAllMocks();
      return new Map([...Map.groupBy(sent, (text) => text)].map(([text, times]) => [text, times.length]));
    }
    // The first request compiles the workflow.
    await statementsOf(1);
    const ofThree = await statementsOf(3);
    const ofMany = await statementsOf(1_000);
    // The service's periodic tasks send some of their own meanwhile.
    const oftener = [...ofMany].filter(([text, times]) => times - (ofThree.get(text) ?? 0) >= 20);
    expect(oftener).toEqual([]);
    expect(await inputsOf(id)).toHaveLength(1_004);
  });
});

describe('keys of items', () => {
  test('are those of single starts: either gets the receipt of the other', async () => {
    const [byApi, byBatch] = [randomUUID(), randomUUID()];
    const single = await execute(strictId, { input_data: { text: 'x' } }, byApi);
    const items = [
      { input_data: { text: 'x' }, idempotency_key: byApi },
      { input_data: { text: 'y' }, idempotency_key: byBatch },
    ];
    const answer = await batch(strictId, { items });
    expect(outcomesOf(answer)).toEqual(['replayed', 'started']);
    expect(entriesOf(answer)[0]?.receipt).toEqual(single.json);
    const again = await execute(strictId, { input_data: { text: 'y' } }, byBatch);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.json).toEqual(entriesOf(answer)[1]?.receipt);
    expect(again.headers.get('location')).toBe(again.json.polling_url);
  });

  test('two items with one key and input are one execution', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const item = { input_data: { a: 1, b: 2 }, idempotency_key: 'twice' };
    const answer = await batch(id, { items: [item, { ...item, input_data: { b: 2, a: 1 } }] });
    expect(outcomesOf(answer)).toEqual(['started', 'replayed']);
    expect(new Set(idsOf(answer)).size).toBe(1);
    expect(await inputsOf(id)).toHaveLength(1);
  });

  test('with another input they refuse the item', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    await execute(id, { input_data: { n: 1 } }, 'used');
    const items = [{ input_data: { n: 2 }, idempotency_key: 'used' }, { input_data: { n: 3 } }];
    const refused = await batch(id, { items });
    expect(refused.status).toBe(422);
    expect(refused.json.errors).toMatchObject([
      { pointer: '/items/0/idempotency_key', code: 'idempotency_key_reused' },
    ]);
    expect(await inputsOf(id)).toEqual([{ n: 1 }]);
    const answer = await batch(id, { mode: 'each', items });
    expect(outcomesOf(answer)).toEqual(['refused', 'started']);
    expect(await inputsOf(id)).toEqual([{ n: 1 }, { n: 3 }]);
  });

  test('concurrent batches with the same keys, in any order, start each once', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const items = Array.from({ length: 60 }, (_, n) => ({ input_data: { n }, idempotency_key: `k${n}` }));
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        batch(id, { mode: n % 2 === 0 ? 'all' : 'each', items: n % 3 === 0 ? items.toReversed() : items }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(await inputsOf(id)).toHaveLength(60);
    const sorted = answers.map((answer) => idsOf(answer).toSorted((a, b) => a - b));
    expect(new Set(sorted.map(String)).size).toBe(1);
    const started = answers.reduce((sum, { json }) => sum + Number(json.started), 0);
    expect(started).toBe(60);
  });

  test('concurrent single starts and a batch start each once', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const items = Array.from({ length: 20 }, (_, n) => ({ input_data: { n }, idempotency_key: `s${n}` }));
    const [answer, ...singles] = await Promise.all([
      batch(id, { items }),
      ...items.map(({ input_data, idempotency_key: itemKey }) => execute(id, { input_data }, itemKey)),
    ]);
    expect(await inputsOf(id)).toHaveLength(20);
    expect(idsOf(answer as ApiAnswer)).toEqual(singles.map(({ json }) => json.execution_id));
  });
});

describe('Idempotency-Key of the request', () => {
  test('replays the response to the whole, also while the first is under way', async () => {
    const id = await createWorkflow(STRICT_FLOW);
    const body = { mode: 'each', items: [...textItems(3), { input_data: {} }] };
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all([batch(id, body, headers), batch(id, body, headers)]);
    answers.push(await batch(id, { items: body.items, mode: 'each' }, headers));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true')).toHaveLength(2);
    expect(await inputsOf(id)).toHaveLength(3);
  });

  test('409 with another body, and what was refused is not kept', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expect((await batch(strictId, { items: [{ input_data: {} }] }, headers)).status).toBe(422);
    expect((await batch(strictId, { items: textItems(1) }, headers)).status).toBe(202);
    const other = await batch(strictId, { items: textItems(2) }, headers);
    expect([other.status, other.json.code]).toEqual([409, 'idempotency_key_reused']);
  });
});

describe('refused as a whole', () => {
  test('422 with mode all names every item, and nothing starts', async () => {
    const id = await createWorkflow(STRICT_FLOW);
    const items = [{ input_data: { text: 'a' } }, { input_data: {} }, { input_data: { text: 'c', n: 'x' } }];
    const { status, json } = await batch(id, { items });
    expect(status).toBe(422);
    expect(json.errors.map(({ pointer }) => pointer)).toEqual([
      '/items/1/input_data/text',
      '/items/2/input_data/n',
    ]);
    expect(await inputsOf(id)).toEqual([]);
  });

  test.each([
    ['no items', {}, '/items'],
    ['an empty list', { items: [] }, '/items'],
    ['too many', { items: Array.from({ length: 1_001 }, () => ({})) }, '/items'],
    ['an unknown mode', { items: [{}], mode: 'some' }, '/mode'],
    ['an unknown member', { items: [{ input: {} }] }, '/items/0/input'],
    ['an input that is no object', { items: [{}, { input_data: [] }] }, '/items/1/input_data'],
    ['a malformed key', { items: [{ idempotency_key: 'a b' }] }, '/items/0/idempotency_key'],
  ])('422 for %s', async (_what, body, pointer) => {
    const { status, json } = await batch(workflowId, body);
    expect([status, json.errors[0]?.pointer]).toEqual([422, pointer]);
  });

  test('413 beyond the limit for batches', async () => {
    const items = [{ input_data: { text: 'x'.repeat(1024 * 1024) } }];
    expect((await batch(workflowId, { items })).status).toBe(413);
  });

  test('429 when its items are more requests than are left; a replay counts once', async () => {
    const limited = await service.createKey();
    await service.database.db.query(
      `INSERT INTO organisation_settings (organisation_id, requests_per_minute) VALUES ($1, 20)
       ON CONFLICT (organisation_id) DO UPDATE SET requests_per_minute = 20`,
      [limited.organisationId],
    );
    const flow = { name: 'limited', flow_data: RUNNABLE_FLOW };
    const { json: workflow } = await service.api('POST', '/workflows', { key: limited, body: flow });
    const send = (count: number, headers: { [name: string]: string } = {}) =>
      service.api('POST', `/workflows/${workflow.id}/executions/batch`, {
        key: limited,
        body: { items: textItems(count) },
        headers,
      });
    const headers = { 'idempotency-key': randomUUID() };
    expect((await send(12, headers)).status).toBe(202);
    const refused = await send(8);
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(12, headers)).headers.get('idempotent-replayed')).toBe('true');
    expect((await send(4)).status).toBe(202);
    expect(await inputsOf(workflow.id)).toHaveLength(16);
  });

  test('404 for another organisation, 403 without the scope, 409 for archived workflows but not for replays', async () => {
    const id = await createWorkflow(RUNNABLE_FLOW);
    const items = [{ idempotency_key: 'before' }];
    const first = await batch(id, { items });
    await service.api('DELETE', `/workflows/${id}`, { key });
    expect((await batch(id, { items: [{}] })).json.code).toBe('workflow_archived');
    expect(idsOf(await batch(id, { items }))).toEqual(idsOf(first));
    const path = `/workflows/${workflowId}/executions/batch`;
    const stranger = await service.createKey();
    expect((await service.api('POST', path, { key: stranger, body: { items } })).status).toBe(404);
    expect((await batch('abc', { items })).status).toBe(404);
    const reader = await service.createKey({
      organisationId: key.organisationId,
      scopes: ['executions:read'],
    });
    expect((await service.api('POST', path, { key: reader, body: { items } })).status).toBe(403);
  });
});
