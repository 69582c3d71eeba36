import { putCallback } from '@millrace/service/callbacks/store';
import { createTokenMaker, hashToken } from '@millrace/service/callbacks/tokens';
import { send } from '@millrace/testing/api';
import { keysOfVariable } from '@millrace/testing/secret-keys';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Receiver } from '../../cli/test/faults/support/receiver.ts';
import { flowOf, type TestNode } from '../../runtime/test/worker/flows.ts';
import {
  startWorkingService,
  type WorkingOverrides,
  type WorkingService,
} from '../../runtime/test/worker/service-with-worker.ts';

let shared: WorkingService;
/** The shared one, unless the test uses its own. */
let service: WorkingService;
let receiver: Receiver;
beforeAll(async () => {
  // One key makes the requests of all tests.
  shared = await startWorkingService({ limits: { requestsPerMinutePerKey: 0 } });
});
afterAll(() => shared.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
  service = shared;
});
afterEach(() => receiver.stop());

/** For a test that stops the worker, changes limits or keys, or reads all there is. */
async function useOwnService(overrides: WorkingOverrides = {}): Promise<void> {
  const own = await startWorkingService(overrides);
  onTestFinished(() => own.stop());
  service = own;
}

function waitNode(more: object = {}): TestNode {
  const request = { url: receiver.url('/job'), body: { callback_url: '{{args.callback_url}}' } };
  return ['wait', 'wait.callback', { config: { request, ...more } }];
}

/** A flow that waits for a callback and then reports the branch it took. */
async function waiting(more: object = {}, fields: object = {}): Promise<number> {
  const flow = flowOf(
    [
      waitNode(more),
      ['went_on', 'core.set', { config: { values: { got: '{{nodes.wait.output.answer}}' } } }],
      ['too_late', 'core.set', { config: { values: { late: true } } }],
    ],
    ['start>wait', 'wait:out>went_on', 'wait:timeout>too_late'],
  );
  return service.execute(await service.createWorkflow(flow, fields));
}

/** The token in the address the receiver got. */
async function tokenOf(call = 1): Promise<string> {
  const bodies = (await receiver.arrival('/job', call)).map(({ body }) => body as { callback_url: string });
  const url = bodies[call - 1]?.callback_url ?? '';
  expect(url).toMatch(/^https:\/\/flows\.example\/api\/v1\/callbacks\/[A-Za-z0-9_-]{43}$/);
  return url.slice(url.lastIndexOf('/') + 1);
}

async function isParked(id: number): Promise<void> {
  await expect.poll(async () => (await service.read(id)).status).toBe('waiting_async');
}

const answerTo = (token: string, body: unknown = { answer: 42 }) =>
  service.api('POST', `/callbacks/${token}`, { body });

describe('200', () => {
  test("resumes the execution with the body as the node's output", async () => {
    const id = await waiting();
    const token = await tokenOf();
    await isParked(id);
    expect(service.worker.runningIds()).not.toContain(id);
    const answer = await answerTo(token);
    expect(answer).toMatchObject({ status: 200, json: { success: true } });
    const detail = await service.finished(id);
    expect(detail.node_outputs).toMatchObject({
      wait: { status: 'success', output: { answer: 42 } },
      went_on: { output: { got: 42 } },
      too_late: { status: 'skipped' },
    });
  });

  test.each([
    ['a number that no double holds', '9007199254740993', '{"data":9007199254740993}'],
    ['a list', '[1]', '{"data":[1]}'],
    ['null', 'null', '{"data":null}'],
    ['characters that no text column holds', '{"a":"\\u0000\\ud800"}', '{"a":"\\u0000\\ud800"}'],
  ])('accepts %s unchanged', async (_what, raw, output) => {
    const id = await waiting();
    const headers = { 'content-type': 'application/json' };
    const path = `/callbacks/${await tokenOf()}`;
    expect((await service.api('POST', path, { raw, headers })).status).toBe(200);
    await service.finished(id);
    const detail = await service.api('GET', `/executions/${id}`, { key: service.key });
    expect(detail.text).toContain(`"wait":{"status":"success","output":${output}`);
  });

  test('reads no body as {}', async () => {
    const id = await waiting();
    expect((await service.api('POST', `/callbacks/${await tokenOf()}`)).status).toBe(200);
    expect((await service.finished(id)).node_outputs.wait?.output).toEqual({});
  });

  test('is kept if it arrives before the node waits', async () => {
    // The receiver responds to its request only after its callback was accepted.
    const answered = Promise.withResolvers<number>();
    receiver.on('/job', async () => {
      const answer = await answerTo(await tokenOf());
      answered.resolve(answer.status);
      return 200;
    });
    const id = await waiting();
    expect(await answered.promise).toBe(200);
    expect((await service.finished(id)).node_outputs.wait?.output).toEqual({ answer: 42 });
  });

  test('of fifty concurrent calls, one is 200, the others are 409, and one signal is stored', async () => {
    const id = await waiting();
    const token = await tokenOf();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => answerTo(token, { answer: n })));
    const taken = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    expect(taken).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    expect(others.every(({ status, json }) => status === 409 && json.code === 'callback_used')).toBe(true);
    expect((await service.finished(id)).node_outputs.wait?.output).toEqual({ answer: taken[0] });
    const signals = await service.database.db.query('SELECT FROM execution_signals WHERE execution_id = $1', [
      id,
    ]);
    expect(signals).toHaveLength(1);
  });

  test('wakes an execution parked by a service that has stopped', async () => {
    await useOwnService();
    const id = await waiting();
    const token = await tokenOf();
    await isParked(id);
    await service.worker.stop();
    expect((await answerTo(token)).status).toBe(200);
    await service.startWorker();
    expect((await service.finished(id)).node_outputs.wait?.output).toEqual({ answer: 42 });
  });

  test('reaches each iteration of a loop by its own URL', async () => {
    const flow = {
      nodes: [
        { id: 'start', type: 'trigger.manual', data: {} },
        { id: 'each', type: 'core.for_each', data: { config: { items: ['a', 'b'], concurrency: 2 } } },
        {
          id: 'wait',
          type: 'wait.callback',
          parentId: 'each',
          data: {
            config: {
              request: {
                url: receiver.url('/job'),
                body: { item: '{{item}}', callback_url: '{{args.callback_url}}' },
              },
            },
          },
        },
      ],
      edges: [{ id: 'e', source: 'start', target: 'each' }],
    };
    const id = await service.execute(await service.createWorkflow(flow));
    const requests = await receiver.arrival('/job', 2);
    expect(new Set(requests.map(({ deliveryKey }) => deliveryKey)).size).toBe(2);
    for (const { body } of requests.toReversed()) {
      const { item, callback_url: url } = body as { item: string; callback_url: string };
      expect((await answerTo(url.slice(url.lastIndexOf('/') + 1), { of: item })).status).toBe(200);
    }
    const detail = await service.finished(id);
    expect(detail.node_outputs.each?.output).toMatchObject({ items: [{ of: 'a' }, { of: 'b' }] });
  });
});

