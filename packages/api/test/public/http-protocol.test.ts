import { once } from 'node:events';
import { connect } from 'node:net';
import { send } from '@millrace/testing/api';
import { RUNNABLE_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let service: TestService;
let key: TestKey;
beforeAll(async () => {
  service = await startTestService({ runsWorker: false });
  key = await service.createKey();
});
afterAll(() => service.stop());

/** Sends raw bytes; returns everything received until the connection is closed. */
function sendBytes(port: number, parts: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    // The server may reset the connection after the response.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    for (const part of parts) socket.write(part);
  });
}

/** Status and body of a raw response. */
function parseAnswer(text: string): {
  status: number;
  type: string;
  json: { code: string; detail: string; request_id: string };
} {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return {
    status: Number(head.split(' ', 2)[1]),
    type: /content-type: (.*)/i.exec(head)?.[1] ?? '',
    json: JSON.parse(body) as { code: string; detail: string; request_id: string },
  };
}

function expectProblem(answer: ReturnType<typeof parseAnswer>, status: number, code: string): void {
  expect(answer).toMatchObject({ status, type: 'application/problem+json', json: { code } });
  expect(answer.json.request_id).toMatch(/^req_[0-9a-f]{32}$/);
}

const raw = async (...parts: string[]) => parseAnswer(await sendBytes(service.port, parts));

