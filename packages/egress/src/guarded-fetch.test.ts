import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { HttpClientError } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { startHttp, startTcp } from '@millrace/testing/test-server';
import { afterEach, describe, expect, it } from 'vitest';
import type { Resolve } from './connector.ts';
import { createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';

const ways: GuardedFetch[] = [];
afterEach(async () => {
  await Promise.all(ways.splice(0).map((way) => way.close()));
});

function makeWay(allowHosts: readonly string[], resolve?: Resolve): GuardedFetch {
  const way = createGuardedFetch({ allowHosts, ...(resolve === undefined ? {} : { resolve }) });
  ways.push(way);
  return way;
}

async function post(
  listener: (request: IncomingMessage, response: ServerResponse) => unknown,
  options: { maxBytes?: number; signal?: AbortSignal; headers?: { [name: string]: string } } = {},
): Promise<Response> {
  const { url } = await startHttp((request, response) => void listener(request, response));
  const { maxBytes = 1_000, signal, headers = {} } = options;
  const init = { method: 'POST', headers, body: '{"a":1}', ...(signal === undefined ? {} : { signal }) };
  return makeWay(['127.0.0.1']).fetch(`${url}/v1/chat?x=1`, init, maxBytes);
}

async function failureOf(promise: Promise<unknown>): Promise<HttpClientError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof HttpClientError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return error;
}

describe('requests and responses', () => {
  it('are sent as given', async () => {
    const answer = await post(
      async (request, response) => {
        const chunks = await Array.fromAsync(request);
        response.writeHead(201, { 'x-served-by': 'mill' });
        response.end(
          JSON.stringify([
            request.method,
            request.url,
            Buffer.concat(chunks).toString(),
            request.headers['x-key'],
            request.headers['accept-encoding'],
          ]),
        );
      },
      { headers: { 'X-Key': 'k' } },
    );
    expect([answer.status, answer.headers.get('x-served-by')]).toEqual([201, 'mill']);
    expect(await answer.json()).toEqual(['POST', '/v1/chat?x=1', '{"a":1}', 'k', 'identity']);
  });

  it('arrive while they are written', async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const answer = await post(async (_request, response) => {
      response.write('first');
      await isRead;
      response.end('second');
    });
    const reader = answer.body?.getReader();
    const text = async () => new TextDecoder().decode((await reader?.read())?.value as Uint8Array);
    expect(await text()).toBe('first');
    read();
    expect(await text()).toBe('second');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('can be an error, whose body can be read', async () => {
    const answer = await post((_request, response) => response.writeHead(429).end('slow down'));
    expect([answer.status, answer.ok, await answer.text()]).toEqual([429, false, 'slow down']);
  });

  it('can have no body', async () => {
    const answer = await post((_request, response) => response.writeHead(204).end());
    expect([answer.status, answer.body]).toEqual([204, null]);
  });
});

describe('refuses', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'http://0x7f000001:PORT/',
    'http://2130706433:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://localhost:PORT/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
  ])('%s, which is not allowed', async (spelling) => {
    const server = await startHttp((_request, response) => response.end('reached'));
    const url = spelling.replace('PORT', String(server.port));
    expect((await failureOf(makeWay([]).fetch(url, {}, 100))).code).toBe('target_not_allowed');
    expect(server.connections()).toBe(0);
  });

  it('a name that leads to a private address', async () => {
    const server = await startHttp((_request, response) => response.end('reached'));
    const way = makeWay([], () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    const error = await failureOf(way.fetch(`http://public.example:${server.port}/`, {}, 100));
    expect(error.code).toBe('target_not_allowed');
    expect(server.connections()).toBe(0);
  });

  it.each(['ftp://example.com/', 'http://user:pass@example.com/', ''])(
    "%j, which can't be called",
    async (url) => {
      expect((await failureOf(makeWay(['0.0.0.0/0']).fetch(url, {}, 100))).code).toBe('invalid_url');
    },
  );

  it('a redirect, wherever it leads', async () => {
    const error = await failureOf(
      post((_request, response) => response.writeHead(307, { location: 'https://example.com/' }).end()),
    );
    expect(error.code).toBe('too_many_redirects');
    expect(error.message).toContain('status 307');
  });

  it('a compressed response, which could decompress to anything', async () => {
    const error = await failureOf(
      post((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x')),
      ),
    );
    expect(error.code).toBe('connection_failed');
    expect(error.message).toContain('gzip');
  });

  it('invalid rules', () => {
    expect(() => createGuardedFetch({ allowHosts: ['no host at all'] })).toThrow();
  });
});

describe('breaks off a response for', () => {
  it('more bytes than allowed, while they arrive', async () => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const answer = await post(
      (_request, response) => {
        response.once('close', resolve);
        const write = (): void => {
          while (response.write('x'.repeat(1_000)));
        };
        response.on('drain', write);
        write();
      },
      { maxBytes: 5_000 },
    );
    expect(await failureOf(answer.text())).toMatchObject({ code: 'response_too_large' });
    await isClosed;
  });

  it('a lost connection', async () => {
    const { port } = await startTcp((socket) => {
      socket.once('data', () => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of');
      });
    });
    const answer = await makeWay(['127.0.0.1']).fetch(`http://127.0.0.1:${port}/`, {}, 1_000);
    expect(await failureOf(answer.text())).toMatchObject({ code: 'connection_failed' });
  });

  it.each([
    [new HttpClientError('timeout', verbatim('Too late.')), 'timeout'],
    [new Error('cancelled'), 'aborted'],
  ])('an abort by the caller, with its reason: %s', async (reason, code) => {
    const controller = new AbortController();
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const answer = await post(
      (_request, response) => {
        response.once('close', resolve);
        response.write('begun');
      },
      { signal: controller.signal },
    );
    const reading = failureOf(answer.text());
    controller.abort(reason);
    expect((await reading).code).toBe(code);
    await isClosed;
  });

  it('an abort before anyone reads', async () => {
    const controller = new AbortController();
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const answer = await post(
      (_request, response) => {
        response.once('close', resolve);
        response.write('begun');
      },
      { signal: controller.signal },
    );
    controller.abort();
    await isClosed;
    expect((await failureOf(answer.text())).code).toBe('aborted');
  });

  it('a reader that has seen enough', async () => {
    const { promise: isClosed, resolve } = Promise.withResolvers<void>();
    const answer = await post((_request, response) => {
      response.once('close', resolve);
      response.write('begun');
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await isClosed;
  });

  it('an abort before anything is sent', async () => {
    const server = await startHttp((_request, response) => response.end('reached'));
    const sending = makeWay(['127.0.0.1']).fetch(server.url, { signal: AbortSignal.abort() }, 100);
    expect((await failureOf(sending)).code).toBe('aborted');
    expect(server.connections()).toBe(0);
  });
});

it('a client that is closed', async () => {
  const server = await startHttp((_request, response) => response.write('begun'));
  const way = makeWay(['127.0.0.1']);
  const answer = await way.fetch(server.url, {}, 1_000);
  const reading = failureOf(answer.text());
  await way.close();
  expect((await reading).code).toBe('connection_failed');
});
