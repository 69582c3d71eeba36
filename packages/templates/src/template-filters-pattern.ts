import { type Message, message } from '@millrace/messages';
import { isNumber, type JsonValue, textOrJson } from '@millrace/values/json';
import { utf8Bytes } from '@millrace/values/json-size';
import { type PatternSearch, searchForPattern } from '@millrace/values/pattern';
import { type FilterGroup, type Spend, TemplateSizeError, takes, textOf } from './template-filter.ts';

/** Length of a text times instructions of a pattern that are one step: all steps together are about a second's work at worst. */
const WORK_PER_STEP = 50;

/** Announces a search, which takes linear time. */
function spendSearch({ size }: PatternSearch, length: number, spend: Spend): void {
  spend(1 + (size * length) / WORK_PER_STEP);
}

/** Null if the pattern can't be used: it came from data. */
function searchOf(pattern: JsonValue | undefined): PatternSearch | null {
  const search = typeof pattern === 'string' ? searchForPattern(pattern) : null;
  return search === null || 'key' in search ? null : search;
}

function match(text: string, pattern: JsonValue | undefined, group: JsonValue, spend: Spend): JsonValue {
  const search = searchOf(pattern);
  if (search === null) return null;
  spendSearch(search, text.length, spend);
  const found = search.find(text, 0);
  if (found === null) return null;
  if (isNumber(group)) return found.group(typeof group === 'number' ? Math.trunc(group) : -1);
  return typeof group === 'string' ? found.group(group) : found.group(0);
}

/** Each match is a search of its own in the rest of the text: many matches in a long text take too many steps. */
function replaceMatches(
  text: string,
  pattern: JsonValue | undefined,
  replacement: string,
  maxBytes: number,
  spend: Spend,
): JsonValue {
  const search = searchOf(pattern);
  if (search === null) return null;
  let replaced = '';
  let bytes = 0;
  let kept = 0;
  const add = (piece: string): void => {
    bytes += utf8Bytes(piece);
    if (bytes > maxBytes) throw new TemplateSizeError(maxBytes);
    replaced += piece;
  };
  for (let from = 0; from <= text.length; ) {
    spendSearch(search, text.length - from, spend);
    const found = search.find(text, from);
    if (found === null) break;
    add(text.slice(kept, found.start));
    add(replacement);
    kept = found.end;
    // Behind an empty match goes on after the next character, which may take two units.
    from = found.end > found.start ? found.end : found.end + widthAt(text, found.end);
  }
  add(text.slice(kept));
  return replaced;
}

function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

function findFault([pattern]: readonly (JsonValue | undefined)[]): Message | null {
  if (pattern === undefined) return null;
  const search = typeof pattern === 'string' ? searchForPattern(pattern) : message('flow.not_a_pattern');
  const shown = textOrJson(pattern);
  return 'key' in search ? message('flow.pattern_unusable', { pattern: shown, fault: search }) : null;
}

export const PATTERN_FILTERS: FilterGroup = {
  matches: {
    minArgs: 1,
    maxArgs: 1,
    usage: takes(message('flow.takes_search'), '"^[A-Z]{2}[0-9]+$"'),
    findFault,
    apply: (value, [pattern], max, _, spend) =>
      value !== null && match(textOf(value, max, spend), pattern, 0, spend) !== null,
  },
  match: {
    minArgs: 1,
    maxArgs: 2,
    usage: takes(message('flow.takes_pattern_and_group'), '"#([0-9]+)", 1'),
    findFault,
    apply: (value, [pattern, group = 0], max, _, spend) =>
      match(textOf(value, max, spend), pattern, group, spend),
  },
  replace_pattern: {
    minArgs: 2,
    maxArgs: 2,
    usage: takes(message('flow.takes_replacement'), '"[^0-9]", ""'),
    findFault,
    apply: (value, [pattern, replacement = null], max, _, spend) =>
      replaceMatches(textOf(value, max, spend), pattern, textOf(replacement, max, spend), max, spend),
  },
};
