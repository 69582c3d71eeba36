import { isJsonArray, isRawNumber, type JsonObject, type JsonValue, joinPointer, parseJson } from './json.ts';
import { FILTERS } from './template-filters.ts';

/** A value that may hold templates, parsed once. Constants keep the value they came from. */
export type Template =
  | { readonly kind: 'constant'; readonly value: JsonValue }
  /** A string that is one expression and nothing else: keeps the value's type. */
  | { readonly kind: 'expression'; readonly expression: Expression }
  /** Text with expressions in it: rendered to a string. */
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'record'; readonly members: readonly (readonly [string, Template])[] };

export interface Expression {
  readonly operand: PathOperand;
  readonly filters: readonly FilterCall[];
}

/** A path's names from the root on, as written: `['nodes', 'a', 'output', 'items', '0']`. */
export interface PathOperand {
  readonly kind: 'path';
  readonly names: readonly string[];
}

export type Operand = PathOperand | { readonly kind: 'literal'; readonly value: JsonValue };

export interface FilterCall {
  readonly name: string;
  readonly args: readonly Operand[];
}

/** What is wrong with one template and where. `offset` counts UTF-16 units from the start of the string. */
export interface TemplateError {
  readonly code: 'template_syntax' | 'unknown_filter';
  readonly offset: number;
  readonly message: string;
}

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly error: TemplateError };

/** An expression longer than this is a mistake; the limit keeps problems readable. */
const MAX_EXPRESSION_LENGTH = 10_000;
const MAX_FILTERS = 20;

/**
 * Parses one string. Text outside `{{ }}` stands for itself; `\{{` stands for a literal `{{`, and a backslash
 * before that for a backslash.
 */
export function parseTemplate(text: string): ParsedTemplate {
  let open = text.indexOf('{{');
  if (open === -1) return { ok: true, template: { kind: 'constant', value: text } };
  const parts: (string | Expression)[] = [];
  let from = 0;
  let literal = '';
  while (open !== -1) {
    const backslashes = countBackslashesBefore(text, open, from);
    literal += text.slice(from, open - Math.ceil(backslashes / 2));
    if (backslashes % 2 === 1) {
      literal += '{{';
      from = open + 2;
    } else {
      const parser = new ExpressionParser(text, open);
      const parsed = parser.parse();
      if ('error' in parsed) return { ok: false, error: parsed.error };
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parsed.expression);
      from = parsed.end;
    }
    open = text.indexOf('{{', from);
  }
  literal += text.slice(from);
  if (literal !== '') parts.push(literal);
  return { ok: true, template: toTemplate(parts) };
}

/** `k` backslashes before `{{` stand for `k / 2` of them, and an odd one out makes the braces literal. */
function countBackslashesBefore(text: string, at: number, from: number): number {
  let count = 0;
  while (at - count - 1 >= from && text.charCodeAt(at - count - 1) === 0x5c) count += 1;
  return count;
}

function toTemplate(parts: readonly (string | Expression)[]): Template {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) {
    return typeof first === 'string'
      ? { kind: 'constant', value: first }
      : { kind: 'expression', expression: first };
  }
  return { kind: 'text', parts };
}

/** A template error inside a config: `pointer` names the string, starting at `at`. */
export interface PlacedTemplateError extends TemplateError {
  readonly pointer: string;
}

/**
 * Parses every string in a value; member names are not templates. A string that cannot be parsed is reported and
 * kept as a constant.
 */
export function parseTemplates(
  value: JsonValue,
  at = '',
): { template: Template; errors: readonly PlacedTemplateError[] } {
  const errors: PlacedTemplateError[] = [];
  const walk = (item: JsonValue, pointer: string): Template => {
    if (typeof item === 'string') {
      if (!item.includes('{{')) return { kind: 'constant', value: item };
      const parsed = parseTemplate(item);
      if (parsed.ok) return parsed.template;
      errors.push({ ...parsed.error, pointer });
      return { kind: 'constant', value: item };
    }
    if (item === null || typeof item !== 'object' || isRawNumber(item))
      return { kind: 'constant', value: item };
    if (isJsonArray(item)) {
      const items = item.map((entry, index) => walk(entry, `${pointer}/${index}`));
      return items.every(isConstant) ? { kind: 'constant', value: item } : { kind: 'list', items };
    }
    const members = Object.entries(item as JsonObject).map(
      ([name, entry]) => [name, walk(entry, joinPointer(pointer, name))] as const,
    );
    return members.every(([, entry]) => isConstant(entry))
      ? { kind: 'constant', value: item }
      : { kind: 'record', members };
  };
  return { template: walk(value, at), errors };
}

