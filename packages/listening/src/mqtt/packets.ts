import { ByteQueue } from '@millrace/egress/byte-queue';

/** What a subscriber needs of MQTT 3.1.1 (OASIS standard, sections in brackets). */

export type Packet =
  | { readonly type: 'connack'; readonly code: number }
  | {
      readonly type: 'publish';
      readonly topic: string;
      readonly payload: Buffer;
      /** Of the whole payload, of which there is less if it was too large. */
      readonly size: number;
      readonly qos: number;
      readonly isDuplicate: boolean;
      readonly isRetained: boolean;
      /** 0 with QoS 0. */
      readonly packetId: number;
    }
  | { readonly type: 'suback'; readonly codes: readonly number[] }
  | { readonly type: 'pingresp' };

/** The broker sends what isn't MQTT 3.1.1. */
export class MqttProtocolError extends Error {
  override readonly name = 'MqttProtocolError';
}

/** [3.1] With a session that the broker keeps. */
export function encodeConnect(options: {
  readonly clientId: string;
  readonly username: string | null;
  readonly password: string | null;
  readonly keepAliveS: number;
}): Buffer {
  const { clientId, username, password, keepAliveS } = options;
  // [3.1.2.9] A password needs a user name.
  const user = username ?? (password === null ? null : '');
  const flags = (user === null ? 0 : 0x80) | (password === null ? 0 : 0x40);
  const header = Buffer.from([...text('MQTT'), 4, flags, keepAliveS >> 8, keepAliveS & 0xff]);
  const given = [clientId, user, password].filter((each) => each !== null);
  return encode(0x10, Buffer.concat([header, ...given.map(text)]));
}

/** [3.8] With QoS 1. */
export function encodeSubscribe(packetId: number, topics: readonly string[]): Buffer {
  const filters = topics.flatMap((topic) => [text(topic), Buffer.from([1])]);
  return encode(0x82, Buffer.concat([number(packetId), ...filters]));
}

/** [3.4] */
export function encodePuback(packetId: number): Buffer {
  return encode(0x40, number(packetId));
}

/** [3.12] */
export const PINGREQ = Buffer.from([0xc0, 0]);
/** [3.14] The broker keeps the session. */
export const DISCONNECT = Buffer.from([0xe0, 0]);

function encode(first: number, body: Buffer): Buffer {
  const length: number[] = [];
  for (let left = body.byteLength; ; left >>= 7) {
    if (left < 0x80) {
      length.push(left);
      break;
    }
    length.push((left & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([first, ...length]), body]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number(bytes.byteLength), bytes]);
}

function number(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** Reads packets from bytes as they arrive. Of one that is too large, only the beginning is kept. */
export class PacketReader {
  readonly #maxBytes: number;
  readonly #received = new ByteQueue();
  /** Bytes of a packet that is too large, which are passed over. */
  #skipped = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws MqttProtocolError */
  *push(piece: Buffer): Generator<Packet> {
    const passed = Math.min(this.#skipped, piece.byteLength);
    this.#skipped -= passed;
    this.#received.push(piece.subarray(passed));
    for (;;) {
      const header = this.#header();
      if (header === null) return;
      const { first, start, size } = header;
      const kept = Math.min(size, this.#maxBytes);
      if (this.#received.length < start + kept) return;
      this.#received.take(start);
      const body = this.#received.take(kept);
      const more = size - kept;
      this.#skipped = more - this.#received.take(more).byteLength;
      const packet = decode(first, body, size);
      if (packet !== null) yield packet;
    }
  }

  /** [2.2] Null until it is complete. */
  #header(): { readonly first: number; readonly start: number; readonly size: number } | null {
    if (this.#received.length < 2) return null;
    const bytes = this.#received.peek(5);
    let size = 0;
    for (let at = 1; at <= 4; at += 1) {
      const byte = bytes[at];
      if (byte === undefined) return null;
      size += (byte & 0x7f) << (7 * (at - 1));
      if (byte < 0x80) return { first: bytes[0] ?? 0, start: at + 1, size };
    }
    throw new MqttProtocolError('a length of more than four bytes');
  }
}

/** Null for what a subscriber doesn't wait for. */
function decode(first: number, body: Buffer, size: number): Packet | null {
  switch (first >> 4) {
    case 2:
      return { type: 'connack', code: body[1] ?? 255 };
    case 3:
      return decodePublish(first, body, size);
    case 9:
      return { type: 'suback', codes: [...body.subarray(2)] };
    case 13:
      return { type: 'pingresp' };
    default:
      return null;
  }
}

/** [3.3] */
function decodePublish(first: number, body: Buffer, size: number): Packet {
  const qos = (first >> 1) & 3;
  const topicEnd = 2 + (body.byteLength >= 2 ? body.readUInt16BE(0) : body.byteLength);
  const start = topicEnd + (qos === 0 ? 0 : 2);
  if (start > body.byteLength || qos > 1)
    throw new MqttProtocolError('a PUBLISH that is not what was subscribed to');
  return {
    type: 'publish',
    topic: body.toString('utf8', 2, topicEnd),
    payload: body.subarray(start),
    size: size - start,
    qos,
    isDuplicate: (first & 8) !== 0,
    isRetained: (first & 1) !== 0,
    packetId: qos === 0 ? 0 : body.readUInt16BE(topicEnd),
  };
}
