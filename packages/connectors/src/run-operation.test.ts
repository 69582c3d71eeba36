import {
  HttpClientError,
  type HttpRequest,
  type JsonObject,
  type NodeResult,
  stringifyJson,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { describe, expect, it } from 'vitest';
import type { Connector, Operation } from './format.ts';
import { nodeOf } from './node-type.ts';
import { MAX_PAGES } from './pages.ts';

const text = { type: 'string', title: 'Text', description: 'A text.' } as const;
const any = { title: 'Value', description: 'A value.' } as const;
const SETTINGS: Operation['settings'] = { id: text, path: text, word: text, note: text, data: any };

/** A service whose operation has a template everywhere. */
const operation: Operation = {
  id: 'change',
  title: 'Change it',
  description: 'Changes something.',
  effect: true,
  repetition: 'unknown',
  settings: SETTINGS,
  required: ['id'],
  request: {
    method: 'POST',
    path: '/things/{{args.id}}:set/{{args.path}}',
    whole: ['path'],
    query: { word: '{{args.word}}' },
    headers: { 'x-note': '{{args.note}}' },
    body: { data: '{{args.data}}', word: 'is {{args.word}}', inner: { note: '{{args.note}}' } },
  },
  output: '{{args.response.body}}',
  exchanges: [
    {
      title: 'One',
      config: {},
      steps: [{ request: { method: 'POST', path: '/' }, response: { status: 200 } }],
      output: {},
    },
  ],
};

const connector: Connector = {
  id: 'example',
  title: 'Example',
  icon: 'box',
  synonyms: ['example'],
  reference: 'https://example.com/reference',
  written_on: '2026-11-24',
  base_url: 'https://api.example.com/v1',
  hosts: ['api.example.com'],
  authentication: { types: ['bearer'], description: 'A token.' },
  reason: '{{args.response.body.error}}',
  operations: [operation],
  ja: {},
};

const CONFIG = { credential_id: 1, id: '7', path: 'a' };
const credential = { type: 'bearer', token: 'canary-token' } as const;

function run(
  config: JsonObject,
  changes: Partial<Operation> = {},
  options: Omit<RunOptions, 'config'> & { readonly connector?: Partial<Connector> } = {},
) {
  const node = nodeOf({ ...connector, ...options.connector }, { ...operation, ...changes });
  return runNode(node, {
    http: [answer('{"ok":true}')],
    credential,
    ...options,
    config: { ...CONFIG, ...config },
  });
}

function outputOf(result: NodeResult): JsonObject {
  if (result.kind !== 'success') throw new Error(stringifyJson(result as never));
  return result.output;
}

describe('what is filled in', () => {
  it('stays in its segment of the path', async () => {
    const { requests } = await run({ id: '../admin?x=1#y', path: 'b c/%2e%2e' });
    expect(requests[0]?.url).toBe(
      'https://api.example.com/v1/things/..%2Fadmin%3Fx%3D1%23y:set/b%20c/%252e%252e',
    );
  });

  it.each(['', ' ', '.', '..'])('is refused in a path: %j', async (id) => {
    const at = { request: { ...operation.request, path: '/things/{{args.id}}/rest' } };
    const { result, requests } = await run({ id }, at);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config', message: saying('config.id') });
    expect(requests).toEqual([]);
  });

  it.each(['a/../b', 'a//b', '/a', 'a/.'])('is refused in a path of several segments: %j', async (path) => {
    const { result, requests } = await run({ path });
    expect(result).toMatchObject({ code: 'invalid_config', message: saying('config.path') });
    expect(requests).toEqual([]);
  });

  it('is a parameter of the query, and nothing else', async () => {
    const { requests } = await run({ word: 'a&admin=1#é' });
    expect(requests[0]?.url.split('?')[1]).toBe('word=a%26admin%3D1%23%C3%A9');
  });

  it('adds no header', async () => {
    const { result, requests } = await run({ note: 'a\r\nx-admin: 1' });
    expect(result).toMatchObject({ code: 'invalid_config', message: saying('x-note') });
    expect(requests).toEqual([]);
  });

  it('keeps its type in the body, and is never taken for a template', async () => {
    const data = { '{{args.id}}': ['{{args.id}}', 1, null, { __proto__: null }] };
    const { requests } = await run({}, {}, { trigger: null });
    expect(requests[0]?.body).toBe('{"word":"is "}');
    const node = nodeOf(connector, operation);
    const { requests: sent } = await runNode(node, {
      http: [answer('{}')],
      credential,
      trigger: data as never,
      config: { ...CONFIG, data: '{{trigger.data}}', word: '{{trigger.data | keys | first}}' },
    });
    expect(JSON.parse(sent[0]?.body as string)).toEqual({ data, word: 'is {{args.id}}' });
  });

  it('is not sent if it is empty', async () => {
    const { requests } = await run({ word: '', note: '', data: [] });
    expect(requests[0]).toMatchObject({
      url: 'https://api.example.com/v1/things/7:set/a',
      body: '{"word":"is "}',
    });
    expect(requests[0]?.headers).not.toHaveProperty('x-note');
  });

  it.each(['evil.com/', 'a.b', 'a@evil', '-', '', 'x'.repeat(64)])('is no other host: %j', async (id) => {
    const own = { base_url: 'https://{{args.id}}.example.com/v1', hosts: ['*.example.com'] };
    const at = { request: { ...operation.request, path: '/fixed' } };
    const { result, requests } = await run({ id }, at, { connector: own });
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(requests).toEqual([]);
    expect((await run({ id: 'shop-1' }, at, { connector: own })).requests[0]?.url).toBe(
      'https://shop-1.example.com/v1/fixed',
    );
  });

  it.each([
    ['shop.eu-1', 'https://shop.eu-1.example.com/v1/fixed'],
    ['shop', 'https://shop.example.com/v1/fixed'],
    ['evil.com/', undefined],
    ['a..b', undefined],
    ['.a', undefined],
    ['a@evil.com', undefined],
    ['', undefined],
  ])('may be at several labels where the service has such hosts: %j', async (id, url) => {
    const own: Partial<Connector> = {
      base_url: 'https://{{args.id}}.example.com/v1',
      several_labels: true,
      hosts: ['*.example.com'],
    };
    const at = { request: { ...operation.request, path: '/fixed' } };
    const { result, requests } = await run({ id }, at, { connector: own });
    expect(requests[0]?.url).toBe(url);
    if (url === undefined) expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
  });

  it('becomes the nested fields of a form', async () => {
    const request = {
      ...operation.request,
      headers: {},
      body_type: 'form',
      body: { data: '{{args.data}}' },
    } as const;
    const { requests } = await run({ data: { a: [1, { b: 'x&y' }], c: true } }, { request });
    expect(decodeURIComponent(requests[0]?.body as string)).toBe(
      'data[a][0]=1&data[a][1][b]=x&y&data[c]=true',
    );
  });
});

describe('test mode', () => {
  it('shows what an operation with an effect would send, without its secrets', async () => {
    const { result, requests } = await run({ word: 'w' }, {}, { isTestMode: true });
    expect(requests).toEqual([]);
    expect(outputOf(result)).toMatchObject({
      dry_run: true,
      service: 'example',
      request: {
        method: 'POST',
        url: 'https://api.example.com/v1/things/7:set/a?word=w',
        body: { word: 'is w' },
      },
    });
    expect(stringifyJson(outputOf(result))).not.toContain('canary');
  });

  it('sends what only reads', async () => {
    const { repetition: _, ...reading } = operation;
    const node = nodeOf(connector, { ...reading, effect: false });
    const { requests } = await runNode(node, {
      http: [answer('{}')],
      credential,
      config: CONFIG,
      isTestMode: true,
    });
    expect(requests).toHaveLength(1);
  });
});

describe('an answer', () => {
  it.each([
    [401, 'connector_auth_failed', false],
    [403, 'connector_auth_failed', false],
    [404, 'connector_not_found', false],
    [422, 'connector_refused', false],
    [302, 'connector_refused', false],
    [429, 'connector_rate_limited', true],
    [500, 'connector_unavailable', false],
  ])('with status %i is %s', async (status, code, retryable) => {
    const { result } = await run({}, {}, { http: [answer('{"error":"because"}', { status })] });
    expect(result).toMatchObject({
      kind: 'failure',
      code,
      retryable,
      message: saying('because'),
      output: { status },
    });
  });

  it.each(['harmless', 'keyed'] as const)(
    'of 500 may be asked for again if repetition is %s',
    async (repetition) => {
      const { result } = await run({}, { repetition }, { http: [answer('{}', { status: 500 })] });
      expect(result).toMatchObject({
        code: 'connector_unavailable',
        retryable: true,
        message: saying('status 500'),
      });
    },
  );

  it.each([
    ['unknown', 'connection_failed', false],
    ['unknown', 'timeout', false],
    ['unknown', 'aborted', true],
    ['keyed', 'connection_failed', true],
    ['harmless', 'timeout', true],
  ] as const)('that is lost: repetition %s, %s, retried %s', async (repetition, code, retryable) => {
    const http = () => {
      throw new HttpClientError(code, verbatim('lost'));
    };
    expect((await run({}, { repetition }, { http })).result).toMatchObject({ code, retryable });
  });

  it('waits for as long as the service asks', async () => {
    const limited = (headers: JsonObject, errors: Operation['errors'] = []) =>
      run({}, { errors }, { http: [answer('{"wait":7}', { status: 429, headers })] });
    expect((await limited({ 'retry-after': '30' })).result).toMatchObject({ retryAfterMs: 30_000 });
    const when = '{{args.response.status == 429}}';
    const as = 'rate_limited';
    const seconds = { when, as, retry_after_s: '{{args.response.body.wait}}' } as const;
    expect((await limited({}, [seconds])).result).toMatchObject({ retryAfterMs: 7_000 });
    const moment = { when, as, retry_at_s: '1767225660' } as const;
    expect((await limited({}, [moment])).result).toMatchObject({ retryAfterMs: 60_000 });
    const endless = { when, as, retry_after_s: '1e300' } as const;
    expect((await limited({}, [endless])).result).toMatchObject({ retryAfterMs: 86_400_000 });
  });

  it('with status 200 can be a refusal', async () => {
    const errors = [{ when: '{{args.response.body.ok == false}}', as: 'not_found' }] as const;
    const { result } = await run(
      {},
      { errors: [...errors] },
      { http: [answer('{"ok":false,"error":"gone"}')] },
    );
    expect(result).toMatchObject({ code: 'connector_not_found', message: saying('gone') });
  });

  it.each([
    ['a page instead of JSON', answer('<html>', { type: 'text/html' })],
    ['a list instead of an object', answer('[1]')],
  ])('is refused if it is %s', async (_, response) => {
    expect((await run({}, {}, { http: [response] })).result).toMatchObject({ code: 'invalid_response' });
  });

  it('shortens what a service says', async () => {
    const { result } = await run(
      {},
      {},
      { http: [answer(`{"error":"${'x'.repeat(5_000)}"}`, { status: 400 })] },
    );
    expect(stringifyJson((result as unknown as { message: JsonObject }).message).length).toBeLessThan(700);
  });
});

describe('the key of an attempt', () => {
  it.each([
    [{ in: 'header', name: 'Request-Id', form: 'text' }, { headers: { 'request-id': 'execution-1-node' } }],
    [
      { in: 'body', name: 'id', form: 'uuid' },
      {
        body: expect.stringMatching(/"id":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"/),
      },
    ],
  ] as const)('goes where the service wants it: %j', async (key, expected) => {
    const first = (await run({}, { repetition: 'keyed', key }, { attempt: 1 })).requests[0];
    const second = (await run({}, { repetition: 'keyed', key }, { attempt: 2 })).requests[0];
    expect(first).toMatchObject(expected);
    expect(second).toEqual(first);
  });
});

describe('pages', () => {
  const size = { in: 'query', name: 'size', max: 2 } as const;
  const reading = {
    effect: false,
    request: { method: 'GET', path: '/things' },
  } as const;

  /** Runs an operation that lists, against pages by their query. */
  async function list(
    pagination: NonNullable<Operation['pagination']>,
    limit: number,
    page: (url: URL, nth: number) => ReturnType<typeof answer>,
  ) {
    const { repetition: _, output: __, ...rest } = operation;
    const node = nodeOf(connector, { ...rest, ...reading, settings: {}, required: [], pagination });
    let nth = 0;
    const { result, requests } = await runNode(node, {
      http: (request: HttpRequest) => page(new URL(request.url), ++nth),
      credential,
      config: { credential_id: 1, limit },
    });
    return { result, urls: requests.map(({ url }) => url.replace('https://api.example.com/v1', '')) };
  }
  const into = { in: 'query', name: 'at' } as const;
  const items = '{{args.response.body.items}}';

  it('are numbered', async () => {
    const { result, urls } = await list({ type: 'page', items, into, size }, 5, (_, nth) =>
      answer(JSON.stringify({ items: nth < 3 ? [nth, nth] : [nth] })),
    );
    expect(urls).toEqual(['/things?size=2&at=1', '/things?size=2&at=2', '/things?size=2&at=3']);
    expect(outputOf(result)).toEqual({ items: [1, 1, 2, 2, 3], count: 5, has_more: false });
  });

  it('begin at an offset, and end when there are enough items', async () => {
    const { result, urls } = await list({ type: 'offset', items, into, size }, 3, () =>
      answer('{"items":[1,2]}'),
    );
    expect(urls).toEqual(['/things?size=2', '/things?size=2&at=2']);
    expect(outputOf(result)).toEqual({ items: [1, 2, 1], count: 3, has_more: true });
  });

  it('end after so many', async () => {
    const cursor = { type: 'cursor', items, next: '{{args.response.body.next}}', into, size } as const;
    const { result, urls } = await list(cursor, 10_000, (_, nth) => answer(`{"items":[1],"next":"c${nth}"}`));
    expect(urls).toHaveLength(MAX_PAGES);
    expect(outputOf(result)).toMatchObject({ count: MAX_PAGES, has_more: true });
  });

  it('end after so many bytes', async () => {
    const cursor = { type: 'cursor', items, next: '{{args.response.body.next}}', into, size } as const;
    const filler = 'x'.repeat(3 * 1024 * 1024);
    const { result, urls } = await list(cursor, 10_000, (_, nth) =>
      answer(`{"items":[1],"next":"c${nth}","filler":"${filler}"}`),
    );
    expect(urls).toHaveLength(6);
    expect(outputOf(result)).toEqual({ items: [1, 1, 1, 1, 1, 1], count: 6, has_more: true });
  });

  it('are refused when one comes back', async () => {
    const cursor = { type: 'cursor', items, next: 'same', into, size } as const;
    const { result, urls } = await list(cursor, 100, () => answer('{"items":[1]}'));
    expect(result).toMatchObject({ code: 'invalid_response' });
    expect(urls).toHaveLength(2);
  });

  it.each([
    'https://evil.example.com/things?page=2',
    'http://api.example.com/v1/things?page=2',
    'https://api.example.com:8443/v1/things',
    '/v1/things?page=2',
  ])('are not fetched from another address: %s', async (url) => {
    const link = { type: 'link', items: '{{args.response.body}}', size } as const;
    const { result, urls } = await list(link, 100, () =>
      answer('[1]', { headers: { link: `<${url}>; rel="next"` } }),
    );
    expect(result).toMatchObject({ code: 'invalid_response' });
    expect(urls).toHaveLength(1);
  });

  it.each([
    ['https://api.example.com/v1/things?skip=2', 2],
    ['https://evil.example.com/v1/things?skip=2', 1],
  ])('follow the address in a body, if it is the service: %s', async (url, requests) => {
    const next = { type: 'next_url', items, next: '{{args.response.body.next}}', size } as const;
    const { result, urls } = await list(next, 100, (_, nth) =>
      answer(JSON.stringify({ items: [nth], ...(nth === 1 ? { next: url } : {}) })),
    );
    expect(urls).toHaveLength(requests);
    expect(result.kind).toBe(requests === 2 ? 'success' : 'failure');
  });

  it('may lack their list where the service leaves out an empty one', async () => {
    const none = { type: 'page', items, optional: true, into, size } as const;
    const { result } = await list(none, 5, () => answer('{}'));
    expect(outputOf(result)).toEqual({ items: [], count: 0, has_more: false });
  });

  it('need a list', async () => {
    const { result } = await list({ type: 'page', items, into, size }, 5, () => answer('{"items":{}}'));
    expect(result).toMatchObject({ code: 'invalid_response' });
  });

  it('end with a failure if one of them fails', async () => {
    const { result } = await list({ type: 'page', items, into, size }, 5, (_, nth) =>
      nth === 1 ? answer('{"items":[1,2]}') : answer('{"error":"busy"}', { status: 503 }),
    );
    expect(result).toMatchObject({ code: 'connector_unavailable', retryable: true });
  });
});