describe('responses that precede any route', () => {
  test.each([
    ['400', ['nonsense\r\n\r\n'], 'invalid_request'],
    ['400', ['GET / HTTP/9.9\r\n\r\n'], 'invalid_request'],
    [
      '400',
      [
        'POST /api/v1/workflows HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ],
      'invalid_request',
    ],
    [
      '400',
      ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
      'invalid_request',
    ],
    [
      '431',
      ['GET / HTTP/1.1\r\nHost: x\r\n', `X-Long: ${'x'.repeat(64 * 1024)}\r\n\r\n`],
      'headers_too_large',
    ],
    ['400', ['GET /api/v1/workflows HTTP/1.1\r\nConnection: close\r\n\r\n'], 'invalid_request'],
    ['414', [`GET /${'x'.repeat(64 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`], 'uri_too_long'],
  ])('%s %j', async (status, parts, code) => {
    expectProblem(await raw(...parts), Number(status), code);
  });

  test('408 for headers that take too long', async () => {
    // Of its own: on a busy machine, any headers may take that long.
    const hasty = await startTestService({ limits: { headersTimeoutMs: 1_000 }, runsWorker: false });
    try {
      const text = await sendBytes(hasty.port, ['GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ']);
      expectProblem(parseAnswer(text), 408, 'request_timeout');
    } finally {
      await hasty.stop();
    }
  });

  test('says the limit of what is too long', async () => {
    const details = await Promise.all([
      raw('GET / HTTP/1.1\r\nHost: x\r\n', `X-Long: ${'x'.repeat(64 * 1024)}\r\n\r\n`),
      raw(`GET /${'x'.repeat(64 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`),
    ]);
    for (const { json } of details) expect(json.detail).toContain('16384 bytes');
    const body = `{"input_data":{"x":"${'x'.repeat(1024 * 1024)}"}}`;
    const { json } = await service.api('POST', '/workflows/1/execute', { key, raw: body });
    expect(json.detail).toContain('1048576 bytes');
  });

  test("slow clients don't delay healthy ones", async () => {
    const slow = Array.from({ length: 200 }, () => connect(service.port, '127.0.0.1'));
    try {
      for (const socket of slow) {
        socket.on('error', () => undefined);
        socket.write('GET / HTTP/1.1\r\nHost: ');
      }
      expect((await service.api('GET', '/workflows', { key })).status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
  });
});

describe('paths and methods', () => {
  test.each([
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/workflows',
    '/api/v1/workflows/',
    '/nothing?x=1',
    '/%zz',
  ])('404: %s', async (path) => {
    const { status, json, headers } = await send(service.url + path, 'GET', { key });
    expect([status, json.code]).toEqual([404, 'not_found']);
    expect(headers.get('content-type')).toBe('application/problem+json');
  });

  test.each([
    ['PATCH', '/workflows', 'GET, HEAD, POST'],
    ['DELETE', '/workflows', 'GET, HEAD, POST'],
    ['POST', '/workflows/1', 'DELETE, GET, HEAD, PUT'],
    ['GET', '/workflows/1/execute', 'POST'],
    ['PUT', '/executions', 'GET, HEAD'],
    ['GET', '/webhooks/abc', 'POST'],
    ['HEAD', '/webhooks/abc', 'POST'],
    ['PUT', '/webhooks/abc', 'POST'],
    ['OPTIONS', '/webhooks/abc', 'POST'],
  ] as const)('405: %s %s allows %s', async (method, path, allow) => {
    const answer = await send(`${service.url}/api/v1${path}`, method, {
      key,
      headers: { 'content-type': 'x/y' },
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
    if (method !== 'HEAD') expect(answer.json.code).toBe('method_not_allowed');
  });

  test('405 for unknown methods', async () => {
    const answer = await raw('PROPFIND /api/v1/workflows HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(answer).toMatchObject({ status: 405, json: { code: 'method_not_allowed' } });
  });

  test('OPTIONS lists the methods of a readable path', async () => {
    const { status, headers, text } = await send(`${service.url}/api/v1/workflows/1`, 'OPTIONS');
    expect([status, headers.get('allow'), text]).toEqual([204, 'DELETE, GET, HEAD, PUT, OPTIONS', '']);
  });

  test('HEAD is GET without the body', async () => {
    const get = await send(`${service.url}/api/v1/workflows`, 'GET', { key });
    const head = await send(`${service.url}/api/v1/workflows`, 'HEAD', { key });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(get.text.length));
    expect((await send(`${service.url}/api/v1/workflows`, 'HEAD')).status).toBe(401);
  });
});

describe('406', () => {
  test.each(['text/html', 'application/xml, text/*', 'application/json;q=0', '*/*;q=0'])(
    'Accept: %s',
    async (accept) => {
      const { status, json, headers } = await service.api('GET', '/workflows', { key, headers: { accept } });
      expect([status, json.code]).toEqual([406, 'not_acceptable']);
      expect(headers.get('content-type')).toBe('application/problem+json');
    },
  );

  test.each([
    'application/json',
    '*/*',
    'application/*',
    'text/html, */*;q=0.1',
    'APPLICATION/JSON; charset=utf-8',
    '',
  ])('accepted: %s', async (accept) => {
    expect((await service.api('GET', '/workflows', { key, headers: { accept } })).status).toBe(200);
  });
});

describe('413', () => {
  test('1 MiB where no flow_data is sent', async () => {
    const created = await service.api('POST', '/workflows', {
      key,
      body: { name: 'a', flow_data: RUNNABLE_FLOW },
    });
    const start = (length: number) =>
      service.api('POST', `/workflows/${created.json.id}/execute`, {
        key,
        raw: `{"input_data":{"x":"${'x'.repeat(length)}"}}`,
      });
    expect((await start(1024 * 1024)).json.code).toBe('body_too_large');
    expect((await start(1024 * 1024 - 100)).status).toBe(202);
  });

  test('arrives although the client, or a proxy in between, goes on sending', async () => {
    const length = 1024 * 1024 + 200_000;
    const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    const ended = once(socket, 'end');
    socket.write(
      `POST /api/v1/workflows/1/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.text}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
    );
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    // A reset would be an error here.
    const closed = once(socket, 'close');
    socket.end('x'.repeat(length));
    expect(await closed).toEqual([false]);
  });

  test('an endless body is cut off even without a length', async () => {
    const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`;
    const text = await sendBytes(service.port, [
      `POST /api/v1/workflows/1/execute HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key.text}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 20 }, () => chunk),
    ]);
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('every response', () => {
  test('has its own request id and headers that keep browsers from interpreting it', async () => {
    const paths = ['/api/v1/workflows', '/nothing', '/healthz', '/api/v1/openapi.json'];
    const answers = await Promise.all(paths.map((path) => send(service.url + path, 'GET')));
    for (const { headers } of answers) {
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    expect(new Set(answers.map(({ headers }) => headers.get('x-request-id'))).size).toBe(paths.length);
  });

  test('of the API is not cached', async () => {
    const { headers } = await service.api('GET', '/workflows', { key });
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

test('a service that is shutting down refuses further requests, in the same form', async () => {
  const other = await startTestService({ runsWorker: false });
  const socket = connect(other.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write('GET /api/v1/workflows HTTP/1.1\r\nHost: x\r\n');
  await expect.poll(() => connectionsOf(other)).toBe(1);
  const stopped = other.stop();
  socket.write('\r\n');
  await closed;
  await stopped;
  expect(parseAnswer(text)).toMatchObject({ status: 503, json: { code: 'shutting_down' } });
  expect(text).toMatch(/retry-after: \d+/i);
  expect(text).toMatch(/connection: close/i);
});

function connectionsOf({ app }: TestService): Promise<number> {
  return new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
}

test("a service that is shutting down doesn't wait for connections without requests", async () => {
  const other = await startTestService({ runsWorker: false });
  const silent = connect(other.port, '127.0.0.1');
  await once(silent, 'connect');
  // The server has accepted the connection once it responds to a later one.
  expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
  const closed = once(silent, 'close');
  await other.stop();
  await closed;
});
