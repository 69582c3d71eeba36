import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import type { Logger } from 'pino';
import { METRICS_TYPE, type MetricsPage } from './page.ts';

const PATH = '/metrics';
/** More than needed, and few enough not to use up the process's file descriptors. */
const MAX_CONNECTIONS = 50;
const REQUEST_TIMEOUT_MS = 10_000;

export interface MetricsServerOptions {
  readonly page: MetricsPage;
  /** Required bearer token; null: none, but requests must be addressed to localhost. */
  readonly token: string | null;
  readonly log: Logger;
}

/**
 * Serves `/metrics` on a separate port, so that it works in processes without an API, and while the API is overloaded. It isn't
 * listening yet.
 */
export function createMetricsServer({ page, token, log }: MetricsServerOptions): Server {
  const isAllowed = token === null ? isAddressedLocally : hasToken(token);
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    if (!isAllowed(request)) {
      refuse(response, token === null ? 403 : 401);
      return;
    }
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== PATH) refuse(response, 404);
    else if (request.method !== 'GET' && request.method !== 'HEAD') refuse(response, 405);
    else {
      page().then(
        (text) => send(request, response, text),
        (error: unknown) => {
          log.error({ err: error }, 'could not collect metrics');
          refuse(response, 500);
        },
      );
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

function send({ method }: IncomingMessage, response: ServerResponse, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(200, {
    'content-type': METRICS_TYPE,
    'content-length': body.length,
    'cache-control': 'no-store',
  });
  response.end(method === 'HEAD' ? undefined : body);
}

const REFUSALS = {
  401: {
    body: 'A bearer token is needed: MILLRACE_METRICS_TOKEN.\n',
    headers: { 'www-authenticate': 'Bearer' },
  },
  403: { body: 'Use localhost or 127.0.0.1.\n', headers: {} },
  404: { body: 'Not found. The metrics are at /metrics.\n', headers: {} },
  405: { body: 'Only GET and HEAD are allowed.\n', headers: { allow: 'GET, HEAD' } },
  500: { body: 'The metrics could not be collected; the log says why.\n', headers: {} },
} as const;

function refuse(response: ServerResponse, status: keyof typeof REFUSALS): void {
  const { body, headers } = REFUSALS[status];
  // A body that nobody reads would keep the connection open.
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
  });
  response.end(body);
}

function hasToken(token: string): (request: IncomingMessage) => boolean {
  const expected = digest(`Bearer ${token}`);
  return ({ headers }) => timingSafeEqual(digest(headers.authorization ?? ''), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A web page in a browser on this machine could send requests here under its own name that resolves here (DNS rebinding). */
function isAddressedLocally({ headers }: IncomingMessage): boolean {
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname;
  return name === 'localhost' || name === '[::1]' || (name !== undefined && isIPv4(name));
}
