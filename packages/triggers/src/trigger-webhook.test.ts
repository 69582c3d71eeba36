import { findProblems, type JsonObject, parseJson, stringifyJson, success } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { runNode } from '@millrace/node-kit/testing';
import { registry } from '@millrace/nodes';
import { describe, expect, it } from 'vitest';
import { triggerWebhook } from './trigger-webhook.ts';
import { eventIdOf } from './webhook/event-id.ts';
import { readWebhookOptions, readWebhookResponse } from './webhook/options.ts';

describe('trigger.webhook', () => {
  it.each(['null', '0', '[]', '{"n":9007199254740993}', '{"__proto__":{"a":1}}'])(
    'passes on any body unchanged: %s',
    async (text) => {
      const { result } = await runNode(triggerWebhook, { trigger: parseJson(text) });
      expect(result).toEqual(success({ data: parseJson(text) }));
      expect(stringifyJson(result.kind === 'success' ? result.output : null)).toBe(`{"data":${text}}`);
    },
  );
});

describe('settings', () => {
  it('are all optional; without any, nothing is checked and the receipt is immediate', () => {
    expect(readWebhookOptions({})).toEqual({
      methods: ['POST'],
      path: '',
      headers: [],
      query: [],
      body: 'json',
      signature: null,
      challenge: null,
      deduplicate: null,
      ip_allow_list: [],
      respond: 'immediately',
      timeout_s: 30,
      failure_status: 500,
    });
  });

  it('get their defaults at any depth', () => {
    const options = readWebhookOptions({
      signature: { preset: 'hmac', credential_id: 3, header: 'X-Sig' },
      deduplicate: { by: 'path', name: 'event.id' },
    });
    expect(options).toMatchObject({
      signature: {
        credential_id: 3,
        previous_credential_id: null,
        tolerance_s: 300,
        algorithm: 'sha256',
        encoding: 'hex',
        prefix: '',
        timestamp_header: '',
        signed: 'body',
      },
      deduplicate: { window_s: 86_400, missing: 'start' },
    });
  });

  it("that don't match are refused", () => {
    expect(readWebhookOptions({ signature: 'github' })).toBeNull();
    expect(readWebhookOptions({ deduplicate: { by: 'body' } })).toBeNull();
    expect(readWebhookOptions({ unknown: 1 })).toBeNull();
  });
});

function problemsOf(config: JsonObject): string[][] {
  const nodes = [{ id: 'start', type: 'trigger.webhook', data: { config } }];
  return findProblems({ nodes, edges: [] }, registry).map(({ pointer, message }) => [
    pointer.replace('/flow_data/nodes/0/data/config', ''),
    inEnglish(message).replace('"start": ', ''),
  ]);
}

