import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';
import type { RE2JS } from 're2js';
import { patternEngine } from './pattern-engine.ts';

/**
 * Users' regular expressions. They are written for JavaScript, whose engine backtracks: a short pattern and a long string can keep it busy
 * for years. They are translated here for RE2, whose time is linear in the length of the string.
 */

const MAX_PATTERN_LENGTH = 500;
/** Length of a string times instructions of its pattern; a second's work in the worst case. */
const MAX_WORK = 5e7;
/** A pattern limited to shorter strings is useless. */
const MIN_TEXT_LENGTH = 1_000;
/** Compiling costs a hundred times as much as a test, and the same schemas recur. */
const MAX_COMPILED = 1_000;

/** Why a pattern can't be used, or null when it can. */
export function findPatternFault(pattern: string): Message | null {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return message('flow.pattern_too_long', { max: MAX_PATTERN_LENGTH });
  try {
    new RegExp(pattern, 'u');
  } catch {
    return message('flow.not_a_pattern');
  }
  const compiled = compile(pattern);
  return 'key' in compiled ? compiled : null;
}

/** A string can't be checked against a pattern. */
export class UncheckedPatternError extends ExplainedError {}

/** Tests in linear time. A string that can't be tested throws instead of not matching: a schema may contain `not`. */
export class LinearRegExp extends RegExp {
  readonly #pattern: string;

  constructor(pattern: string) {
    super(pattern, 'u');
    this.#pattern = pattern;
  }

