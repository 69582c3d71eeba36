/** A place in a text as people count: from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\n\r]*/y;
const TOKEN =
  /[[\]{},:]|"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/uy;

/** What may stand at a place of a JSON text. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/** Where the first mistake of a text is that is no JSON; browsers tell it for some mistakes only. */
export function findJsonMistake(text: string): TextPlace {
  const open: ('[' | '{')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    const next: Expected | null = token === undefined ? null : follow(token, expected, open);
    if (next === null || token === undefined) return placeAt(text, at);
    expected = next;
    at += token.length;
  }
}

/** What may come after a token; null when it may not stand here. Keeps account of what is open. */
function follow(token: string, expected: Expected, open: ('[' | '{')[]): Expected | null {
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'comma or end');
  const isValue = expected === 'value' || expected === 'value or end';
  const isEnd = expected.endsWith('or end');
  switch (token) {
    case '[':
    case '{':
      if (!isValue) return null;
      open.push(token);
      return token === '[' ? 'value or end' : 'key or end';
    case ']':
    case '}':
      if (!isEnd || open.pop() !== (token === ']' ? '[' : '{')) return null;
      return afterValue();
    case ',':
      if (expected !== 'comma or end') return null;
      return open.at(-1) === '[' ? 'value' : 'key';
    case ':':
      return expected === 'colon' ? 'value' : null;
    default:
      if (isValue) return afterValue();
      return expected.startsWith('key') && token.startsWith('"') ? 'colon' : null;
  }
}

function placeAt(text: string, index: number): TextPlace {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
