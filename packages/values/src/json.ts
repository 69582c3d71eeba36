import { isHeldExactly, normalDecimal } from './held-exactly.ts';
import { parseWithRawNumbers } from './raw-numbers.ts';

/**
 * A JSON number that a double can't represent (2^53+1, 1e400): kept as its source text, written back unchanged. Created by `JSON.rawJSON`
 * (ECMAScript, JSON.parse source text access).
 */
export interface RawJsonNumber {
  readonly rawJSON: string;
}

/** Any JSON value, without loss. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | RawJsonNumber
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export type JsonObject = { readonly [key: string]: JsonValue };

declare const CONTENT: unique symbol;
/**
 * JSON text of a known type of value, as stored in columns: {@link stringifyJson} produces it, {@link parseJson} parses it. A plain
 * string may contain any JSON.
 */
export type JsonText<Value extends JsonValue> = string & { readonly [CONTENT]: Value };

declare global {
  /** Members missing from TypeScript's library. */
  interface JSON {
    rawJSON(text: string): RawJsonNumber;
    isRawJSON(value: unknown): value is RawJsonNumber;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): JsonValue;
  }
}

/**
 * Text without a match contains no number that a double would change: at most 15 significant digits and no exponent. Numbers follow the
 * start, `[ , :` or white space, so ids in strings rarely match.
 */
const SUSPICIOUS_NUMBER = /(?:^|[[:,\s])-?(?:\d[\d.]{15}|[\d.]{1,17}[eE])/;

/**
 * Parses JSON without loss: a number that a double would change becomes a raw number. Of members with the same name the last wins;
 * `__proto__` is an ordinary member.
 * @throws SyntaxError when the text isn't JSON, or is nested deeper than 2,000 levels and contains such a number
 */
export function parseJson<Value extends JsonValue>(text: JsonText<Value>): Value;
export function parseJson(text: string): JsonValue;
export function parseJson(text: string): JsonValue {
  return SUSPICIOUS_NUMBER.test(text) ? (parseWithRawNumbers(text) as JsonValue) : JSON.parse(text);
}

/** {@link parseJson}, but undefined for text that isn't JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** JSON text of a value; raw numbers are written unchanged. */
export function stringifyJson<Value extends JsonValue>(value: Value): JsonText<Value> {
  return JSON.stringify(value) as JsonText<Value>;
}

/** A text as it is, anything else as JSON. */
export function textOrJson(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Whether the value is a number that a double can't represent. */
export function isRawNumber(value: unknown): value is RawJsonNumber {
  return JSON.isRawJSON(value);
}

/** Whether the value is a number, raw or not. */
export function isNumber(value: JsonValue): value is number | RawJsonNumber {
  return typeof value === 'number' || isRawNumber(value);
}

/** Whether the value is a JSON object: not null, not a list, not a raw number. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** Whether the value is a list. `Array.isArray` does not narrow readonly arrays out of a union. */
export function isJsonArray(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/**
 * The same text for all equivalent JSON: member names sorted by code unit, no white space, normalised numbers (1, 1.0 and 1e0 agree; 2^53+1
 * and 2^53 differ).
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : JSON.stringify(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isRawNumber(value)) return canonicalNumber(value.rawJSON);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name] as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/**
 * JSON Pointer of the first string or member name that contains U+0000 or a lone surrogate, which text columns and UTF-8 can't store; null
 * when there is none. In the pointer such characters are replaced by U+FFFD.
 */
export function findUnsupportedCharacters(value: JsonValue, at = ''): string | null {
  if (typeof value === 'string') return isSupported(value) ? null : at;
  if (value === null || typeof value !== 'object' || isRawNumber(value)) return null;
  if (isJsonArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = findUnsupportedCharacters(value[index] as JsonValue, `${at}/${index}`);
      if (found !== null) return found;
    }
    return null;
  }
  const object = value as JsonObject;
  for (const name of Object.keys(object)) {
    if (!isSupported(name)) return joinPointer(at, name.toWellFormed().replaceAll('\u0000', '\ufffd'));
    const found = findUnsupportedCharacters(object[name] as JsonValue, joinPointer(at, name));
    if (found !== null) return found;
  }
  return null;
}

function isSupported(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

/** A member name or index as one token of a JSON Pointer (RFC 6901). */
export function escapePointer(token: string | number): string {
  return String(token).replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Appends tokens to a pointer. */
export function joinPointer(pointer: string, ...tokens: readonly (string | number)[]): string {
  let joined = pointer;
  for (const token of tokens) joined += `/${escapePointer(token)}`;
  return joined;
}

/** The tokens of a pointer: member names and indexes. */
export function pointerTokens(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The same path in dots: `/nodes/0/data` is `nodes.0.data`. */
export function pointerToField(pointer: string): string {
  return pointerTokens(pointer).join('.');
}

/** An own member by a name that may be anybody's; never an inherited one. */
export function own<Value>(object: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Sets an own member whatever its name is; plain assignment of `__proto__` wouldn't. */
export function setOwn<Value>(object: { [key: string]: Value }, name: string, value: Value): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** A raw number that a double can represent after all is written as the double, any other by digits and power of ten. */
function canonicalNumber(source: string): string {
  const value = Number(source);
  return isHeldExactly(source, value) ? canonicalJson(value) : normalDecimal(source);
}

/** A JSON Schema 2020-12 object, as created by TypeBox. */
export type JsonSchema = { readonly [keyword: string]: unknown };
