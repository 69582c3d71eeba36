/** A part of a parser: it asks for a number of bytes and goes on when they are there. */
export type Reading<Value> = Generator<number, Value, Buffer>;

/** What is asked for at once, so that little is copied when it arrives in small pieces. */
const PIECE_BYTES = 16 * 1024;

/** Runs a parser that never ends on what arrives. */
export class Feed {
  readonly #parser: Reading<never>;
  #wanted: number;
  #rest = Buffer.alloc(0);

  constructor(parser: Reading<never>) {
    this.#parser = parser;
    this.#wanted = parser.next().value;
  }

  /** Whether everything that arrived has been read. */
  get isEmpty(): boolean {
    return this.#rest.length === 0;
  }

  push(bytes: Buffer): void {
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    while (data.length - at >= this.#wanted) {
      const end = at + this.#wanted;
      this.#wanted = this.#parser.next(data.subarray(at, end)).value;
      at = end;
    }
    // A copy: the rest of a packet would keep all of it.
    this.#rest = Buffer.from(data.subarray(at));
  }
}

export function* u8(): Reading<number> {
  return (yield 1).readUInt8(0);
}

export function* u16(): Reading<number> {
  return (yield 2).readUInt16LE(0);
}

export function* u32(): Reading<number> {
  return (yield 4).readUInt32LE(0);
}

export function* i32(): Reading<number> {
  return (yield 4).readInt32LE(0);
}

export function* u64(): Reading<bigint> {
  return (yield 8).readBigUInt64LE(0);
}

/** UTF-16 with its number of characters before it, in one byte (B_VARCHAR) or two (US_VARCHAR). */
export function* shortText(): Reading<string> {
  return (yield 2 * (yield* u8())).toString('utf16le');
}

export function* longText(): Reading<string> {
  return (yield* bytes(2 * (yield* u16()))).toString('utf16le');
}

export function* bytes(length: number): Reading<Buffer> {
  if (length <= PIECE_BYTES) return Buffer.from(yield length);
  const pieces: Buffer[] = [];
  for (let left = length; left > 0; left -= PIECE_BYTES) {
    pieces.push(Buffer.from(yield Math.min(left, PIECE_BYTES)));
  }
  return Buffer.concat(pieces);
}

export function* skip(length: number): Reading<void> {
  for (let left = length; left > 0; left -= PIECE_BYTES) yield Math.min(left, PIECE_BYTES);
}
