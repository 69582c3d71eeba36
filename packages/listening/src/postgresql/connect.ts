import { randomUUID } from 'node:crypto';
import { createPostgresqlClient } from '@millrace/database-clients/sql/postgresql';
import { toPostgresqlError } from '@millrace/database-clients/sql/postgresql-errors';
import { type CredentialOf, type ListenSourceOf, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import type pg from 'pg';
import { contentOf } from '../content.ts';
import type { Batch, ConnectContext, Connection } from '../source.ts';
import { MAX_BATCH } from '../source.ts';

type Context = ConnectContext<ListenSourceOf<'postgresql'>>;

/** Notifications that wait here, of 8 KB at most; while there are so many, nothing more is read. */
const MAX_WAITING = 200;
/** Finds out that the other side is gone. */
const ALIVE_MS = 60_000;
const QUERY_MS = 15_000;

/** Connects to a PostgreSQL server and listens on channels. What is notified while nobody listens is lost. */
export async function connectToPostgresql(context: Context): Promise<Connection> {
  const { source, credentials, sockets, signal } = context;
  const credential = await credentials.open(source.credentialId, { types: ['sql'] });
  if (credential.dialect !== 'postgresql') {
    throw new ServiceError(
      'credential_wrong_type',
      message('ports.not_postgresql', { host: credential.host }),
    );
  }
  const { host, port } = credential;
  const socket = await sockets.connect({ host, port }, signal).catch((error: unknown) => {
    throw connectError(error, 'sql_connection_failed');
  });
  const client = createPostgresqlClient(credential, socket);
  const listener = new ChannelListener(client, credential);
  try {
    await client.connect();
    for (const channel of source.channels) await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    return listener;
  } catch (error) {
    socket.destroy();
    throw listener.readable(error);
  }
}

class ChannelListener implements Connection {
  readonly position = null;
  readonly #client: pg.Client;
  readonly #credential: CredentialOf<'sql'>;
  readonly #received: pg.Notification[] = [];
  readonly #alive: NodeJS.Timeout;
  #arrived: () => void = () => undefined;
  #ended: Error | null = null;

  constructor(client: pg.Client, credential: CredentialOf<'sql'>) {
    this.#client = client;
    this.#credential = credential;
    const end = (error: Error): void => {
      this.#ended ??= error;
      clearInterval(this.#alive);
      this.#arrived();
    };
    client.on('notification', (notification) => {
      this.#received.push(notification);
      if (this.#received.length >= MAX_WAITING) this.#stream.pause();
      this.#arrived();
    });
    client.on('error', end);
    client.on('end', () => end(new Error('the server closed the connection')));
    this.#alive = setInterval(() => {
      if (!this.#stream.isPaused()) void this.#checkAlive().catch(end);
    }, ALIVE_MS).unref();
  }

  async next(): Promise<Batch> {
    while (this.#received.length === 0) {
      if (this.#ended !== null) throw this.readable(this.#ended);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#arrived = resolve;
      await promise;
    }
    const taken = this.#received.splice(0, MAX_BATCH);
    if (this.#received.length < MAX_WAITING) this.#stream.resume();
    const messages = taken.map(({ channel, payload = '', processId }) => ({
      id: randomUUID(),
      data: { channel, ...contentOf(Buffer.from(payload)), process_id: processId },
    }));
    return { messages, position: null };
  }

  async acknowledge(): Promise<void> {
    // PostgreSQL keeps nothing that could be acknowledged.
  }

  async close(): Promise<void> {
    clearInterval(this.#alive);
    await this.#client.end();
  }

  readable(error: unknown): Error {
    const about = { credential: this.#credential, query: null, stopReason: null, isSent: false };
    return toPostgresqlError(error, about);
  }

  get #stream() {
    return this.#client.connection.stream;
  }

  async #checkAlive(): Promise<void> {
    const timer = setTimeout(() => this.#stream.destroy(new Error('the server is silent')), QUERY_MS);
    try {
      await this.#client.query('SELECT 1');
    } finally {
      clearTimeout(timer);
    }
  }
}
