import { brotliCompressSync, gzipSync } from 'node:zlib';
import { HttpClientError, type HttpRequest, type HttpResponse } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { startHttp, startTcp } from '@millrace/testing/test-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createGuardedHttpClient,
  type GuardedHttpClient,
  type GuardedHttpClientOptions,
} from './guarded-client.ts';

const clients: GuardedHttpClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

function clientOf(options: Partial<GuardedHttpClientOptions> = {}): GuardedHttpClient {
  const client = createGuardedHttpClient({ allowHosts: ['127.0.0.1'], ...options });
  clients.push(client);
  return client;
}

function requestTo(url: string, options: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url, timeoutMs: 20_000, maxResponseBytes: 10_000, maxRedirects: 5, ...options };
}

function send(url: string, options: Partial<HttpRequest> = {}, client = clientOf()): Promise<HttpResponse> {
  return client.send(requestTo(url, options), new AbortController().signal);
}

async function failureOf(sending: Promise<unknown>): Promise<HttpClientError> {
  const error = await sending.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpClientError))
    throw new Error(`expected an HttpClientError, got ${String(error)}`);
  return error;
}

const textOf = (response: HttpResponse): string => new TextDecoder().decode(response.body);

describe('an exchange', () => {
  it('sends method, headers and body and returns the response', async () => {
    const server = await startHttp((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        response.writeHead(
          201,
          [
            ['X-Two', 'a'],
            ['X-Two', 'b'],
            ['Set-Cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
            ['Set-Cookie', 'b=2'],
            ['__proto__', 'data'],
          ].flat(),
        );
        response.end(
          JSON.stringify({ method: request.method, url: request.url, mine: request.headers['x-mine'], body }),
        );
      });
    });
    const answer = await send(`${server.url}/a%20b?c=d#e`, {
      method: 'POST',
      headers: { 'X-Mine': 'yes' },
      body: 'ünï',
    });
    expect(answer.status).toBe(201);
    expect(JSON.parse(textOf(answer))).toEqual({
      method: 'POST',
      url: '/a%20b?c=d',
      mine: 'yes',
      body: 'ünï',
    });
    expect(answer.headers['x-two']).toBe('a, b');
    expect(answer.setCookies).toEqual(['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2']);
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(Object.getOwnPropertyDescriptor(answer.headers, '__proto__')?.value).toBe('data');
  });

  it('reuses connections', async () => {
    const server = await startHttp((_request, response) => response.end('ok'));
    const client = clientOf();
    for (let round = 0; round < 20; round += 1) await send(server.url, {}, client);
    // The next request may start while the previous connection is still being cleaned up: then there are two.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('accepts a response without a body: %s %i', async (method, status) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(status, { 'content-encoding': 'gzip' });
      response.end();
    });
    const answer = await send(server.url, { method });
    expect(answer.status).toBe(status);
    expect(answer.body.byteLength).toBe(0);
  });

  it('sets framing headers itself', async () => {
    const server = await startHttp((request, response) => response.end(request.headers.host));
    const answer = await send(server.url, {
      headers: { Host: 'evil.example', 'Transfer-Encoding': 'chunked' },
    });
    expect(textOf(answer)).toBe(`127.0.0.1:${server.port}`);
  });

  it('uses no proxy from the environment', async () => {
    const proxy = await startHttp((_request, response) => response.end('proxy'));
    const server = await startHttp((_request, response) => response.end('direct'));
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy']) vi.stubEnv(name, proxy.url);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect(textOf(await send(server.url))).toBe('direct');
    expect(proxy.connections()).toBe(0);
  });

  it('refuses to start with an invalid entry', () => {
    expect(() => createGuardedHttpClient({ allowHosts: ['https://a.example'] })).toThrow(
      'MILLRACE_ALLOW_HOSTS',
    );
  });
});

describe('compressed responses', () => {
  const text = 'a'.repeat(5_000);

  it.each([
    ['gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['br', brotliCompressSync(text)],
  ])('are decompressed: %s', async (encoding, body) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'content-length': body.byteLength });
      response.end(body);
    });
    const answer = await send(server.url);
    expect(textOf(answer)).toBe(text);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.headers).not.toHaveProperty('content-length');
  });

  it('are passed on if the encoding is unknown', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'secret' });
      response.end('raw');
    });
    const answer = await send(server.url);
    expect(textOf(answer)).toBe('raw');
    expect(answer.headers['content-encoding']).toBe('secret');
  });

  it('may be empty', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' });
      response.end();
    });
    expect((await send(server.url)).body.byteLength).toBe(0);
  });

  it('stop at the limit if they decompress to more', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.byteLength).toBeLessThan(60_000);
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(bomb);
    });
    expect(await failureOf(send(server.url, { maxResponseBytes: 100_000 }))).toMatchObject({
      code: 'response_too_large',
    });
  });

  it.each([
    ['not gzip at all', Buffer.from('plain text')],
    ['cut off', gzipSync(text).subarray(0, 20)],
  ])('fail when damaged: %s', async (_name, body) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(body);
    });
    const error = await failureOf(send(server.url));
    expect(error).toMatchObject({ code: 'connection_failed', message: saying('damaged') });
  });
});

