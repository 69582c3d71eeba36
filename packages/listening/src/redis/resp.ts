/** A reply of the protocol RESP2. */
export type Reply = Buffer | number | null | ReplyError | readonly Reply[];

/** The server refuses a command. */
export class ReplyError extends Error {
  override readonly name = 'ReplyError';
}

/** What isn't RESP2, or larger than anything that was asked for. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const MAX_DEPTH = 8;
const MAX_ITEMS = 100_000;
const CR = 13;

/** A command as it is sent: a list of strings. */
export function encodeCommand(parts: readonly string[]): Buffer {
  const pieces = parts.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return Buffer.from(`*${parts.length}\r\n${pieces.join('')}`);
}

/** Reads replies from bytes as they arrive. */
export class ReplyReader {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** A reply isn't complete before there are so many bytes, so that a large one isn't read again with each of its pieces. */
  #needed = 0;

  /** @param maxBytes of one reply */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws ProtocolError */
  *push(piece: Buffer): Generator<Reply> {
    this.#pieces.push(piece);
    this.#length += piece.byteLength;
    while (this.#length > 0 && this.#length >= this.#needed) {
      const bytes = this.#pieces.length === 1 ? (this.#pieces[0] ?? piece) : Buffer.concat(this.#pieces);
      this.#pieces = [bytes];
      const read = parseReply(bytes, 0, 0);
      if ('needed' in read) {
        this.#needed = Math.max(read.needed, this.#length + 1);
        break;
      }
      this.#pieces = read.end === bytes.byteLength ? [] : [bytes.subarray(read.end)];
      this.#length = bytes.byteLength - read.end;
      this.#needed = 0;
      yield read.reply;
    }
    if (Math.max(this.#needed, this.#length) > this.#maxBytes)
      throw new ProtocolError(`a reply of more than ${this.#maxBytes} bytes`);
  }
}

type Read = { readonly reply: Reply; readonly end: number } | { readonly needed: number };

function parseReply(bytes: Buffer, start: number, depth: number): Read {
  const lineEnd = bytes.indexOf(CR, start);
  if (lineEnd < 0 || lineEnd + 2 > bytes.byteLength) return { needed: bytes.byteLength + 1 };
  const kind = String.fromCharCode(bytes[start] ?? 0);
  const line = bytes.subarray(start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (kind) {
    case '+':
      return { reply: line, end };
    case '-':
      return { reply: new ReplyError(line.toString('utf8').slice(0, 300)), end };
    case ':':
      return { reply: Number(line.toString('latin1')), end };
    case '$': {
      const length = lengthOf(line);
      if (length < 0) return { reply: null, end };
      if (end + length + 2 > bytes.byteLength) return { needed: end + length + 2 };
      return { reply: bytes.subarray(end, end + length), end: end + length + 2 };
    }
    case '*':
      return parseList(bytes, end, lengthOf(line), depth);
    default:
      throw new ProtocolError('something that is not RESP');
  }
}

function parseList(bytes: Buffer, start: number, length: number, depth: number): Read {
  if (length < 0) return { reply: null, end: start };
  if (depth >= MAX_DEPTH || length > MAX_ITEMS) throw new ProtocolError('a reply with too many parts');
  const items: Reply[] = [];
  let at = start;
  for (let index = 0; index < length; index += 1) {
    const read = parseReply(bytes, at, depth + 1);
    if ('needed' in read) return read;
    items.push(read.reply);
    at = read.end;
  }
  return { reply: items, end: at };
}

function lengthOf(line: Buffer): number {
  const length = Number(line.toString('latin1'));
  if (!Number.isSafeInteger(length) || length < -1) throw new ProtocolError('a length that is no number');
  return length;
}
