import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as received by the outside world. */
export interface Received {
  /** `POST /path`, without the query. */
  readonly line: string;
  readonly query: { readonly [name: string]: string };
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  /** Parsed JSON; null if there is none. */
  readonly body: unknown;
}

/** The response; 200 with `{}` by default. */
export interface Reply {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** A string is sent verbatim, everything else as JSON. */
  readonly body?: unknown;
}

/** @param nth 1 for the first request of this line */
type Handler = (request: Received, nth: number) => Reply | Promise<Reply>;

/** An HTTP server that records all requests: a shop, a CRM, a chat service. */
export interface Outside {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** All requests in order of arrival. */
  readonly received: readonly Received[];
  /** Responds to requests of this line (`PUT /products/7`, or `PUT /products/*` for everything below); others get a 404. */
  on(line: string, handler: Handler | Reply): void;
  /** The requests of this line, which may end with `*`. */
  to(line: string): Received[];
  /** Resolves once this many requests of this line have arrived in total. */
  arrival(line: string, count: number): Promise<Received[]>;
  /** Forgets recorded requests; handlers are kept. */
  forget(): void;
  close(): Promise<void>;
}

export async function openOutside(): Promise<Outside> {
  let received: Received[] = [];
  const handlers = new Map<string, Handler>();
  const waiting = new Set<() => void>();
  const to = (line: string) => received.filter((request) => matches(line, request.line));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrived = await read(request);
    received.push(arrived);
    for (const wake of waiting) wake();
    const pattern = [...handlers.keys()].findLast((line) => matches(line, arrived.line));
    const handler = pattern === undefined ? undefined : handlers.get(pattern);
    const reply = (await handler?.(arrived, to(arrived.line).length)) ?? { status: 404 };
    const isText = typeof reply.body === 'string';
    response.writeHead(reply.status ?? 200, {
      'content-type': isText ? 'text/plain' : 'application/json',
      ...reply.headers,
    });
    response.end(isText ? reply.body : JSON.stringify(reply.body ?? {}));
  }

  // Kept open for longer than a client's process may be held up, so that none sends on a connection that is being closed.
  const server = createServer(
    { keepAliveTimeout: 60_000 },
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get received() {
      return received;
    },
    on(line, handler) {
      handlers.set(line, typeof handler === 'function' ? handler : () => handler);
    },
    to,
    arrival: (line, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (to(line).length < count) return;
          waiting.delete(look);
          resolve(to(line));
        };
        waiting.add(look);
        look();
      }),
    forget() {
      received = [];
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function matches(pattern: string, line: string): boolean {
  return pattern.endsWith('*') ? line.startsWith(pattern.slice(0, -1)) : line === pattern;
}

async function read(request: IncomingMessage): Promise<Received> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  const url = new URL(request.url ?? '/', 'http://outside');
  const isJson = /json/.test(request.headers['content-type'] ?? '');
  return {
    line: `${request.method} ${url.pathname}`,
    query: Object.fromEntries(url.searchParams),
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    ),
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  };
}