function isConstant(template: Template): boolean {
  return template.kind === 'constant';
}

/** Every path a template reads, filter arguments included, with the pointer of the string it stands in. */
export function listPaths(
  template: Template,
  at = '',
): { readonly names: readonly string[]; readonly pointer: string }[] {
  switch (template.kind) {
    case 'constant':
      return [];
    case 'expression':
      return pathsOf(template.expression).map((names) => ({ names, pointer: at }));
    case 'text':
      return template.parts.flatMap((part) =>
        typeof part === 'string' ? [] : pathsOf(part).map((names) => ({ names, pointer: at })),
      );
    case 'list':
      return template.items.flatMap((item, index) => listPaths(item, `${at}/${index}`));
    case 'record':
      return template.members.flatMap(([name, item]) => listPaths(item, joinPointer(at, name)));
  }
}

function pathsOf(expression: Expression): (readonly string[])[] {
  const paths = [expression.operand.names];
  for (const filter of expression.filters) {
    for (const arg of filter.args) if (arg.kind === 'path') paths.push(arg.names);
  }
  return paths;
}

/** Where a template names a node: the step after `nodes`, as `.fetch`, `['fetch']` or `["fetch"]`. */
export interface NodeReference {
  readonly nodeId: string;
  /** UTF-16 units from the start of the text, the dot or the brackets included. */
  readonly start: number;
  readonly end: number;
}

/**
 * Every place where the templates of a text name a node. Text outside of expressions is left out, and so are names that
 * merely contain one. Of an expression that cannot be parsed, the paths before the mistake count.
 */
export function listNodeReferences(text: string): readonly NodeReference[] {
  const references: NodeReference[] = [];
  const onPath: OnPath = ([root, nodeId], step) => {
    if (root === 'nodes' && nodeId !== undefined && step !== null) references.push({ nodeId, ...step });
  };
  let from = 0;
  for (let open = text.indexOf('{{'); open !== -1; open = text.indexOf('{{', from)) {
    const isLiteral = countBackslashesBefore(text, open, from) % 2 === 1;
    const parsed = isLiteral ? null : new ExpressionParser(text, open, onPath).parse();
    from = parsed === null || 'error' in parsed ? open + 2 : parsed.end;
  }
  return references;
}

