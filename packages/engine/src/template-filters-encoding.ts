import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { JsonValue } from './json.ts';
import { concat, type FilterGroup, NO_ARGUMENT, RenderLimitError, textOf } from './template-filter.ts';

const HASHES: ReadonlyMap<string, (bytes: Uint8Array) => Uint8Array> = new Map([
  ['sha256', sha256],
  ['sha512', sha512],
  ['sha1', sha1],
  ['md5', md5],
]);
const HASH_NAMES = [...HASHES.keys()].join(', ');

function hash(text: string, algorithm: JsonValue): JsonValue {
  const digest = typeof algorithm === 'string' ? HASHES.get(algorithm) : undefined;
  return digest === undefined ? null : bytesToHex(digest(new TextEncoder().encode(text)));
}

const PIECE_LENGTH = 16_384;

/** The text in pieces that cut no character in two. */
function* pieces(text: string): Iterable<string> {
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH;
    const isPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const next = isPair ? end + 1 : end;
    yield text.slice(at, next);
    at = next;
  }
}

function* urlEncoded(text: string): Iterable<string> {
  // What encodeURIComponent leaves although RFC 3986 reserves it.
  for (const piece of pieces(text.toWellFormed())) {
    yield encodeURIComponent(piece).replace(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CODES: ReadonlyMap<string, number> = new Map([
  ...Array.from(ALPHABET, (char, code): [string, number] => [char, code]),
  ['-', 62],
  ['_', 63],
]);

function encodeBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    text += `${ALPHABET[a >> 2]}${ALPHABET[((a & 3) << 4) | (b >> 4)]}`;
    text += at + 1 < bytes.length ? ALPHABET[((b & 15) << 2) | (c >> 6)] : '=';
    text += at + 2 < bytes.length ? ALPHABET[c & 63] : '=';
  }
  return text;
}

/** The bytes of Base64 in either alphabet, with or without its padding; null when it is none. */
function decodeBase64(text: string): Uint8Array | null {
  const digits = text.replace(/\s+/g, '').replace(/={1,2}$/, '');
  if (digits.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (const digit of digits) {
    const code = CODES.get(digit);
    if (code === undefined) return null;
    bits = ((bits << 6) | code) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[at++] = (bits >> count) & 0xff;
  }
  return bytes;
}

function fromBase64(text: string): JsonValue {
  const bytes = decodeBase64(text);
  if (bytes === null) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function toBase64(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (Math.ceil(bytes.length / 3) * 4 > maxBytes) throw new RenderLimitError(maxBytes);
  return encodeBase64(bytes);
}

export const ENCODING_FILTERS: FilterGroup = {
  url_encode: { ...NO_ARGUMENT, apply: (value, _, max) => concat(urlEncoded(textOf(value, max)), max) },
  base64: { ...NO_ARGUMENT, apply: (value, _, max) => toBase64(textOf(value, max), max) },
  base64_decode: { ...NO_ARGUMENT, apply: (value, _, max) => fromBase64(textOf(value, max)) },
  hash: {
    minArgs: 0,
    maxArgs: 1,
    usage: `at most one argument, one of ${HASH_NAMES}: hash: "sha256"`,
    findFault: ([algorithm]) =>
      algorithm === undefined || (typeof algorithm === 'string' && HASHES.has(algorithm))
        ? null
        : `knows ${HASH_NAMES} only`,
    apply: (value, [algorithm], max) => hash(textOf(value, max), algorithm ?? 'sha256'),
  },
};
