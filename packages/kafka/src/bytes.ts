/** What a broker sent isn't what the protocol says. */
export class KafkaProtocolError extends Error {
  override readonly name = 'KafkaProtocolError';
}

/** More than any request that is sent here asks for. */
const MAX_ITEMS = 100_000;

/** Writes the primitive types of the protocol, in its order of bytes. */
export class ByteWriter {
  readonly #parts: Buffer[] = [];

  int8(value: number): this {
    return this.raw(Buffer.from([value & 0xff]));
  }

  int16(value: number): this {
    const part = Buffer.allocUnsafe(2);
    part.writeInt16BE(value);
    return this.raw(part);
  }

  int32(value: number): this {
    const part = Buffer.allocUnsafe(4);
    part.writeInt32BE(value);
    return this.raw(part);
  }

  int64(value: number): this {
    const part = Buffer.allocUnsafe(8);
    part.writeBigInt64BE(BigInt(value));
    return this.raw(part);
  }

  string(value: string | null): this {
    if (value === null) return this.int16(-1);
    const text = Buffer.from(value);
    return this.int16(text.byteLength).raw(text);
  }

  bytes(value: Uint8Array | null): this {
    return value === null ? this.int32(-1) : this.int32(value.byteLength).raw(value);
  }

  array<Item>(items: readonly Item[], write: (item: Item) => void): this {
    this.int32(items.length);
    for (const item of items) write(item);
    return this;
  }

  /** Of variable length, as in records: small numbers of either sign take one byte. */
  varint(value: number): this {
    let rest = value >= 0 ? BigInt(value) * 2n : BigInt(value) * -2n - 1n;
    const part: number[] = [];
    for (; rest > 127n; rest >>= 7n) part.push(Number(rest & 127n) | 128);
    part.push(Number(rest));
    return this.raw(Buffer.from(part));
  }

  /** Bytes after their length, as in records. */
  varbytes(value: Uint8Array | null): this {
    return value === null ? this.varint(-1) : this.varint(value.byteLength).raw(value);
  }

  raw(part: Uint8Array): this {
    this.#parts.push(Buffer.from(part.buffer, part.byteOffset, part.byteLength));
    return this;
  }

  result(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Reads the primitive types of the protocol. Every method throws a KafkaProtocolError instead of reading past the end. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.byteLength - this.#at;
  }

  int8(): number {
    return this.#bytes.readInt8(this.#advance(1));
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#advance(2));
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#advance(4));
  }

  int64(): number {
    const value = Number(this.#bytes.readBigInt64BE(this.#advance(8)));
    if (!Number.isSafeInteger(value)) throw new KafkaProtocolError('a number is out of range');
    return value;
  }

  /** One that may be anything, such as a producer's id. */
  bigint(): bigint {
    return this.#bytes.readBigInt64BE(this.#advance(8));
  }

  string(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.raw(length).toString('utf8');
  }

  text(): string {
    return this.string() ?? '';
  }

  bytes(): Buffer | null {
    const length = this.int32();
    return length < 0 ? null : this.raw(length);
  }

  array<Item>(read: () => Item): Item[] {
    const count = this.int32();
    // Each item takes a byte at least, so a count alone can't fill the memory.
    if (count > this.left || count > MAX_ITEMS) throw new KafkaProtocolError(`a list of ${count} items`);
    return Array.from({ length: Math.max(0, count) }, read);
  }

  varint(): number {
    let value = 0;
    let factor = 1;
    for (let length = 1; ; length += 1) {
      const byte = this.#bytes[this.#advance(1)] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
      if (length === 8) throw new KafkaProtocolError('a number is out of range');
    }
    if (!Number.isSafeInteger(value)) throw new KafkaProtocolError('a number is out of range');
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  varbytes(): Buffer | null {
    const length = this.varint();
    return length < 0 ? null : this.raw(length);
  }

  /** A view, not a copy. */
  raw(length: number): Buffer {
    const from = this.#advance(length);
    return this.#bytes.subarray(from, from + length);
  }

  #advance(count: number): number {
    const from = this.#at;
    if (count < 0 || count > this.left) throw new KafkaProtocolError('an answer ends too early');
    this.#at += count;
    return from;
  }
}
