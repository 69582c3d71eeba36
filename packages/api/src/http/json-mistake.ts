type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or end';

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\r\n]*/y;

/**
 * Where a text stops being JSON, for error messages that must not quote it. The parser itself names no place when it
 * meets something other than a value.
 * @returns offset of the first character that does not fit; the text's length when it ends too early or fits
 */
export function findJsonMistake(text: string): number {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  let at = skip(SPACE, text, 0);
  while (at < text.length) {
    const char = text[at] ?? '';
    const end = endOfToken(text, at, char, expected, open.at(-1));
    if (end === null) return at;
    if (char === '[' || char === '{') open.push(char);
    if (char === ']' || char === '}') open.pop();
    expected = whatFollows(char, expected, open.at(-1));
    at = skip(SPACE, text, end);
  }
  return text.length;
}

/** Offset behind the token at `at`; null when it is not one that may stand there. */
function endOfToken(
  text: string,
  at: number,
  char: string,
  expected: Expected,
  within: '[' | '{' | undefined,
): number | null {
  const isEnd = char === (within === '[' ? ']' : '}') && within !== undefined;
  switch (expected) {
    case ':':
      return char === ':' ? at + 1 : null;
    case ', or end':
      return within !== undefined && (char === ',' || isEnd) ? at + 1 : null;
    case 'name':
    case 'name or }':
      if (char === '"') return endOfString(text, at);
      return expected === 'name or }' && isEnd ? at + 1 : null;
    case 'value':
    case 'value or ]': {
      if (char === '"') return endOfString(text, at);
      if (char === '[' || char === '{' || (expected === 'value or ]' && isEnd)) return at + 1;
      const end = skip(SCALAR, text, at);
      return end === at ? null : end;
    }
  }
}

function whatFollows(char: string, expected: Expected, within: '[' | '{' | undefined): Expected {
  if (char === '[') return 'value or ]';
  if (char === '{') return 'name or }';
  if (char === ':' && expected === ':') return 'value';
  if (char === ',' && expected === ', or end') return within === '[' ? 'value' : 'name';
  return expected.startsWith('name') && char === '"' ? ':' : ', or end';
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at + 1, text.length);
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
