import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_API, type Endpoint } from '@millrace/admin-api';
import { createPerson, type TestPerson } from '@millrace/testing/admin';
import { WEBHOOK_FLOW } from '@millrace/testing/flows';
import { startTestService, type TestKey, type TestService } from '@millrace/testing/service';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exampleText } from '../../../own-connectors/test/world.ts';
import { createWorkflow } from '../admin/workflows-world.ts';

/** No request to any route may cause a server error. */
let folder: string;
let service: TestService;
const routes: Route[] = [];
let person: TestPerson;
let key: TestKey;
/** Requests that the service hasn't finished. */
let underWay = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

interface Route {
  readonly method: string;
  readonly url: string;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-pages-'));
  await mkdir(join(folder, 'assets/fonts'), { recursive: true });
  await writeFile(join(folder, 'index.html'), '<!doctype html><p>__CSP_NONCE__</p>');
  for (const name of ['page-1.js', 'page-1.js.br', 'fonts/a.woff2', 'gone-1.js'])
    await writeFile(join(folder, 'assets', name), 'export {};');
  service = await startTestService({
    runsWorker: false,
    limits: {
      failedAuthPerMinutePerIp: 1_000_000,
      requestsPerMinutePerKey: 0,
      requestsPerMinutePerWebhook: 0,
    },
    deps: { webPages: folder },
    extend(app) {
      app.addHook('onRoute', ({ method, url }) => {
        for (const each of [method].flat()) routes.push({ method: each, url });
      });
      app.server.on('request', (_request, response: ServerResponse) => {
        underWay += 1;
        response.once('close', () => {
          underWay -= 1;
        });
      });
    },
  });
  await rm(join(folder, 'assets/gone-1.js'));
  person = await createPerson(service, 'system_admin');
  key = await service.createKey();
});
afterAll(async () => {
  agent.destroy();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async () => {
  // Streams take a while to notice that nobody is reading.
  await expect.poll(() => underWay, { timeout: 60_000 }).toBe(0);
  expect(failuresInLog()).toEqual([]);
});

/** Log lines of a service failure: an error, a 5xx, or a response that was sent twice. */
function failuresInLog(): string[] {
  return service.logs.filter((line) =>
    /"level":[56]0|"status":5|ERR_HTTP_HEADERS_SENT|FST_ERR_REP_ALREADY_SENT|already sent/.test(line),
  );
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
  /** The connection is closed as soon as the request is sent. */
  readonly leaves?: boolean;
}

/** The status of the response, once all of it has been read; 0 for a closed connection. */
function send({ method, path, headers = {}, body, leaves = false }: Sent): Promise<number> {
  return new Promise((resolve) => {
    const request = httpRequest({ host: '127.0.0.1', port: service.port, agent, method, path, headers });
    let isAnswered = false;
    request.on('response', (response) => {
      isAnswered = true;
      response.on('close', () => resolve(response.statusCode ?? 0)).resume();
      if (response.headers['content-type']?.startsWith('text/event-stream') === true) response.destroy();
    });
    request.on('error', () => {});
    request.on('close', () => isAnswered || resolve(0));
    // Less is sent than announced: then the connection is closed, as by a killed client.
    const isCutOff = Number(headers['content-length'] ?? 0) > Buffer.byteLength(body ?? '');
    const leave = () => setImmediate(() => request.destroy());
    if (isCutOff) request.write(body === '' ? ' ' : body, leave);
    else request.end(body, leaves ? leave : undefined);
  });
}

/** Sends all of them, and returns those that failed according to the service. */
async function failuresOf(requests: Iterable<Sent>): Promise<string[]> {
  const failures: string[] = [];
  const left = [...requests];
  const work = async () => {
    for (let each = left.pop(); each !== undefined; each = left.pop()) {
      const status = await send(each);
      if (status >= 500) failures.push(`${status} ${each.method} ${each.path} ${JSON.stringify(each)}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return failures;
}

/** Values for a path parameter, or for the rest of a path. */
const ODD_PARTS = [
  '',
  '0',
  '999999',
  'x',
  '.',
  '%2e%2e',
  '%00',
  '%',
  '%ff',
  '%e2%80%ae',
  '%2f',
  '%5c',
  "'--",
];
const LONG_PARTS = ['9'.repeat(400), 'x'.repeat(4_000)];
const ODD_ENDS = ['/', '//', '/.', '/..', '/%00', '/%2e%2e/x', '?', '?%', '?__proto__=1&a[]=2&a=%00', ';a=b'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
const ODD_BODIES = ['', '{', 'null', '[]', '"x"', '{"__proto__":{"a":1}}', '{"a":1e999}', '\0', '\u{feff}{}'];
const ODD_HEADERS: readonly { readonly [name: string]: string }[] = [
  { accept: ',;q=,' },
  { 'accept-encoding': 'br;q=x, *;q=0', 'accept-language': '*' },
  { range: 'bytes=99-1, a-b' },
  { range: 'bytes=999999-' },
  { 'if-match': '"x' },
  { 'if-none-match': 'W/"', 'if-modified-since': 'never' },
  { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
  { cookie: '=;;millrace_session=%;__Host-millrace_session' },
  { origin: 'null', 'sec-fetch-site': 'x' },
  { host: 'a b' },
  { host: '' },
  { 'x-forwarded-for': 'x, %', 'x-forwarded-host': '/', forwarded: 'for=' },
  { 'last-event-id': '99999999999999999999' },
  { 'idempotency-key': '%00' },
  { 'content-type': ';' },
  { 'content-type': 'application/json; charset=x' },
  { 'content-type': 'multipart/form-data' },
  { 'content-encoding': 'gzip' },
  { 'transfer-encoding': 'chunked' },
  { expect: '100-continue' },
  { upgrade: 'websocket', connection: 'upgrade' },
];

function fill(url: string, part: string): string {
  return url.replace(/:\w+|\*/g, () => part);
}

/** Each path once, with its methods. */
function paths(): string[] {
  return [...new Set(routes.map(({ url }) => url))];
}

/** They end the session that the other requests need. */
const ENDING = ['/api/admin/sign-out', '/api/admin/me', '/api/admin/me/sessions'];

interface Identity {
  readonly headers: () => { readonly [name: string]: string };
  /** Where it matters who is calling. */
  readonly knows: (url: string) => boolean;
}

const IDENTITIES: { readonly [who: string]: Identity } = {
  nobody: { headers: () => ({}), knows: () => true },
  'who is signed in': {
    headers: () => ({ cookie: person.cookie, 'sec-fetch-site': 'same-origin' }),
    knows: (url) => url.startsWith('/api/admin/'),
  },
  'who has a key': {
    headers: () => ({ authorization: `Bearer ${key.text}` }),
    knows: (url) => url.startsWith('/api/v1/'),
  },
};

describe.each(Object.entries(IDENTITIES))('%s never responds with a 500', (who, own) => {
  /** The organisation exists, or nothing beyond it would be reached. */
  const at = (url: string, part: string) => fill(url.replace(':org', String(person.organisationId)), part);
  const known = () => paths().filter(own.knows);
  const isEnding = (url: string, method: string) => method !== 'GET' && ENDING.includes(url);

  afterEach(async () => {
    if (who !== 'who is signed in') return;
    expect(await send({ method: 'GET', path: '/api/admin/me', headers: own.headers() })).toBe(200);
  });

  test('to odd URLs', async () => {
    const addresses = known().flatMap((url) => [
      ...[...ODD_PARTS, ...LONG_PARTS].map((part) => at(url, part)),
      ...ODD_ENDS.map((end) => `${at(url, '999999')}${end}`),
    ]);
    expect(addresses.length).toBeGreaterThan(200);
    const all = [...new Set(addresses)].map((path) => ({ method: 'GET', path, headers: own.headers() }));
    expect(await failuresOf(all)).toEqual([]);
  });

  test('to odd methods', async () => {
    const all = known().flatMap((url) =>
      METHODS.filter((method) => !isEnding(url, method)).map((method) => ({
        method,
        path: at(url, '999999'),
        headers: own.headers(),
      })),
    );
    expect(await failuresOf(all)).toEqual([]);
  });

  test('to odd bodies, complete and cut off', async () => {
    const all = routes
      .filter(({ method, url }) => own.knows(url) && !isEnding(url, method))
      .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
      .flatMap(({ method, url }) =>
        ODD_BODIES.flatMap((body) => {
          const headers = { ...own.headers(), 'content-type': 'application/json' };
          const whole = { method, path: at(url, '999999'), headers, body };
          return [whole, { ...whole, headers: { ...headers, 'content-length': '50' } }];
        }),
      );
    expect(await failuresOf(all)).toEqual([]);
  });

  test('to odd headers', async () => {
    const all = routes
      .filter(({ method, url }) => own.knows(url) && !isEnding(url, method) && method !== 'HEAD')
      .flatMap(({ method, url }) =>
        ODD_HEADERS.map((headers) => ({
          method,
          path: at(url, '999999'),
          headers: { ...own.headers(), ...headers },
        })),
      );
    expect(await failuresOf(all)).toEqual([]);
  });

  test('if the connection is closed before the response', async () => {
    const all = routes
      .filter(({ method, url }) => own.knows(url) && !isEnding(url, method))
      .map(({ method, url }) => ({ method, path: at(url, '999999'), headers: own.headers(), leaves: true }));
    expect(await failuresOf(all)).toEqual([]);
  });
});

/** Endpoints that stream, as listed by the maps of both APIs. */
const STREAMED = [
  ...Object.entries(ADMIN_API as { readonly [name: string]: Endpoint })
    .filter(([, { events, file }]) => events !== undefined || file !== undefined)
    .map(([name]) => name.replace('GET ', '/api/admin')),
  '/api/v1/executions/:execution/events',
];

describe.each(STREAMED)('%s sends a single response', (url) => {
  async function open(): Promise<{ readonly headers: Identity['headers']; readonly path: string }> {
    const { id } = await createWorkflow(person, WEBHOOK_FLOW as never);
    const params = { org: person.organisationId, id };
    await person.call('POST /orgs/:org/workflows/:id/sample-listener', { params });
    const connector = await exampleText();
    await person.call('POST /orgs/:org/connectors', {
      params: { org: person.organisationId },
      body: { file: connector },
    });
    const key = await service.createKey({ organisationId: person.organisationId });
    const stored = await service.api('POST', '/files?name=a.txt', {
      ...{ key, raw: 'text' },
      headers: { 'content-type': 'text/plain' },
    });
    const { $file: file } = stored.json as unknown as { readonly $file: string };
    const body = { input_data: { file: { $file: file } } };
    const { json } = await service.api('POST', `/workflows/${id}/execute`, { key, body });
    const values: { readonly [name: string]: string | number } = {
      ...{ ...params, file, connector: 'helpdesk' },
      execution: json.execution_id,
    };
    const query = url.includes('sample-listener') ? '?after=0' : '';
    const authorization = `Bearer ${key.text}`;
    return {
      headers: () => ({ cookie: person.cookie, 'sec-fetch-site': 'same-origin', authorization }),
      path: `${url.replace(/:(\w+)/g, (_match, name: string) => String(values[name]))}${query}`,
    };
  }

  test('if it is read to the end, or as far as it goes', async () => {
    const { headers, path } = await open();
    expect(await send({ method: 'GET', path, headers: headers() })).toBe(200);
    expect(await send({ method: 'HEAD', path, headers: headers() })).toBe(200);
  });

  test('if the reader leaves before it starts', async () => {
    const { headers, path } = await open();
    await Promise.all(
      Array.from({ length: 5 }, () => send({ method: 'GET', path, headers: headers(), leaves: true })),
    );
  });
});
