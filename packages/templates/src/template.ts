import {
  isJsonArray,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  joinPointer,
} from '@millrace/values/json';
import type { Expression, TemplateError } from './template-expression.ts';
import { FILTERS } from './template-filters.ts';
import { ExpressionParser } from './template-parser.ts';
import { countBackslashesBefore } from './template-scanner.ts';

/** A value that may contain templates, parsed once. Constants keep the original value. */
export type Template =
  | { readonly kind: 'constant'; readonly value: JsonValue }
  /** A string that is just one expression: keeps the value's type. */
  | { readonly kind: 'expression'; readonly expression: Expression }
  /** Text containing expressions: rendered to a string. */
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'record'; readonly members: readonly (readonly [string, Template])[] };

export type ParsedTemplate =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly error: TemplateError };

/** Parses one string. Text outside `{{ }}` is literal; `\{{` is a literal `{{`, and a backslash before that is a backslash. */
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
      const parser = new ExpressionParser(text, open, { filters: FILTERS });
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

/** Parses every string in a value; member names aren't templates. A string that can't be parsed is reported and kept as a constant. */
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

/** Every path a template reads, including filter arguments, with the pointer of its string. */
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

/** The expressions that an expression is made of. */
function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'path':
    case 'it':
    case 'literal':
      return [];
    case 'filter':
      return [expression.input, ...expression.args.map((arg) => (arg.kind === 'each' ? arg.body : arg))];
    case 'prefix':
      return [expression.operand];
    case 'infix':
      return [expression.left, expression.right];
    case 'choice':
      return [expression.test, expression.yes, expression.no];
  }
}

/** Every path in an expression, in the order in which they are written. */
function pathsOf(expression: Expression): readonly (readonly string[])[] {
  if (expression.kind === 'path') return [expression.names];
  return partsOf(expression).flatMap(pathsOf);
}
