import { JinjaError, MAX_DEPTH } from './jinja-error.ts';

const TOKENS =
  /\s*(?:(\d+(?:\.\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|(\*\*|\/\/|==|!=|<=|>=|[-+*/%~<>()[\]{},.:|]))/y;

/** Jinja's operators, loosest first. */
const LEVELS: readonly (readonly string[])[] = [['~'], ['+', '-'], ['*', '/', '//', '%']];

/**
 * An expression as JavaScript, by recursive descent with a bound on depth.
 * @throws JinjaError
 */
export function expression(source: string): string {
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
