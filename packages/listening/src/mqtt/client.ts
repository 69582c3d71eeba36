import type { Socket } from 'node:net';
import { cutOnAbort } from '@millrace/egress/cut-on-abort';
import { type GuardedSockets, serverOf } from '@millrace/egress/guarded-socket';
import { type CredentialOf, ServiceError } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { connectError } from '@millrace/ports/connect-error';
import { MAX_CONTENT_BYTES } from '../source.ts';
import {
  DISCONNECT,
  encodeConnect,
  encodePuback,
  encodeSubscribe,
  type Packet,
  PacketReader,
  PINGREQ,
} from './packets.ts';

export type Publish = Extract<Packet, { type: 'publish' }>;

const KEEP_ALIVE_S = 60;
const PING_MS = 25_000;
/** Room for the topic, so that a content of the largest size is kept. */
const MAX_PACKET_BYTES = MAX_CONTENT_BYTES + 66_000;
/** Messages that wait here; while there are so many, nothing more is read. */
const MAX_WAITING = 50;

/** A subscriber with a session that the broker keeps, at QoS 1. */
export class MqttClient {
  readonly #socket: Socket;
  readonly #where: string;
  readonly #received: Publish[] = [];
  #answer: PromiseWithResolvers<Packet> | null = null;
  #arrived: () => void = () => undefined;
  #ended: Error | null = null;
  #pingsDue = 0;
  readonly #pings: NodeJS.Timeout;

  private constructor(socket: Socket, where: string) {
    this.#socket = socket;
    this.#where = where;
    const reader = new PacketReader(MAX_PACKET_BYTES);
    socket.on('data', (piece: Buffer) => {
      this.#pingsDue = 0;
      try {
        for (const packet of reader.push(piece)) this.#take(packet);
      } catch (error) {
        this.#end(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error('the broker closed the connection')));
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref();
  }

  /**
   * Connects and signs in.
   * @throws ServiceError mqtt_*
   */
  static async open(
    sockets: GuardedSockets,
    credential: CredentialOf<'mqtt'>,
    clientId: string,
    signal: AbortSignal,
  ): Promise<MqttClient> {
    const { host, port, username, password } = credential;
    const socket = await sockets.connect(serverOf(credential), signal).catch((error: unknown) => {
      throw connectError(error, 'mqtt_connection_failed');
    });
    const client = new MqttClient(socket, `${host}:${port}`);
    const connect = encodeConnect({ clientId, username, password, keepAliveS: KEEP_ALIVE_S });
    try {
      const answer = await cutOnAbort(
        signal,
        () => socket.destroy(),
        () => client.#ask(connect),
      );
      if (answer.type !== 'connack' || answer.code !== 0) {
        throw client.#refusal(answer.type === 'connack' ? answer.code : null, username === null);
      }
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** @throws ServiceError mqtt_subscription_refused */
  async subscribe(topics: readonly string[]): Promise<void> {
    const answer = await this.#ask(encodeSubscribe(1, topics));
    const codes = answer.type === 'suback' ? answer.codes : [];
    const refused = topics.filter((_topic, at) => (codes[at] ?? 0x80) >= 0x80);
    if (refused.length === 0) return;
    const explanation = message('ports.mqtt_topic_refused', { topic: refused.join(', '), host: this.#where });
    throw new ServiceError('mqtt_subscription_refused', explanation);
  }

  /** Waits for at least one message. @throws ServiceError mqtt_connection_failed */
  async next(max: number): Promise<readonly Publish[]> {
    while (this.#received.length === 0) {
      if (this.#ended !== null) throw this.#failure(this.#ended);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#arrived = resolve;
      await promise;
    }
    const taken = this.#received.splice(0, max);
    if (this.#received.length < MAX_WAITING) this.#socket.resume();
    return taken;
  }

  /** @throws ServiceError mqtt_connection_failed */
  acknowledge(packetIds: readonly number[]): void {
    if (this.#ended !== null) throw this.#failure(this.#ended);
    for (const id of packetIds) this.#socket.write(encodePuback(id));
  }

  close(): void {
    clearInterval(this.#pings);
    if (this.#ended === null) this.#socket.end(DISCONNECT);
    this.#socket.destroySoon();
  }

  #take(packet: Packet): void {
    if (packet.type === 'publish') {
      this.#received.push(packet);
      if (this.#received.length >= MAX_WAITING) this.#socket.pause();
      this.#arrived();
    } else if (packet.type !== 'pingresp') {
      this.#answer?.resolve(packet);
    }
  }

  async #ask(request: Buffer): Promise<Packet> {
    if (this.#ended !== null) throw this.#failure(this.#ended);
    this.#answer = Promise.withResolvers<Packet>();
    this.#socket.write(request);
    return await this.#answer.promise;
  }

  /** Ends a connection whose other side is silent; while nothing is read, it can't be heard. */
  #ping(): void {
    this.#socket.write(PINGREQ);
    if (this.#socket.isPaused()) return;
    this.#pingsDue += 1;
    if (this.#pingsDue > 2) this.#end(new Error('the broker is silent'));
  }

  #end(error: Error): void {
    clearInterval(this.#pings);
    this.#ended ??= error;
    this.#socket.destroy();
    this.#answer?.reject(this.#failure(this.#ended));
    this.#arrived();
  }

  #failure(cause: Error): ServiceError {
    const explanation = message('ports.connection_failed', { host: this.#where, reason: cause.message });
    return new ServiceError('mqtt_connection_failed', explanation, { retryable: true, cause });
  }

  /** [3.2.2.3] */
  #refusal(code: number | null, isAnonymous: boolean): ServiceError {
    const host = this.#where;
    const about: Message =
      code === 2
        ? message('ports.mqtt_client_refused', { host })
        : message('ports.mqtt_refused', { host, code: code ?? -1 });
    if (code !== 4 && code !== 5) {
      return new ServiceError('mqtt_refused', about, { retryable: code === 3 });
    }
    const explanation = isAnonymous
      ? message('ports.sign_in_required', { host })
      : message('ports.sign_in_refused', { host });
    return new ServiceError('mqtt_auth_failed', explanation);
  }
}
