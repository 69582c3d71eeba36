/** Types of messages (MS-TDS 2.2.3.1.1). */
export const MESSAGE = { batch: 1, call: 3, answer: 4, attention: 6, signIn: 16, preLogin: 18 } as const;

export const PACKET_BYTES = 4096;
const HEADER_BYTES = 8;
const PAYLOAD_BYTES = PACKET_BYTES - HEADER_BYTES;
const END_OF_MESSAGE = 1;
const NOTHING = Buffer.alloc(0);

/** What was received isn't the protocol. */
export class ProtocolError extends Error {}

/** A message as packets; an empty one is a header. */
export function packetsOf(type: number, payload: Buffer): Buffer {
  const packets: Buffer[] = [];
  for (let at = 0; at === 0 || at < payload.length; at += PAYLOAD_BYTES) {
    const part = payload.subarray(at, at + PAYLOAD_BYTES);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt8(type, 0);
    header.writeUInt8(at + PAYLOAD_BYTES >= payload.length ? END_OF_MESSAGE : 0, 1);
    header.writeUInt16BE(HEADER_BYTES + part.length, 2);
    header.writeUInt8((packets.length / 2 + 1) % 256, 6);
    packets.push(header, part);
  }
  return Buffer.concat(packets);
}

/** Takes the headers away, without waiting for whole packets. */
export class PacketReader {
  readonly #types: readonly number[];
  #header = NOTHING;
  #left = 0;
  #endsMessage = false;

  /** @param types of messages that are expected */
  constructor(types: readonly number[]) {
    this.#types = types;
  }

  /** @throws ProtocolError */
  read(chunk: Buffer, take: (payload: Buffer, endsMessage: boolean) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        const part = chunk.subarray(at, at + HEADER_BYTES - this.#header.length);
        at += part.length;
        this.#header = Buffer.concat([this.#header, part]);
        if (this.#header.length < HEADER_BYTES) return;
        this.#start(this.#header);
        this.#header = NOTHING;
        if (this.#left === 0) take(NOTHING, this.#endsMessage);
        continue;
      }
      const piece = chunk.subarray(at, at + this.#left);
      at += piece.length;
      this.#left -= piece.length;
      take(piece, this.#left === 0 && this.#endsMessage);
    }
  }

  #start(header: Buffer): void {
    const length = header.readUInt16BE(2);
    if (!this.#types.includes(header.readUInt8(0)) || length < HEADER_BYTES) {
      throw new ProtocolError("the other side doesn't speak SQL Server's protocol (TDS)");
    }
    this.#left = length - HEADER_BYTES;
    this.#endsMessage = (header.readUInt8(1) & END_OF_MESSAGE) !== 0;
  }
}