describe('404', () => {
  test.each([
    ['a token that was never given', 'A'.repeat(43)],
    ['a text that is no token', 'x'],
  ])('%s', async (_what, token) => {
    const answer = await answerTo(token);
    expect(answer).toMatchObject({ status: 404, json: { code: 'not_found' } });
    expect(answer.text).not.toContain(token);
  });

  test('the token of an approval', async () => {
    const flow = flowOf(
      [
        [
          'ask',
          'wait.approval',
          {
            config: { title: 'Yes?', request: { url: receiver.url('/job'), body: '{{args.approval_url}}' } },
          },
        ],
      ],
      ['start>ask'],
    );
    await service.execute(await service.createWorkflow(flow));
    const [request] = await receiver.arrival('/job', 1);
    const token = String(request?.body).split('/').at(-1) ?? '';
    expect(token).toHaveLength(43);
    expect((await answerTo(token)).status).toBe(404);
  });
});

describe('409', () => {
  test('the second use, also after the execution has ended', async () => {
    const id = await waiting();
    const token = await tokenOf();
    await answerTo(token);
    await service.finished(id);
    expect(await answerTo(token)).toMatchObject({ status: 409, json: { code: 'callback_used' } });
  });

  test('the execution was cancelled', async () => {
    const id = await waiting();
    const token = await tokenOf();
    await service.api('POST', `/executions/${id}/cancel`, { key: service.key });
    expect(await answerTo(token)).toMatchObject({ status: 409, json: { code: 'execution_ended' } });
  });
});

describe('410', () => {
  test('after the time is over and the branch timeout was taken', async () => {
    const id = await waiting({ timeout_s: 1 });
    const token = await tokenOf();
    const detail = await service.finished(id);
    expect(detail.node_outputs).toMatchObject({
      wait: { status: 'success', output: { timed_out: true } },
      went_on: { status: 'skipped' },
      too_late: { output: { late: true } },
    });
    // An ended execution and a late callback are distinguished by what happened first.
    expect((await answerTo(token)).json.code).toBe('execution_ended');
  });

  test('while the execution goes on', async () => {
    const id = await waiting({ timeout_s: 3_600 });
    const token = await tokenOf();
    await isParked(id);
    await service.database.db.query(
      "UPDATE callbacks SET expires_at = now() - interval '1 second' WHERE execution_id = $1",
      [id],
    );
    expect(await answerTo(token)).toMatchObject({ status: 410, json: { code: 'callback_expired' } });
  });
});

describe('429', () => {
  test('too many requests for one URL', async () => {
    await useOwnService({ limits: { requestsPerMinutePerWebhook: 2 } });
    await waiting({ timeout_s: 3_600 });
    const token = await tokenOf();
    expect((await answerTo(token)).status).toBe(200);
    expect((await answerTo(token)).status).toBe(409);
    expect(await answerTo(token)).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
    // Made-up tokens take no room in the limiter, so they aren't counted.
    for (let i = 0; i < 3; i += 1) expect((await answerTo('C'.repeat(43))).status).toBe(404);
  });
});

