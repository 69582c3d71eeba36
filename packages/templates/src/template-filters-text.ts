import { message } from '@millrace/messages';
import { isJsonArray, isJsonObject, type JsonValue, tryParseJson } from '@millrace/values/json';
import { jsonDepthExceeds } from '@millrace/values/json-depth';
import { MAX_VALUE_DEPTH, utf8Bytes } from '@millrace/values/json-size';
import { parseWork } from '@millrace/values/json-work';
import { includesText, includesTextWork, isLongSearch, searchFor } from '@millrace/values/text-search';
import { finishWork, isWork, Meter, type Work } from '@millrace/values/work';
import {
  concat,
  type FilterGroup,
  integerOf,
  jsonOf,
  LONG_STEPS,
  NO_ARGUMENT,
  type Spend,
  TemplateSizeError,
  takes,
  textOf,
  textWork,
} from './template-filter.ts';
import { equalTo } from './template-filters-list.ts';

function split(value: JsonValue, separator: string, maxBytes: number, spend: Spend): JsonValue {
  const text = textOf(value, maxBytes, spend);
  if (text === '') return [];
  if (separator !== '') return pieces(text, separator, spend);
  spend(text.length);
  return Array.from(text);
}

/** Characters of a text from which on it is cut up in pieces. */
const LONG_TEXT = 256 * 1024;

/** Splits a long text; null for everything else. */
function splitWork(value: JsonValue, separator: JsonValue, spend: Spend): Work<JsonValue> | null {
  if (typeof value !== 'string' || value.length < LONG_TEXT) return null;
  return typeof separator === 'string' && separator !== '' ? piecesWork(value, separator, spend) : null;
}

function pieces(text: string, separator: string, spend: Spend): string[] {
  return finishWork(piecesWork(text, separator, spend));
}

/** Pieces that are found at a stretch. */
const PIECES_AT_ONCE = 1_000;

/** The pieces between the separators. Stops as soon as they are too many. */
function* piecesWork(text: string, separator: string, spend: Spend): Work<string[]> {
  const find = searchFor(text, separator);
  const found: string[] = [];
  let from = 0;
  for (let at = find(0); at !== -1; at = find(from)) {
    if (at === null) {
      yield 0;
      continue;
    }
    spend(1);
    found.push(text.slice(from, at));
    from = at + separator.length;
    if (found.length % PIECES_AT_ONCE === 0) yield PIECES_AT_ONCE;
  }
  found.push(text.slice(from));
  return found;
}

function replace(text: string, search: string, replacement: string, maxBytes: number, spend: Spend): string {
  return finishWork(replaceWork(text, [search, replacement], maxBytes, spend));
}

/** Replaces in a long text; null for everything else. */
function longReplace(
  text: JsonValue,
  [search = null, replacement = null]: readonly JsonValue[],
  maxBytes: number,
  spend: Spend,
): Work<string> | null {
  if (typeof text !== 'string' || typeof search !== 'string' || typeof replacement !== 'string') return null;
  return text.length < LONG_TEXT ? null : replaceWork(text, [search, replacement], maxBytes, spend);
}

function* replaceWork(
  text: string,
  [search, replacement]: readonly [string, string],
  maxBytes: number,
  spend: Spend,
): Work<string> {
  const parts = search === '' ? [text] : yield* piecesWork(text, search, spend);
  const found = parts.length - 1;
  const growth = found === 0 ? 0 : found * (utf8Bytes(replacement) - utf8Bytes(search));
  if (utf8Bytes(text) + growth > maxBytes) throw new TemplateSizeError(maxBytes);
  return found === 0 ? text : parts.join(replacement);
}

const SURROGATE = /[\ud800-\udfff]/;

/** Positions count whole characters from 0; negative ones count from the end. */
function slice(
  value: JsonValue,
  start: number,
  end: number | undefined,
  maxBytes: number,
  spend: Spend,
): JsonValue {
  if (isJsonArray(value)) return value.slice(start, end);
  const text = textOf(value, maxBytes, spend);
  if (!SURROGATE.test(text)) return text.slice(start, end);
  spend(text.length);
  return Array.from(text).slice(start, end).join('');
}

function contains(value: JsonValue, part: JsonValue, maxBytes: number, spend: Spend): boolean {
  if (isJsonArray(value)) return value.some(equalTo(part, maxBytes, spend));
  if (isJsonObject(value)) return typeof part === 'string' && Object.hasOwn(value, part);
  if (value === null || part === null) return false;
  return includesText(textOf(value, maxBytes, spend), textOf(part, maxBytes, spend));
}

/** Looks for a part that takes long to find; null for everything else. */
function longContains(value: JsonValue, part: JsonValue | undefined): Work<boolean> | null {
  if (typeof value !== 'string' || typeof part !== 'string' || !isLongSearch(value, part)) return null;
  return containsWork(value, part);
}

