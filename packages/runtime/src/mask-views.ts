import type { Meter, Work } from '@millrace/engine';
import { type Ranges, STRIDE } from './mask-search.ts';

type DataEncoding = 'base64' | 'hex';

/** A text to be searched under several decodings. */
export interface Source {
  readonly bytes: Buffer;
  /** Start and end of each run of an encoding's characters that is long enough to contain a secret. */
  readonly runs: { readonly [Name in DataEncoding]: readonly number[] };
}

/** A text with one encoding undone. Unrelated parts are separated by a byte that never occurs in UTF-8, so no match spans two of them. */
export interface View {
  /** The decoded bytes; null if there is nothing to decode. */
  readonly open: (
    source: Source,
    limits: ViewLimits,
    spans: Spans | null,
    meter: Meter,
  ) => Work<Buffer | null>;
  /** Whether its output is arbitrary bytes, in which short secrets would be found by chance. */
  readonly isBinary: boolean;
}

export interface ViewLimits {
  /** Length in bytes of the shortest secret searched for in encoded data. */
  readonly shortest: number;
  /** Bytes on either side of an escape that may be part of the same secret. */
  readonly reach: number;
}

/** Which bytes of the source each byte of a view was decoded from. */
export interface Spans {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

const APART = 0xff;
const PADDING = 0x3d;

/** Maps ranges of a view to ranges of the source. */
export function rangesIn(ranges: Ranges, { starts, ends }: Spans): Ranges {
  return ranges.map((at, index) => (index % 2 === 0 ? starts[at] : ends[at - 1]) as number);
}

// ---- escapes: a text in which some characters are written differently

/** The UTF-8 an escape represents. */
const decoded = new Uint8Array(4);

/** Reads the escape at a position into `decoded`. @returns 8 times its length + the number of bytes it represents; 0 if it isn't one */
type ReadEscape = (source: Uint8Array, at: number) => number;

function escapes(lead: string, read: ReadEscape): View {
  const leadByte = lead.charCodeAt(0);
  return {
    isBinary: false,
    *open({ bytes: source }, { reach }, spans, meter) {
      let at = source.indexOf(leadByte);
      if (at < 0) return null;
      const out = new ViewWriter(source, reach, spans);
      for (let looked = 0; at >= 0; ) {
        if (at - looked >= STRIDE) {
          looked = at;
          yield meter.take();
        }
        const found = read(source, at);
        if (found > 0) out.put(at, found >> 3, found & 7);
        // In a text full of escapes the next lead byte is usually near: calling indexOf costs more than scanning.
        let next = at + Math.max(1, found >> 3);
        const near = Math.min(next + 64, source.length);
        while (next < near && source[next] !== leadByte) next += 1;
        at = next < near ? next : source.indexOf(leadByte, next);
      }
      meter.spendText(source.length);
      if (meter.isDue) yield meter.take();
      return out.end();
    },
  };
}

/** Writes decoded escapes and as much of their surroundings as matters. */
class ViewWriter {
  readonly #source: Buffer;
  readonly #reach: number;
  readonly #spans: Spans | null;
  #out: Buffer | null = null;
  #length = 0;
  /** How much of the source has been processed. */
  #done = 0;

  constructor(source: Buffer, reach: number, spans: Spans | null) {
    this.#source = source;
    this.#reach = reach;
    this.#spans = spans;
  }

  put(at: number, length: number, count: number): void {
    if (this.#out === null) {
      this.#out = Buffer.allocUnsafe(this.#source.length);
      this.#done = Math.max(0, at - this.#reach);
    } else if (at - this.#done > 2 * this.#reach) {
      this.#copy(this.#done + this.#reach);
      this.#out[this.#length] = APART;
      this.#length += 1;
      this.#done = at - this.#reach;
    }
    this.#copy(at);
    for (let index = 0; index < count; index += 1) {
      this.#out[this.#length] = decoded[index] as number;
      this.#note(at, at + length);
    }
    this.#done = at + length;
  }

