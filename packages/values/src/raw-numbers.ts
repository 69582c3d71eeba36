import { isHeldExactly } from './held-exactly.ts';
import { endOfString, jsonDepthExceeds } from './json-depth.ts';

/** Deeper text with such a number is refused: others that read it are recursive. */
const MAX_DEPTH = 2_000;

/** Where a number may begin that a double can't hold: see `SUSPICIOUS_NUMBER`. */
const CANDIDATE = /(?:^|[[:,\s])(?=-?(?:\d[\d.]{15}|[\d.]{1,17}[eE]))/g;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=([\s,\]}]|$))/y;
const SPACE = /\s*/y;

/** A raw number in the text. */
interface Found {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses JSON that may contain numbers which a double would change. They are put into strings, which are found again in the value: a reviver
 * would be called for everything, which takes ten times as long.
 * @throws SyntaxError when the text isn't JSON, or is nested deeper than 2,000 levels and contains such a number
 */
export function parseWithRawNumbers(text: string): unknown {
  const found = findRawNumbers(text);
  if (found === null || found.length === 0) return JSON.parse(text);
  if (jsonDepthExceeds(text, MAX_DEPTH)) {
    throw new SyntaxError(`JSON is nested deeper than ${MAX_DEPTH} levels`);
  }
  const mark = unusedMark(text);
  const parts: string[] = [];
  let at = 0;
  for (const [index, { start, end }] of found.entries()) {
    parts.push(text.slice(at, start), `"${mark}${index}"`);
    at = end;
  }
  parts.push(text.slice(at));
  const numbers = found.map(({ start, end }) => JSON.rawJSON(text.slice(start, end)));
  return putBack(parseMarked(parts.join(''), text), mark, numbers);
}

/** A mistake is reported as it is in the original text. */
function parseMarked(marked: string, text: string): unknown {
  try {
    return JSON.parse(marked);
  } catch {
    return JSON.parse(text);
  }
}

/** The numbers outside strings that a double would change; null when the text isn't JSON. */
function findRawNumbers(text: string): Found[] | null {
  const found: Found[] = [];
  /** Where the last string before `quote` ends, and where the next one begins. */
  let outside = 0;
  let quote = nextQuote(text, 0);
  CANDIDATE.lastIndex = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const start = match.index + match[0].length;
    while (quote < start) {
      outside = endOfString(text, quote) + 1;
      quote = nextQuote(text, outside);
    }
    if (start < outside) {
      // In a string.
      CANDIDATE.lastIndex = outside;
      continue;
    }
    NUMBER.lastIndex = start;
    const [source] = NUMBER.exec(text) ?? [];
    if (source === undefined) return null;
    const end = start + source.length;
    if (!isHeldExactly(source, Number(source))) {
      // In place of a name, a number is a mistake, but a string wouldn't be.
      SPACE.lastIndex = end;
      SPACE.exec(text);
      if (text[SPACE.lastIndex] === ':') return null;
      found.push({ start, end });
    }
    CANDIDATE.lastIndex = end;
  }
  return found;
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

/** `raw` and a number, each of its characters escaped or not. */
const USED_MARK = /(?:r|\\u0072)(?:a|\\u0061)(?:w|\\u0077)((?:\d|\\u003\d)+)/g;

/** What no string in the text begins with. */
function unusedMark(text: string): string {
  const used = new Set<string>();
  for (const [, digits = ''] of text.matchAll(USED_MARK)) used.add(digits.replaceAll('\\u003', ''));
  let number = 0;
  while (used.has(String(number))) number += 1;
  return `raw${number}:`;
}

/** Replaces the marked strings by their numbers. */
function putBack(value: unknown, mark: string, numbers: readonly unknown[]): unknown {
  const root = { value };
  const stack: object[] = [root];
  for (let holder = stack.pop(); holder !== undefined; holder = stack.pop()) {
    const members = holder as { [name: string]: unknown };
    for (const name of Object.keys(members)) {
      const member = members[name];
      if (typeof member === 'string') {
        if (member.startsWith(mark)) members[name] = numbers[Number(member.slice(mark.length))];
      } else if (typeof member === 'object' && member !== null) stack.push(member);
    }
  }
  return root.value;
}
