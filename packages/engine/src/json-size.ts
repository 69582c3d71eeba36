import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from './json.ts';

/** Maximum nesting of a value that is stored and written; far above any limit for requests. */
export const MAX_VALUE_DEPTH = 1_000;

export type SizeVerdict = 'fits' | 'too_large' | 'too_deep';

/**
 * Whether a value's JSON text has at most `maxBytes` UTF-8 bytes. Stops at the limit, so a value that contains one part many times, or
 * itself, costs no more than one of `maxBytes`.
 */
export function checkJsonSize(value: JsonValue, maxBytes: number): SizeVerdict {
  // Nearly every value passes the cheap upper bound; only the rest is counted exactly.
  const bound = measure(value, maxBytes, upperBoundOfString);
  const size = bound === 'too_large' ? measure(value, maxBytes, bytesOfString) : bound;
  return typeof size === 'number' ? 'fits' : size;
}

/** UTF-8 bytes of a value's JSON text, if at most `maxBytes`. */
export function jsonBytes(value: JsonValue, maxBytes: number): number | Exclude<SizeVerdict, 'fits'> {
  return measure(value, maxBytes, bytesOfString);
}

interface Frame {
  readonly values: readonly JsonValue[];
  next: number;
}

function measure(
  value: JsonValue,
  maxBytes: number,
  sizeOfString: (text: string) => number,
): number | Exclude<SizeVerdict, 'fits'> {
  let bytes = 0;
  const stack: Frame[] = [{ values: [value], next: 0 }];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.values.length) {
      stack.pop();
      continue;
    }
    const item = frame.values[frame.next++] as JsonValue;
    if (typeof item === 'string') {
      bytes += sizeOfString(item) + 1;
    } else if (item === null || typeof item !== 'object') {
      bytes += item === null || item === undefined ? 5 : String(item).length + 1;
    } else if (isRawNumber(item)) {
      bytes += item.rawJSON.length + 1;
    } else {
      if (stack.length > MAX_VALUE_DEPTH) return 'too_deep';
      const isArray = isJsonArray(item);
      const values = isArray ? item : Object.values(item as JsonObject);
      bytes += values.length === 0 ? 3 : 2;
      if (!isArray) for (const name of Object.keys(item)) bytes += sizeOfString(name) + 1;
      stack.push({ values, next: 0 });
    }
    if (bytes > maxBytes + 1) return 'too_large';
  }
  return bytes - 1;
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
