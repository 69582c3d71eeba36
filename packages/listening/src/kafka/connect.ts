import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject, type JsonValue, type ListenSourceOf } from '@millrace/engine';
import { KafkaCluster } from '@millrace/kafka/cluster';
import { KafkaConsumer, type KafkaMessage } from '@millrace/kafka/consumer';
import { contentOf } from '../content.ts';
import type { Batch, ConnectContext, Connection, Received } from '../source.ts';
import { MAX_BATCH } from '../source.ts';

type Context = ConnectContext<ListenSourceOf<'kafka'>>;

/** Limit of the messages that are started together; a single one may be larger. */
const MAX_BATCH_BYTES = 1024 * 1024;
const MAX_HEADERS = 100;

/** Connects to a Kafka cluster and reads topics as a member of a consumer group, which is created if needed. */
export async function connectToKafka(context: Context): Promise<Connection> {
  const { source, credentials, sockets, fetch, signal, name, position } = context;
  const credential = await credentials.open(source.credentialId, { types: ['kafka'] });
  const cluster = await KafkaCluster.open({ sockets, fetch, credential, signal });
  const patterns = source.topics.filter((each) => each.startsWith('^'));
  try {
    const consumer = await KafkaConsumer.open(cluster, {
      group: source.group === '' ? name : source.group,
      instanceId: name,
      ...{ topics: source.topics, existing: source.existing, known: partitionsIn(position) },
      isKnownWhole: patterns.length > 0 && isDeepStrictEqual(patterns, patternsIn(position)),
    });
    return new TopicReader(consumer, patterns);
  } catch (error) {
    cluster.close();
    throw error;
  }
}

/** The stored position has only the number of partitions of each topic, and the patterns that found them; offsets are stored by the group. */
class TopicReader implements Connection {
  readonly #consumer: KafkaConsumer;

  readonly #patterns: readonly string[];

  constructor(consumer: KafkaConsumer, patterns: readonly string[]) {
    this.#consumer = consumer;
    this.#patterns = patterns;
  }

  get position(): JsonValue {
    const { partitions } = this.#consumer;
    return this.#patterns.length === 0 ? { partitions } : { partitions, patterns: this.#patterns };
  }

  async next(): Promise<Batch> {
    const messages = await this.#consumer.next(MAX_BATCH, MAX_BATCH_BYTES);
    return { messages: messages.map(receivedOf), position: this.position };
  }

  /** Commits only the newest offset of a partition, so messages of earlier batches that weren't acknowledged are committed with it. */
  async acknowledge(): Promise<void> {
    await this.#consumer.commit();
  }

  async close(): Promise<void> {
    await this.#consumer.close();
  }
}

/** A topic that was deleted and created again starts over with its offsets: the time tells messages apart. */
function receivedOf(message: KafkaMessage): Received {
  const { topic, partition, offset, timestamp } = message;
  return {
    id: `${topic}:${partition}:${offset}:${timestamp}`,
    data: {
      ...{ topic, partition, offset },
      timestamp: timestamp === null ? null : timeOf(timestamp),
      ...contentsOf(message),
    },
  };
}

/** Key, headers and value are one message, with one limit. */
function contentsOf({ key, value, headers, size }: KafkaMessage): JsonObject {
  const content = contentOf(value ?? Buffer.alloc(0), size);
  const is_tombstone = value === null;
  if (content.is_too_large) return { key: null, key_base64: null, headers: {}, ...content, is_tombstone };
  const named = headers
    .slice(0, MAX_HEADERS)
    .map(([name, bytes]) => [name.replaceAll('\0', '\ufffd'), textOrBase64(bytes)] as const);
  const { text, base64 } = contentOf(key ?? Buffer.alloc(0));
  return {
    ...{ key: key === null ? null : text, key_base64: base64, headers: Object.fromEntries(named) },
    ...content,
    ...(is_tombstone ? { text: null, json: null } : {}),
    ...{ size: value?.byteLength ?? 0, is_tombstone },
  };
}

function textOrBase64(bytes: Buffer | null): JsonValue {
  if (bytes === null) return null;
  const { text, base64 } = contentOf(bytes);
  return text ?? base64;
}

function timeOf(timestamp: number): string | null {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function patternsIn(position: JsonValue): JsonValue {
  return (isJsonObject(position) ? position.patterns : undefined) ?? [];
}

function partitionsIn(position: JsonValue): ReadonlyMap<string, number> {
  const partitions = isJsonObject(position) ? position.partitions : undefined;
  if (partitions === undefined || !isJsonObject(partitions)) return new Map();
  return new Map(
    Object.entries(partitions).flatMap(([topic, count]) =>
      typeof count === 'number' ? [[topic, count] as const] : [],
    ),
  );
}
