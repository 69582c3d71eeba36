import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import { isJsonArray, isRawNumber, type JsonObject, type JsonValue, stringifyJson } from './json.ts';
import { checkJsonSize, utf8Bytes } from './json-size.ts';

/** Thrown when rendering would exceed its limits; the node then fails with `code`. */
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
  /** Usage, reported when it is called incorrectly. */
  readonly usage: (name: string) => Message;
  /** Checks arguments known before anything runs; paths are passed as undefined. Null when there is no fault. */
  findFault?(args: readonly (JsonValue | undefined)[], name: string): Message | null;
  /**
   * Total: invalid input returns null, "" or an empty list, never an error except the size limit.
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

/** @param given the expected arguments, and those of an example */
export function takes(given: Message, example: string): Filter['usage'] {
  return (name) =>
    message('flow.filter_arguments', { name, arguments: given, example: `${name}: ${example}` });
}

/** A value as part of a longer string: strings unchanged, null as nothing, everything else as JSON. */
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

/** Joins pieces and stops as soon as they exceed the limit. */
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

/** The integer in an argument; `fallback` for anything else. */
export function integerOf(value: JsonValue | undefined, fallback: number): number {
  return typeof value === 'number' ? Math.trunc(value) : fallback;
}

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Reads a dotted path (`address.city`, `tags.0`) of own members and list indexes; '' is the value itself. */
export function readField(value: JsonValue, path: string): JsonValue {
  return path === '' ? value : readPath(value, path.split('.'));
}

/**
 * Follows names from the given one on; null where one is missing. Own members and list indexes only: prototypes, `length` and the digits
 * of a raw number are inaccessible.
 */
export function readPath(start: JsonValue, names: readonly string[], from = 0): JsonValue {
  let value: JsonValue = start;
  for (let at = from; at < names.length; at++) {
    const name = names[at] as string;
    if (value === null || typeof value !== 'object' || isRawNumber(value)) return null;
    if (isJsonArray(value)) {
      if (!INDEX.test(name)) return null;
      value = value[Number(name)] ?? null;
    } else {
      value = Object.hasOwn(value, name) ? ((value as JsonObject)[name] ?? null) : null;
    }
  }
  return value;
}
