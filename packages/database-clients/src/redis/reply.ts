/** The longest line that isn't data: a number or an error. */
const MAX_LINE = 64 * 1024;

/** An answer of the server that is an error: `NOAUTH Authentication required.` */
export class RedisReplyError extends Error {
  override readonly name = 'RedisReplyError';
}

/** What arrived isn't Redis, or more than is taken. */
export class RedisProtocolError extends Error {
  override readonly name = 'RedisProtocolError';
}

/** Texts as they were sent, integers as their digits. */
export type RedisReply = Buffer | string | null | RedisReplyError | readonly RedisReply[];

export interface ReplyLimits {
  /** Of one reply, or of all replies of a connection together. */
  readonly bytes: number;
  readonly bytesOf: 'reply' | 'connection';
  /** Of one list. */
  readonly listItems: number;
  /** Of all replies of a connection together. */
  readonly items?: number;
  readonly depth: number;
  readonly tooLarge: () => Error;
}

interface List {
  readonly items: RedisReply[];
  left: number;
}

/**
 * Reads replies (RESP 2) from bytes as they arrive.
 * @throws RedisProtocolError; what its limits throw
 */
export class ReplyReader {
  readonly #limits: ReplyLimits;
  readonly #onReply: (reply: RedisReply) => void;
  #rest: Buffer = Buffer.alloc(0);
  #chunks: Buffer[] = [];
  #held = 0;
  #needed = 0;
  #bytes = 0;
  #items = 0;
  readonly #lists: List[] = [];

  constructor(limits: ReplyLimits, onReply: (reply: RedisReply) => void) {
    this.#limits = limits;
    this.#onReply = onReply;
  }

  take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    const isPerReply = this.#limits.bytesOf === 'reply';
    if (!isPerReply && this.#bytes > this.#limits.bytes) throw this.#limits.tooLarge();
    this.#chunks.push(bytes);
    this.#held += bytes.length;
    // A long text is put together once, when all of it is there.
    if (this.#held >= this.#needed) {
      this.#rest = Buffer.concat([this.#rest, ...this.#chunks]);
      this.#chunks = [];
      const at = this.#readAll();
      this.#needed = Math.max(0, this.#needed - this.#rest.length);
      this.#rest = this.#rest.subarray(at);
      this.#held = 0;
    }
    if (isPerReply && this.#bytes > this.#limits.bytes) throw this.#limits.tooLarge();
  }

  /** @returns where what isn't complete begins */
  #readAll(): number {
    let at = 0;
    for (;;) {
      const next = this.#read(at);
      if (next === null) return at;
      at = next;
      if (this.#lists.length === 0 && this.#limits.bytesOf === 'reply') this.#bytes = this.#rest.length - at;
    }
  }

  /** Reads one element. @returns where the next one begins; null if it isn't complete */
  #read(start: number): number | null {
    const end = this.#rest.indexOf('\r\n', start);
    this.#needed = 0;
    if (end < 0) {
      if (this.#rest.length - start > MAX_LINE) throw new RedisProtocolError('a line is too long');
      return null;
    }
    const line = this.#rest.subarray(start + 1, end);
    const next = end + 2;
    switch (String.fromCharCode(this.#rest[start] ?? 0)) {
      case '+':
        this.#add(line);
        return next;
      case '-':
        this.#add(new RedisReplyError(line.toString()));
        return next;
      case ':':
        this.#add(line.toString());
        return next;
      case '$':
        return this.#readText(lengthIn(line), next);
      case '*':
        this.#openList(lengthIn(line));
        return next;
      default:
        throw new RedisProtocolError('an answer begins in an unknown way');
    }
  }

  #readText(length: number, start: number): number | null {
    if (length < 0) {
      this.#add(null);
      return start;
    }
    if (length > this.#limits.bytes) throw this.#limits.tooLarge();
    const end = start + length;
    if (this.#rest.length < end + 2) {
      this.#needed = end + 2;
      return null;
    }
    this.#add(this.#rest.subarray(start, end));
    return end + 2;
  }

  #openList(length: number): void {
    const { listItems, depth, tooLarge } = this.#limits;
    if (length > listItems || this.#lists.length >= depth) throw tooLarge();
    if (length > 0) this.#lists.push({ items: [], left: length });
    else this.#add(length < 0 ? null : []);
  }

  #add(value: RedisReply): void {
    this.#items += 1;
    if (this.#items > (this.#limits.items ?? Number.POSITIVE_INFINITY)) throw this.#limits.tooLarge();
    let done: RedisReply = value;
    for (;;) {
      const list = this.#lists.at(-1);
      if (list === undefined) {
        this.#onReply(done);
        return;
      }
      list.items.push(done);
      list.left -= 1;
      if (list.left > 0) return;
      this.#lists.pop();
      done = list.items;
    }
  }
}

function lengthIn(line: Buffer): number {
  const text = line.toString();
  if (!/^-?\d{1,15}$/.test(text)) throw new RedisProtocolError('a length is not a number');
  return Number(text);
}
