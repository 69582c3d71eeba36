import {
  HttpClientError,
  type HttpErrorCode,
  type JsonObject,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { TEST_NOW_MS } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { describe, expect, it } from 'vitest';
import { call, URL } from '../testing-http.ts';

describe('http.request: cookies', () => {
  it('stay a list when there are several', async () => {
    const setCookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'];
    const { result } = await call({}, { http: [{ ...answer('{}'), setCookies }] });
    expect(result).toMatchObject({ output: { headers: { 'set-cookie': setCookies } } });
  });
});

describe('http.request: the request', () => {
  it('is a GET with default limits', async () => {
    const { request } = await call({});
    expect(request).toEqual({
      method: 'GET',
      url: URL,
      headers: {
        'user-agent': expect.stringMatching(/^Millrace\/\d+\.\d+\.\d+/),
        accept: '*/*',
        'idempotency-key': 'execution-1-node',
      },
      timeoutMs: 30_000,
      maxResponseBytes: 1_048_576,
      maxRedirects: 5,
    });
  });

  it('has the same Idempotency-Key in every attempt', async () => {
    const keys = [1, 2, 3].map(async (attempt) => {
      const { request } = await call({ method: 'POST' }, { attempt, idempotencyKey: 'k-1' });
      return request?.headers?.['idempotency-key'];
    });
    expect(await Promise.all(keys)).toEqual(['k-1', 'k-1', 'k-1']);
  });

  it("keeps the author's Idempotency-Key and User-Agent, in any case", async () => {
    const { request } = await call({ headers: { 'Idempotency-KEY': 'mine', 'user-AGENT': 'me' } });
    expect(request?.headers).toMatchObject({ 'idempotency-key': 'mine', 'user-agent': 'me' });
  });

  it('passes the limits on', async () => {
    const { request } = await call({ timeout_ms: 5, max_response_bytes: 6, follow_redirects: false });
    expect(request).toMatchObject({ timeoutMs: 5, maxResponseBytes: 6, maxRedirects: 0 });
  });

  it.each([
    [{ query: { a: 1, b: ['x', 'y z'], c: null, d: [], e: [null, true] } }, `${URL}?a=1&b=x&b=y+z&e=true`],
    [{ url: `${URL}?sig=a%20b`, query: { c: '&=' } }, `${URL}?sig=a%20b&c=%26%3D`],
    [{ url: `${URL}?`, query: { c: 1 } }, `${URL}?c=1`],
    [{ url: `${URL}#part`, query: {} }, URL],
    [{ url: ` ${URL} ` }, URL],
  ])('writes the URL of %j', async (config, url) => {
    expect((await call(config)).request?.url).toBe(url);
  });

  it('writes big numbers in query and body without rounding', async () => {
    const big = parseJson('9007199254740993');
    const { request } = await call({ method: 'POST', query: { n: big }, body: { n: big } });
    expect(request?.url).toBe(`${URL}?n=9007199254740993`);
    expect(request?.body).toBe('{"n":9007199254740993}');
  });

  it.each([
    [{ body: { a: [1] } }, '{"a":[1]}', 'application/json'],
    [{ body: 'text' }, '"text"', 'application/json'],
    [{ body: 0 }, '0', 'application/json'],
    [{ body: false }, 'false', 'application/json'],
    [{ body: '' }, '""', 'application/json'],
    [{ body: 'a,b', body_type: 'text' }, 'a,b', 'text/plain; charset=utf-8'],
    [{ body: '<a/>', body_type: 'text', headers: { 'Content-Type': 'text/xml' } }, '<a/>', 'text/xml'],
    [
      { body: { a: 'x y', b: [1, 2], c: null }, body_type: 'form' },
      'a=x+y&b=1&b=2',
      'application/x-www-form-urlencoded',
    ],
  ])('writes the body of %j', async (config, body, type) => {
    const { request } = await call({ method: 'POST', ...config });
    expect(request?.body).toBe(body);
    expect(request?.headers?.['content-type']).toBe(type);
  });

  it('sends a body with GET, as some services want', async () => {
    const { request } = await call({ method: 'GET', body: { query: 'mill' } });
    expect(request).toMatchObject({ method: 'GET', body: '{"query":"mill"}' });
    expect(request?.headers?.['content-type']).toBe('application/json');
  });

  it('has no body and no Content-Type if the body is null', async () => {
    const { request } = await call({ method: 'POST', body: null });
    expect(request).not.toHaveProperty('body');
    expect(request?.headers).not.toHaveProperty('content-type');
  });

  it.each([
    [{ type: 'none' }, {}],
    [{ type: 'basic', username: 'Ada', password: 'pä:ss' }, { authorization: 'Basic QWRhOnDDpDpzcw==' }],
    [{ type: 'bearer', token: 't0k' }, { authorization: 'Bearer t0k' }],
    [{ type: 'header', name: 'X-Key', value: 'k' }, { 'x-key': 'k' }],
  ])('signs in by %j', async (auth, headers) => {
    const { request } = await call({ auth });
    expect(request?.headers).toMatchObject(headers);
    if (auth.type === 'none') expect(request?.headers).not.toHaveProperty('authorization');
  });
});

describe('http.request: refused before sending', () => {
  it.each([
    [{ url: '' }, 'invalid_url'],
    [{ url: '/orders' }, 'invalid_url'],
    [{ url: 'ftp://example.com' }, 'invalid_url'],
    [{ url: 'file:///etc/passwd' }, 'invalid_url'],
    [{ url: 'javascript:alert(1)' }, 'invalid_url'],
    [{ url: 'https://user:pass@example.com' }, 'invalid_url'],
    [{ url: null }, 'invalid_config'],
    [{ method: 'TRACE' }, 'invalid_config'],
    [{ method: 'CONNECT' }, 'invalid_config'],
    [{ method: 'HEAD', body: 'x' }, 'invalid_config'],
    [{ method: 'POST', body: 1, body_type: 'text' }, 'invalid_config'],
    [{ method: 'POST', body: [1], body_type: 'form' }, 'invalid_config'],
    [{ method: 'POST', body: { a: { b: 1 } }, body_type: 'form' }, 'invalid_config'],
    [{ query: { a: { b: 1 } } }, 'invalid_config'],
    [{ headers: { a: { b: 1 } } }, 'invalid_config'],
    [{ headers: { 'x y': 'a' } }, 'invalid_config'],
    [{ headers: { '': 'a' } }, 'invalid_config'],
    [{ headers: { x: 'a\r\nHost: evil' } }, 'invalid_config'],
    [{ headers: { x: '支' } }, 'invalid_config'],
    [{ headers: { authorization: 'x' }, auth: { type: 'bearer', token: 't' } }, 'invalid_config'],
    [{ auth: { type: 'bearer', token: 'a\nb' } }, 'invalid_config'],
    [{ auth: { type: 'basic', username: 'a:b', password: '' } }, 'invalid_config'],
    [{ auth: { type: 'header', name: 'Host', value: 'evil' } }, 'invalid_config'],
    [{ auth: { type: 'bearer' } }, 'invalid_config'],
    [{ timeout_ms: 0 }, 'invalid_config'],
    [{ timeout_ms: 300_001 }, 'invalid_config'],
    [{ max_response_bytes: 16_777_217 }, 'invalid_config'],
    [{ success_statuses: ['2xx'] }, 'invalid_config'],
    ...['Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', ' host ', 'Upgrade', 'Expect', 'TE'].map(
      (name): [JsonObject, string] => [{ headers: { [name]: 'x' } }, 'invalid_config'],
    ),
  ])('%j', async (config, code) => {
    const { result, requests } = await call(config);
    expect(result).toMatchObject({ kind: 'failure', code, retryable: false });
    expect(requests).toEqual([]);
  });

  it("doesn't repeat secrets in its message", async () => {
    const secret = 's3cret-canary\n';
    const { result } = await call({ auth: { type: 'bearer', token: secret }, headers: { 'x-key': secret } });
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});

describe('http.request: the response', () => {
  const bytes = new Uint8Array([0xff, 0x00, 0x01]);

  it.each([
    ['auto', answer('{"a":1}'), { body: { a: 1 }, body_type: 'json' }],
    [
      'auto',
      answer('[1]', { type: 'application/problem+json; charset=utf-8' }),
      { body: [1], body_type: 'json' },
    ],
    ['auto', answer('not json'), { body: 'not json', body_type: 'text' }],
    ['auto', answer('{"a":1}', { type: 'text/html' }), { body: '{"a":1}', body_type: 'text' }],
    ['auto', answer('plain', { type: '' }), { body: 'plain', body_type: 'text' }],
    ['auto', answer(bytes, { type: 'image/png' }), { body: '/wAB', body_type: 'base64' }],
    ['auto', answer('', { type: 'application/json' }), { body: null, body_type: 'empty' }],
    ['auto', answer(new Uint8Array([0xe4]), { type: 'text/plain; charset=ISO-8859-1' }), { body: 'ä' }],
    ['auto', answer('ä', { type: 'text/plain; charset=nonsense' }), { body: 'ä' }],
    ['json', answer('7', { type: 'text/plain' }), { body: 7, body_type: 'json' }],
    ['json', answer('\ufeff{"a":1}'), { body: { a: 1 }, body_type: 'json' }],
    ['text', answer('{"a":1}'), { body: '{"a":1}', body_type: 'text' }],
    ['base64', answer('hi'), { body: 'aGk=', body_type: 'base64' }],
  ])('%s %#', async (response_type, response, output) => {
    const { result } = await call({ response_type }, { http: [response] });
    expect(result).toMatchObject({ kind: 'success', output: { status: 200, ...output } });
  });

  it('keeps numbers and odd members', async () => {
    const text = '{"n":9007199254740993,"__proto__":{"a":1e400}}';
    const { result } = await call({}, { http: [answer(text)] });
    expect(stringifyJson(result.kind === 'success' ? (result.output.body ?? null) : null)).toBe(text);
  });

  it("fails if it should be JSON and isn't, and keeps the text", async () => {
    const { result } = await call({ response_type: 'json' }, { http: [answer('<html>')] });
    expect(result).toMatchObject({
      code: 'invalid_response',
      retryable: false,
      output: { status: 200, body: '<html>' },
    });
  });

  it('measures the time between request and response', async () => {
    const times = [TEST_NOW_MS, TEST_NOW_MS + 125];
    const { result } = await call({}, { now: () => times.shift() ?? TEST_NOW_MS + 125 });
    expect(result).toMatchObject({ output: { duration_ms: 125 } });
  });
});

describe('http.request: statuses', () => {
  it.each([
    [200, undefined, true],
    [204, undefined, true],
    [304, undefined, true],
    [400, undefined, false],
    [404, [404], true],
    [200, ['404'], false],
    [404, ['200-299', '404-410'], true],
    [411, ['200-299', '404-410'], false],
    [500, ['100-599'], true],
  ])('%i with success_statuses %j: %s', async (status, statuses, isGood) => {
    const config = statuses === undefined ? {} : { success_statuses: statuses };
    const { result } = await call(config, { http: [answer('{}', { status })] });
    expect(result.kind).toBe(isGood ? 'success' : 'failure');
  });

  it.each([
    [400, false],
    [401, false],
    [404, false],
    [408, true],
    [409, false],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
  ])('%i can be retried: %s', async (status, retryable) => {
    const { result } = await call({}, { http: [answer('{"why":"x"}', { status })] });
    expect(result).toMatchObject({ code: 'http_status', retryable, output: { status, body: { why: 'x' } } });
  });

  it('is not hidden by an error page in another format', async () => {
    const { result } = await call(
      { response_type: 'json' },
      { http: [answer('<h1>', { status: 502, type: 'text/html' })] },
    );
    expect(result).toMatchObject({ code: 'http_status', retryable: true, output: { body: '<h1>' } });
  });

  it.each([
    ['30', 30_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['2026-01-01', undefined],
  ])('reads Retry-After %s', async (header, ms) => {
    const { result } = await call(
      {},
      { http: [answer('', { status: 503, headers: { 'retry-after': header } })] },
    );
    expect(result.kind === 'failure' ? result.retryAfterMs : 'not a failure').toBe(ms);
  });

  it('is reported with the URL without its query', async () => {
    const { result } = await call({ query: { token: 'canary' } }, { http: [answer('', { status: 500 })] });
    expect(result).toMatchObject({ message: saying(`GET ${URL} returned status 500.`) });
  });
});

describe('http.request: no response', () => {
  it.each<[HttpErrorCode, boolean]>([
    ['invalid_url', false],
    ['target_not_allowed', false],
    ['too_many_redirects', false],
    ['response_too_large', false],
    ['timeout', true],
    ['connection_failed', true],
    ['aborted', true],
  ])('%s may be retried: %s', async (code, retryable) => {
    const http = () => Promise.reject(new HttpClientError(code, verbatim('because')));
    expect((await call({}, { http })).result).toMatchObject({
      kind: 'failure',
      code,
      message: verbatim('because'),
      retryable,
    });
  });

  it("doesn't swallow other errors", async () => {
    const http = () => Promise.reject(new Error('a bug'));
    await expect(call({}, { http })).rejects.toThrow('a bug');
  });
});
