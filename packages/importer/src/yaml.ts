import { isJsonObject, type JsonValue, setOwn, type Work } from '@millrace/engine';
import { CST, Lexer, LineCounter, Parser } from 'yaml';

/** Where and why a text isn't the YAML that is read here. */
export class YamlError extends Error {
  readonly line: number;
  readonly isTooDeep: boolean;

  constructor(line: number, why: string, isTooDeep = false) {
    super(why);
    this.line = line;
    this.isTooDeep = isTooDeep;
  }
}

/** Steps, which are lexemes or values, after which other work may go on. */
const PIECE = 200;
/** Values that all aliases together stand for: a few lines with aliases of aliases would otherwise be millions. */
const MAX_ALIASED = 50_000;

type Container = JsonValue[] | { [name: string]: JsonValue };

/** One token that remains to be turned into a value, and where the value goes. */
interface Open {
  readonly token: CST.Token | null | undefined;
  readonly props: readonly CST.SourceToken[];
  readonly into: Container;
  readonly name: string | null;
  readonly depth: number;
}

/**
 * Reads the part of YAML that exports are written in, in pieces: maps with text keys, lists and scalars of the core schema. Tags and merge keys mean
 * nothing, and what nests deeper than `maxDepth` isn't read.
 * @throws YamlError
 */
export function* parseYaml(text: string, maxDepth: number): Work<JsonValue> {
  const lines = new LineCounter();
  const document = yield* parseTokens(text, lines, maxDepth);
  const lineOf = (offset: number) => lines.linePos(offset).line;
  const root: JsonValue[] = [];
  if (document?.value === undefined) return null;
  const anchors = new Map<string, JsonValue>();
  let aliased = 0;
  const open: Open[] = [{ token: document.value, props: document.start, into: root, name: null, depth: 1 }];
  let steps = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    steps += 1;
    if (steps % PIECE === 0) yield PIECE;
    const { token, into, name, depth } = next;
    if (depth > maxDepth + 1) throw new YamlError(lineOf(token?.offset ?? 0), 'too deep', true);
    const place = (value: JsonValue) => {
      if (Array.isArray(into)) into.push(value);
      else setOwn(into, name ?? '', value);
      const anchor = next.props.find(({ type }) => type === 'anchor');
      if (anchor !== undefined) anchors.set(anchor.source.slice(1), value);
    };
    if (token == null) {
      place(null);
      continue;
    }
    switch (token.type) {
      case 'alias': {
        const value = anchors.get(token.source.slice(1));
        if (value === undefined) throw new YamlError(lineOf(token.offset), `unknown alias ${token.source}`);
        aliased += sizeOf(value, MAX_ALIASED);
        if (aliased > MAX_ALIASED) throw new YamlError(lineOf(token.offset), 'too many aliases');
        place(value);
        break;
      }
      case 'block-map':
      case 'block-seq':
      case 'flow-collection': {
        if (
          token.type === 'flow-collection' &&
          !token.end.some(({ source }) => source === ']' || source === '}')
        )
          throw new YamlError(lineOf(token.offset), `"${token.start.source}" isn't closed`);
        const isMap =
          token.type === 'block-map' || (token.type === 'flow-collection' && token.start.source === '{');
        const value: Container = isMap ? {} : [];
        place(value as JsonValue);
        open.push(...membersOf(token, value, depth + 1, lineOf).toReversed());
        break;
      }
      default: {
        const scalar = CST.resolveAsScalar(token, true, (offset, _code, why) => {
          throw new YamlError(lineOf(offset), why);
        });
        if (scalar === null) throw new YamlError(lineOf(token.offset), `unexpected ${token.type}`);
        place(scalar.type === 'PLAIN' ? plain(scalar.value) : scalar.value);
      }
    }
  }
  return root[0] ?? null;
}

/** The first document; the parser is fed piece by piece. */
function* parseTokens(text: string, lines: LineCounter, maxDepth: number): Work<CST.Document | null> {
  const parser = new Parser(lines.addNewLine);
  let document: CST.Document | null = null;
  const take = (tokens: Iterable<CST.Token>) => {
    for (const token of tokens) {
      if (token.type === 'error') throw new YamlError(lines.linePos(token.offset).line, token.message);
      if (token.type === 'document') document ??= token;
    }
  };
  lines.addNewLine(0);
  let steps = 0;
  let brackets = 0;
  for (const lexeme of new Lexer().lex(text)) {
    // Each level costs the parser time at every token inside it.
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    if (brackets > maxDepth) throw new YamlError(lines.linePos(parser.offset).line, 'too deep', true);
    take(parser.next(lexeme));
    steps += 1;
    if (steps % PIECE === 0) yield PIECE;
  }
  take(parser.end());
  return document;
}

function membersOf(
  token: CST.BlockMap | CST.BlockSequence | CST.FlowCollection,
  into: Container,
  depth: number,
  lineOf: (offset: number) => number,
): Open[] {
  const names = new Set<string>();
  return token.items.flatMap((item): Open[] => {
    const hasValue = item.value !== undefined || item.key !== undefined || (item.sep?.length ?? 0) > 0;
    if (
      token.type !== 'block-seq' &&
      !hasValue &&
      !item.start.some(({ type }) => type === 'explicit-key-ind')
    )
      return [];
    if (Array.isArray(into)) {
      if (item.key !== undefined)
        throw new YamlError(lineOf(token.offset), 'a map within a list needs braces');
      return [{ token: item.value, props: item.start, into, name: null, depth }];
    }
    const name = nameOf(item.key, lineOf, token.offset);
    if (names.has(name)) throw new YamlError(lineOf(item.key?.offset ?? token.offset), `"${name}" twice`);
    names.add(name);
    const value = token.type === 'flow-collection' && item.sep === undefined ? null : item.value;
    return [{ token: value, props: item.sep ?? [], into, name, depth }];
  });
}

function nameOf(
  key: CST.Token | null | undefined,
  lineOf: (offset: number) => number,
  otherwise: number,
): string {
  const scalar = key == null || key.type === 'alias' ? null : CST.resolveAsScalar(key);
  if (scalar === null) throw new YamlError(lineOf(key?.offset ?? otherwise), 'a name must be a text');
  return scalar.value;
}

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

/** A scalar without quotes, by the core schema of YAML 1.2. */
function plain(text: string): JsonValue {
  if (text === '' || text === '~' || /^(?:null|Null|NULL)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^0o[0-7]+$|^0x[\da-f]+$/i.test(text)) return Number(text);
  if (!NUMBER.test(text)) return text;
  const number = Number(text);
  // A number that would lose digits is an id, whatever it looks like.
  if (!Number.isFinite(number)) return text;
  return !/^[-+]?\d+$/.test(text) || BigInt(text.replace('+', '')) === BigInt(number) ? number : text;
}

/** How many values there are in a value, counted up to a limit. */
function sizeOf(value: JsonValue, most: number): number {
  let count = 0;
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined && count <= most; next = open.pop()) {
    count += 1;
    if (Array.isArray(next)) open.push(...(next as JsonValue[]).slice(0, most));
    else if (isJsonObject(next)) open.push(...Object.values(next).map((each) => each ?? null));
  }
  return count;
}