  override test(text: string): boolean {
    const compiled = compile(this.#pattern);
    if ('key' in compiled)
      throw new UncheckedPatternError(
        message('flow.pattern_unusable', { pattern: this.#pattern, fault: compiled }),
      );
    const most = Math.floor(MAX_WORK / compiled.size);
    if (text.length > most)
      throw new UncheckedPatternError(
        message('flow.text_too_long_for_pattern', { pattern: this.#pattern, max: most }),
      );
    return compiled.parts.every(({ expression, isWanted }) => expression.test(text) === isWanted);
  }
}

/** Finds a pattern in a text, with its groups. */
export interface PatternSearch {
  /** Instructions of the pattern; a search takes their number times the length of the text, at worst. */
  readonly size: number;
  /** The first match from a position on; null if there is none. */
  find(text: string, from: number): PatternMatch | null;
}

interface PatternMatch {
  readonly start: number;
  readonly end: number;
  /** What a group has matched, by its number (0 is the whole match) or name; null for none. */
  group(nameOrNumber: string | number): string | null;
}

/** A search for a pattern, or why there is none. */
export const searchForPattern = remembered(newSearch);

function newSearch(pattern: string): PatternSearch | Message {
  const fault = findPatternFault(pattern);
  if (fault !== null) return fault;
  const translated = translate(pattern, true);
  if ('key' in translated) return translated;
  const [only, ...others] = translated;
  if (only === undefined || others.length > 0) return message('flow.pattern_unsupported', { part: '^(?=' });
  const compiled = compileParts([only]);
  if ('key' in compiled) return compiled;
  const expression = compiled.parts[0]?.expression;
  if (expression === undefined) return message('flow.not_a_pattern');
  const groups = expression.groupCount();
  const names = expression.namedGroups();
  return {
    size: compiled.size,
    find(text, from) {
      const matcher = expression.matcher(text);
      if (!matcher.find(from)) return null;
      return {
        start: matcher.start(),
        end: matcher.end(),
        group(nameOrNumber) {
          const isKnown =
            typeof nameOrNumber === 'string'
              ? Object.hasOwn(names, nameOrNumber)
              : nameOrNumber >= 0 && nameOrNumber <= groups;
          return isKnown ? (matcher.group(nameOrNumber) ?? null) : null;
        },
      };
    },
  };
}

/** Characters of names that an expression may list. */
const MAX_LISTED = 200_000;

/**
 * An expression that is safe in JavaScript's engine and agrees with a pattern on the given names, because it lists those that match, or
 * those that don't. TypeBox runs the patterns of `patternProperties` only with that engine.
 * @param index keeps the expressions of several patterns distinct
 */
export function listMatches(pattern: string, names: readonly string[], index: number): string {
  const expression = new LinearRegExp(pattern);
  const matching = listNames(names.filter((name) => expression.test(name)));
  const others = listNames(names.filter((name) => !expression.test(name)));
  const fewer = matching.length <= others.length ? `^${matching}` : `^(?!${others})`;
  if (fewer.length > MAX_LISTED) throw new UncheckedPatternError(message('flow.too_many_names', { pattern }));
  return `(?<pattern${index}>${fewer})`;
}

function listNames(names: readonly string[]): string {
  return names.length === 0 ? '(?!)' : `(?:${names.map((name) => RegExp.escape(name)).join('|')})$`;
}

/** A pattern without its lookaheads, and each of these: what a string must match, and what it must not. */
interface Compiled {
  readonly parts: readonly { readonly expression: RE2JS; readonly isWanted: boolean }[];
  readonly size: number;
}

/** @returns why RE2 can't run the pattern, if it can't */
const compile = remembered((pattern: string): Compiled | Message => {
  const translated = translate(pattern);
  return 'key' in translated ? translated : compileParts(translated);
});

/** Forgets everything at once when it is full: rare, and cheaper than keeping an order. */
function remembered<Result>(make: (pattern: string) => Result): (pattern: string) => Result {
  const results = new Map<string, Result>();
  return (pattern) => {
    const known = results.get(pattern);
    if (known !== undefined) return known;
    if (results.size === MAX_COMPILED) results.clear();
    const result = make(pattern);
    results.set(pattern, result);
    return result;
  };
}

function compileParts(translated: readonly Part[]): Compiled | Message {
  // Outside of what is caught: a missing engine says nothing about the pattern.
  const engine = patternEngine();
  try {
    const parts = translated.map(({ text, isWanted }) => ({
      expression: engine.RE2JS.compile(text, engine.RE2JS.LOOKBEHINDS),
      isWanted,
    }));
    const size = parts.reduce((sum, { expression }) => sum + expression.programSize(), 0);
    return size * MIN_TEXT_LENGTH > MAX_WORK ? message('flow.pattern_too_large') : { parts, size };
  } catch (error) {
    const { error: reason, input } =
      error instanceof engine.RE2JSSyntaxException ? error : { error: '', input: null };
    if (reason.includes('repeat')) return message('flow.pattern_repeats_too_often');
    return input === null
      ? message('flow.pattern_too_large')
      : message('flow.pattern_unsupported', { part: input });
  }
}

interface Part {
  readonly text: string;
  readonly isWanted: boolean;
}

const ESCAPE = String.raw`\\(?:u\{[\da-f]+\}|ud[89ab]..\\ud[c-f]..|u[\da-f]{4}|x..|c.|k<[^>]*>|p\{[^}]*\}|.)`;
const CLASS_TOKEN = new RegExp(String.raw`${ESCAPE}|\[`, 'gisu');
/** Groups with their kind, classes, escapes, and all other characters one by one. */
const TOKEN = new RegExp(
  String.raw`\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?|\[(?:\\.|[^\]\\])*\]|${ESCAPE}|.`,
  'gisu',
);

/** What JavaScript treats as white space, as members of a class, and what it doesn't. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NO_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const ANY = String.raw`\x00-\x{10ffff}`;

/**
 * Translates a valid JavaScript pattern with the flag `u` to RE2. RE2 has no lookaheads, but those right after a `^` become separate
 * patterns, which the same string must match or not.
 * @param keepsGroups whether the groups are read
 * @returns why it can't be translated, if it can't
 */
function translate(pattern: string, keepsGroups = false): readonly Part[] | Message {
  const parts: Part[] = [];
  let lookahead: '(?=' | '(?!' | null = null;
  let text = '';
  let depth = 0;
  let hasBranches = false;
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token === '(?=' || token === '(?!') {
      if (text !== '^') return message('flow.pattern_lookahead');
      lookahead = token;
      text = '^(?:';
      depth += 1;
    } else if (/^\(\?[a-z-]*[sm]/.test(token)) {
      return message('flow.pattern_unsupported', { part: token });
    } else if (token.startsWith('(')) {
      // Captures cost time, and a test doesn't use them.
      text += !keepsGroups && /^\((?:\?<[^=!]|$)/.test(token) ? '(?:' : token;
      depth += 1;
    } else if (token === ')') {
      text += token;
      depth -= 1;
      if (depth > 0 || lookahead === null) continue;
      parts.push({ text, isWanted: lookahead === '(?=' });
      [text, lookahead] = ['^', null];
    } else if (/^\\[1-9k]/.test(token)) {
      return message('flow.pattern_reference', { part: token });
    } else {
      if (token === '|' && depth === 0) hasBranches = true;
      text += translateToken(token);
    }
  }
  if (hasBranches && parts.length > 0) return message('flow.pattern_lookahead_in_alternative');
  return [...parts, { text, isWanted: true }];
}

function translateToken(token: string): string {
  if (token === '.') return String.raw`[^\n\r\x{2028}\x{2029}]`;
  if (token === '[]') return `[^${ANY}]`;
  if (token === '[^]') return `[${ANY}]`;
  if (token.startsWith('['))
    return `[${token.slice(1).replace(CLASS_TOKEN, (part) => (part === '[' ? '\\[' : translateEscape(part, true)))}`;
  return token.startsWith('\\') ? translateEscape(token, false) : token;
}

function translateEscape(token: string, isInClass: boolean): string {
  switch (token[1]) {
    case 's':
      return isInClass ? SPACE : `[${SPACE}]`;
    case 'S':
      return isInClass ? NO_SPACE : `[${NO_SPACE}]`;
    case 'b':
      return isInClass ? '\\x08' : token;
    case '0':
      return '\\x00';
    case 'c':
      return `\\x{${((token.codePointAt(2) ?? 0) % 32).toString(16)}}`;
    case 'u': {
      const codes = token.match(/[\da-f]+/giu)?.map((code) => Number.parseInt(code, 16)) ?? [];
      return `\\x{${String.fromCodePoint(...codes)
        .codePointAt(0)
        ?.toString(16)}}`;
    }
    case 'p':
    case 'P':
      return token.replace(/(?:Script|sc|General_Category|gc)=/, '');
    default:
      return token;
  }
}