describe('problems', () => {
  it.each<[string, JsonObject, RegExp]>([
    ['/signature/header', { signature: { preset: 'hmac', credential_id: 1 } }, /must name the header/],
    [
      '/signature/timestamp_header',
      { signature: { preset: 'hmac', credential_id: 1, header: 'X', signed: 'timestamp.body' } },
      /part of what is signed/,
    ],
    [
      '/signature/timestamp_header',
      { signature: { preset: 'hmac', credential_id: 1, header: 'X', timestamp_header: 'a b' } },
      /not a valid header name/,
    ],
    ['/deduplicate/name', { deduplicate: { by: 'header', name: 'a b' } }, /not a valid header name/],
    [
      '/deduplicate/name',
      { deduplicate: { by: 'path', name: '{{trigger.data.path}}' } },
      /cannot contain a template/,
    ],
    [
      '/response/headers/Set-Cookie',
      { response: { headers: { 'Set-Cookie': 'a=1' } } },
      /reserved for the service/,
    ],
    ['/response/headers/Content-Length', { response: { headers: { 'Content-Length': '1' } } }, /reserved/],
    ['/response/headers/a~1b', { response: { headers: { 'a/b': '1' } } }, /not a valid header name/],
    ['/timeout_s', { timeout_s: 31 }, /30 or less/],
    ['/path', { path: '/orders' }, /such as orders\/:id/],
    ['/path', { path: 'a/:id/:id' }, /used once/],
    ['/path', { path: 'a/../b' }, /such as orders/],
    ['/headers/1', { headers: ['X-Topic', 'Authorization'] }, /Authorization carries a secret/],
    ['/headers/0', { headers: ['a b'] }, /not a valid header name/],
    ['/query/0', { query: ['hub.verify_token'] }, /carries a secret/],
    ['/methods/0', { methods: ['get'] }, /must be/],
  ])('%s: %j', (at, config, message) => {
    expect(problemsOf(config)).toEqual([[at, expect.stringMatching(message)]]);
  });

  it.each([
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4/33',
    '::1/129',
    '1.2.3.4/',
    'example.com',
    ':::',
    '1.2.3.4/8/8',
  ])('%s is not a valid address', (address) => {
    expect(problemsOf({ ip_allow_list: ['203.0.113.7', address] })).toEqual([
      ['/ip_allow_list/1', expect.stringContaining('neither an IP address nor a network')],
    ]);
  });

  it.each(['203.0.113.7', '0.0.0.0/0', '10.0.0.0/8', '::1', '2001:db8::/32', '::ffff:1.2.3.4'])(
    '%s is a valid address',
    (address) => {
      expect(problemsOf({ ip_allow_list: [address] })).toEqual([]);
    },
  );
});

const NO_QUERY = new URLSearchParams();

describe('the id of an event', () => {
  const at = (name: string, body: JsonObject) => eventIdOf({ by: 'path', name }, body, {}, NO_QUERY);

  it('is text, a number or a boolean at a path', () => {
    expect(at('id', { id: 'evt_1' })).toBe('evt_1');
    expect(at('event.id', { event: { id: 9 } })).toBe('9');
    expect(at('events.1.id', { events: [{ id: 'a' }, { id: 'b' }] })).toBe('b');
    expect(at('n', parseJson('{"n":9007199254740993}') as JsonObject)).toBe('9007199254740993');
  });

  it("can't be anything else", () => {
    for (const id of [null, '', {}, [], ['a']]) expect(at('id', { id })).toBeNull();
    expect(at('constructor.name', {})).toBeNull();
    expect(eventIdOf({ by: 'path', name: 'id' }, [1], {}, NO_QUERY)).toBeNull();
  });

  it('or a header, in any case', () => {
    const headers = { 'x-github-delivery': ' 7d3a ', 'x-two': ['a', 'b'], 'x-empty': ' ' };
    expect(eventIdOf({ by: 'header', name: 'X-GitHub-Delivery' }, {}, headers, NO_QUERY)).toBe('7d3a');
    for (const name of ['X-Two', 'X-Empty', 'X-None', 'constructor']) {
      expect(eventIdOf({ by: 'header', name }, {}, headers, NO_QUERY)).toBeNull();
    }
  });
});

describe('the id of an event in the query', () => {
  it('is the first value of the parameter', () => {
    const at = (query: string) => eventIdOf({ by: 'query', name: 'id' }, {}, {}, new URLSearchParams(query));
    expect([at('id=%20a1&id=b'), at('id='), at('ID=1'), at('')]).toEqual(['a1', null, null, null]);
  });
});

describe('a rendered response', () => {
  it('accepts texts and numbers from templates', () => {
    expect(readWebhookResponse({ status: '201', headers: { 'X-N': 7, 'X-None': null }, body: [1] })).toEqual({
      status: 201,
      headers: { 'X-N': '7' },
      body: [1],
    });
    expect(readWebhookResponse({})).toEqual({ status: 200, headers: {}, body: null });
  });

  it("that can't be sent is none", () => {
    for (const response of [{ status: 199 }, { status: null }, { headers: { a: {} } }, { more: 1 }, 'text']) {
      expect(readWebhookResponse(response)).toBeNull();
    }
  });
});
