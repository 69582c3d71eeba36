import { isUtf8 } from 'node:buffer';
import { type JsonValue, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { exactNumber } from '../sql/result.ts';

/** Maximum bytes of what one node receives: anything larger wouldn't be a valid output either. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_ITEMS = 200_000;
const MAX_DEPTH = 16;
/** The longest line that isn't data: a number or an error. */
const MAX_LINE = 64 * 1024;

/** An answer of the server that is an error: `NOAUTH Authentication required.` */
export class RedisReplyError {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type RedisReply = JsonValue | RedisReplyError;

/** What arrived isn't Redis. */
export class RedisProtocolError extends Error {}

interface List {
  readonly items: JsonValue[];
  left: number;
}

/**
 * Reads replies (RESP 2) from bytes as they arrive. Texts that aren't UTF-8 become `{ "base64": ... }`, integers are exact.
 * @throws ServiceError `db_result_too_large`; RedisProtocolError
 */
export class ReplyReader {
  readonly #onReply: (reply: RedisReply) => void;
  #rest: Buffer = Buffer.alloc(0);
  #chunks: Buffer[] = [];
  #held = 0;
  #needed = 0;
  #bytes = 0;
  #items = 0;
  readonly #lists: List[] = [];

  constructor(onReply: (reply: RedisReply) => void) {
    this.#onReply = onReply;
  }

  take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_BYTES) throw tooLarge();
    this.#chunks.push(bytes);
    this.#held += bytes.length;
    // A long text is put together once, when all of it is there.
    if (this.#held < this.#needed) return;
    this.#rest = Buffer.concat([this.#rest, ...this.#chunks]);
    this.#chunks = [];
    let at = 0;
    for (;;) {
      const next = this.#read(at);
      if (next === null) break;
      at = next;
    }
    this.#needed = Math.max(0, this.#needed - this.#rest.length);
    this.#rest = this.#rest.subarray(at);
    this.#held = 0;
  }

  /** Reads one element. @returns where the next one begins; null if it isn't complete */
  #read(start: number): number | null {
    const end = this.#rest.indexOf('\r\n', start);
    this.#needed = 0;
    if (end < 0) {
      if (this.#rest.length - start > MAX_LINE) throw new RedisProtocolError('a line is too long');
      return null;
    }
    const line = this.#rest.toString('utf8', start + 1, end);
    const next = end + 2;
    switch (String.fromCharCode(this.#rest[start] ?? 0)) {
      case '+':
        this.#add(line);
        return next;
      case '-':
        this.#addError(line);
        return next;
      case ':':
        this.#add(exactNumber(line));
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
    if (length > MAX_BYTES) throw tooLarge();
    const end = start + length;
    if (this.#rest.length < end + 2) {
      this.#needed = end + 2;
      return null;
    }
    const bytes = this.#rest.subarray(start, end);
    this.#add(isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') });
    return end + 2;
  }

  #openList(length: number): void {
    if (length > MAX_ITEMS || this.#lists.length >= MAX_DEPTH) throw tooLarge();
    if (length > 0) this.#lists.push({ items: [], left: length });
    else this.#add(length < 0 ? null : []);
  }

  /** An error within a list (of a script) stands as text. */
  #addError(text: string): void {
    if (this.#lists.length > 0) this.#add(text);
    else this.#onReply(new RedisReplyError(text));
  }

  #add(value: JsonValue): void {
    this.#items += 1;
    if (this.#items > MAX_ITEMS) throw tooLarge();
    let done: JsonValue = value;
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

function lengthIn(line: string): number {
  if (!/^-?\d{1,15}$/.test(line)) throw new RedisProtocolError('a length is not a number');
  return Number(line);
}

function tooLarge(): ServiceError {
  return new ServiceError('db_result_too_large', message('ports.db_too_large', { max: MAX_BYTES }));
}