describe('limits', () => {
  it('accepts a body of exactly the limit', async () => {
    const server = await startHttp((_request, response) => response.end('x'.repeat(100)));
    expect((await send(server.url, { maxResponseBytes: 100 })).body.byteLength).toBe(100);
    expect(await failureOf(send(server.url, { maxResponseBytes: 99 }))).toMatchObject({
      code: 'response_too_large',
      message: saying('99 bytes'),
    });
  });

  it('ends an endless response at the limit and closes the connection', async () => {
    const hungUp = Promise.withResolvers<void>();
    const server = await startHttp((_request, response) => {
      const pour = (): void => {
        while (response.write('x'.repeat(10_000)));
        response.once('drain', pour);
      };
      response.once('close', hungUp.resolve);
      pour();
    });
    expect(await failureOf(send(server.url))).toMatchObject({ code: 'response_too_large' });
    await hungUp.promise;
  });

  it('refuses huge headers', async () => {
    const server = await startTcp((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nX-Big: ${'x'.repeat(100_000)}\r\n\r\n`));
    });
    expect(await failureOf(send(server.url))).toMatchObject({
      code: 'response_too_large',
      message: saying('headers'),
    });
  });

  it('ends at its timeout if no response arrives', async () => {
    const server = await startHttp(() => undefined);
    const error = await failureOf(send(server.url, { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: 'timeout', message: saying('50 ms') });
  });

  it('ends at its timeout if the body only trickles in', async () => {
    const hungUp = Promise.withResolvers<void>();
    const server = await startHttp((_request, response) => {
      const drip = setInterval(() => response.write('x'), 10);
      response.once('close', () => {
        clearInterval(drip);
        hungUp.resolve();
      });
    });
    expect(await failureOf(send(server.url, { timeoutMs: 100 }))).toMatchObject({ code: 'timeout' });
    await hungUp.promise;
  });

  it('counts redirects into the timeout', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let requests = 0;
    const server = await startHttp((_request, response) => {
      requests += 1;
      vi.advanceTimersByTime(40);
      response.writeHead(302, { location: '/' }).end();
    });
    const sending = send(server.url, { timeoutMs: 100, maxRedirects: 1_000 });
    expect(await failureOf(sending)).toMatchObject({ code: 'timeout' });
    expect(requests).toBe(3);
  });
});

describe('aborting', () => {
  it('ends a current request', async () => {
    const asked = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<void>();
    const server = await startHttp((_request, response) => {
      asked.resolve();
      response.once('close', hungUp.resolve);
    });
    const controller = new AbortController();
    const sending = failureOf(clientOf().send(requestTo(server.url), controller.signal));
    await asked.promise;
    controller.abort();
    expect(await sending).toMatchObject({ code: 'aborted' });
    await hungUp.promise;
  });

  it('ends reading a body', async () => {
    const hungUp = Promise.withResolvers<void>();
    const controller = new AbortController();
    const server = await startHttp((_request, response) => {
      response.once('close', hungUp.resolve);
      response.write('some', () => controller.abort());
    });
    expect(await failureOf(clientOf().send(requestTo(server.url), controller.signal))).toMatchObject({
      code: 'aborted',
    });
    await hungUp.promise;
  });

  it('sends nothing if already aborted', async () => {
    const server = await startHttp((_request, response) => response.end());
    expect(await failureOf(clientOf().send(requestTo(server.url), AbortSignal.abort()))).toMatchObject({
      code: 'aborted',
    });
    expect(server.connections()).toBe(0);
  });

  it('leaves no listener on a signal that lives on', async () => {
    const server = await startHttp((_request, response) => response.end('ok'));
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    await clientOf().send(requestTo(server.url), signal);
    expect(removed).toHaveBeenCalledTimes(added.mock.calls.length);
  });
});

describe('broken connections', () => {
  it('reports a refused connection', async () => {
    const server = await startTcp(() => undefined);
    // Nothing listens on port 1 of loopback.
    const error = await failureOf(send('http://127.0.0.1:1/'));
    expect(error).toMatchObject({
      code: 'connection_failed',
      message: saying('127.0.0.1:1'),
    });
    expect(server.connections()).toBe(0);
  });

  it.each([
    ['closes at once', ''],
    ['speaks no HTTP', 'SSH-2.0-hello\r\n\r\n'],
    ['breaks off in the body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'],
    ['breaks off in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf'],
  ])('fails when the other side %s', async (_name, text) => {
    const server = await startTcp((socket) => {
      socket.once('data', () => socket.end(text));
    });
    expect(await failureOf(send(server.url))).toMatchObject({ code: 'connection_failed' });
  });

  it('reports that no encrypted connection could be established', async () => {
    const server = await startTcp((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    const error = await failureOf(send(server.url.replace('http:', 'https:')));
    expect(error).toMatchObject({ code: 'connection_failed', message: saying('encrypted') });
  });

  it.each([
    [{ headers: { 'x-a': 'a\r\nHost: evil' } }],
    [{ headers: { 'x a': 'b' } }],
    [{ method: 'GET /smuggled HTTP/1.1\r\n' }],
    [{ method: 'CONNECT' }],
  ])('never sends invalid HTTP: %j', async (options) => {
    const server = await startHttp((_request, response) => response.end());
    expect(await failureOf(send(server.url, options))).toMatchObject({ code: 'invalid_url' });
    expect(server.connections()).toBe(0);
  });

  it("reports a name that doesn't exist", async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
    const error = await failureOf(send('http://nowhere.example/', {}, clientOf({ resolve })));
    expect(error).toMatchObject({
      code: 'connection_failed',
      message: saying('nowhere.example: the name could not be resolved'),
    });
  });

  it("treats a name without addresses as one that doesn't exist", async () => {
    const client = clientOf({ resolve: () => Promise.resolve([]) });
    expect(await failureOf(send('http://empty.example/', {}, client))).toMatchObject({
      code: 'connection_failed',
    });
  });
});
