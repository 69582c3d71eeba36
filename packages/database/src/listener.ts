import type { Connection } from './connection.ts';
import type { Connector } from './connector.ts';
import type { Channel } from './database.ts';

type Subscription = { readonly listener: (payload: string) => void; readonly onReconnect?: () => void };

/** A channel's name can't be a parameter, so each has a statement. */
const LISTEN: Readonly<Record<Channel, string>> = {
  millrace_queue: 'LISTEN millrace_queue',
  millrace_executions: 'LISTEN millrace_executions',
  millrace_schedules: 'LISTEN millrace_schedules',
  millrace_samples: 'LISTEN millrace_samples',
};

const PING_MS = 15_000;
const PAUSE_MS = 200;

/** LISTEN on a dedicated connection, which is reopened with all its channels whenever it is lost. */
export class Listener {
  readonly #connector: Connector;
  readonly #channels = new Map<Channel, Subscription[]>();
  #connection: Connection | null = null;
  #opening: Promise<Connection> | null = null;
  #ping: NodeJS.Timeout | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(connector: Connector) {
    this.#connector = connector;
  }

  async listen(
    channel: Channel,
    listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<void> {
    const connection = this.#connection ?? (await this.#open());
    await connection.query(LISTEN[channel]);
    const subscriptions = this.#channels.get(channel) ?? [];
    subscriptions.push(onReconnect === undefined ? { listener } : { listener, onReconnect });
    this.#channels.set(channel, subscriptions);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const connection = this.#connection ?? (await this.#opening?.catch(() => null)) ?? null;
    await connection?.end();
  }

  #open(): Promise<Connection> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#connector.connect();
    connection.onNotification((channel, payload) => {
      if (!isChannel(channel)) return;
      for (const { listener } of this.#channels.get(channel) ?? []) listener(payload);
    });
    try {
      await Promise.all([...this.#channels.keys()].map((channel) => connection.query(LISTEN[channel])));
    } catch (error) {
      connection.destroy(new Error('LISTEN failed'));
      throw error;
    }
    this.#connection = connection;
    // A connection that only waits would never notice that it is dead.
    this.#ping = setInterval(() => void connection.query('SELECT').catch(() => {}), PING_MS);
    this.#ping.unref();
    connection.onClose(() => this.#lost());
    return connection;
  }

  #lost(): void {
    this.#connection = null;
    if (this.#ping !== null) clearInterval(this.#ping);
    this.#reconnectSoon(0);
  }

  #reconnectSoon(pauseMs: number): void {
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#open().then(
        () => this.#announceGap(),
        () => this.#reconnectSoon(PAUSE_MS),
      );
    }, pauseMs);
    this.#retry.unref();
  }

  #announceGap(): void {
    for (const subscriptions of this.#channels.values()) {
      for (const { onReconnect } of subscriptions) onReconnect?.();
    }
  }
}

/** Where notifications can't be received: every subscriber looks again, as after a gap, at a fixed interval. */
export class Poller {
  readonly #onPoll: (() => void)[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pollMs: number) {
    this.#timer = setInterval(() => {
      for (const look of this.#onPoll) look();
    }, pollMs);
    this.#timer.unref();
  }

  async listen(
    _channel: Channel,
    _listener: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<void> {
    if (onReconnect !== undefined) this.#onPoll.push(onReconnect);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }
}

function isChannel(name: string): name is Channel {
  return Object.hasOwn(LISTEN, name);
}
