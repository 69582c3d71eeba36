import { operand, quote } from '@millrace/importer-kit/refs';
import { JinjaError, MAX_DEPTH } from './jinja-error.ts';
import { expression } from './jinja-expression.ts';
import { RUNTIME } from './jinja-runtime.ts';

/** What a template becomes: the text of a template here, or code that makes the text of `input`. */
export type Jinja = { readonly text: string } | { readonly code: string };

/** Longer templates aren't read. */
const MAX_LENGTH = 100_000;

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value' | 'statement'; readonly code: string };

/**
 * Reads a Jinja template.
 * @param pathOf the inside of a template for a variable of it; null if it has to be computed
 * @param literal escapes text that isn't a template here
 * @throws JinjaError
 */
export function readJinja(
  source: string,
  pathOf: (name: string, members: readonly string[]) => string | null,
  literal: (text: string) => string,
): Jinja {
  if (source.length > MAX_LENGTH) throw new JinjaError('too long');
  const parts = split(source);
  const texts: string[] = [];
  for (const part of parts) {
    if (part.kind === 'text') texts.push(literal(part.text));
    else {
      const path = part.kind === 'value' ? plainPath(part.code, pathOf) : null;
      if (path === null) return { code: new Writer(parts).code() };
      texts.push(`{{${path}}}`);
    }
  }
  return { text: texts.join('') };
}