  end(): Buffer | null {
    if (this.#out === null) return null;
    this.#copy(Math.min(this.#source.length, this.#done + this.#reach));
    return this.#out.subarray(0, this.#length);
  }

  #copy(end: number): void {
    const out = this.#out as Buffer;
    if (this.#spans === null) {
      const count = end - this.#done;
      if (count > 32) this.#source.copy(out, this.#length, this.#done, end);
      else
        for (let at = 0; at < count; at += 1)
          out[this.#length + at] = this.#source[this.#done + at] as number;
      this.#length += count;
    } else {
      for (let at = this.#done; at < end; at += 1) {
        out[this.#length] = this.#source[at] as number;
        this.#note(at, at + 1);
      }
    }
    this.#done = end;
  }

  #note(start: number, end: number): void {
    if (this.#spans !== null) {
      this.#spans.starts[this.#length] = start;
      this.#spans.ends[this.#length] = end;
    }
    this.#length += 1;
  }
}

/** Encodes a code point as UTF-8 into `decoded`; a lone surrogate as Node writes it. */
function decodeAs(codePoint: number): number {
  if (codePoint < 0x80) {
    decoded[0] = codePoint;
    return 1;
  }
  const isHalf = codePoint >= 0xd800 && codePoint <= 0xdfff;
  const text = isHalf || codePoint > 0x10ffff ? '\ufffd' : String.fromCodePoint(codePoint);
  const bytes = Buffer.from(text, 'utf8');
  decoded.set(bytes);
  return bytes.length;
}

function hexDigit(byte: number | undefined): number {
  return byte === undefined ? -1 : (HEX[byte] as number);
}

/** The value of hexadecimal digits, or -1. */
function hexNumber(source: Uint8Array, at: number, count: number): number {
  let number = 0;
  for (let index = 0; index < count; index += 1) {
    const digit = hexDigit(source[at + index]);
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
}

const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(char(byte).toLowerCase()),
);

function char(byte: number): string {
  return String.fromCharCode(byte);
}

/** `%2F` in URLs and forms. */
const readPercent: ReadEscape = (source, at) => {
  const byte = hexNumber(source, at + 1, 2);
  if (byte < 0) return 0;
  decoded[0] = byte;
  return (3 << 3) + 1;
};

const LETTERS: { readonly [letter: string]: number } = { b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
/** What a backslash followed by this byte represents; -1 if that isn't an escape. */
const SHORT = Int16Array.from({ length: 256 }, (_, byte) => {
  const letter = char(byte);
  return '"\'\\/`'.includes(letter) ? byte : (LETTERS[letter] ?? -1);
});

/** `\n`, `\/`, `\u00e9`, `\xe9` in JSON and in source code. */
const readBackslash: ReadEscape = (source, at) => {
  const letter = source[at + 1];
  if (letter === 0x75) return readUnicode(source, at);
  if (letter === 0x78) {
    const code = hexNumber(source, at + 2, 2);
    return code < 0 ? 0 : (4 << 3) + decodeAs(code);
  }
  const short = letter === undefined ? -1 : (SHORT[letter] as number);
  return short < 0 ? 0 : (2 << 3) + decodeAs(short);
};

function readUnicode(source: Uint8Array, at: number): number {
  const unit = hexNumber(source, at + 2, 4);
  if (unit < 0) return 0;
  if (unit >= 0xd800 && unit <= 0xdbff && source[at + 6] === 0x5c && source[at + 7] === 0x75) {
    const low = hexNumber(source, at + 8, 4);
    if (low >= 0xdc00 && low <= 0xdfff) {
      return (12 << 3) + decodeAs(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
    }
  }
  return (6 << 3) + decodeAs(unit);
}

const NAMED = [
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
].map(([name = '', character = '']) => ({ name: Buffer.from(name), code: character.charCodeAt(0) }));
const MAX_REFERENCE_DIGITS = 8;

/** `&amp;` and `&#39;` in HTML and XML. */
const readReference: ReadEscape = (source, at) => {
  if (source[at + 1] !== 0x23) {
    const named = NAMED.find(({ name }) => name.every((byte, index) => source[at + index] === byte));
    return named === undefined ? 0 : (named.name.length << 3) + decodeAs(named.code);
  }
  const isHex = ((source[at + 2] ?? 0) | 0x20) === 0x78;
  const from = at + (isHex ? 3 : 2);
  let code = 0;
  let end = from;
  for (; end - from < MAX_REFERENCE_DIGITS; end += 1) {
    const digit = hexDigit(source[end]);
    if (digit < 0 || (!isHex && digit > 9)) break;
    code = code * (isHex ? 16 : 10) + digit;
  }
  return end === from || source[end] !== 0x3b ? 0 : ((end + 1 - at) << 3) + decodeAs(code);
};

// ---- runs: bytes written in another alphabet

/** Base64 in both alphabets. */
const SIXES = Int8Array.from({ length: 256 }, (_, byte) =>
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.indexOf(
    { '-': '+', _: '/' }[char(byte)] ?? char(byte),
  ),
);

const LETTERS_OF: { readonly [Name in DataEncoding]: { readonly values: Int8Array; readonly bits: number } } =
  {
    base64: { values: SIXES, bits: 6 },
    hex: { values: HEX, bits: 4 },
  };
/** Shorter runs are decoded here: calling the buffer's own decoder costs more. */
const LONG_RUN = 48;

/** Finds the runs in which encoded secrets may be. */
export function* sourceOf(bytes: Buffer, limits: ViewLimits, meter: Meter): Work<Source> {
  const base64 = yield* runsIn(bytes, 'base64', limits, meter);
  const hex = yield* runsIn(bytes, 'hex', limits, meter);
  return { bytes, runs: { base64, hex } };
}

/** Most of a text is never read here, because runs are looked for from their last character backwards. */
function* runsIn(
  bytes: Buffer,
  encoding: DataEncoding,
  { shortest }: ViewLimits,
  meter: Meter,
): Work<number[]> {
  const least = leastLetters(encoding, shortest);
  const isLetter = IS_LETTER[encoding];
  const runs: number[] = [];
  let start = 0;
  for (let until = STRIDE; start + least <= bytes.length; until += STRIDE) {
    start = findRuns(bytes, isLetter, least, [start, until], runs);
    meter.spendText(Math.min(STRIDE, bytes.length));
    if (meter.isDue) yield meter.take();
  }
  return runs;
}

/** Adds the runs that begin in a piece. @returns where the next one begins */
function findRuns(
  bytes: Buffer,
  isLetter: Uint8Array,
  least: number,
  [from, until]: readonly [number, number],
  runs: number[],
): number {
  let start = from;
  while (start < until && start + least <= bytes.length) {
    let at = start + least - 1;
    while (at >= start && isLetter[bytes[at] as number] === 1) at -= 1;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + least;
    while (end < bytes.length && isLetter[bytes[end] as number] === 1) end += 1;
    runs.push(start, end);
    start = end + 1;
  }
  return start;
}

/** The alphabet, and the line breaks that mail inserts. */
const IS_LETTER: { readonly [Name in DataEncoding]: Uint8Array } = {
  base64: Uint8Array.from(SIXES, lettersAndBreaks),
  hex: Uint8Array.from(HEX, lettersAndBreaks),
};

function lettersAndBreaks(value: number, byte: number): number {
  return value >= 0 || byte === 0x0a || byte === 0x0d ? 1 : 0;
}

function leastLetters(encoding: DataEncoding, bytes: number): number {
  return Math.ceil((bytes * 8) / LETTERS_OF[encoding].bits);
}

/**
 * Data in which each character encodes a few bits.
 * @param skip how many characters of each run to skip: the data may start at any of the first ones
 */
function data(encoding: DataEncoding, skip: number): View {
  return {
    isBinary: true,
    *open({ bytes, runs: { [encoding]: runs } }, _limits, spans, meter) {
      if (runs.length === 0) return null;
      const out = Buffer.allocUnsafe(bytes.length + 1);
      let length = 0;
      for (let at = 0; at < runs.length; at += 2) {
        const [start, end] = [runs[at] as number, runs[at + 1] as number];
        const isLong = end - start >= LONG_RUN && spans === null && isUnbroken(bytes, start, end);
        const reader = isLong ? null : new RunReader(encoding, skip, { to: out, length, spans });
        const first = isLong ? start + skip : start;
        for (let from = first; from < end; from += STRIDE) {
          const until = Math.min(from + STRIDE, end);
          if (reader !== null) length = reader.read(bytes, from, until);
          // A piece is a multiple of four characters, so each begins with a byte.
          else length += out.write(bytes.toString('latin1', from, until), length, encoding);
          meter.spendText(until - from);
          if (meter.isDue) yield meter.take();
        }
        reader?.end(bytes, end);
        out[length] = APART;
        length += 1;
      }
      return out.subarray(0, length);
    },
  };
}

interface Decoded {
  readonly to: Buffer;
  readonly length: number;
  readonly spans: Spans | null;
}

/** Decodes a run character by character: one with line breaks, a short one, or one whose spans are wanted. */
class RunReader {
  readonly #values: Int8Array;
  readonly #bits: number;
  readonly #to: Buffer;
  readonly #spans: Spans | null;
  readonly #before: number;
  #length: number;
  #pending = 0;
  #pendingBits = 0;
  #begin = 0;
  /** Characters still to skip. */
  #left: number;

  constructor(encoding: DataEncoding, skip: number, { to, length, spans }: Decoded) {
    const { values, bits } = LETTERS_OF[encoding];
    this.#values = values;
    this.#bits = bits;
    this.#left = skip;
    this.#to = to;
    this.#spans = spans;
    this.#before = length;
    this.#length = length;
  }

  /** Reads a piece, which follows the one before it. @returns the new length of what is decoded */
  read(from: Buffer, first: number, last: number): number {
    const [values, bits, to, spans] = [this.#values, this.#bits, this.#to, this.#spans];
    let [length, pending, pendingBits] = [this.#length, this.#pending, this.#pendingBits];
    let [begin, left] = [this.#begin, this.#left];
    for (let at = first; at < last; at += 1) {
      const value = values[from[at] as number] as number;
      if (value < 0) continue;
      if (left > 0) {
        left -= 1;
        continue;
      }
      if (pendingBits === 0) begin = at;
      pending = (pending << bits) | value;
      pendingBits += bits;
      if (pendingBits < 8) continue;
      pendingBits -= 8;
      to[length] = pending >> pendingBits;
      if (spans !== null) {
        spans.starts[length] = begin;
        spans.ends[length] = at + 1;
      }
      length += 1;
      pending &= (1 << pendingBits) - 1;
      begin = at;
    }
    this.#length = length;
    this.#pending = pending;
    this.#pendingBits = pendingBits;
    this.#begin = begin;
    this.#left = left;
    return length;
  }

  /** Padding belongs to the last byte. */
  end(from: Buffer, last: number): void {
    const spans = this.#spans;
    if (spans === null || this.#length === this.#before) return;
    for (let at = last; from[at] === PADDING; at += 1) spans.ends[this.#length - 1] = at + 1;
  }
}

function isUnbroken(bytes: Buffer, start: number, end: number): boolean {
  const stretch = bytes.subarray(start, end);
  return !stretch.includes(0x0a) && !stretch.includes(0x0d);
}

/** Every encoding that masking sees through. */
export const VIEWS: readonly View[] = [
  escapes('%', readPercent),
  escapes('\\', readBackslash),
  escapes('&', readReference),
  ...[0, 1, 2, 3].map((skip) => data('base64', skip)),
  ...[0, 1].map((skip) => data('hex', skip)),
];
