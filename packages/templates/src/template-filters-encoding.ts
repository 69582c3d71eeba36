import { message } from '@millrace/messages';
import type { JsonValue } from '@millrace/values/json';
import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import {
  concat,
  type FilterGroup,
  NO_ARGUMENT,
  TemplateSizeError,
  takes,
  textOf,
} from './template-filter.ts';

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

/** The string in pieces that split no character. */
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

const HTML_REFERENCES: { readonly [sign: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

function* htmlEscaped(text: string): Iterable<string> {
  for (const piece of pieces(text)) {
    yield piece.replace(/[&<>"']/g, (sign) => HTML_REFERENCES[sign] ?? sign);
  }
}

/** Decodes Base64 in either alphabet, with or without padding; null when it is invalid, or not text. */
function fromBase64(text: string): JsonValue {
  const digits = text
    .replace(/\s+/g, '')
    .replace(/={1,2}$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  try {
    const characters = atob(digits);
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function toBase64(text: string, maxBytes: number): string {
  const bytes = new TextEncoder().encode(text);
  if (Math.ceil(bytes.length / 3) * 4 > maxBytes) throw new TemplateSizeError(maxBytes);
  let encoded = '';
  // A multiple of three, so that only the last piece is padded.
  for (let at = 0; at < bytes.length; at += 24_000)
    encoded += btoa(String.fromCharCode(...bytes.subarray(at, at + 24_000)));
  return encoded;
}

export const ENCODING_FILTERS: FilterGroup = {
  url_encode: {
    ...NO_ARGUMENT,
    apply: (value, _, max, __, spend) => concat(urlEncoded(textOf(value, max, spend)), max),
  },
  html_escape: {
    ...NO_ARGUMENT,
    apply: (value, _, max, __, spend) => concat(htmlEscaped(textOf(value, max, spend)), max),
  },
  base64: { ...NO_ARGUMENT, apply: (value, _, max, __, spend) => toBase64(textOf(value, max, spend), max) },
  base64_decode: {
    ...NO_ARGUMENT,
    apply: (value, _, max, __, spend) => fromBase64(textOf(value, max, spend)),
  },
  hash: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_choice', { choices: HASH_NAMES }), '"sha256"'),
    findFault: ([algorithm], name) =>
      algorithm === undefined || (typeof algorithm === 'string' && HASHES.has(algorithm))
        ? null
        : message('flow.filter_wrong_choice', { name, choices: HASH_NAMES }),
    apply: (value, [algorithm], max, _, spend) => hash(textOf(value, max, spend), algorithm ?? 'sha256'),
  },
};