/** Text, values and statements, with white space removed where the marks say so. */
function split(source: string): readonly Part[] {
  const parts: Part[] = [];
  const marks = /\{\{[-+]?|\{%[-+]?|\{#[-+]?/g;
  let at = 0;
  let isTrimmed = false;
  for (let mark = marks.exec(source); mark !== null; mark = marks.exec(source)) {
    const opening = mark[0];
    const close = opening.startsWith('{{') ? '}}' : opening.startsWith('{%') ? '%}' : '#}';
    const end = endOf(source, marks.lastIndex, close);
    if (end < 0) throw new JinjaError(`"${opening}" isn't closed`);
    let text = source.slice(at, mark.index);
    if (isTrimmed) text = text.trimStart();
    if (opening.endsWith('-')) text = text.trimEnd();
    if (text !== '') parts.push({ kind: 'text', text });
    const inside = source.slice(marks.lastIndex, end);
    isTrimmed = inside.endsWith('-');
    const code = inside.replace(/[-+]$/, '').trim();
    if (close !== '#}') parts.push({ kind: close === '}}' ? 'value' : 'statement', code });
    if (close === '%}' && code === 'raw') {
      const raw = /\{%[-+]?\s*endraw\s*[-+]?%\}/.exec(source.slice(end));
      if (raw === null) throw new JinjaError('"raw" has no end');
      parts.pop();
      parts.push({ kind: 'text', text: source.slice(end + 2, end + raw.index) });
      at = end + raw.index + raw[0].length;
      marks.lastIndex = at;
      isTrimmed = false;
      continue;
    }
    at = end + 2;
    marks.lastIndex = at;
  }
  const rest = isTrimmed ? source.slice(at).trimStart() : source.slice(at);
  // A single newline at the end isn't kept.
  const last = rest.replace(/\r?\n$/, '');
  if (last !== '') parts.push({ kind: 'text', text: last });
  return parts;
}

/** Where a mark ends, outside of texts in quotes. */
function endOf(source: string, from: number, close: string): number {
  if (close === '#}') return source.indexOf(close, from);
  let quoted = '';
  for (let at = from; at < source.length; at += 1) {
    const sign = source[at] ?? '';
    if (quoted !== '') {
      if (sign === '\\') at += 1;
      else if (sign === quoted) quoted = '';
    } else if (sign === '"' || sign === "'") quoted = sign;
    else if (source.startsWith(close, at)) return at;
  }
  return -1;
}

const FILTERS: ReadonlyMap<string, string> = new Map([
  ['upper', 'upper'],
  ['lower', 'lower'],
  ['trim', 'trim'],
  ['length', 'length'],
  ['count', 'length'],
  ['first', 'first'],
  ['last', 'last'],
  ['tojson', 'json'],
  ['string', 'string'],
  ['urlencode', 'url_encode'],
  ['escape', 'html_escape'],
  ['e', 'html_escape'],
  ['sum', 'sum'],
  ['safe', ''],
]);

/** A variable with members and filters that mean the same here; null for anything else. */
function plainPath(
  code: string,
  pathOf: (name: string, members: readonly string[]) => string | null,
): string | null {
  const [, name = '', members = '', filters = ''] =
    /^([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[\d{1,9}\]|\['[^'\\]*'\]|\["[^"\\]*"\])*)((?:\s*\|\s*\w+(?:\((?:'[^'\\]*'|"[^"\\]*")?\))?)*)$/.exec(
      code,
    ) ?? [];
  if (name === '' || /^(?:none|true|false|loop)$/i.test(name)) return null;
  const names = [...members.matchAll(/\.(\w+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]/g)].map(
    ([, dotted, index, single, double]) => dotted ?? index ?? single ?? double ?? '',
  );
  let path = pathOf(name, names);
  if (path === null) return null;
  for (const [, filter = '', single, double] of filters.matchAll(
    /\|\s*(\w+)(?:\((?:'([^']*)'|"([^"]*)")?\))?/g,
  )) {
    const argument = single ?? double;
    path = operand(path);
    if (filter === 'join') path = `${path} | join: ${quote(argument ?? '')}`;
    else if (filter === 'default' && argument !== undefined) path = `${path} ?? ${quote(argument)}`;
    else {
      const known = argument === undefined ? FILTERS.get(filter) : undefined;
      if (known === undefined) return null;
      if (known !== '') path = `${path} | ${known}`;
    }
  }
  return path;
}

/** Writes JavaScript that makes the text. */
class Writer {
  readonly #parts: readonly Part[];
  readonly #lines: string[] = [];
  /** Open statements, innermost last. */
  readonly #open: string[] = [];

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  code(): string {
    for (const part of this.#parts) {
      if (part.kind === 'text') this.#line(`out += ${JSON.stringify(part.text)};`);
      else if (part.kind === 'value') this.#line(`out += show(${expression(part.code)});`);
      else this.#statement(part.code);
    }
    if (this.#open.length > 0) throw new JinjaError(`"${this.#open.at(-1) ?? ''}" has no end`);
    return `${RUNTIME}\nlet out = "";\nlet scope = { ...input };\n${this.#lines.join('\n')}\nreturn out;`;
  }

  #line(text: string): void {
    this.#lines.push('  '.repeat(Math.min(this.#open.length, MAX_DEPTH)) + text);
  }

  #statement(code: string): void {
    const [, word = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(code) ?? [];
    switch (word) {
      case 'if':
        this.#line(`if (isTrue(${expression(rest)})) {`);
        this.#enter('if');
        return;
      case 'elif':
        this.#leave(['if'], `} else if (isTrue(${expression(rest)})) {`);
        this.#enter('if');
        return;
      case 'else':
        if (this.#open.at(-1) === 'for') {
          this.#leave(['for'], '}); if (looped.length === 0) {');
          this.#enter('for else');
        } else {
          this.#leave(['if'], '} else {');
          this.#enter('else');
        }
        return;
      case 'endif':
        this.#leave(['if', 'else'], '}');
        return;
      case 'for':
        this.#for(rest);
        return;
      case 'endfor':
        if (this.#open.at(-1) === 'for else') this.#leave(['for else'], '} }');
        else this.#leave(['for'], '}); }');
        return;
      case 'set': {
        const [, name = '', value = ''] = /^([A-Za-z_]\w*)\s*=(?!=)\s*([\s\S]+)$/.exec(rest) ?? [];
        if (name === '') throw new JinjaError(`"${code}"`);
        this.#line(`scope[${JSON.stringify(name)}] = ${expression(value)};`);
        return;
      }
      default:
        throw new JinjaError(`"${word}"`);
    }
  }

  #for(rest: string): void {
    const [, names = '', list = '', , condition = ''] =
      /^([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)\s+in\s+([\s\S]+?)(\s+if\s+((?:(?!\belse\b)[\s\S])+))?$/.exec(
        rest,
      ) ?? [];
    if (names === '') throw new JinjaError(`"for ${rest}"`);
    const targets = JSON.stringify(names.split(/\s*,\s*/));
    const kept = condition === '' ? 'null' : `(scope) => isTrue(${expression(condition)})`;
    this.#line(
      `{ const looped = rounds(scope, ${expression(list)}, ${targets}, ${kept}); looped.forEach((scope) => {`,
    );
    this.#enter('for');
  }

  #enter(word: string): void {
    if (this.#open.length >= MAX_DEPTH) throw new JinjaError('nested too deeply');
    this.#open.push(word);
  }

  #leave(words: readonly string[], line: string): void {
    const open = this.#open.pop();
    if (open === undefined || !words.includes(open)) throw new JinjaError(`"${line}"`);
    this.#line(line);
  }
}
