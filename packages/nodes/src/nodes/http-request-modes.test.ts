import { type HttpRequest, ServiceError, stringifyJson } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { describe, expect, it } from 'vitest';
import { call, URL } from '../testing-http.ts';

describe('http.request: test mode', () => {
  it.each([
    ['POST', { a: 1 }],
    ['PUT', { a: 1 }],
    ['PATCH', { a: 1 }],
    ['DELETE', { a: 1 }],
    ['OPTIONS', { a: 1 }],
    ['HEAD', null],
  ])("doesn't send %s and shows the request", async (method, body) => {
    const { result, requests } = await call({ method, body }, { isTestMode: true });
    expect(requests).toEqual([]);
    expect(result).toMatchObject({
      kind: 'success',
      output: {
        dry_run: true,
        request: { method, url: URL, body },
      },
    });
  });

  it('sends GET', async () => {
    expect((await call({ method: 'GET' }, { isTestMode: true })).requests).toHaveLength(1);
  });

  it.each([
    [{ auth: { type: 'basic', username: 'ada', password: 'canary' } }],
    [{ auth: { type: 'bearer', token: 'canary' } }],
    [{ auth: { type: 'header', name: 'X-Mine', value: 'canary' } }],
    [{ headers: { Cookie: 'canary', Authorization: 'canary', 'X-API-Key': 'canary' } }],
  ])('hides secrets: %j', async (config) => {
    const { result } = await call({ method: 'POST', ...config }, { isTestMode: true });
    expect(result).toMatchObject({ output: { dry_run: true } });
    expect(stringifyJson(result.kind === 'success' ? result.output : null)).toContain('[hidden]');
    expect(stringifyJson(result.kind === 'success' ? result.output : null)).not.toMatch(
      /canary|YWRhOmNhbmFyeQ/,
    );
  });

  it('refuses a bad config as usual', async () => {
    expect((await call({ method: 'POST', url: 'nowhere' }, { isTestMode: true })).result).toMatchObject({
      code: 'invalid_url',
    });
  });

  it('shows a form as it would be sent', async () => {
    const config = { method: 'POST', body: { a: ['x', 'y'] }, body_type: 'form' };
    expect((await call(config, { isTestMode: true })).result).toMatchObject({
      output: { request: { body: 'a=x&a=y' } },
    });
  });
});

describe('http.request: a stored credential', () => {
  const auth = { type: 'credential', credential_id: 3 };

  it.each([
    [{ type: 'bearer', token: 't0k' } as const, { authorization: 'Bearer t0k' }],
    [{ type: 'basic', username: 'Ada', password: 'p' } as const, { authorization: 'Basic QWRhOnA=' }],
    [{ type: 'header', name: 'X-Key', value: 'k' } as const, { 'x-key': 'k' }],
  ])('signs in by %j', async (credential, headers) => {
    const { request } = await call({ auth }, { credential });
    expect(request?.headers).toMatchObject(headers);
  });

  it('signs in by a query parameter, which stays apart from the others', async () => {
    const credential = { type: 'query', name: 'api key', value: 'k&1' } as const;
    const { request } = await call({ auth, query: { a: 1 } }, { credential });
    expect(request?.url).toBe(`${URL}?a=1&api+key=k%261`);
    const twice = await call({ auth, query: { 'api key': 1 } }, { credential });
    expect(twice.result).toMatchObject({ code: 'invalid_config', message: saying('api key is set by') });
    expect(twice.requests).toEqual([]);
  });

  it('gets the whole request, and sends it', async () => {
    const asked: unknown[] = [];
    const authenticate = async (id: number, request: HttpRequest) => {
      asked.push(id, request);
      return { shown: { url: request.url, headers: {} }, send: async () => answer('{"signed":true}') };
    };
    const { result, requests } = await call(
      { method: 'POST', body: { a: 1 }, auth, query: { a: 1 } },
      { services: { credentials: { authenticate } } },
    );
    expect(asked).toEqual([
      3,
      expect.objectContaining({ method: 'POST', url: `${URL}?a=1`, body: '{"a":1}', maxRedirects: 5 }),
    ]);
    expect(result).toMatchObject({ kind: 'success', output: { body: { signed: true } } });
    expect(requests).toEqual([]);
  });

  it.each([
    ['credential_not_found', false],
    ['credential_host_not_allowed', false],
    ['credential_unreadable', true],
  ])('%s sends nothing', async (code, retryable) => {
    const authenticate = () => Promise.reject(new ServiceError(code, verbatim('because'), { retryable }));
    const { result, requests } = await call({ auth }, { services: { credentials: { authenticate } } });
    expect(result).toMatchObject({ kind: 'failure', code, message: verbatim('because'), retryable });
    expect(requests).toEqual([]);
  });

  it.each([
    [{ auth: { type: 'credential', credential_id: 0 } }, 'selects no credential'],
    [{ auth: { type: 'credential' } }, ''],
    [{ auth, headers: { Authorization: 'mine' } }, 'authorization is set by the credential'],
  ])('refuses %j', async (config, message) => {
    const { result, requests } = await call(config, { credential: { type: 'bearer', token: 'canary' } });
    expect(result).toMatchObject({ code: 'invalid_config', message: saying(message) });
    expect(stringifyJson(result)).not.toContain('canary');
    expect(requests).toEqual([]);
  });

  it.each([
    { type: 'bearer', token: 'canary' } as const,
    { type: 'header', name: 'X-Own', value: 'canary' } as const,
    { type: 'basic', username: 'canary', password: 'canary' } as const,
    { type: 'query', name: 'key', value: 'canary' } as const,
  ])('is hidden in test mode, where nothing is sent: %j', async (credential) => {
    const { result, requests } = await call({ method: 'POST', auth }, { credential, isTestMode: true });
    expect(requests).toEqual([]);
    const shown = stringifyJson(result);
    expect(shown).toContain('[hidden]');
    expect(shown).not.toMatch(/canary|Y2FuYXJ5/);
  });
});
