import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from './json.ts';
import { type Meter, stepsToRead, type Work } from './work.ts';

/** Maximum nesting of a value that is stored and written; far above any limit for requests. */
export const MAX_VALUE_DEPTH = 1_000;

export type SizeVerdict = 'fits' | 'too_large' | 'too_deep';

/**
 * Bytes of large values that were measured: outputs are measured when they are checked, counted and stored, and values never change.
 */
const measured = new WeakMap<object, number>();
/** Smaller ones are measured faster than they are remembered. */
const REMEMBERED_BYTES = 64 * 1024;

/**
 * Whether a value's JSON text has at most `maxBytes` UTF-8 bytes. Stops at the limit, so a value that contains one part many times, or
 * itself, costs no more than one of `maxBytes`.
 */
export function checkJsonSize(value: JsonValue, maxBytes: number): SizeVerdict {
  const known = knownBytes(value);
  if (known !== undefined) return known <= maxBytes ? 'fits' : 'too_large';
  // Nearly every value passes the cheap upper bound; only the rest is counted exactly.
  const bound = new Measure(value, maxBytes, upperBoundOfString).finish();
  const size = bound === 'too_large' ? jsonBytes(value, maxBytes) : bound;
  return typeof size === 'number' ? 'fits' : size;
}

/** UTF-8 bytes of a value's JSON text, if at most `maxBytes`. */
export function jsonBytes(value: JsonValue, maxBytes: number): number | Exclude<SizeVerdict, 'fits'> {
  const known = knownBytes(value);
  if (known !== undefined) return known <= maxBytes ? known : 'too_large';
  const bytes = new Measure(value, maxBytes, bytesOfString).finish();
  remember(value, bytes);
  return bytes;
}

/** Values that take fewer steps to read aren't measured in advance. */
const SMALL_STEPS = 2_000;
/** Values looked at between two looks at the meter. */
const STRIDE = 500;

/** Measures a large value in pieces, so that {@link jsonBytes} and {@link checkJsonSize} needn't. Stops at `maxBytes`. */
export function* measureWork(value: JsonValue, maxBytes: number, meter: Meter): Work<void> {
  if (knownBytes(value) !== undefined || stepsToRead(value, SMALL_STEPS) < SMALL_STEPS) return;
  const measure = new Measure(value, maxBytes, bytesOfString);
  while (!measure.advance(STRIDE)) {
    meter.spend(STRIDE);
    meter.spendText(measure.takeCharacters());
    if (meter.isDue) yield meter.take();
  }
  remember(value, measure.finish());
}

function knownBytes(value: JsonValue): number | undefined {
  return typeof value === 'object' && value !== null ? measured.get(value) : undefined;
}

function remember(value: JsonValue, bytes: number | string): void {
  const isLarge = typeof bytes === 'number' && bytes >= REMEMBERED_BYTES;
  if (isLarge && typeof value === 'object' && value !== null) measured.set(value, bytes);
}

interface Frame {
  readonly values: readonly JsonValue[];
  next: number;
}

/** Goes through a value without recursion. */
class Measure {
  readonly #maxBytes: number;
  readonly #sizeOfString: (text: string) => number;
  readonly #stack: Frame[];
  #bytes = 0;
  #characters = 0;
  #fault: Exclude<SizeVerdict, 'fits'> | null = null;

  constructor(value: JsonValue, maxBytes: number, sizeOfString: (text: string) => number) {
    this.#maxBytes = maxBytes;
    this.#sizeOfString = sizeOfString;
    this.#stack = [{ values: [value], next: 0 }];
  }

  finish(): number | Exclude<SizeVerdict, 'fits'> {
    this.advance(Number.POSITIVE_INFINITY);
    return this.#fault ?? this.#bytes - 1;
  }

  /** Characters of texts since it was last asked. */
  takeCharacters(): number {
    const characters = this.#characters;
    this.#characters = 0;
    return characters;
  }

  /** Looks at so many values. @returns whether that was the end */
  advance(count: number): boolean {
    const stack = this.#stack;
    for (let left = count; left > 0 && this.#fault === null; left -= 1) {
      const frame = stack.at(-1);
      if (frame === undefined) return true;
      if (frame.next === frame.values.length) stack.pop();
      else this.#add(frame.values[frame.next++] as JsonValue);
    }
    return this.#fault !== null;
  }

  #add(item: JsonValue): void {
    if (typeof item === 'string') {
      this.#bytes += this.#sizeOfString(item) + 1;
      this.#characters += item.length;
    } else if (item === null || typeof item !== 'object') {
      this.#bytes += item === null || item === undefined ? 5 : String(item).length + 1;
    } else if (isRawNumber(item)) {
      this.#bytes += item.rawJSON.length + 1;
    } else this.#enter(item);
    if (this.#bytes > this.#maxBytes + 1) this.#fault = 'too_large';
  }

  #enter(item: readonly JsonValue[] | JsonObject): void {
    if (this.#stack.length > MAX_VALUE_DEPTH) {
      this.#fault = 'too_deep';
      return;
    }
    const isArray = isJsonArray(item);
    const values = isArray ? item : Object.values(item);
    this.#bytes += values.length === 0 ? 3 : 2;
    if (!isArray) for (const name of Object.keys(item)) this.#bytes += this.#sizeOfString(name) + 1;
    this.#stack.push({ values, next: 0 });
  }
}

function upperBoundOfString(text: string): number {
  return text.length * 6 + 2;
}

function bytesOfString(text: string): number {
  let bytes = 2;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char < 0x20) bytes += isShortEscape(char) ? 2 : 6;
    else if (char === 0x22 || char === 0x5c) bytes += 2;
    else if (char < 0x80) bytes += 1;
    else if (char < 0x800) bytes += 2;
    else if (char < 0xd800 || char > 0xdfff) bytes += 3;
    else if (isPair(char, text.charCodeAt(at + 1))) {
      bytes += 4;
      at += 1;
    } else bytes += 6;
  }
  return bytes;
}

function isShortEscape(char: number): boolean {
  return char === 8 || char === 9 || char === 10 || char === 12 || char === 13;
}

function isPair(high: number, low: number): boolean {
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low <= 0xdfff;
}

/** UTF-8 bytes of a string; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char < 0x80) continue;
    if (char < 0x800) bytes += 1;
    else if (isPair(char, text.charCodeAt(at + 1))) {
      bytes += 2;
      at += 1;
    } else bytes += 2;
  }
  return bytes;
}
