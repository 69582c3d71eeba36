import { message } from '@millrace/messages';
import { isJsonArray, isJsonObject, type JsonValue, jsonDepthExceeds, tryParseJson } from './json.ts';
import { MAX_VALUE_DEPTH, utf8Bytes } from './json-size.ts';
import {
  concat,
  type FilterGroup,
  integerOf,
  jsonOf,
  NO_ARGUMENT,
  RenderLimitError,
  takes,
  textOf,
} from './template-filter.ts';
import { equalTo } from './template-filters-list.ts';

function split(value: JsonValue, separator: string, maxBytes: number): JsonValue {
  const text = textOf(value, maxBytes);
  if (text === '') return [];
  return separator === '' ? Array.from(text) : text.split(separator);
}

function replace(text: string, search: string, replacement: string, maxBytes: number): string {
  const found = search === '' ? 0 : text.split(search).length - 1;
  const growth = found === 0 ? 0 : found * (utf8Bytes(replacement) - utf8Bytes(search));
  if (utf8Bytes(text) + growth > maxBytes) throw new RenderLimitError(maxBytes);
  return found === 0 ? text : text.split(search).join(replacement);
}

const SURROGATE = /[\ud800-\udfff]/;

/** Positions count whole characters from 0; negative ones count from the end. */
function slice(value: JsonValue, start: number, end: number | undefined, maxBytes: number): JsonValue {
  if (isJsonArray(value)) return value.slice(start, end);
  const text = textOf(value, maxBytes);
  return SURROGATE.test(text) ? Array.from(text).slice(start, end).join('') : text.slice(start, end);
}

function contains(value: JsonValue, part: JsonValue, maxBytes: number): boolean {
  if (isJsonArray(value)) return value.some(equalTo(part, maxBytes));
  if (isJsonObject(value)) return typeof part === 'string' && Object.hasOwn(value, part);
  return value !== null && part !== null && textOf(value, maxBytes).includes(textOf(part, maxBytes));
}

function parse(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  return jsonDepthExceeds(value, MAX_VALUE_DEPTH) ? null : (tryParseJson(value) ?? null);
}

function isMissing(value: JsonValue): boolean {
  return value === null || value === '';
}

function* joined(items: readonly JsonValue[], separator: string, maxBytes: number): Iterable<string> {
  for (let index = 0; index < items.length; index++) {
    if (index > 0) yield separator;
    yield textOf(items[index] ?? null, maxBytes);
  }
}

export const TEXT_FILTERS: FilterGroup = {
  default: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_fallback'), '"none"'),
    apply: (value, [fallback]) => (isMissing(value) ? (fallback ?? null) : value),
  },
  upper: { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).toUpperCase() },
  lower: { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).toLowerCase() },
  trim: { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max).trim() },
  replace: {
    minArgs: 2,
    maxArgs: 2,
    usage: takes(message('flow.takes_replacement'), '"a", "b"'),
    apply: (value, [search = null, replacement = null], max) =>
      replace(textOf(value, max), textOf(search, max), textOf(replacement, max), max),
  },
  slice: {
    minArgs: 1,
    maxArgs: 2,
    usage: takes(message('flow.takes_positions'), '0, 10'),
    apply: (value, [start, end], max) =>
      slice(value, integerOf(start, 0), typeof end === 'number' ? integerOf(end, 0) : undefined, max),
  },
  contains: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_search'), '"x"'),
    apply: (value, [part], max) => contains(value, part ?? null, max),
  },
  split: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_split'), '","'),
    apply: (value, [separator], max) =>
      split(value, separator === undefined ? ',' : textOf(separator, max), max),
  },
  join: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_joint'), '", "'),
    apply(value, [separator], max) {
      if (!isJsonArray(value)) return textOf(value, max);
      return concat(joined(value, separator === undefined ? ', ' : textOf(separator, max), max), max);
    },
  },
  string: { ...NO_ARGUMENT, apply: (value, _, max) => textOf(value, max) },
  json: { ...NO_ARGUMENT, apply: (value, _, max) => jsonOf(value, max) },
  parse_json: { ...NO_ARGUMENT, apply: parse },
};
