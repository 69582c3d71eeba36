import { operand, quote } from '../refs.ts';

/** What a template becomes: the text of a template here, or code that makes the text of `input`. */
export type Jinja = { readonly text: string } | { readonly code: string };

/** A template can't be read: it uses something that isn't known here. */
export class JinjaError extends Error {}

/** Longer templates aren't read. */
const MAX_LENGTH = 100_000;
const MAX_DEPTH = 40;

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
  #loops = 0;

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
    this.#loops += 1;
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

const TOKENS =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>()[\]{},.:|]))/y;

/** Jinja's operators, loosest first. */
const LEVELS: readonly (readonly string[])[] = [['~'], ['+', '-'], ['*', '/', '//', '%']];

/** An expression as JavaScript, by recursive descent with a bound on depth. */
function expression(source: string): string {
  const tokens: string[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < source.length) {
    const start = TOKENS.lastIndex;
    const match = TOKENS.exec(source);
    if (match === null) {
      if (source.slice(start).trim() === '') break;
      throw new JinjaError(`"${source}"`);
    }
    tokens.push(match[1] ?? match[2] ?? match[3] ?? match[4] ?? '');
  }
  const reader = new Reader(tokens);
  const code = reader.whole();
  if (!reader.isAtEnd) throw new JinjaError(`"${source}"`);
  return code;
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  whole(): string {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new JinjaError('nested too deeply');
    const value = this.#either();
    if (!this.#takes('if')) {
      this.#depth -= 1;
      return value;
    }
    const test = this.#either();
    const otherwise = this.#takes('else') ? this.whole() : '""';
    this.#depth -= 1;
    return `(isTrue(${test}) ? ${value} : ${otherwise})`;
  }

  #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #takes(token: string): boolean {
    if (this.#next() !== token) return false;
    this.#at += 1;
    return true;
  }

  #needs(token: string): void {
    if (!this.#takes(token)) throw new JinjaError(`"${token}" is missing`);
  }

  #either(): string {
    let left = this.#both();
    while (this.#takes('or')) left = `or(${left}, () => ${this.#both()})`;
    return left;
  }

  #both(): string {
    let left = this.#not();
    while (this.#takes('and')) left = `and(${left}, () => ${this.#not()})`;
    return left;
  }

  #not(): string {
    let count = 0;
    while (this.#takes('not')) count += 1;
    const value = this.#comparison();
    return count === 0 ? value : count % 2 === 1 ? `!isTrue(${value})` : `isTrue(${value})`;
  }

  #comparison(): string {
    const left = this.#level(0);
    const token = this.#next();
    if (['==', '!=', '<', '>', '<=', '>='].includes(token)) {
      this.#at += 1;
      const right = this.#level(0);
      if (token === '==') return `same(${left}, ${right})`;
      return token === '!=' ? `!same(${left}, ${right})` : `(${left} ${token} ${right})`;
    }
    if (this.#takes('in')) return `isIn(${left}, ${this.#level(0)})`;
    if (token === 'not' && this.#tokens[this.#at + 1] === 'in') {
      this.#at += 2;
      return `!isIn(${left}, ${this.#level(0)})`;
    }
    if (!this.#takes('is')) return left;
    const isNot = this.#takes('not');
    const test = this.#next();
    this.#at += 1;
    if (!TESTS.has(test)) throw new JinjaError(`"is ${test}"`);
    return `${isNot ? '!' : ''}tests.${test}(${left})`;
  }

  #level(at: number): string {
    const operators = LEVELS[at];
    if (operators === undefined) return this.#power();
    let left = this.#level(at + 1);
    while (operators.includes(this.#next())) {
      const operator = this.#next();
      this.#at += 1;
      const right = this.#level(at + 1);
      if (operator === '~') left = `(show(${left}) + show(${right}))`;
      else if (operator === '+') left = `plus(${left}, ${right})`;
      else if (operator === '//') left = `Math.floor(${left} / ${right})`;
      else left = `(${left} ${operator} ${right})`;
    }
    return left;
  }

  #power(): string {
    if (this.#takes('-')) return `-(${this.#power()})`;
    if (this.#takes('+')) return this.#power();
    const base = this.#filtered(this.#members(this.#atom()));
    return this.#takes('**') ? `((${base}) ** (${this.#power()}))` : base;
  }

  #atom(): string {
    const token = this.#next();
    this.#at += 1;
    if (/^\d/.test(token)) return token;
    if (/^["']/.test(token)) return JSON.stringify(textIn(token));
    if (token === '(' || token === '[') {
      const close = token === '(' ? ')' : ']';
      const items = this.#list(close);
      return token === '(' && items.length === 1 ? `(${items[0] ?? ''})` : `[${items.join(', ')}]`;
    }
    if (token === '{') return this.#object();
    if (!/^[A-Za-z_]/.test(token) || KEYWORDS.has(token)) throw new JinjaError(`"${token}"`);
    const constant = CONSTANTS.get(token);
    if (constant !== undefined) return constant;
    if (token === 'range' && this.#takes('(')) return `range(${this.#list(')').join(', ')})`;
    return `get(scope, ${JSON.stringify(token)})`;
  }

  #list(close: string): string[] {
    const items: string[] = [];
    while (!this.#takes(close)) {
      items.push(this.whole());
      if (!this.#takes(',') && this.#next() !== close) throw new JinjaError(`"${close}" is missing`);
    }
    return items;
  }

  #object(): string {
    const members: string[] = [];
    while (!this.#takes('}')) {
      const name = this.whole();
      this.#needs(':');
      members.push(`[${name}]: ${this.whole()}`);
      if (!this.#takes(',') && this.#next() !== '}') throw new JinjaError('"}" is missing');
    }
    return `({ ${members.join(', ')} })`;
  }

  #members(start: string): string {
    let value = start;
    for (;;) {
      if (this.#takes('.')) {
        const name = this.#next();
        this.#at += 1;
        if (!/^\w+$/.test(name)) throw new JinjaError(`".${name}"`);
        if (this.#takes('(')) {
          if (!METHODS.has(name)) throw new JinjaError(`"${name}()"`);
          value = `methods.${name}(${[value, ...this.#list(')')].join(', ')})`;
        } else value = `get(${value}, ${JSON.stringify(name)})`;
      } else if (this.#takes('[')) value = this.#index(value);
      else return value;
    }
  }

  #index(value: string): string {
    const from = this.#next() === ':' ? 'undefined' : this.whole();
    if (!this.#takes(':')) {
      this.#needs(']');
      return `get(${value}, ${from})`;
    }
    const to = this.#next() === ']' ? 'undefined' : this.whole();
    this.#needs(']');
    return `part(${value}, ${from}, ${to})`;
  }

  #filtered(start: string): string {
    let value = start;
    while (this.#takes('|')) {
      const name = this.#next();
      this.#at += 1;
      if (!FILTER_CODE.has(name)) throw new JinjaError(`"|${name}"`);
      const given = this.#takes('(') ? this.#arguments() : [];
      value = this.#members(`filters.${name}(${[value, ...given].join(', ')})`);
    }
    return value;
  }

  /** Arguments of a filter; those with a name are taken in order. */
  #arguments(): string[] {
    const items: string[] = [];
    while (!this.#takes(')')) {
      items.push(this.whole());
      if (!this.#takes(',') && this.#next() !== ')') throw new JinjaError('")" is missing');
    }
    return items;
  }
}

const KEYWORDS = new Set(['if', 'else', 'and', 'or', 'not', 'in', 'is', 'for']);
const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['True', 'true'],
  ['false', 'false'],
  ['False', 'false'],
  ['none', 'null'],
  ['None', 'null'],
]);

