import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until.ts';

/** A request as received by the outside world. */
export interface Received {
  readonly path: string;
  /** The Idempotency-Key header; '' if there was none. */
  readonly deliveryKey: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  /** Parsed JSON; null if there was no body. */
  readonly body: unknown;
  /** Milliseconds of the test process's monotonic clock. */
  readonly atMs: number;
  /** When its response was sent or its connection ended; null until then. */
  endedAtMs: number | null;
}

/** A response with more than a status. */
export interface FullResponse {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

/** The receiver's reaction to a request: a response with this status, a whole response, or a cut connection. */
export type Reaction = number | FullResponse | 'cut';
type Handler = (request: Received, count: number) => Reaction | Promise<Reaction>;

/** The outside world: an HTTP server in the test's process that records all requests. */
export class Receiver {
  readonly received: Received[] = [];
  /** Requests so far, by path. */
  readonly #counts = new Map<string, number>();
  readonly #server: Server;
  readonly #handlers = new Map<string, Handler>();
  readonly #holds = new Set<Hold>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async start(): Promise<Receiver> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Receiver(server);
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Reacts to requests for the path; `count` is 1 for the first. Without a handler the status is 200. */
  on(path: string, handler: Handler): void {
    this.#handlers.set(path, handler);
  }

  /** Withholds the responses to the first `count` requests for the path until they are released; later ones get a 200 at once. */
  hold(path: string, count = 1): Hold {
    const hold = new Hold();
    this.#holds.add(hold);
    this.on(path, (_, nth) => (nth <= count ? hold.wait() : 200));
    return hold;
  }

  to(path: string): Received[] {
    return this.received.filter((request) => request.path === path);
  }

  /** Waits until that many requests for the path have arrived in total. */
  async arrival(path: string, count: number): Promise<Received[]> {
    await until(`${count} requests for ${path}`, () => this.to(path).length >= count);
    return this.to(path);
  }

  async stop(): Promise<void> {
    for (const hold of this.#holds) hold.release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The sender may be killed at any moment; that is the purpose of these tests.
    request.on('error', () => {});
    response.on('error', () => {});
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    let text = '';
    try {
      for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
    } catch {
      return;
    }
    const received: Received = {
      path,
      deliveryKey: String(request.headers['idempotency-key'] ?? ''),
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
      atMs: performance.now(),
      endedAtMs: null,
    };
    response.once('close', () => {
      received.endedAtMs = performance.now();
    });
    this.received.push(received);
    const count = (this.#counts.get(path) ?? 0) + 1;
    this.#counts.set(path, count);
    const reaction = (await this.#handlers.get(path)?.(received, count)) ?? 200;
    if (reaction === 'cut') return void response.destroy();
    const full: FullResponse = typeof reaction === 'number' ? { status: reaction } : reaction;
    response.writeHead(full.status, { 'content-type': 'application/json', ...full.headers });
    response.end(full.body ?? '{"taken":true}');
  }
}

/** Requests whose responses are withheld. */
export class Hold {
  readonly #waiting: ((reaction: Reaction) => void)[] = [];
  #isOver = false;

  wait(): Promise<Reaction> {
    return this.#isOver ? Promise.resolve(200) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Responds to the request that has waited longest. */
  releaseFirst(): void {
    this.#waiting.shift()?.(200);
  }

  /** Responds to all waiting requests, and to those still to come. */
  release(): void {
    this.#isOver = true;
    for (const answer of this.#waiting.splice(0)) answer(200);
  }
}
