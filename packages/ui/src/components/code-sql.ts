import { StreamLanguage, type StreamParser } from '@codemirror/language';

const KEYWORDS = new Set(
  `add all alter and any as asc between by case cast check conflict create cross current_date current_timestamp default
  delete desc distinct do drop else end except exists fetch filter first for from full group having if ilike in index
  inner insert intersect interval into is join key last lateral left like limit not nothing nulls offset on only or order
  outer over partition primary recursive references returning right row rows select set table then to truncate union
  unique update using values view when where window with`.split(/\s+/),
);
const ATOMS = new Set(['null', 'true', 'false']);

interface SqlState {
  /** Inside a block comment. */
  isComment: boolean;
}

/** Just enough SQL for highlighting PostgreSQL and MySQL; the database validates it. */
const parser: StreamParser<SqlState> = {
  name: 'sql',
  startState: () => ({ isComment: false }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (state.isComment) {
      state.isComment = !stream.skipTo('*/');
      if (state.isComment) stream.skipToEnd();
      else stream.match('*/');
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('--')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match('/*')) {
      state.isComment = true;
      return 'comment';
    }
    if (stream.match(/^'(?:[^']|'')*'?/)) return 'string';
    if (stream.match(/^"(?:[^"]|"")*"?/) || stream.match(/^`[^`]*`?/)) return 'propertyName';
    // Parameter placeholders.
    if (stream.match(/^\$\d+/) || stream.match('?')) return 'number';
    if (stream.match(/^\d+(?:\.\d+)?/)) return 'number';
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (Array.isArray(word)) return kindOf(String(word[0]).toLowerCase());
    stream.next();
    return null;
  },
};

function kindOf(word: string): string | null {
  if (ATOMS.has(word)) return 'null';
  return KEYWORDS.has(word) ? 'keyword' : null;
}

export const sqlLanguage = StreamLanguage.define(parser);
