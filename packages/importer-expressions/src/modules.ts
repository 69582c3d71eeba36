import type { AnyNode } from 'acorn';
import { allNodes, type Cut, programOf, withCuts } from './syntax.ts';

/** Modules of Node that code may require: what the sandbox has of them. */
const KNOWN = new Set(['buffer', 'crypto', 'luxon', 'querystring', 'url', 'util']);

/** What of them isn't there. */
const MISSING =
  /\b(?:create(?:Cipher|Decipher|Sign|Verify|DiffieHellman|ECDH|PublicKey|PrivateKey|SecretKey)\w*|pbkdf2\w*|scrypt\w*|hkdf\w*|generateKey\w*|public(?:En|De)crypt|private(?:En|De)crypt|webcrypto|promisify|TextDecoderStream)\b/;

/**
 * Code whose `require` calls read the modules of the shim, where it needs no others. What is required and never used is left out.
 * The code comes back as it is if it isn't JavaScript, or uses something that isn't there.
 */
export function withModules(code: string): string {
  if (!code.includes('require')) return code;
  const program = programOf(code);
  if (program === null) return code;
  const nodes = allNodes(program);
  const cuts: Cut[] = [];
  for (const node of nodes) {
    const name = requiredBy(node);
    if (name === null) continue;
    if (KNOWN.has(name) && !MISSING.test(code))
      cuts.push({ start: node.start, end: node.end, text: `modules.${name}` });
    else if (isUnused(node, nodes)) cuts.push({ start: node.start, end: node.end, text: '({})' });
  }
  return withCuts(code, cuts);
}

/** The module that a call requires, without the prefix of Node's own; null for anything else. */
function requiredBy(node: AnyNode): string | null {
  if (node.type !== 'CallExpression' || node.callee.type !== 'Identifier') return null;
  const [only, ...more] = node.arguments;
  if (node.callee.name !== 'require' || only?.type !== 'Literal' || more.length > 0) return null;
  return typeof only.value === 'string' ? only.value.replace(/^node:/, '') : null;
}

/** Whether a call is the value of a name that is mentioned nowhere else. */
function isUnused(call: AnyNode, nodes: readonly AnyNode[]): boolean {
  const owner = nodes.find((node) => node.type === 'VariableDeclarator' && node.init === call);
  if (owner?.type !== 'VariableDeclarator' || owner.id.type !== 'Identifier') return false;
  const { name } = owner.id;
  return nodes.filter((node) => node.type === 'Identifier' && node.name === name).length === 1;
}

/**
 * What `modules` is in the sandbox. Its own `crypto` computes digests only by promises, and the code that is imported waits for none, so that
 * they are computed here.
 */
