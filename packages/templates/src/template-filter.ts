import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '@millrace/values/json';
import { checkJsonSize, measureWork, utf8Bytes } from '@millrace/values/json-size';
import { stringifyWork } from '@millrace/values/json-work';
import { Meter, stepsToRead, type Work } from '@millrace/values/work';

/** Thrown when rendering would exceed its limits; the node then fails with `code`. */
export abstract class RenderLimitError extends ExplainedError {
  abstract readonly code: string;
}

/** Thrown when what is rendered would be too large. */
export class TemplateSizeError extends RenderLimitError {
  override readonly code = 'template_too_large';
  constructor(maxBytes: number) {
    super(message('run.template_too_large', { max: maxBytes }));
  }
}

/** Thrown when rendering would take more steps than it may. */
export class TemplateStepsError extends RenderLimitError {
  override readonly code = 'template_too_expensive';
  constructor() {
    super(message('run.template_too_expensive', { max: MAX_TEMPLATE_STEPS }));
  }
}

/**
 * Steps of rendering one config; a step is about what looking at one item of a list takes. A constant, because it bounds how long the main
 * thread may be held where rendering isn't divided, not how much an organisation may use.
 */
export const MAX_TEMPLATE_STEPS = 1_000_000;

/**
 * Announces work, before it is done.
 * @throws TemplateStepsError
 */
export type Spend = (steps: number) => void;

export interface Filter {
  readonly minArgs: number;
  readonly maxArgs: number;
  /** The first argument may be an expression with `it`, which is evaluated for each item. */
  readonly takesEach?: true;
  /** Usage, reported when it is called incorrectly. */
  readonly usage: (name: string) => Message;
  /** Checks arguments known before anything runs; others are passed as undefined. Null when there is no fault. */
  findFault?(args: readonly (JsonValue | undefined)[], name: string): Message | null;
  /**
   * Total: invalid input returns null, "" or an empty list, never an error except those of the limits.
   * @param timezone the workflow's
   */
  apply(
    value: JsonValue,
    args: readonly JsonValue[],
    maxBytes: number,
    timezone: string,
    spend: Spend,
    each?: OfItem,
  ): JsonValue;
  /** What `apply` does, at the same cost, in pieces; null where it is short. Reads no item before it is known to be long, and all that it reads by `each` at once. */
  work?(
    value: JsonValue,
    args: readonly JsonValue[],
    maxBytes: number,
    spend: Spend,
    each?: OfItem,
  ): Work<JsonValue> | null;
}

/** What the first argument is for an item. */
export type OfItem = (item: JsonValue) => JsonValue;

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

/** Characters of a text that are read in one step. */
const STEP_CHARACTERS = 64;

/** Steps that reading a text takes. */
export function textSteps(text: string): number {
  return text.length / STEP_CHARACTERS;
}

/** Steps that going through a text or a list once takes. */
export function lengthSteps(value: JsonValue): number {
  if (typeof value === 'string') return textSteps(value);
  return isJsonArray(value) ? value.length : 1;
}

/** Steps that reading all of a value takes, members of members included; announced before it is read. */
export function spendReading(value: JsonValue, spend: Spend, times = 1): void {
  spend(times * stepsToRead(value, MAX_TEMPLATE_STEPS + 1));
}

/** A value as part of a longer string: strings unchanged, null as nothing, everything else as JSON. */
export function textOf(value: JsonValue, maxBytes: number, spend: Spend): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  return jsonOf(value, maxBytes, spend);
}

/** Steps from which on a filter's work is done in pieces: it takes a few milliseconds. */
export const LONG_STEPS = 20_000;

/** {@link textOf} in pieces; null for what is short, or no object. */
export function textWork(value: JsonValue, maxBytes: number, spend: Spend): Work<string> | null {
  if (value === null || typeof value !== 'object') return null;
  return stepsToRead(value, LONG_STEPS) < LONG_STEPS ? null : jsonWork(value, maxBytes, spend);
}

function* jsonWork(value: JsonValue, maxBytes: number, spend: Spend): Work<string> {
  spendReading(value, spend);
  // Counting the steps of a large value takes a turn by itself.
  yield 0;
  const meter = new Meter();
  yield* measureWork(value, maxBytes, meter);
  // Finds what was measured.
  if (checkJsonSize(value, maxBytes) !== 'fits') throw new TemplateSizeError(maxBytes);
  return yield* stringifyWork(value, meter);
}

/** JSON text within the limit. */
export function jsonOf(value: JsonValue, maxBytes: number, spend: Spend): string {
  spendReading(value, spend);
  if (checkJsonSize(value, maxBytes) !== 'fits') throw new TemplateSizeError(maxBytes);
  return stringifyJson(value);
}

/** Joins pieces and stops as soon as they exceed the limit. */
export function concat(pieces: Iterable<string>, maxBytes: number): string {
  let text = '';
  let bytes = 0;
  for (const piece of pieces) {
    text += piece;
    bytes += utf8Bytes(piece);
    if (bytes > maxBytes) throw new TemplateSizeError(maxBytes);
  }
  return text;
}

/** The integer in an argument; 0 for anything else. */
export function integerOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? Math.trunc(value) : 0;
}

/** Reads a field of an item, or evaluates what is given for each item. */
export function readerOf(field: JsonValue | undefined, each: OfItem | undefined): OfItem {
  const path = typeof field === 'string' ? field : '';
  return each ?? ((item) => readField(item, path));
}

/** Whether a value counts as yes: anything but null, false, an empty string and 0. */
export function isTruthy(value: JsonValue): boolean {
  return value !== null && value !== false && value !== '' && value !== 0;
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
