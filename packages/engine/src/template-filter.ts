import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import { isJsonArray, isJsonObject, isRawNumber, type JsonValue, stringifyJson } from './json.ts';
import { checkJsonSize, utf8Bytes } from './json-size.ts';

/** Thrown when rendering would pass its limits; the node then fails with `code`. */
export class RenderLimitError extends ExplainedError {
  readonly code = 'template_too_large';
  constructor(maxBytes: number) {
    super(message('run.template_too_large', { max: maxBytes }));
    this.name = 'RenderLimitError';
  }
}

export interface Filter {
  readonly minArgs: number;
  readonly maxArgs: number;
  /** What it takes, when it is called otherwise. */
  readonly usage: (name: string) => Message;
  /**
   * What is wrong with arguments that can be judged before anything runs; those that are paths are undefined. Null when
   * nothing is.
   */
  findFault?(args: readonly (JsonValue | undefined)[], name: string): Message | null;
  /**
   * Total: an input it cannot work on gives null, "" or an empty list, never an error except the size limit.
   * @param timezone the workflow's
   */
  apply(value: JsonValue, args: readonly JsonValue[], maxBytes: number, timezone: string): JsonValue;
}

/** Filters by name. */
export type FilterGroup = { readonly [name: string]: Filter };

export const NO_ARGUMENT = {
  minArgs: 0,
  maxArgs: 0,
  usage: (name: string): Message => message('flow.filter_no_argument', { name }),
};

/** @param given what it takes, and the arguments of an example */
export function takes(given: Message, example: string): Filter['usage'] {
  return (name) =>
    message('flow.filter_arguments', { name, arguments: given, example: `${name}: ${example}` });
}

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
