import { type Message, message } from '@millrace/messages';
import { type JsonValue, parseJson } from './json.ts';

export interface Expression {
  readonly operand: PathOperand;
  readonly filters: readonly FilterCall[];
}

/** A path's names from the root, as written: `['nodes', 'a', 'output', 'items', '0']`. */
export interface PathOperand {
  readonly kind: 'path';
  readonly names: readonly string[];
}

export type Operand = PathOperand | { readonly kind: 'literal'; readonly value: JsonValue };

export interface FilterCall {
  readonly name: string;
  readonly args: readonly Operand[];
}

/** One template error and its position. `offset` counts UTF-16 units from the start of the string. */
export interface TemplateError {
  readonly code: 'template_syntax' | 'unknown_filter';
  readonly offset: number;
  readonly message: Message;
}

/** A longer expression is a mistake; the limit keeps problems readable. */
const MAX_EXPRESSION_LENGTH = 10_000;
const MAX_FILTERS = 20;

/** `k` backslashes before `{{` represent `k / 2` of them, and an odd one makes the braces literal. */
export function countBackslashesBefore(text: string, at: number, from: number): number {
  let count = 0;
  while (at - count - 1 >= from && text.charCodeAt(at - count - 1) === 0x5c) count += 1;
  return count;
}

/** Thrown only inside the parser; it never leaves this file. */
class SyntaxProblem extends Error {
  readonly problem: TemplateError;
  constructor(problem: TemplateError) {
    super(problem.code);
    this.problem = problem;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INDEX = /(?:0|[1-9]\d*)/y;
/** Everything but white space and the characters with a meaning in an expression. */
export const NAME = /[^\s.[\]{}|"'`:,()\\]+/y;
const WHITE_SPACE = /\s+/y;
const KEYWORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Called for each path once it is read. @param step position of its second name; null when it has none */
export type OnPath = (
  names: readonly string[],
  step: { readonly start: number; readonly end: number } | null,
) => void;

/** The arguments of a filter. */
interface FilterRule {
  readonly minArgs: number;
  readonly maxArgs: number;
  /** Usage, reported when it is called incorrectly. */
  readonly usage: (name: string) => Message;
  /** Checks arguments that aren't paths; paths are passed as undefined. */
  findFault?(args: readonly (JsonValue | undefined)[], name: string): Message | null;
}

interface ParserOptions {
  /** Absent: any filter is allowed. */
  readonly filters?: ReadonlyMap<string, FilterRule>;
  readonly onPath?: OnPath;
}

/** Recursive descent over `{{ path | filter: arg, arg | ... }}`; one instance reads one expression. */
export class ExpressionParser {
  readonly #text: string;
  readonly #start: number;
  #at: number;
  readonly #options: ParserOptions;

  constructor(text: string, open: number, options: ParserOptions) {
    this.#text = text;
    this.#start = open;
    this.#at = open + 2;
    this.#options = options;
  }

  parse(): { expression: Expression; end: number } | { error: TemplateError } {
    try {
      this.#skipSpace();
      if (this.#isAt('}}'))
        this.#fail(message('flow.empty_expression', { example: '{{trigger.data.name}}' }));
      const operand = this.#path();
      const filters: FilterCall[] = [];
      while (this.#take('|')) {
        if (filters.length === MAX_FILTERS)
          this.#fail(message('flow.too_many_filters', { max: MAX_FILTERS }));
        filters.push(this.#filter());
      }
      if (!this.#take('}}')) this.#fail(this.#describeRest());
      if (this.#at - this.#start > MAX_EXPRESSION_LENGTH) {
        this.#fail(message('flow.expression_too_long', { max: MAX_EXPRESSION_LENGTH }));
      }
      return { expression: { operand, filters }, end: this.#at };
    } catch (error) {
      if (error instanceof SyntaxProblem) return { error: error.problem };
      throw error;
    }
  }

  #path(): PathOperand {
    const root = this.#match(NAME);
    if (root === null) this.#fail(message('flow.path_without_name', { mistake: this.#describeRest() }));
    const names: string[] = [root];
    let step: { start: number; end: number } | null = null;
    for (;;) {
      const start = this.#at;
      if (this.#isAt('.')) {
        this.#at += 1;
        const name = this.#match(NAME);
        if (name === null) this.#fail(message('flow.name_after_dot'));
        names.push(name);
      } else if (this.#isAt('[')) {
        this.#at += 1;
        names.push(this.#bracketed());
      } else {
        this.#options.onPath?.(names, step);
        this.#skipSpace();
        return { kind: 'path', names };
      }
      step ??= { start, end: this.#at };
    }
  }

  #bracketed(): string {
    this.#skipSpace();
    const name = this.#isAtQuote() ? this.#string() : this.#match(INDEX);
    if (name === null) this.#fail(message('flow.not_in_brackets'));
    this.#skipSpace();
    if (!this.#isAt(']')) this.#fail(message('flow.bracket_not_closed'));
    this.#at += 1;
    return name;
  }

  #filter(): FilterCall {
    this.#skipSpace();
    const at = this.#at;
    const name = this.#match(NAME);
    if (name === null) this.#fail(message('flow.filter_without_name'));
    const { filters } = this.#options;
    const filter = filters?.get(name);
    if (filters !== undefined && filter === undefined) {
      throw new SyntaxProblem({
        code: 'unknown_filter',
        offset: at,
        message: message('flow.unknown_filter', { name, filters: [...filters.keys()].join(', ') }),
      });
    }
    this.#skipSpace();
    const args: Operand[] = [];
    if (this.#take(':')) {
      do args.push(this.#operand());
      while (this.#take(','));
    }
    if (filter === undefined) return { name, args };
    if (args.length < filter.minArgs || args.length > filter.maxArgs) {
      this.#failAt(at, filter.usage(name));
    }
    const values = args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined));
    const fault = filter.findFault?.(values, name) ?? null;
    if (fault !== null) this.#failAt(at, fault);
    return { name, args };
  }

  #operand(): Operand {
    this.#skipSpace();
    if (this.#isAtQuote()) return this.#literal(this.#string());
    const number = this.#match(NUMBER);
    if (number !== null) return this.#literal(parseJson(number));
    const path = this.#path();
    const [root] = path.names;
    const keyword = path.names.length === 1 && root !== undefined ? KEYWORDS.get(root) : undefined;
    return keyword === undefined ? path : this.#literal(keyword);
  }

  #literal(value: JsonValue): Operand {
    this.#skipSpace();
    return { kind: 'literal', value };
  }

  /** A string in single or double quotes; a backslash escapes a quote, a backslash, n or t. */
  #string(): string {
    const start = this.#at;
    const quote = this.#text[start];
    let value = '';
    for (let at = start + 1; at < this.#text.length; at++) {
      const char = this.#text[at] as string;
      if (char === quote) {
        this.#at = at + 1;
        this.#skipSpace();
        return value;
      }
      if (char === '\\') {
        at += 1;
        const escaped = this.#text[at];
        if (escaped === 'n') value += '\n';
        else if (escaped === 't') value += '\t';
        else if (escaped === '\\' || escaped === '"' || escaped === "'") value += escaped;
        else this.#failAt(at - 1, message('flow.unknown_escape'));
      } else {
        value += char;
      }
    }
    return this.#failAt(start, message('flow.string_not_closed'));
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at += found[0].length;
    return found[0];
  }

  #take(token: string): boolean {
    if (!this.#isAt(token)) return false;
    this.#at += token.length;
    if (token !== '}}') this.#skipSpace();
    return true;
  }

  #isAt(token: string): boolean {
    return this.#text.startsWith(token, this.#at);
  }

  #isAtQuote(): boolean {
    return this.#isAt('"') || this.#isAt("'");
  }

  #skipSpace(): void {
    this.#match(WHITE_SPACE);
  }

  #describeRest(): Message {
    if (this.#at >= this.#text.length) {
      return message('flow.expression_not_closed', { close: '}}', escaped: '\\{{' });
    }
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const example = '{{trigger.data.name | upper}}';
    return message('flow.unexpected_character', { character: found, example });
  }

  #fail(mistake: Message): never {
    return this.#failAt(this.#at, mistake);
  }

  #failAt(offset: number, mistake: Message): never {
    throw new SyntaxProblem({
      code: 'template_syntax',
      offset,
      message: message('flow.at_character', { mistake, position: offset + 1 }),
    });
  }
}
