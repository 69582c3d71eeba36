/** The types of Kafka's protocol, for a broker in tests; written from the protocol's description, not from the client under test. */
export class Out {
  #bytes = Buffer.alloc(0);

  #add(size: number, write: (part: Buffer) => void): this {
    const part = Buffer.alloc(size);
    write(part);
    this.#bytes = Buffer.concat([this.#bytes, part]);
    return this;
  }

  i8 = (value: number): this => this.#add(1, (part) => part.writeInt8(value));
  i16 = (value: number): this => this.#add(2, (part) => part.writeInt16BE(value));
  i32 = (value: number): this => this.#add(4, (part) => part.writeInt32BE(value));
  i64 = (value: number | bigint): this => this.#add(8, (part) => part.writeBigInt64BE(BigInt(value)));

  str(value: string | null): this {
    if (value === null) return this.i16(-1);
    return this.i16(Buffer.byteLength(value)).put(Buffer.from(value));
  }

  blob(value: Buffer | null): this {
    return value === null ? this.i32(-1) : this.i32(value.length).put(value);
  }

  list<Item>(items: Iterable<Item>, write: (item: Item) => unknown): this {
    const all = [...items];
    this.i32(all.length);
    for (const item of all) write(item);
    return this;
  }

  put(value: Buffer): this {
    this.#bytes = Buffer.concat([this.#bytes, value]);
    return this;
  }

  /** Zigzag, seven bits a byte. */
  vint(value: number): this {
    let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
    while (rest >= 128n) {
      this.put(Buffer.from([Number(rest & 127n) + 128]));
      rest >>= 7n;
    }
    return this.put(Buffer.from([Number(rest)]));
  }

  vblob(value: Buffer | null): this {
    return value === null ? this.vint(-1) : this.vint(value.length).put(value);
  }

  done(): Buffer {
    return this.#bytes;
  }
}

export class In {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #step(size: number): number {
    this.#at += size;
    return this.#at - size;
  }

  i8 = (): number => this.#bytes.readInt8(this.#step(1));
  i16 = (): number => this.#bytes.readInt16BE(this.#step(2));
  i32 = (): number => this.#bytes.readInt32BE(this.#step(4));
  i64 = (): number => Number(this.#bytes.readBigInt64BE(this.#step(8)));

  str(): string | null {
    const length = this.i16();
    return length < 0 ? null : this.#bytes.toString('utf8', this.#step(length), this.#at);
  }

  blob(): Buffer | null {
    const length = this.i32();
    return length < 0 ? null : this.#bytes.subarray(this.#step(length), this.#at);
  }

  nullableList<Item>(read: () => Item): Item[] | null {
    const count = this.i32();
    return count < 0 ? null : Array.from({ length: count }, read);
  }

  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: Math.max(0, this.i32()) }, read);
  }
}

export interface TestRecord {
  readonly value: Buffer | string | null;
  readonly key?: Buffer | string | null;
  readonly headers?: readonly (readonly [string, Buffer | string])[];
}

export interface BatchOptions {
  readonly firstOffset: number;
  readonly timestamp: number;
  readonly codec?: number;
  readonly compress?: (bytes: Buffer) => Buffer;
  readonly producerId?: number;
  readonly isTransactional?: boolean;
  readonly isControl?: boolean;
  /** Messages that were there once and have been compacted away count as well. */
  readonly lastOffset?: number;
}

/** One batch of records as a broker stores it (format 2). Its checksum is left out. */
export function batchOf(records: readonly TestRecord[], options: BatchOptions): Buffer {
  const { firstOffset, timestamp, codec = 0, compress = (bytes: Buffer) => bytes } = options;
  const body = new Out();
  for (const [index, { value, key = null, headers = [] }] of records.entries()) {
    const record = new Out().i8(0).vint(0).vint(index).vblob(bytesOf(key)).vblob(bytesOf(value));
    record.vint(headers.length);
    for (const [name, content] of headers) record.vblob(Buffer.from(name)).vblob(bytesOf(content));
    body.vblob(record.done());
  }
  const attributes =
    codec + (options.isTransactional === true ? 16 : 0) + (options.isControl === true ? 32 : 0);
  const last = options.lastOffset ?? firstOffset + records.length - 1;
  const content = new Out()
    .i32(0)
    .i8(2)
    .i32(0)
    .i16(attributes)
    .i32(last - firstOffset)
    .i64(timestamp)
    .i64(timestamp)
    .i64(options.producerId ?? -1)
    .i16(0)
    .i32(0)
    .i32(records.length)
    .put(compress(body.done()))
    .done();
  return new Out().i64(firstOffset).i32(content.length).put(content).done();
}

function bytesOf(value: Buffer | string | null): Buffer | null {
  return typeof value === 'string' ? Buffer.from(value) : value;
}
