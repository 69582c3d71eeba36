import { isJsonArray, isJsonObject, isRawNumber, type JsonValue, parseJson, stringifyJson } from './json.ts';
import { checkJsonSize } from './json-size.ts';

/** Thrown when rendering would pass its limits; the node then fails with `code`. */
export class RenderLimitError extends Error {
  readonly code = 'template_too_large';
  constructor(maxBytes: number) {
    super(`The rendered text would be larger than ${maxBytes} bytes. Pass on less data.`);
    this.name = 'RenderLimitError';
  }
}

export interface Filter {
  readonly minArgs: number;
  readonly maxArgs: number;
  /** What it takes, in words, for the message of a wrong call. */
  readonly usage: string;
  /** Total: an input it cannot work on gives null, "" or an empty list, never an error except the size limit. */
  apply(value: JsonValue, args: readonly JsonValue[], maxBytes: number): JsonValue;
}

/** The text a value has inside other text: strings as they are, null as nothing, all else as JSON. */
export function textOf(value: JsonValue, maxBytes: number): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  if (checkJsonSize(value, maxBytes) !== 'fits') throw new RenderLimitError(maxBytes);
  return stringifyJson(value);
}

const NUMBER_TEXT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Longer digits are no number anyone works with, and comparing them costs. */
const MAX_NUMBER_LENGTH = 1_000;

function toNumber(value: JsonValue): JsonValue {
  if (typeof value === 'number' || isRawNumber(value)) return value;
  if (typeof value !== 'string' || value.length > MAX_NUMBER_LENGTH) return null;
  const text = value.trim();
  return NUMBER_TEXT.test(text) ? parseJson(text) : null;
}

/** Half away from zero, on the decimal digits: 1.005 to two places is 1.01. Raw numbers stay as they are. */
function round(value: JsonValue, digits: JsonValue): JsonValue {
  const number = toNumber(value);
  if (typeof number !== 'number') return number;
  const places = typeof digits === 'number' ? Math.max(0, Math.min(15, Math.trunc(digits))) : 0;
  const shifted = Number(`${Math.abs(number)}e${places}`);
  // Beyond this a double has no fraction left, or is written with an exponent of its own.
  if (Number.isNaN(shifted) || shifted > Number.MAX_SAFE_INTEGER || Math.abs(number) < 1e-6) {
    return Math.abs(number) < 1e-6 && places < 6 ? 0 : number;
  }
  const rounded = Number(`${Math.round(shifted)}e-${places}`);
  return number < 0 && rounded !== 0 ? -rounded : rounded;
}

function length(value: JsonValue): number {
  if (typeof value === 'string') return countCodePoints(value);
  if (isJsonArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : 0;
}

function countCodePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) at += 1;
    count += 1;
  }
  return count;
}

function first(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value === '' ? null : String.fromCodePoint(value.codePointAt(0) ?? 0);
  return isJsonArray(value) ? (value[0] ?? null) : null;
}

function last(value: JsonValue): JsonValue {
  if (typeof value === 'string') return Array.from(value.slice(-2)).at(-1) ?? null;
  return isJsonArray(value) ? (value.at(-1) ?? null) : null;
}

function join(value: JsonValue, separator: string, maxBytes: number): string {
  if (!isJsonArray(value)) return textOf(value, maxBytes);
  let joined = '';
  for (let index = 0; index < value.length; index++) {
    if (index > 0) joined += separator;
    joined += textOf(value[index] ?? null, maxBytes);
    if (joined.length > maxBytes) throw new RenderLimitError(maxBytes);
  }
  return joined;
}

function split(value: JsonValue, separator: string, maxBytes: number): JsonValue {
  const text = textOf(value, maxBytes);
  if (text === '') return [];
  return separator === '' ? Array.from(text) : text.split(separator);
}

function isMissing(value: JsonValue): boolean {
  return value === null || value === '';
}

const NO_ARGUMENT = { minArgs: 0, maxArgs: 0, usage: 'no argument' };

/** All filters there are. Every one is pure; adding one is a change of the template language (SPEC.md, T rules). */
export const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  [
    'default',
    {
      minArgs: 1,
      maxArgs: 1,
      usage: 'one argument, the value to use instead: default: "none"',
      apply: (value, [fallback]) => (isMissing(value) ? (fallback ?? null) : value),
    },
  ],
  ['upper', { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).toUpperCase() }],
  ['lower', { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).toLowerCase() }],
  ['trim', { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).trim() }],
  ['length', { ...NO_ARGUMENT, apply: length }],
  ['first', { ...NO_ARGUMENT, apply: first }],
  ['last', { ...NO_ARGUMENT, apply: last }],
  [
    'join',
    {
      minArgs: 0,
      maxArgs: 1,
      usage: 'at most one argument, the text between the items: join: ", "',
      apply: (value, [separator], max) =>
        join(value, separator === undefined ? ', ' : textOf(separator, max), max),
    },
  ],
  [
    'split',
    {
      minArgs: 0,
      maxArgs: 1,
      usage: 'at most one argument, the text to split at: split: ","',
      apply: (value, [separator], max) =>
        split(value, separator === undefined ? ',' : textOf(separator, max), max),
    },
  ],
  [
    'json',
    {
      ...NO_ARGUMENT,
      apply: (value, _, max) => {
        if (checkJsonSize(value, max) !== 'fits') throw new RenderLimitError(max);
        return stringifyJson(value);
      },
    },
  ],
  ['number', { ...NO_ARGUMENT, apply: toNumber }],
  ['string', { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max) }],
  ['keys', { ...NO_ARGUMENT, apply: (value) => (isJsonObject(value) ? Object.keys(value) : []) }],
  [
    'round',
    {
      minArgs: 0,
      maxArgs: 1,
      usage: 'at most one argument, the number of decimal places: round: 2',
      apply: (value, [digits]) => round(value, digits ?? 0),
    },
  ],
]);