/** The same text with other node ids in its templates; ids that the map does not have stay. */
export function renameNodeReferences(text: string, names: ReadonlyMap<string, string>): string {
  let renamed = '';
  let from = 0;
  for (const { nodeId, start, end } of listNodeReferences(text)) {
    const fresh = names.get(nodeId);
    if (fresh === undefined || fresh === nodeId) continue;
    const [, quote] = /^\[\s*(["'])/.exec(text.slice(start, end)) ?? [];
    const step = quote === undefined && isName(fresh) ? `.${fresh}` : quotedStep(fresh, quote);
    renamed += text.slice(from, start) + step;
    from = end;
  }
  return renamed + text.slice(from);
}

/** A name as it follows a path in a template: in brackets where a dot would not do, or would be hard to read. */
export function templateStep(name: string | number): string {
  if (typeof name === 'number') return `[${name}]`;
  return /^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : quotedStep(name);
}

/** Whether a name can follow a dot. */
function isName(name: string): boolean {
  NAME.lastIndex = 0;
  return NAME.exec(name)?.[0] === name;
}

/** All that strings of a template know to escape is escaped; any other character stands for itself. */
function quotedStep(name: string, quote = '"'): string {
  const escaped = name.replace(/["'\\\n\t]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return character === quote || character === '\\' ? `\\${character}` : character;
  });
  return `[${quote}${escaped}${quote}]`;
}

/** Thrown inside the parser only; it never leaves this file. */
class SyntaxProblem extends Error {
  readonly problem: TemplateError;
  constructor(problem: TemplateError) {
    super(problem.message);
    this.problem = problem;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INDEX = /(?:0|[1-9]\d*)/y;
/** Everything but white space and the characters that mean something in an expression. */
const NAME = /[^\s.[\]{}|"'`:,()\\]+/y;
const WHITE_SPACE = /\s+/y;
const KEYWORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Told of each path as soon as it is read. @param step where its second name stands; null when it has none */
type OnPath = (
  names: readonly string[],
  step: { readonly start: number; readonly end: number } | null,
) => void;

/** Recursive descent over `{{ path | filter: arg, arg | ... }}`; one instance reads one expression. */
class ExpressionParser {
  readonly #text: string;
  readonly #start: number;
  #at: number;
  readonly #onPath: OnPath | undefined;

  constructor(text: string, open: number, onPath?: OnPath) {
    this.#text = text;
    this.#start = open;
    this.#at = open + 2;
    this.#onPath = onPath;
  }

  parse(): { expression: Expression; end: number } | { error: TemplateError } {
    try {
      this.#skipSpace();
      if (this.#isAt('}}')) this.#fail('the expression is empty; write a path such as {{trigger.data.name}}');
      const operand = this.#path();
      const filters: FilterCall[] = [];
      while (this.#take('|')) {
        if (filters.length === MAX_FILTERS) this.#fail(`more than ${MAX_FILTERS} filters in one expression`);
        filters.push(this.#filter());
      }
      if (!this.#take('}}')) this.#fail(this.#describeRest());
      if (this.#at - this.#start > MAX_EXPRESSION_LENGTH) {
        this.#fail(`the expression is longer than ${MAX_EXPRESSION_LENGTH} characters`);
      }
      return { expression: { operand, filters }, end: this.#at };
    } catch (error) {
      if (error instanceof SyntaxProblem) return { error: error.problem };
      throw error;
    }
  }

  #path(): PathOperand {
    const root = this.#match(NAME);
    if (root === null) this.#fail(`a path must begin with a name; ${this.#describeRest()}`);
    const names: string[] = [root];
    let step: { start: number; end: number } | null = null;
    for (;;) {
      const start = this.#at;
      if (this.#isAt('.')) {
        this.#at += 1;
        const name = this.#match(NAME);
        if (name === null)
          this.#fail('a name must follow the dot; write ["..."] for a name with spaces or dots');
        names.push(name);
      } else if (this.#isAt('[')) {
        this.#at += 1;
        names.push(this.#bracketed());
      } else {
        this.#onPath?.(names, step);
        this.#skipSpace();
        return { kind: 'path', names };
      }
      step ??= { start, end: this.#at };
    }
  }

  #bracketed(): string {
    this.#skipSpace();
    const name = this.#isAtQuote() ? this.#string() : this.#match(INDEX);
    if (name === null)
      this.#fail('[ ] must hold a name in quotes or an index, such as ["first name"] or [0]');
    this.#skipSpace();
    if (!this.#isAt(']')) this.#fail('a ] is missing');
    this.#at += 1;
    return name;
  }

  #filter(): FilterCall {
    this.#skipSpace();
    const at = this.#at;
    const name = this.#match(NAME);
    if (name === null) this.#fail('the name of a filter must follow the |');
    const filter = FILTERS.get(name);
    if (filter === undefined) {
      throw new SyntaxProblem({
        code: 'unknown_filter',
        offset: at,
        message: `there is no filter "${name}"; the filters are ${[...FILTERS.keys()].join(', ')}`,
      });
    }
    this.#skipSpace();
    const args: Operand[] = [];
    if (this.#take(':')) {
      do args.push(this.#operand());
      while (this.#take(','));
    }
    if (args.length < filter.minArgs || args.length > filter.maxArgs) {
      this.#failAt(at, `the filter "${name}" takes ${filter.usage}`);
    }
    const fault = filter.findFault?.(args.map((arg) => (arg.kind === 'literal' ? arg.value : undefined)));
    if (typeof fault === 'string') this.#failAt(at, `the filter "${name}" ${fault}`);
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

  /** A string in single or double quotes; a backslash stands before a quote, a backslash, n or t. */
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
        else this.#failAt(at - 1, 'only \\" \\\' \\\\ \\n and \\t may follow a backslash in a string');
      } else {
        value += char;
      }
    }
    return this.#failAt(start, 'the string has no closing quote');
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

  #describeRest(): string {
    if (this.#at >= this.#text.length) {
      return 'the expression has no closing }}; write \\{{ where two braces are meant as text';
    }
    const found = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    return `"${found}" cannot stand here; an expression is a path and filters, such as {{trigger.data.name | upper}}`;
  }

  #fail(message: string): never {
    return this.#failAt(this.#at, message);
  }

  #failAt(offset: number, message: string): never {
    throw new SyntaxProblem({
      code: 'template_syntax',
      offset,
      message: `${message} (at character ${offset + 1})`,
    });
  }
}
