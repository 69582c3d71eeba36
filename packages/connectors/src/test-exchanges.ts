import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuardedHttpClient } from '@millrace/egress/guarded-client';
import { type HttpClient, type JsonValue, parseJson, stringifyJson } from '@millrace/engine';
import { afterAll, beforeAll } from 'vitest';
import type { Exchange } from './format.ts';

type Step = Exchange['steps'][number];

/** A request as the server received it, in the format of recorded exchanges. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: JsonValue;
}

/** A service on loopback that answers in the given order, and the guarded client, which reaches it under the service's own address. */
export interface TestService {
  readonly client: HttpClient;
  /** Requests since {@link answers}. */
  readonly received: readonly Received[];
  answers(steps: readonly Step['response'][]): void;
}

/** One for all tests of a file. */
export function useTestService(): TestService {
  let received: Received[] = [];
  let waiting: Step['response'][] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      received.push(describe(request, Buffer.concat(pieces)));
      answer(response, waiting.shift() ?? { status: 500, body: { message: 'the test has no answer' } });
    });
  });
  const guarded = createGuardedHttpClient({ allowHosts: ['127.0.0.1'] });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(async () => {
    await guarded.close();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    client: {
      send: (request, signal) => {
        const url = new URL(request.url);
        const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        return guarded.send({ ...request, url: local + url.pathname + url.search }, signal);
      },
    },
    get received() {
      return received;
    },
    answers(steps) {
      received = [];
      waiting = [...steps];
    },
  };
}

function describe({ method = '', url = '', headers }: IncomingMessage, body: Buffer): Received {
  const text = body.toString('utf8');
  const isJson = headers['content-type']?.startsWith('application/json') === true;
  return {
    method,
    path: url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    ...(text === '' ? {} : { body: isJson ? parseJson(text) : text }),
  };
}

function answer(response: ServerResponse, { status, headers = {}, body }: Step['response']): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : typeof body === 'string' ? body : stringifyJson(body));
}