function* containsWork(text: string, part: string): Work<boolean> {
  const found = includesTextWork(text, part, new Meter());
  return isWork(found) ? yield* found : found;
}

/** Characters that are parsed in one step: text may be numbers of one digit each. */
const PARSED_IN_STEP = 16;

function parse(value: JsonValue, spend: Spend): JsonValue {
  if (typeof value !== 'string') return value;
  spend(value.length / PARSED_IN_STEP);
  return jsonDepthExceeds(value, MAX_VALUE_DEPTH) ? null : (tryParseJson(value) ?? null);
}

/** Parses a long text; null for everything else. */
function longParse(value: JsonValue, spend: Spend): Work<JsonValue> | null {
  if (typeof value !== 'string' || value.length / PARSED_IN_STEP < LONG_STEPS) return null;
  return parseLong(value, spend);
}

function* parseLong(text: string, spend: Spend): Work<JsonValue> {
  spend(text.length / PARSED_IN_STEP);
  yield 0;
  if (jsonDepthExceeds(text, MAX_VALUE_DEPTH)) return null;
  yield 0;
  try {
    return yield* parseWork(text, new Meter());
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isMissing(value: JsonValue): boolean {
  return value === null || value === '';
}

function* joined(
  items: readonly JsonValue[],
  separator: string,
  maxBytes: number,
  spend: Spend,
): Iterable<string> {
  for (let index = 0; index < items.length; index++) {
    if (index > 0) yield separator;
    yield textOf(items[index] ?? null, maxBytes, spend);
  }
}

const BEGINNING = { minArgs: 1, maxArgs: 1, usage: takes(message('flow.takes_search'), '"x"') };

export const TEXT_FILTERS: FilterGroup = {
  default: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_fallback'), '"none"'),
    apply: (value, [fallback]) => (isMissing(value) ? (fallback ?? null) : value),
  },
  upper: { ...NO_ARGUMENT, apply: (value, _, max, __, spend) => textOf(value, max, spend).toUpperCase() },
  lower: { ...NO_ARGUMENT, apply: (value, _, max, __, spend) => textOf(value, max, spend).toLowerCase() },
  trim: { ...NO_ARGUMENT, apply: (value, _, max, __, spend) => textOf(value, max, spend).trim() },
  replace: {
    minArgs: 2,
    maxArgs: 2,
    usage: takes(message('flow.takes_replacement'), '"a", "b"'),
    apply: (value, [search = null, replacement = null], max, _, spend) =>
      replace(
        textOf(value, max, spend),
        textOf(search, max, spend),
        textOf(replacement, max, spend),
        max,
        spend,
      ),
    work: longReplace,
  },
  slice: {
    minArgs: 1,
    maxArgs: 2,
    usage: takes(message('flow.takes_positions'), '0, 10'),
    apply: (value, [start, end], max, _, spend) =>
      slice(value, integerOf(start), typeof end === 'number' ? integerOf(end) : undefined, max, spend),
  },
  contains: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_search'), '"x"'),
    apply: (value, [part], max, _, spend) => contains(value, part ?? null, max, spend),
    work: (value, [part]) => longContains(value, part),
  },
  starts_with: {
    ...BEGINNING,
    apply: (value, [part = null], max, _, spend) =>
      textOf(value, max, spend).startsWith(textOf(part, max, spend)),
  },
  ends_with: {
    ...BEGINNING,
    apply: (value, [part = null], max, _, spend) =>
      textOf(value, max, spend).endsWith(textOf(part, max, spend)),
  },
  split: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_split'), '","'),
    apply: (value, [separator], max, _, spend) =>
      split(value, separator === undefined ? ',' : textOf(separator, max, spend), max, spend),
    work: (value, [separator = ','], _, spend) => splitWork(value, separator, spend),
  },
  join: {
    minArgs: 0,
    maxArgs: 1,
    usage: takes(message('flow.takes_joint'), '", "'),
    apply(value, [separator], max, _, spend) {
      if (!isJsonArray(value)) return textOf(value, max, spend);
      const joint = separator === undefined ? ', ' : textOf(separator, max, spend);
      return concat(joined(value, joint, max, spend), max);
    },
  },
  string: {
    ...NO_ARGUMENT,
    apply: (value, _, max, __, spend) => textOf(value, max, spend),
    work: (value, _, max, spend) => textWork(value, max, spend),
  },
  json: {
    ...NO_ARGUMENT,
    apply: (value, _, max, __, spend) => jsonOf(value, max, spend),
    work: (value, _, max, spend) => textWork(value, max, spend),
  },
  parse_json: {
    ...NO_ARGUMENT,
    apply: (value, _, __, ___, spend) => parse(value, spend),
    work: (value, _, __, spend) => longParse(value, spend),
  },
};
