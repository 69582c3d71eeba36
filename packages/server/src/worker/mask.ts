import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  setOwn,
} from '@millrace/engine';

/** What stands where a secret stood. */
const MASK = '***';
/** Shorter texts are no secrets, and replacing them would leave nothing of an output. */
const MIN_LENGTH = 3;
/** Shorter texts are looked for as they are only: what they become when encoded may be anything else. */
const MIN_ENCODED_LENGTH = 6;
/** The engine refuses outputs this deep, whatever stands in them. */
const MAX_DEPTH = 1_100;

/** Replaces secrets in what a node put out, failed with or logged: values and names of members alike. */
export function maskSecrets(result: NodeResult, secrets: Iterable<string>): NodeResult {
  const spellings = spellingsOf(secrets);
  if (spellings.length === 0) return result;
  // The longest first: what is part of another must not leave the rest of it.
  const sorted = spellings.toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map((text) => RegExp.escape(text)).join('|'), 'g');
  const masking = { pattern, known: new Set(sorted) };
  // What the engine steers by stays: a secret that is the word "success" must not change what became of the node.
  const shown: { [member: string]: JsonValue } = {};
  for (const member of ['output', 'message', 'log']) {
    const value = (result as unknown as JsonObject)[member];
    if (value !== undefined) shown[member] = mask(value, masking, 0);
  }
  return { ...result, ...shown } as NodeResult;
}

/** Each secret as it is and as it looks in URLs, forms, JSON texts, HTML and base64. */
function spellingsOf(secrets: Iterable<string>): string[] {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < MIN_LENGTH) continue;
    spellings.add(secret);
    if (secret.length < MIN_ENCODED_LENGTH) continue;
    for (const spelling of encodingsOf(secret)) spellings.add(spelling);
  }
  return [...spellings];
}

function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const inUrl = encodeURIComponent(secret.toWellFormed());
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  // RFC 3986 reserves some characters more than JavaScript encodes.
  const inStrictUrl = inUrl.replace(/[!'()*]/g, (character) => percentCode(character));
  const inJson = JSON.stringify(secret).slice(1, -1);
  const base64 = bytes.toString('base64');
  return [
    ...[inUrl, inStrictUrl, inForm].flatMap((text) => [text, withSmallCodes(text)]),
    inJson,
    // What other languages escape besides.
    inJson.replaceAll('/', '\\/'),
    inAscii(inJson),
    inAscii(inJson.replaceAll('/', '\\/')),
    inHtml(secret),
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}

function percentCode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function withSmallCodes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

function inAscii(json: string): string {
  return json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const HTML_CODES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function inHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML_CODES[character] ?? character);
}

interface Masking {
  readonly pattern: RegExp;
  readonly known: ReadonlySet<string>;
}

function mask(value: JsonValue, masking: Masking, depth: number): JsonValue {
  if (typeof value === 'string') return value.replace(masking.pattern, MASK);
  if (typeof value === 'number') return masking.known.has(String(value)) ? MASK : value;
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return masking.known.has(value.rawJSON) ? MASK : value;
  if (depth === MAX_DEPTH) return MASK;
  if (isJsonArray(value)) return value.map((item) => mask(item, masking, depth + 1));
  return isJsonObject(value) ? maskMembers(value, masking, depth) : value;
}

function maskMembers(object: JsonObject, masking: Masking, depth: number): JsonObject {
  const masked: { [name: string]: JsonValue } = {};
  for (const [name, value] of Object.entries(object)) {
    setOwn(masked, name.replace(masking.pattern, MASK), mask(value, masking, depth + 1));
  }
  return masked;
}