export const MODULES = `const modules = (() => {
  const words = (bytes, little) => Array.from({ length: bytes.length / 4 }, (_, at) => { const [a, b, c, d] = bytes.slice(at * 4, at * 4 + 4); return little ? a | b << 8 | c << 16 | d << 24 : a << 24 | b << 16 | c << 8 | d; });
  const padded = (bytes, block, little) => {
    const size = block / 8, length = Math.ceil((bytes.length + 1 + size) / block) * block, all = new Uint8Array(length);
    all.set(bytes); all[bytes.length] = 0x80;
    let bits = BigInt(bytes.length) * 8n;
    for (let at = 0; at < 8; at += 1, bits >>= 8n) all[little ? length - 8 + at : length - 1 - at] = Number(bits & 255n);
    return all;
  };
  const bytesOf = (state, size, little) => state.flatMap((word) => { const all = Array.from({ length: size }, (_, at) => Number(BigInt.asUintN(size * 8, BigInt(word)) >> BigInt(8 * at) & 255n)); return little ? all : all.reverse(); });
  const left = (word, by) => word << by | word >>> 32 - by, right = (word, by) => word >>> by | word << 32 - by;
  const PRIMES = []; for (let n = 2; PRIMES.length < 80; n += 1) if (PRIMES.every((p) => n % p)) PRIMES.push(n);
  const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21], SINES = Array.from({ length: 64 }, (_, at) => Math.floor(Math.abs(Math.sin(at + 1)) * 2 ** 32) | 0);
  const md5 = (bytes) => {
    const state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476], all = padded(bytes, 64, true);
    for (let from = 0; from < all.length; from += 64) {
      const m = words(all.subarray(from, from + 64), true); let [a, b, c, d] = state;
      for (let i = 0; i < 64; i += 1) {
        const round = i >> 4;
        const f = round === 0 ? b & c | ~b & d : round === 1 ? d & b | ~d & c : round === 2 ? b ^ c ^ d : c ^ (b | ~d);
        const g = round === 0 ? i : round === 1 ? (5 * i + 1) % 16 : round === 2 ? (3 * i + 5) % 16 : 7 * i % 16;
        const next = b + left(a + f + SINES[i] + m[g] | 0, SHIFTS[round * 4 + i % 4]) | 0;
        [a, d, c, b] = [d, c, b, next];
      }
      [a, b, c, d].forEach((word, at) => { state[at] = state[at] + word | 0; });
    }
    return bytesOf(state, 4, true);
  };
  const sha1 = (bytes) => {
    const state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0], all = padded(bytes, 64);
    for (let from = 0; from < all.length; from += 64) {
      const w = words(all.subarray(from, from + 64)); let [a, b, c, d, e] = state;
      for (let i = 16; i < 80; i += 1) w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
      for (let i = 0; i < 80; i += 1) {
        const f = i < 20 ? (b & c | ~b & d) + 0x5a827999 : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1 : i < 60 ? (b & c | b & d | c & d) + 0x8f1bbcdc : (b ^ c ^ d) + 0xca62c1d6;
        [a, b, c, d, e] = [left(a, 5) + f + e + w[i] | 0, a, left(b, 30), c, d];
      }
      [a, b, c, d, e].forEach((word, at) => { state[at] = state[at] + word | 0; });
    }
    return bytesOf(state, 4);
  };
  const sha256 = (bytes) => {
    const part = (value) => (value % 1) * 2 ** 32 | 0, k = PRIMES.slice(0, 64).map((p) => part(Math.cbrt(p))), state = PRIMES.slice(0, 8).map((p) => part(Math.sqrt(p))), all = padded(bytes, 64);
    for (let from = 0; from < all.length; from += 64) {
      const w = words(all.subarray(from, from + 64)); let [a, b, c, d, e, f, g, h] = state;
      for (let i = 16; i < 64; i += 1) w[i] = w[i - 16] + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >>> 3) + w[i - 7] + (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >>> 10) | 0;
      for (let i = 0; i < 64; i += 1) {
        const one = h + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + (e & f ^ ~e & g) + k[i] + w[i] | 0, two = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, d + one | 0, c, b, a, one + two | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = state[at] + word | 0; });
    }
    return bytesOf(state, 4);
  };
  const MASK = 2n ** 64n - 1n;
  const rootOf = (value, power) => { let low = 0n, high = 1n << 80n; while (low < high) { const middle = (low + high + 1n) >> 1n; if (middle ** power <= value) low = middle; else high = middle - 1n; } return low & MASK; };
  const turn = (word, by) => (word >> by | word << 64n - by) & MASK;
  const sha512 = (bytes, first = PRIMES.slice(0, 8), length = 64) => {
    const k = PRIMES.map((p) => rootOf(BigInt(p) << 192n, 3n)), state = first.map((p) => rootOf(BigInt(p) << 128n, 2n)), all = padded(bytes, 128);
    for (let from = 0; from < all.length; from += 128) {
      const half = words(all.subarray(from, from + 128)), w = Array.from({ length: 16 }, (_, at) => BigInt(half[at * 2] >>> 0) << 32n | BigInt(half[at * 2 + 1] >>> 0)); let [a, b, c, d, e, f, g, h] = state;
      for (let i = 16; i < 80; i += 1) w[i] = w[i - 16] + (turn(w[i - 15], 1n) ^ turn(w[i - 15], 8n) ^ w[i - 15] >> 7n) + w[i - 7] + (turn(w[i - 2], 19n) ^ turn(w[i - 2], 61n) ^ w[i - 2] >> 6n) & MASK;
      for (let i = 0; i < 80; i += 1) {
        const one = h + (turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)) + (e & f ^ (e ^ MASK) & g) + k[i] + w[i] & MASK, two = (turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)) + (a & b ^ a & c ^ b & c) & MASK;
        [h, g, f, e, d, c, b, a] = [g, f, e, d + one & MASK, c, b, a, one + two & MASK];
      }
      [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = state[at] + word & MASK; });
    }
    return bytesOf(state, 8).slice(0, length);
  };
  const HASHES = { md5, sha1, sha256, sha512, sha384: (bytes) => sha512(bytes, PRIMES.slice(8, 16), 48) };
  const listOf = (value, encoding) => [...(typeof value === 'string' ? Buffer.from(value, encoding) : new Uint8Array(value.buffer ?? value, value.byteOffset ?? 0, value.byteLength))];
  const hasher = (name, finish) => {
    const hash = HASHES[String(name).toLowerCase().replace('-', '')];
    if (hash === undefined) throw new Error('Digest method not supported: ' + name);
    const given = [];
    const made = { update(value, encoding) { for (const byte of listOf(value, encoding)) given.push(byte); return made; }, digest(encoding) { const bytes = Buffer.from(finish(hash, given)); return encoding === undefined ? bytes : bytes.toString(encoding); } };
    return made;
  };
  const createHmac = (name, key) => hasher(name, (hash, given) => {
    const block = /512|384/.test(name) ? 128 : 64;
    let bytes = listOf(key); if (bytes.length > block) bytes = hash(bytes);
    const pad = (mask) => Array.from({ length: block }, (_, at) => (bytes[at] ?? 0) ^ mask);
    return hash([...pad(0x5c), ...hash([...pad(0x36), ...given])]);
  });
  const randomBytes = (size) => Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(size)));
  const timingSafeEqual = (one, other) => {
    const [a, b] = [listOf(one), listOf(other)];
    if (a.length !== b.length) throw new RangeError('Input buffers must have the same byte length');
    return a.every((byte, at) => byte === b[at]);
  };
  const randomInt = (low, high) => { const [from, to] = high === undefined ? [0, low] : [low, high]; return from + Math.floor(Math.random() * (to - from)); };
  return {
    buffer: { Buffer },
    crypto: { createHash: (name) => hasher(name, (hash, given) => hash(given)), createHmac, randomBytes, randomInt, timingSafeEqual, randomUUID: () => globalThis.crypto.randomUUID() },
    luxon: { get DateTime() { return DateTime; } },
    querystring: { parse: (text) => Object.fromEntries(new URLSearchParams(text)), stringify: (value) => new URLSearchParams(value).toString(), escape: encodeURIComponent, unescape: decodeURIComponent },
    url: { URL, URLSearchParams, parse: (text) => { const { protocol, host, hostname, port, pathname, search, hash, href } = new URL(text); return { protocol, host, hostname, port, pathname, search, hash, href, query: search.slice(1) }; } },
    util: { inspect: (value) => JSON.stringify(value, null, 2), format: (...all) => all.map((each) => typeof each === 'string' ? each : JSON.stringify(each)).join(' ') },
  };
})();`;
