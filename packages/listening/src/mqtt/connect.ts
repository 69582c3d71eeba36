import { createHash, randomUUID } from 'node:crypto';
import { isJsonArray, isJsonObject, type JsonValue, type ListenSourceOf } from '@millrace/engine';
import { contentOf } from '../content.ts';
import type { Batch, ConnectContext, Connection, Received } from '../source.ts';
import { MAX_BATCH } from '../source.ts';
import { MqttClient, type Publish } from './client.ts';

type Context = ConnectContext<ListenSourceOf<'mqtt'>>;

/** More than brokers have under way to one client. */
const REMEMBERED = 200;

/** Connects to a broker with the session of the workflow and subscribes. */
export async function connectToMqtt(context: Context): Promise<Connection> {
  const { source, credentials, sockets, signal, name } = context;
  const credential = await credentials.open(source.credentialId, { types: ['mqtt'] });
  const clientId = source.clientId === '' ? name : source.clientId;
  const client = await MqttClient.open(sockets, credential, clientId, signal);
  await client.subscribe(source.topics);
  return new Subscription(client, context.position);
}

/**
 * MQTT gives messages no ids. A message that is delivered again is marked, and has the packet id that it had before: so those that were started
 * last are remembered by packet id and content, together with their starts.
 */
class Subscription implements Connection {
  readonly #client: MqttClient;
  #recent: readonly string[];
  #packetIds = new Map<string, number>();

  constructor(client: MqttClient, position: JsonValue) {
    this.#client = client;
    this.#recent = recentOf(position);
  }

  get position(): JsonValue {
    return this.#recent.length === 0 ? null : { recent: this.#recent };
  }

  async next(): Promise<Batch> {
    const packets = await this.#client.next(MAX_BATCH);
    const known = packets.filter((packet) => packet.isDuplicate && this.#recent.includes(markOf(packet)));
    this.#client.acknowledge(known.map(({ packetId }) => packetId));
    const fresh = packets.filter((packet) => !known.includes(packet));
    const marks = fresh.filter(({ qos }) => qos > 0).map(markOf);
    this.#recent = [...this.#recent, ...marks].slice(-REMEMBERED);
    this.#packetIds = new Map();
    return { messages: fresh.map((packet) => this.#received(packet)), position: this.position };
  }

  async acknowledge(ids: readonly string[]): Promise<void> {
    this.#client.acknowledge(ids.flatMap((id) => this.#packetIds.get(id) ?? []));
  }

  async close(): Promise<void> {
    this.#client.close();
  }

  #received(packet: Publish): Received {
    const id = randomUUID();
    if (packet.qos > 0) this.#packetIds.set(id, packet.packetId);
    const topic = packet.topic.replaceAll('\0', '\ufffd');
    const { qos, isRetained: is_retained } = packet;
    return { id, data: { topic, ...contentOf(packet.payload, packet.size), qos, is_retained } };
  }
}

function markOf({ packetId, topic, payload }: Publish): string {
  const hash = createHash('sha256').update(`${topic}\0`).update(payload).digest('base64url').slice(0, 22);
  return `${packetId}:${hash}`;
}

function recentOf(position: JsonValue): readonly string[] {
  const recent = isJsonObject(position) ? position.recent : undefined;
  return recent !== undefined && isJsonArray(recent) ? recent.filter((each) => typeof each === 'string') : [];
}