describe('the address', () => {
  test('appears in no response, log or row', async () => {
    await useOwnService();
    receiver.on('/job', () => 500);
    const first = await waiting();
    const token = await tokenOf();
    const failed = await service.finished(first);
    expect(failed.error).toMatchObject({ code: 'http_status' });
    receiver.on('/job', () => 200);
    const id = await waiting();
    const second = await tokenOf(2);
    expect(second).not.toBe(token);
    await isParked(id);
    const whileWaiting = await service.read(id);
    await answerTo(second);
    await answerTo(token);
    const { db } = service.database;
    const stored = await db.query(`SELECT to_jsonb(c)::text FROM callbacks c
      UNION ALL SELECT records::text FROM execution_chunks UNION ALL SELECT payload::text FROM execution_signals`);
    const all = [failed, whileWaiting, await service.finished(id), service.logs, stored];
    for (const text of all.map((each) => JSON.stringify(each))) {
      expect(text).not.toContain(second);
      expect(text).not.toContain(token);
    }
  });

  test('is the same for another attempt of the node', async () => {
    receiver.on('/job', (_, count) => (count === 1 ? 503 : 200));
    const [id, type, data] = waitNode();
    const again = { ...data, retry: { max_attempts: 2, backoff_ms: 1 } };
    await service.execute(await service.createWorkflow(flowOf([[id, type, again]], ['start>wait'])));
    expect(await tokenOf(2)).toBe(await tokenOf(1));
  });

  test("can't be derived from the tables", async () => {
    await useOwnService();
    const { db } = service.database;
    const mine = keysOfVariable();
    const none = await createTokenMaker(db, mine)('callback', 'key');
    // The first encrypted secret makes the key the current one.
    await db.transaction((tx) => mine.seal(tx, 'text', 'record'));
    const token = await createTokenMaker(db, mine)('callback', 'key');
    expect(await createTokenMaker(db, mine)('callback', 'key')).toBe(token);
    expect(await createTokenMaker(db, mine)('callback', 'other')).not.toBe(token);
    // Someone with a stolen database has another key, or none.
    expect(await createTokenMaker(db, keysOfVariable())('callback', 'key')).toBe(none);
    expect(none).not.toBe(token);
  });

  test('counts as used if another one for the same wait was: they differ if the key changes between attempts', async () => {
    const id = await waiting();
    const tokens = [await tokenOf(), 'Z'.repeat(43)];
    await isParked(id);
    const { db } = service.database;
    const place = {
      organisationId: service.key.organisationId,
      executionId: id,
      nodeId: 'wait',
      iteration: [],
    };
    const tokenHash = hashToken(tokens[1] ?? '') ?? Buffer.of();
    await putCallback(db, { ...place, tokenHash, expiresAtMs: Date.now() + 3_600_000, question: null });
    const calls = Array.from({ length: 20 }, (_, n) => answerTo(tokens[n % 2] ?? '', { answer: n }));
    const answers = await Promise.all(calls);
    const taken = answers.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    expect(taken).toHaveLength(1);
    expect(answers.filter(({ json }) => json.code === 'callback_used')).toHaveLength(19);
    expect((await service.finished(id)).node_outputs.wait?.output).toEqual({ answer: taken[0] });
    const signals = await db.query('SELECT FROM execution_signals WHERE execution_id = $1', [id]);
    expect(signals).toHaveLength(1);
  });

  test('is not stored for an execution that was deleted', async () => {
    const place = {
      organisationId: service.key.organisationId,
      executionId: 999_999_999,
      nodeId: 'wait',
      iteration: [],
    };
    const { db } = service.database;
    const tokenHash = Buffer.alloc(32, 7);
    await putCallback(db, { ...place, tokenHash, expiresAtMs: Date.now() + 3_600_000, question: null });
    expect(await db.query('SELECT FROM callbacks WHERE token_hash = $1', [tokenHash])).toEqual([]);
  });

  test('is not issued in test mode: the request is recorded, nothing is sent, and the flow continues', async () => {
    const id = await waiting({}, { is_test_mode: true });
    const detail = await service.finished(id);
    expect(detail.node_outputs.wait?.output).toMatchObject({
      dry_run: true,
      request: {
        method: 'POST',
        url: receiver.url('/job'),
        body: { callback_url: 'https://flows.example/api/v1/callbacks/***' },
      },
    });
    expect(detail.node_outputs.went_on?.status).toBe('success');
    expect(receiver.received).toEqual([]);
    const rows = await service.database.db.query('SELECT FROM callbacks WHERE execution_id = $1', [id]);
    expect(rows).toEqual([]);
  });

  test('only accepts POST', async () => {
    const answer = await send(`${service.url}/api/v1/callbacks/${'A'.repeat(43)}`, 'GET');
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
  });
});
