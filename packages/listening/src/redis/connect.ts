import { type RedisReply, RedisReplyError } from '@millrace/database-clients/redis/reply';
import { type JsonObject, type JsonValue, type ListenSourceOf, ServiceError } from '@millrace/engine';
import { contentOf } from '../content.ts';
import type { Batch, ConnectContext, Connection, Received } from '../source.ts';
import { RedisClient } from './client.ts';

type Context = ConnectContext<ListenSourceOf<'redis'>>;

/** Entries at once. */
const COUNT = '20';
/** How long one command waits for entries. */
const BLOCK_MS = 5_000;
const MAX_FIELDS = 200;

/** Connects to a Redis server and reads a stream as a consumer of a group, which is made if there is none. */
export async function connectToRedis(context: Context): Promise<Connection> {
  const { source, credentials, sockets, signal } = context;
  const credential = await credentials.open(source.credentialId, { types: ['redis'] });
  const client = await RedisClient.open(sockets, credential, signal);
  const from = source.existing === 'start' ? '0' : '$';
  await client
    .call('XGROUP', 'CREATE', source.stream, source.group, from, 'MKSTREAM')
    .catch((error: unknown) => {
      if (!causedBy(error, 'BUSYGROUP')) throw error;
    });
  return new StreamReader(client, context);
}

class StreamReader implements Connection {
  readonly position = null;
  readonly #client: RedisClient;
  readonly #source: ListenSourceOf<'redis'>;
  readonly #consumer: string;
  readonly #now: () => number;
  /** Of this consumer's own entries that a former connection didn't acknowledge; null once there are none left. */
  #history: string | null = '0-0';
  /** Where the look for entries of other consumers continues, and when the next one begins; null: the server can't do that. */
  #claims: { readonly cursor: string; readonly at: number } | null = { cursor: '0-0', at: 0 };

  constructor(client: RedisClient, { source, name, now }: Context) {
    this.#client = client;
    this.#source = source;
    this.#consumer = name;
    this.#now = now;
  }

  async next(): Promise<Batch> {
    for (;;) {
      const entries = (await this.#readHistory()) ?? (await this.#claim()) ?? (await this.#readNew());
      // Entries that were deleted meanwhile have no fields left, but still wait for their acknowledgement.
      const gone = entries.filter(({ fields }) => fields === null).map(({ id }) => id);
      if (gone.length > 0) await this.acknowledge(gone);
      const messages = entries.flatMap(({ id, fields }) =>
        fields === null ? [] : [this.#received(id, fields)],
      );
      if (messages.length > 0) return { messages, position: null };
    }
  }

  async acknowledge(ids: readonly string[]): Promise<void> {
    await this.#client.call('XACK', this.#source.stream, this.#source.group, ...ids);
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  async #readHistory(): Promise<readonly Entry[] | null> {
    if (this.#history === null) return null;
    const entries = await this.#read(this.#history, []);
    this.#history = entries.at(-1)?.id ?? null;
    return entries.length === 0 ? null : entries;
  }

  /** Takes over what other consumers of the group have had for too long. */
  async #claim(): Promise<readonly Entry[] | null> {
    if (this.#claims === null || this.#claims.at > this.#now()) return null;
    const { stream, group, claimAfterMs } = this.#source;
    const { cursor } = this.#claims;
    let reply: RedisReply;
    try {
      reply = await this.#client.call(
        'XAUTOCLAIM',
        stream,
        group,
        this.#consumer,
        String(claimAfterMs),
        cursor,
        'COUNT',
        COUNT,
      );
    } catch (error) {
      // Servers before 6.2 don't know the command.
      if (!causedBy(error, 'ERR unknown command')) throw error;
      this.#claims = null;
      return null;
    }
    const [next, claimed] = listOf(reply);
    const continued = textOf(next);
    const at = continued === '0-0' ? this.#now() + claimAfterMs : 0;
    this.#claims = { cursor: continued, at };
    const entries = listOf(claimed).flatMap(entryOf);
    return entries.length === 0 ? null : entries;
  }

  #readNew(): Promise<readonly Entry[]> {
    return this.#read('>', ['BLOCK', String(BLOCK_MS)]);
  }

  async #read(from: string, options: readonly string[]): Promise<readonly Entry[]> {
    const { stream, group } = this.#source;
    const reply = await this.#client.call(
      ...['XREADGROUP', 'GROUP', group, this.#consumer, 'COUNT', COUNT, ...options, 'STREAMS', stream, from],
    );
    const [, entries] = listOf(listOf(reply)[0]);
    return listOf(entries).flatMap(entryOf);
  }

  #received(id: string, fields: JsonObject): Received {
    return { id, data: { id, stream: this.#source.stream, ...fields } };
  }
}

interface Entry {
  readonly id: string;
  /** Null if the entry was deleted. */
  readonly fields: JsonObject | null;
}

function entryOf(reply: RedisReply): Entry[] {
  const [id, pairs] = listOf(reply);
  if (!(id instanceof Buffer)) return [];
  if (pairs === null || pairs === undefined) return [{ id: textOf(id), fields: null }];
  const parts = listOf(pairs);
  const fields: [string, JsonValue][] = [];
  let size = 0;
  for (let at = 0; at + 1 < parts.length && fields.length < MAX_FIELDS; at += 2) {
    const [name, value] = [parts[at], parts[at + 1]];
    if (!(name instanceof Buffer) || !(value instanceof Buffer)) continue;
    size += name.byteLength + value.byteLength;
    // All fields together are one message, with one limit.
    const { text, base64 } = contentOf(value, size);
    fields.push([textOf(name), text ?? base64]);
  }
  const { is_too_large: isTooLarge } = contentOf(Buffer.alloc(0), size);
  const isCut = isTooLarge || parts.length > 2 * MAX_FIELDS;
  return [{ id: textOf(id), fields: { fields: Object.fromEntries(fields), is_too_large: isCut } }];
}

function listOf(reply: RedisReply | undefined): readonly RedisReply[] {
  return Array.isArray(reply) ? reply : [];
}

function textOf(reply: RedisReply | undefined): string {
  return reply instanceof Buffer ? reply.toString('utf8').replaceAll('\0', '\ufffd') : '';
}

function causedBy(error: unknown, code: string): boolean {
  return (
    error instanceof ServiceError &&
    error.cause instanceof RedisReplyError &&
    error.cause.message.startsWith(code)
  );
}
