import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  parseJson,
  setOwn,
} from '@millrace/engine';
import { BSON, type Document } from 'bson';

const { EJSON } = BSON;

/**
 * JSON of a node as BSON: extended JSON, so that `{"$oid": "..."}` is an id and `{"$date": "..."}` a moment. Integers become 32 or 64 bits, other
 * numbers doubles, and what a double would change a decimal.
 */
export function toBson(value: JsonValue): unknown {
  return EJSON.deserialize(marked(value) as Document, { relaxed: false });
}

/** Numbers in their exact form; the rest as it is. */
function marked(value: JsonValue): JsonValue {
  if (isRawNumber(value)) {
    const text = value.rawJSON;
    return isLong(text) ? { $numberLong: text } : { $numberDecimal: text };
  }
  if (typeof value === 'number') {
    if (!Number.isInteger(value) || Object.is(value, -0))
      return { $numberDouble: Object.is(value, -0) ? '-0.0' : String(value) };
    if (Math.abs(value) < 2 ** 31) return { $numberInt: String(value) };
    return Number.isSafeInteger(value) ? { $numberLong: String(value) } : { $numberDouble: String(value) };
  }
  if (isJsonArray(value)) return value.map(marked);
  if (typeof value !== 'object' || value === null) return value;
  const object = {};
  for (const [name, member] of Object.entries(value as JsonObject))
    setOwn(object, name, isTag(name) ? member : marked(member));
  return object;
}

/** Members whose values extended JSON reads as texts or numbers of its own. */
const TAGS = new Set([
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$date',
  '$timestamp',
  '$binary',
  '$regularExpression',
]);

function isTag(name: string): boolean {
  return TAGS.has(name);
}

function isLong(text: string): boolean {
  if (!/^-?\d{1,19}$/.test(text)) return false;
  const number = BigInt(text);
  return BigInt.asIntN(64, number) === number;
}

/** BSON as JSON: ids and moments as extended JSON, numbers as numbers with all their digits. */
export function toJson(value: unknown): JsonValue {
  return plain(parseJson(EJSON.stringify(value as Document, { relaxed: false })));
}

const NUMBERS = ['$numberInt', '$numberLong', '$numberDouble', '$numberDecimal'];

/** Replaces the exact forms of numbers; NaN and infinity stay texts. Dates become ISO texts within `$date`. */
function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as JsonValue[]).map(plain);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  const object = value as JsonObject;
  const [name = '', ...others] = Object.keys(object);
  const only = others.length === 0 ? object[name] : undefined;
  if (typeof only === 'string' && NUMBERS.includes(name)) return numberIn(only);
  if (others.length === 0 && name === '$date') return { $date: dateIn(object.$date ?? null) };
  const copy: { [name: string]: JsonValue } = {};
  for (const [key, member] of Object.entries(object)) setOwn(copy, key, plain(member));
  return copy;
}

function numberIn(text: string): JsonValue {
  if (/^-?\d+(?:\.\d+)?(?:E[+-]?\d+)?$/i.test(text)) return parseJson(text);
  return text;
}

function dateIn(value: JsonValue): JsonValue {
  const ms = Number(typeof value === 'object' && value !== null ? (value as JsonObject).$numberLong : value);
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? { $numberLong: String(ms) } : date.toISOString();
}
