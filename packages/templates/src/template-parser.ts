import { type Message, message } from '@millrace/messages';
import { isNumber, type JsonValue, parseJson, tryParseJson } from '@millrace/values/json';
import {
  type Argument,
  type Expression,
  type InfixOperator,
  type PathOperand,
  type PrefixOperator,
  type TemplateError,
  TIGHTNESS,
} from './template-expression.ts';
import { NAME, Scanner, SyntaxProblem } from './template-scanner.ts';

/** A longer expression is a mistake; the limits keep problems readable and bound how deep anything recurses. */
const MAX_EXPRESSION_LENGTH = 10_000;
const MAX_FILTERS = 20;
const MAX_OPERATIONS = 200;
const MAX_NESTING = 30;
const TOO_LARGE = message('flow.expression_too_large', { operations: MAX_OPERATIONS, levels: MAX_NESTING });

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INDEX = /(?:0|[1-9]\d*)/y;
/** No path begins like this: it is an operator without a value before it. */
const ONLY_OPERATORS = /[-+*/%<>=!&?~]+(?=[\s.[\]{}|"'`:,()\\]|$)/y;
const KEYWORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const COMPARING = /[=<>]/;
const CALCULATING = /[-+*/%]/;

/** Called for each path once it is read. @param step position of its second name; null when it has none */
export type OnPath = (
  names: readonly string[],
  step: { readonly start: number; readonly end: number } | null,
) => void;

/** The arguments of a filter. */
interface FilterRule {
  readonly minArgs: number;
  readonly maxArgs: number;
  /** The first argument may be evaluated for each item. */
  readonly takesEach?: boolean;
  /** Usage, reported when it is called incorrectly. */
  readonly usage: (name: string) => Message;
  /** Checks arguments known before anything runs; others are passed as undefined. */
  findFault?(args: readonly (JsonValue | undefined)[], name: string): Message | null;
}

interface ParserOptions {
  /** Absent: any filter is allowed. */
  readonly filters?: ReadonlyMap<string, FilterRule>;
  readonly onPath?: OnPath;
}

/** Recursive descent over one expression, by the grammar in SPEC.md. */
export class ExpressionParser {
  readonly #scan: Scanner;
  readonly #start: number;
  readonly #options: ParserOptions;
  #operations = 0;
  #depth = 0;
  /** How often the innermost argument for each item has read the item; null outside of one. */
  #itemReads: number | null = null;

  constructor(text: string, open: number, options: ParserOptions) {
    this.#start = open;
    this.#scan = new Scanner(text, open + 2);
    this.#options = options;
  }

  parse(): { expression: Expression; end: number } | { error: TemplateError } {
    const scan: Scanner = this.#scan;
    try {
      scan.skipSpace();
      if (scan.isAt('}}')) scan.fail(message('flow.empty_expression', { example: '{{trigger.data.name}}' }));
      const expression = this.#piped();
      if (!scan.take('}}')) this.#failAtRest(expression);
      if (scan.at - this.#start > MAX_EXPRESSION_LENGTH) {
        scan.fail(message('flow.expression_too_long', { max: MAX_EXPRESSION_LENGTH }));
      }
      return { expression, end: scan.at };
    } catch (error) {
      if (error instanceof SyntaxProblem) return { error: error.problem };
      throw error;
    }
  }

  /** A value and the filters that it goes through. */
  #piped(): Expression {
    const scan: Scanner = this.#scan;
    let value = this.#choice();
    for (let count = 0; scan.isAt('|') && !scan.isAt('||'); count += 1) {
      scan.take('|');
      if (count === MAX_FILTERS) scan.fail(message('flow.too_many_filters', { max: MAX_FILTERS }));
      value = this.#filter(value);
    }
    return value;
  }

  #choice(): Expression {
    const scan: Scanner = this.#scan;
    const test = this.#infix(0);
    if (scan.peekOperator() !== '?') return test;
    scan.take('?');
    this.#count();
    return this.#nested(() => {
      const yes = this.#choice();
      if (!scan.take(':')) this.#failAtRest(yes, message('flow.choice_incomplete'));
      return { kind: 'choice', test, yes, no: this.#choice() };
    });
  }

  /** Values joined by operators that bind at least this tightly. */
  #infix(least: number): Expression {
    const scan: Scanner = this.#scan;
    let left = this.#prefix();
    for (let before = -1; ; ) {
      const operator = scan.peekOperator();
      const tightness = operator === null ? undefined : TIGHTNESS.get(operator);
      if (operator === null || tightness === undefined || tightness < least) return left;
      if (tightness === before && COMPARING.test(operator)) scan.fail(message('flow.compared_twice'));
      const { at } = scan;
      scan.take(operator);
      this.#count();
      const right = this.#infix(tightness + 1);
      if (CALCULATING.test(operator) && (isWords(left) || isWords(right)))
        scan.failAt(at, message('flow.calculates_with_text', { operator, join: '~' }));
      left = { kind: 'infix', operator: operator as InfixOperator, left, right };
      before = tightness;
    }
  }

  #prefix(): Expression {
    const scan: Scanner = this.#scan;
    const operator = (['!', '-'] as const).find((each) => scan.isAt(each));
    if (operator === undefined) return this.#operand();
    if (operator === '-') {
      const number = scan.match(NUMBER);
      if (number !== null) return this.#literal(parseJson(number));
    }
    scan.take(operator);
    this.#count();
    const operand = this.#nested(() => this.#prefix());
    return { kind: 'prefix', operator: operator satisfies PrefixOperator, operand };
  }

  #operand(): Expression {
    const scan: Scanner = this.#scan;
    if (scan.isAtQuote()) return this.#literal(scan.string());
    if (scan.take('(')) {
      const inner = this.#nested(() => this.#piped());
      if (!scan.take(')')) this.#failAtRest(inner, message('flow.parenthesis_not_closed'));
      return inner;
    }
    const number = scan.match(NUMBER);
    if (number !== null) return this.#literal(parseJson(number));
    const path = this.#path();
    const [root = ''] = path.names;
    const keyword = path.names.length === 1 ? KEYWORDS.get(root) : undefined;
    if (keyword !== undefined) return { kind: 'literal', value: keyword };
    if (root !== 'it' || this.#itemReads === null) return path;
    this.#itemReads += 1;
    return { kind: 'it', names: path.names };
  }

  #path(): PathOperand {
    const scan: Scanner = this.#scan;
    ONLY_OPERATORS.lastIndex = scan.at;
    const root = ONLY_OPERATORS.test(scan.text) ? null : scan.match(NAME);
    if (root === null) scan.fail(message('flow.path_without_name', { mistake: scan.describeRest() }));
    const names: string[] = [root];
    let step: { start: number; end: number } | null = null;
    for (;;) {
      const start = scan.at;
      if (scan.isAt('.')) {
        scan.at += 1;
        const name = scan.match(NAME);
        if (name === null) scan.fail(message('flow.name_after_dot'));
        names.push(name);
      } else if (scan.isAt('[')) {
        scan.at += 1;
        names.push(this.#bracketed());
      } else {
        this.#options.onPath?.(names, step);
        scan.skipSpace();
        return { kind: 'path', names };
      }
      step ??= { start, end: scan.at };
    }
  }

  #bracketed(): string {
    const scan: Scanner = this.#scan;
    scan.skipSpace();
    const name = scan.isAtQuote() ? scan.string() : scan.match(INDEX);
    if (name === null) scan.fail(message('flow.not_in_brackets'));
    scan.skipSpace();
    if (!scan.isAt(']')) scan.fail(message('flow.bracket_not_closed'));
    scan.at += 1;
    return name;
  }

  #filter(input: Expression): Expression {
    const scan: Scanner = this.#scan;
    const { at } = scan;
    const name = scan.match(NAME);
    if (name === null) scan.fail(message('flow.filter_without_name'));
    const { filters } = this.#options;
    const filter = filters?.get(name);
    if (filters !== undefined && filter === undefined) {
      throw new SyntaxProblem({
        code: 'unknown_filter',
        offset: at,
        message: message('flow.unknown_filter', { name, filters: [...filters.keys()].join(', ') }),
      });
    }
    this.#count();
    scan.skipSpace();
    const args: Argument[] = [];
    if (scan.take(':')) {
      do args.push(this.#argument(filter?.takesEach === true && args.length === 0));
      while (scan.take(','));
    }
    if (filter === undefined) return { kind: 'filter', input, name, args };
    if (args.length < filter.minArgs || args.length > filter.maxArgs) scan.failAt(at, filter.usage(name));
    const values = args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined));
    const fault = filter.findFault?.(values, name) ?? null;
    if (fault !== null) scan.failAt(at, fault);
    return { kind: 'filter', input, name, args };
  }

  #argument(isForEach: boolean): Argument {
    if (!isForEach) return this.#prefix();
    const [around, before] = [this.#itemReads, this.#operations];
    this.#itemReads = 0;
    const body = this.#prefix();
    const reads: number = this.#itemReads;
    this.#itemReads = around;
    return reads === 0 ? body : { kind: 'each', body, steps: 1 + reads + this.#operations - before };
  }

  #literal(value: JsonValue): Expression {
    this.#scan.skipSpace();
    return { kind: 'literal', value };
  }

  #nested<Result>(read: () => Result): Result {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING) this.#scan.fail(TOO_LARGE);
    const result = read();
    this.#depth -= 1;
    return result;
  }

  #count(): void {
    this.#operations += 1;
    if (this.#operations > MAX_OPERATIONS) this.#scan.fail(TOO_LARGE);
  }

  /** Says what is wrong with what follows a value that could have ended there. */
  #failAtRest(before: Expression, otherwise?: Message): never {
    const scan: Scanner = this.#scan;
    const operator = scan.peekOperator() ?? '';
    const isOperator = TIGHTNESS.has(operator) || operator === '?';
    if (operator === '|' || (isOperator && before.kind === 'filter'))
      scan.fail(message('flow.filter_needs_parentheses'));
    const isAtEnd = scan.isAt('}}') || scan.isAt(')');
    return scan.fail(isAtEnd && otherwise !== undefined ? otherwise : scan.describeRest());
  }
}

/** Text that isn't a number. */
function isWords(expression: Expression): boolean {
  if (expression.kind !== 'literal' || typeof expression.value !== 'string') return false;
  return !isNumber(tryParseJson(expression.value) ?? null);
}
