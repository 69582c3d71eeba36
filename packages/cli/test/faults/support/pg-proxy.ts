import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { countFrames } from './pg-frames.ts';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Number of client requests (Sync or simple query) and of completed ones (ReadyForQuery). */
  asked: number;
  answered: number;
  /** The reply is dropped, and the connection is cut once the server has completed this many; null: forward everything. */
  cutAfter: number | null;
}

/** A connection between the service and PostgreSQL that tests can cut the way networks do. */
export class PgProxy {
  readonly #server: Server;
  readonly #socketPath: string;
  readonly #pairs = new Set<Pair>();
  /** Data in transit, in the order it came; null while everything gets through at once. */
  #delayed: { readonly to: Socket; readonly data: Buffer; readonly dueAt: number }[] | null = null;
  #delayMs = 0;
  #loseReplyTo: string | null = null;
  #lost = 0;

  private constructor(server: Server, socketPath: string) {
    this.#server = server;
    this.#socketPath = socketPath;
    server.on('connection', (client) => this.#join(client));
  }

  /** @param socketPath Unix socket of the PostgreSQL server behind it */
  static async start(socketPath: string): Promise<PgProxy> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PgProxy(server, socketPath);
  }

  /** The database URL through the proxy. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    url.search = '';
    return url.href;
  }

  /** From now on nothing gets through in either direction, and no connection is closed or refused: packets vanish. */
  swallowEverything(): void {
    this.delayEverything(Number.POSITIVE_INFINITY);
  }

  /** From now on everything takes this much longer, in both directions. */
  delayEverything(ms: number): void {
    this.#delayed ??= [];
    this.#delayMs = ms;
  }

  /** Cuts all connections; new ones can be made. */
  cutEverything(): void {
    for (const pair of [...this.#pairs]) {
      pair.client.resetAndDestroy();
      this.#separate(pair);
    }
  }

  /** Whether a message that contains `name` was swallowed. */
  hasSwallowed(name: string): boolean {
    return this.#delayed?.some(({ data }) => data.includes(name)) ?? false;
  }

  /** The network is back; delayed data is delivered. */
  heal(): void {
    const delayed = this.#delayed ?? [];
    this.#delayed = null;
    this.#delayMs = 0;
    for (const { to, data } of delayed) to.write(data);
    for (const { client, server } of this.#pairs) {
      if (client.destroyed) server.end();
      if (server.destroyed) client.end();
    }
  }

  /** The next statement whose message contains `name` is executed by the server; its reply is lost and the connection is cut. */
  loseReplyTo(name: string): void {
    this.#loseReplyTo = name;
  }

  /** Lets the reply through if the statement has not been sent yet. */
  loseNoReply(): void {
    this.#loseReplyTo = null;
  }

  /** How many replies were lost so far. */
  get lostReplies(): number {
    return this.#lost;
  }

  async stop(): Promise<void> {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.#socketPath);
    const pair: Pair = { client, server, asked: 0, answered: 0, cutAfter: null };
    this.#pairs.add(pair);
    const countAsked = countFrames('SQ', true);
    const countAnswered = countFrames('Z', false);
    client.on('data', (data) => {
      const askedBefore = pair.asked;
      pair.asked += countAsked(data);
      if (this.#loseReplyTo !== null && data.includes(this.#loseReplyTo)) {
        this.#loseReplyTo = null;
        // The first ReadyForQuery follows the log-in, not a request.
        pair.cutAfter = Math.max(askedBefore + 1, pair.asked) + 1;
      }
      this.#pass(server, data);
    });
    server.on('data', (data) => {
      pair.answered += countAnswered(data);
      if (pair.cutAfter === null) this.#pass(client, data);
      else if (pair.answered >= pair.cutAfter) {
        this.#lost += 1;
        this.#separate(pair);
      }
    });
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      // A connection closed by one side during a black hole stays open at the other, as in a real one.
      socket.on('close', () => this.#delayed === null && this.#separate(pair));
    }
  }

  #pass(to: Socket, data: Buffer): void {
    if (this.#delayed === null) return void to.write(data);
    this.#delayed.push({ to, data, dueAt: performance.now() + this.#delayMs });
    if (Number.isFinite(this.#delayMs)) setTimeout(() => this.#deliverDue(), this.#delayMs + 1);
  }

  #deliverDue(): void {
    const delayed = this.#delayed;
    while (delayed?.[0] !== undefined && delayed[0].dueAt <= performance.now()) {
      const { to, data } = delayed.shift() ?? {};
      if (data !== undefined) to?.write(data);
    }
  }

  #separate(pair: Pair): void {
    this.#pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  }
}