const ESCAPES: { readonly [sign: string]: string } = { n: '\n', t: '\t', r: '\r' };

function textIn(token: string): string {
  return token.slice(1, -1).replace(/\\([\s\S])/g, (_found, sign: string) => ESCAPES[sign] ?? sign);
}

const TESTS = new Set(
  'defined undefined none string number mapping iterable sequence boolean odd even'.split(' '),
);
const METHODS = new Set(
  'get items keys values split strip lstrip rstrip upper lower title replace startswith endswith join append'.split(
    ' ',
  ),
);
const FILTER_CODE = new Set(
  'default d upper lower trim length count first last join replace tojson string int float round abs sum min max list unique sort reverse title capitalize safe escape e urlencode items map selectattr rejectattr truncate indent'.split(
    ' ',
  ),
);

/** What the code uses: values behave as in Jinja, but texts show lists, objects and nothing as templates here do. */
const RUNTIME = `const show = (value) => value == null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const isTrue = (value) => Array.isArray(value) ? value.length > 0 : value !== null && typeof value === "object" ? Object.keys(value).length > 0 : Boolean(value);
const or = (left, right) => isTrue(left) ? left : right();
const and = (left, right) => isTrue(left) ? right() : left;
const get = (value, name) => {
  if (value == null) return undefined;
  const at = typeof name === "number" && name < 0 ? value.length + name : name;
  return typeof value === "string" ? value[at] : Object.hasOwn(value, at) ? value[at] : undefined;
};
const part = (value, from, to) => value == null ? value : value.slice(from, to);
const same = (left, right) => left === right || (left == null && right == null) || (typeof left === "object" && JSON.stringify(left) === JSON.stringify(right));
const isIn = (value, list) => Array.isArray(list) ? list.some((each) => same(each, value)) : typeof list === "string" ? list.includes(show(value)) : list != null && Object.hasOwn(list, value);
const plus = (left, right) => Array.isArray(left) && Array.isArray(right) ? [...left, ...right] : left + right;
const range = (from, to, by = 1) => { const end = to === undefined ? from : to, start = to === undefined ? 0 : from; return Array.from({ length: Math.min(Math.max(Math.ceil((end - start) / by), 0), 100000) }, (_, at) => start + at * by); };
const listOf = (value) => value == null ? [] : Array.isArray(value) ? value : typeof value === "string" ? [...value] : typeof value === "object" ? Object.keys(value) : [];
const rounds = (scope, value, names, test) => {
  const named = (item) => names.length === 1 ? { [names[0]]: item } : Object.fromEntries(names.map((name, at) => [name, item?.[at]]));
  const kept = listOf(value).filter((item) => test === null || test({ ...scope, ...named(item) }));
  return kept.map((item, at) => ({ ...scope, ...named(item), loop: { index: at + 1, index0: at, first: at === 0, last: at === kept.length - 1, length: kept.length, revindex: kept.length - at } }));
};
const tests = {
  defined: (v) => v !== undefined, undefined: (v) => v === undefined, none: (v) => v == null, string: (v) => typeof v === "string", number: (v) => typeof v === "number",
  mapping: (v) => v !== null && typeof v === "object" && !Array.isArray(v), iterable: (v) => v !== null && (typeof v === "object" || typeof v === "string"),
  sequence: (v) => Array.isArray(v) || typeof v === "string", boolean: (v) => typeof v === "boolean", odd: (v) => v % 2 === 1, even: (v) => v % 2 === 0,
};
const titled = (v) => show(v).toLowerCase().replace(/(^|[^\\p{L}\\p{N}'])(\\p{L})/gu, (_, before, sign) => before + sign.toUpperCase());
const methods = {
  get: (v, name, other = null) => get(v, name) ?? other, items: (v) => Object.entries(v ?? {}), keys: (v) => Object.keys(v ?? {}), values: (v) => Object.values(v ?? {}),
  split: (v, by) => by === undefined ? show(v).split(/\\s+/).filter(Boolean) : show(v).split(by), strip: (v) => show(v).trim(), lstrip: (v) => show(v).trimStart(), rstrip: (v) => show(v).trimEnd(),
  upper: (v) => show(v).toUpperCase(), lower: (v) => show(v).toLowerCase(), title: titled, replace: (v, from, to) => show(v).replaceAll(from, () => to),
  startswith: (v, with_) => show(v).startsWith(with_), endswith: (v, with_) => show(v).endsWith(with_), join: (v, list) => listOf(list).map(show).join(v), append: (v, item) => { v.push(item); return ""; },
};
const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : show(a) < show(b) ? -1 : show(a) > show(b) ? 1 : 0;
const filters = {
  default: (v, other = "", also = false) => v === undefined || (also && !isTrue(v)) ? other : v, upper: (v) => show(v).toUpperCase(), lower: (v) => show(v).toLowerCase(), trim: (v) => show(v).trim(),
  length: (v) => typeof v === "string" ? [...v].length : listOf(v).length, first: (v) => listOf(v)[0], last: (v) => listOf(v).at(-1), join: (v, by = "", name) => listOf(v).map((each) => show(name === undefined ? each : get(each, name))).join(by),
  replace: (v, from, to) => show(v).replaceAll(from, () => to), tojson: (v) => JSON.stringify(v ?? null), string: show, int: (v, other = 0) => { const n = Math.trunc(Number(v)); return Number.isFinite(n) && v !== "" && v != null ? n : other; },
  float: (v, other = 0) => { const n = Number(v); return Number.isFinite(n) && v !== "" && v != null ? n : other; }, round: (v, digits = 0) => Math.round(v * 10 ** digits) / 10 ** digits, abs: Math.abs,
  sum: (v, name) => listOf(v).reduce((all, each) => all + (name === undefined ? each : get(each, name)), 0), min: (v) => listOf(v).toSorted(order)[0], max: (v) => listOf(v).toSorted(order).at(-1), list: listOf,
  unique: (v) => listOf(v).filter((each, at, all) => all.findIndex((other) => same(other, each)) === at), sort: (v) => listOf(v).toSorted(order), reverse: (v) => typeof v === "string" ? [...v].reverse().join("") : listOf(v).toReversed(),
  title: titled, capitalize: (v) => show(v).charAt(0).toUpperCase() + show(v).slice(1).toLowerCase(), safe: (v) => v, escape: (v) => show(v).replace(/[&<>"']/g, (sign) => "&#" + sign.charCodeAt(0) + ";"),
  urlencode: (v) => encodeURIComponent(show(v)), items: (v) => Object.entries(v ?? {}), map: (v, name) => listOf(v).map((each) => Object.hasOwn(filters, name) ? filters[name](each) : get(each, name)),
  selectattr: (v, name) => listOf(v).filter((each) => isTrue(get(each, name))), rejectattr: (v, name) => listOf(v).filter((each) => !isTrue(get(each, name))),
  truncate: (v, length = 255) => show(v).length <= length ? show(v) : show(v).slice(0, length - 3) + "...", indent: (v, width = 4) => show(v).split("\\n").map((line, at) => at === 0 || line === "" ? line : " ".repeat(width) + line).join("\\n"),
};
filters.d = filters.default; filters.count = filters.length; filters.e = filters.escape;`;
