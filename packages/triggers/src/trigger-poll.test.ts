import type { JsonObject, JsonValue } from '@millrace/engine';
import { pollNode, runNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { expect, test } from 'vitest';
import { triggerPoll } from './trigger-poll.ts';

const url = 'https://api.example.com/orders';
const answered = (body: JsonValue) => answer(JSON.stringify(body));
const poll = (config: JsonObject, body: JsonValue) =>
  pollNode(triggerPoll, { config: { url, ...config }, http: [answered(body)] });

test('reads by GET, with the settings of a request and without a key for repeats', async () => {
  const config = {
    query: { status: 'paid' },
    headers: { 'X-Shop': '7' },
    auth: { type: 'bearer', token: 't' },
  };
  const { requests } = await poll(config, []);
  expect(requests).toMatchObject([
    { method: 'GET', url: `${url}?status=paid`, headers: { 'x-shop': '7', authorization: 'Bearer t' } },
  ]);
  expect(Object.keys(requests[0]?.headers ?? {})).not.toContain('idempotency-key');
});

test.each([
  ['the whole response', {}, [{ id: 1 }, { id: 'b' }], ['1', 'b']],
  ['a list inside it', { list_path: 'data.0.rows' }, { data: [{ rows: [{ id: 1 }] }] }, ['1']],
  ['another id', { id_path: 'meta.uuid' }, [{ meta: { uuid: 'u' } }], ['u']],
  ['reversed', { order: 'reversed' }, [{ id: 1 }, { id: 2 }], ['2', '1']],
  ['texts', { id_path: '' }, [], []],
])('finds items: %s', async (_what, config, body, ids) => {
  const { result } = await poll(config, body);
  expect(result).toMatchObject({ kind: 'polled', position: null });
  expect(result.kind === 'polled' && result.items.map(({ id }) => id)).toEqual(ids);
});

test('without a path, the id is the whole item, whatever the order of its members', async () => {
  const ids = async (body: JsonValue) => {
    const { result } = await poll({ id_path: '' }, body);
    return result.kind === 'polled' ? result.items.map(({ id }) => id) : [];
  };
  const [first] = await ids([{ a: 1, b: 2 }]);
  expect(
    await ids([
      { b: 2, a: 1 },
      { a: 1, b: 3 },
    ]),
  ).toEqual([first, expect.not.stringMatching(`${first}`)]);
});

test.each([
  [
    'a status',
    answer('', { status: 503, headers: { 'retry-after': '20' } }),
    { code: 'http_status', retryable: true, retryAfterMs: 20_000 },
  ],
  ['another status', answer('', { status: 403 }), { code: 'http_status', retryable: false }],
  ['text', answer('hello'), { code: 'invalid_response', retryable: false }],
  ['no list', answered({ id: 1 }), { code: 'invalid_response', retryable: false }],
  ['an empty id', answered([{ id: '' }]), { code: 'invalid_response', retryable: false }],
  ['an object as id', answered([{ id: {} }]), { code: 'invalid_response', retryable: false }],
])('fails for %s', async (_what, response, expected) => {
  const { result } = await pollNode(triggerPoll, { config: { url }, http: [response] });
  expect(result).toMatchObject({ kind: 'failure', ...expected });
});

test('refuses a setting that is wrong', async () => {
  const { result, requests } = await poll({ interval_s: 1 }, []);
  expect([result.kind === 'failure' && result.code, requests]).toEqual(['invalid_config', []]);
});

test('hands on what it found', async () => {
  const { result } = await runNode(triggerPoll, { config: { url }, trigger: { id: 1 } });
  expect(result).toMatchObject({ kind: 'success', output: { data: { id: 1 } } });
});
