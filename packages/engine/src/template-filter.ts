import { isJsonArray, isJsonObject, isRawNumber, type JsonValue, stringifyJson } from './json.ts';
import { checkJsonSize, utf8Bytes } from './json-size.ts';

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
  /**
   * What is wrong with arguments that can be judged before anything runs, as the end of a sentence; those that are
   * paths are undefined. Null when nothing is.
   */
  findFault?(args: readonly (JsonValue | undefined)[]): string | null;
  /**
   * Total: an input it cannot work on gives null, "" or an empty list, never an error except the size limit.
   * @param timezone the workflow's
   */
  apply(value: JsonValue, args: readonly JsonValue[], maxBytes: number, timezone: string): JsonValue;
}

/** Filters by name. */
export type FilterGroup = { readonly [name: string]: Filter };

export const NO_ARGUMENT = { minArgs: 0, maxArgs: 0, usage: 'no argument' };

/** The text a value has inside other text: strings as they are, null as nothing, all else as JSON. */
export function textOf(value: JsonValue, maxBytes: number): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  return jsonOf(value, maxBytes);
}

/** JSON text within the limit. */
export function jsonOf(value: JsonValue, maxBytes: number): string {
  if (checkJsonSize(value, maxBytes) !== 'fits') throw new RenderLimitError(maxBytes);
  return stringifyJson(value);
}

/** Puts pieces together and stops as soon as they are too much. */
export function concat(pieces: Iterable<string>, maxBytes: number): string {
  let text = '';
  let bytes = 0;
  for (const piece of pieces) {
    text += piece;
    bytes += utf8Bytes(piece);
    if (bytes > maxBytes) throw new RenderLimitError(maxBytes);
  }
  return text;
}

/** A whole number of an argument; `fallback` for anything else. */
export function integerOf(value: JsonValue | undefined, fallback: number): number {
  return typeof value === 'number' ? Math.trunc(value) : fallback;
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Reads a dotted path (`address.city`, `tags.0`) of own members and list positions; '' is the value itself. */
export function readField(value: JsonValue, path: string): JsonValue {
  if (path === '') return value;
  let current: JsonValue = value;
  for (const name of path.split('.')) {
    if (current === null || typeof current !== 'object' || isRawNumber(current)) return null;
    if (isJsonArray(current)) {
      current = INDEX.test(name) ? (current[Number(name)] ?? null) : null;
    } else {
      current = isJsonObject(current) && Object.hasOwn(current, name) ? (current[name] ?? null) : null;
    }
  }
  return current;
}
