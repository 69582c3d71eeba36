import { parseTemplate } from '@millrace/engine';
import { extend, quote, template } from '@millrace/importer-kit/refs';
import type {
  ArrowFunctionExpression,
  BinaryExpression,
  LogicalExpression,
  MemberExpression,
  TemplateLiteral,
} from 'acorn';
import {
  constantOf,
  isAround,
  type Node,
  nameOfMember,
  parse,
  pathOf,
  type Reading,
  unwrapped,
} from './expressions.ts';
import { dateOf } from './translate-date.ts';

/** The inside of a template that means the same as the code; null if only code can say it. */
export function translate(code: string, reading: Reading): string | null {
  const ast = parse(code);
  if (ast === null) return null;
  try {
    const text = translateNode(ast, reading);
    // Too long, nested too deeply, or with a pattern that takes more than linear time: it stays code.
    return text !== null && parseTemplate(template(text)).ok ? text : null;
  } catch (error) {
    // Nested deeper than the stack allows: it stays code.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function translateNode(node: Node, reading: Reading): string | null {
  if (isAround(node)) return translateNode(node.expression, reading);
  return (
    pathOf(node, reading) ??
    literalOf(node) ??
    dateOf(node, (inner) => operand(inner, reading)) ??
    operationOf(node, reading) ??
    filterOf(node, reading)
  );
}

/** In parentheses, unless it is a path or a literal. */
function operand(node: Node, reading: Reading): string | null {
  const inner = unwrapped(node);
  const plain = pathOf(inner, reading) ?? literalOf(inner);
  if (plain !== null && !plain.includes(' | ')) return plain;
  const text = translateNode(inner, reading);
  return text === null ? null : `(${text})`;
}

function literalOf(node: Node): string | null {
  if (node.type === 'Identifier') return node.name === 'undefined' ? 'null' : null;
  // A regular expression is a literal, too.
  if (node.type !== 'Literal' || 'regex' in node) return null;
  const value = constantOf(node);
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : null;
  return value === null || typeof value === 'boolean' ? `${value}` : null;
}

/** Operators that mean the same, apart from values of other types than those that are compared. */
const OPERATORS: ReadonlyMap<string, string> = new Map([
  ...['-', '*', '/', '%', '<', '<=', '>', '>=', '==', '!=', '&&', '||', '??'].map(
    (operator) => [operator, operator] as const,
  ),
  ['===', '=='],
  ['!==', '!='],
]);

function operationOf(node: Node, reading: Reading): string | null {
  switch (node.type) {
    case 'UnaryExpression': {
      const of = operand(node.argument, reading);
      return of !== null && (node.operator === '!' || node.operator === '-') ? `${node.operator}${of}` : null;
    }
    case 'BinaryExpression':
    case 'LogicalExpression':
      return infixOf(node, reading);
    case 'ConditionalExpression':
      return choiceOf([node.test, node.consequent, node.alternate], reading);
    case 'TemplateLiteral':
      return joined(node, reading);
    default:
      return null;
  }
}

function infixOf(
  { left, right, operator: written }: BinaryExpression | LogicalExpression,
  reading: Reading,
): string | null {
  const operator = written === '+' ? plusOf(left, right) : OPERATORS.get(written);
  if (operator === undefined || operator === null) return null;
  const [a, b] = [operand(left, reading), operand(right, reading)];
  return a === null || b === null ? null : `${a} ${operator} ${b}`;
}

/** A plus adds or joins, depending on the data, unless the types are known. */
function plusOf(left: Node, right: Node): string | null {
  const [a, b] = [typeOf(left), typeOf(right)];
  if (a === 'text' || b === 'text') return '~';
  return a === 'number' && b === 'number' ? '+' : null;
}

function choiceOf(nodes: readonly Node[], reading: Reading): string | null {
  const [test, yes, no] = nodes.map((node) => operand(node, reading));
  return test == null || yes == null || no == null ? null : `${test} ? ${yes} : ${no}`;
}

function joined({ quasis, expressions: inner }: TemplateLiteral, reading: Reading): string | null {
  const parts = quasis.flatMap(({ value }, index) => {
    const text = typeof value.cooked === 'string' ? quote(value.cooked) : null;
    const next = inner[index];
    const written = next === undefined ? [] : [operand(next, reading)];
    return text === '""' && quasis.length > 1 && (index > 0 || next === undefined)
      ? written
      : [text, ...written];
  });
  return parts.includes(null) ? null : parts.join(' ~ ');
}

const TEXT_METHODS = new Set(
  'trim toLowerCase toUpperCase toString toJsonString urlEncode join replace replaceAll substring toISO toFormat'.split(
    ' ',
  ),
);

/** The type that a value always has; null if it depends on the data. */
function typeOf(given: Node): 'text' | 'number' | null {
  const node = unwrapped(given);
  const value = constantOf(node);
  if (typeof value === 'string' || node.type === 'TemplateLiteral') return 'text';
  if (typeof value === 'number') return 'number';
  if (node.type === 'UnaryExpression') return node.operator === '-' ? 'number' : null;
  if (node.type === 'BinaryExpression') {
    if (node.operator !== '+') return '-*/%'.includes(node.operator) ? 'number' : null;
    const operator = plusOf(node.left, node.right);
    return operator === null ? null : operator === '~' ? 'text' : 'number';
  }
  if (node.type === 'ConditionalExpression') {
    const type = typeOf(node.consequent);
    return type === typeOf(node.alternate) ? type : null;
  }
  if (node.type === 'MemberExpression') return nameOfMember(node) === 'length' ? 'number' : null;
  return node.type === 'CallExpression' ? typeOfCall(node.callee) : null;
}

function typeOfCall(callee: Node): 'text' | 'number' | null {
  if (callee.type === 'Identifier')
    return callee.name === 'String' || callee.name === 'encodeURIComponent'
      ? 'text'
      : callee.name === 'Number'
        ? 'number'
        : null;
  if (callee.type !== 'MemberExpression') return null;
  const { object } = callee;
  const name = nameOfMember(callee) ?? '';
  if (object.type === 'Identifier' && object.name === 'Math') return 'number';
  if (object.type === 'Identifier' && object.name === 'JSON') return name === 'stringify' ? 'text' : null;
  if (name === 'toNumber') return 'number';
  return TEXT_METHODS.has(name) ? 'text' : null;
}

/** `JSON.stringify(x)`, `x.trim()`, `x.length` and the like. */
function filterOf(node: Node, reading: Reading): string | null {
  if (node.type === 'MemberExpression') {
    if (nameOfMember(node) === 'length') return filtered(node.object, 'length', reading);
    return groupOf(node, reading);
  }
  if (node.type !== 'CallExpression') return null;
  const { callee, arguments: args } = node;
  if (callee.type === 'Identifier') return functionOf(callee.name, args, reading);
  if (callee.type !== 'MemberExpression') return null;
  const name = nameOfMember(callee);
  const { object } = callee;
  if (name === null) return null;
  const [first] = args;
  if (object.type === 'Identifier' && object.name === 'JSON' && first !== undefined) {
    if (name === 'parse') return args.length === 1 ? filtered(first, 'parse_json', reading) : null;
    return name === 'stringify' && args.length === 1 ? filtered(first, 'json', reading) : null;
  }
  if (object.type === 'Identifier' && object.name === 'Math')
    return first === undefined || args.length > 1 ? null : mathOf(name, first, reading);
  return patternOf(object, name, args, reading) ?? methodOf(object, name, args, reading);
}

function functionOf(name: string, args: readonly Node[], reading: Reading): string | null {
  const [first, second] = args;
  if (first === undefined) return null;
  if (args.length === 1) {
    const filter = FUNCTIONS.get(name);
    return filter === undefined ? null : filtered(first, filter, reading);
  }
  if (name === '$if' && args.length === 3) return choiceOf(args, reading);
  if (name !== '$ifEmpty' || second === undefined || args.length > 2) return null;
  const fallback = operand(second, reading);
  return fallback === null ? null : filtered(first, `default: ${fallback}`, reading);
}

const FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['encodeURIComponent', 'url_encode'],
  ['String', 'string'],
  ['Number', 'number'],
]);

function mathOf(name: string, value: Node, reading: Reading): string | null {
  if (name === 'floor' || name === 'ceil' || name === 'abs') return filtered(value, name, reading);
  if (name !== 'round') return null;
  // JavaScript rounds half up, not away from zero.
  const of = operand(value, reading);
  return of === null ? null : `${of} + 0.5 | floor`;
}

/** Methods without arguments. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ['trim', 'trim'],
  ['toLowerCase', 'lower'],
  ['toUpperCase', 'upper'],
  ['toJsonString', 'json'],
  ['toString', 'string'],
  ['urlEncode', 'url_encode'],
  ['parseJson', 'parse_json'],
  ['toNumber', 'number'],
  ['first', 'first'],
  ['last', 'last'],
  ['sum', 'sum'],
  ['average', 'average'],
  ['unique', 'unique'],
  ['removeDuplicates', 'unique'],
  ['keys', 'keys'],
  ['values', 'values'],
]);

/** Methods with one argument of any kind. */
const WITH_ONE: ReadonlyMap<string, string> = new Map([
  ['includes', 'contains'],
  ['startsWith', 'starts_with'],
  ['endsWith', 'ends_with'],
]);

function methodOf(object: Node, name: string, args: readonly Node[], reading: Reading): string | null {
  const [first, second] = args;
  if (first === undefined) {
    if (name === 'isEmpty' || name === 'isNotEmpty') {
      const size = filtered(object, 'length', reading);
      return size === null ? null : `(${size}) ${name === 'isEmpty' ? '==' : '>'} 0`;
    }
    const plain = METHODS.get(name);
    return plain === undefined ? null : filtered(object, plain, reading);
  }
  if (first.type === 'ArrowFunctionExpression')
    return args.length === 1 ? eachOf(object, name, first, reading) : null;
  const filter = args.length === 1 ? WITH_ONE.get(name) : undefined;
  if (filter !== undefined) {
    const part = operand(first, reading);
    return part === null ? null : filtered(object, `${filter}: ${part}`, reading);
  }
  const [one, two] = [constantOf(first), second === undefined ? undefined : constantOf(second)];
  if (args.length === 1 && typeof one === 'string' && (name === 'split' || name === 'join'))
    return filtered(object, `${name}: ${quote(one)}`, reading);
  if (args.length === 2 && name === 'replaceAll' && typeof one === 'string' && typeof two === 'string')
    return filtered(object, `replace: ${quote(one)}, ${quote(two)}`, reading);
  return name === 'slice' || name === 'substring' ? sliceOf(object, args, reading) : null;
}

/** Only from the beginning: what negative or swapped positions mean depends on the method. */
function sliceOf(object: Node, args: readonly Node[], reading: Reading): string | null {
  const places = args.map(constantOf);
  if (places.length > 2 || !places.every((place) => typeof place === 'number' && Number.isInteger(place)))
    return null;
  const [from = 0, to = from] = places as readonly number[];
  return to < from ? null : filtered(object, `slice: ${places.join(', ')}`, reading);
}

/** `list.map((each) => each.name)` and the like. */
function eachOf(
  list: Node,
  name: string,
  { params, body }: ArrowFunctionExpression,
  reading: Reading,
): string | null {
  const [param, ...others] = params;
  if (param?.type !== 'Identifier' || others.length > 0 || body.type === 'BlockStatement') return null;
  const own = param.name;
  let isRead = false;
  // An item of a list around it can't be read: the innermost one counts.
  const inside: Reading = {
    ...reading,
    item(found, names) {
      if (found !== own) return null;
      isRead = true;
      return extend('it', names);
    },
  };
  const text = translateNode(body, inside);
  // What is the same for each item isn't an expression of items.
  if (text === null || !isRead) return null;
  switch (name) {
    case 'map':
      return filtered(list, `map: (${text})`, reading);
    case 'filter':
      return filtered(list, `where: (${text})`, reading);
    case 'find':
      return filtered(list, `where: (${text}) | first`, reading);
    case 'some': {
      const count = filtered(list, `where: (${text}) | length`, reading);
      return count === null ? null : `(${count}) > 0`;
    }
    default:
      return null;
  }
}

/** The source of a regular expression for filters; null if its flags can't be expressed. */
function sourceOf(node: Node | undefined, needed: '' | 'g'): string | null {
  const regex = node?.type === 'Literal' ? node.regex : undefined;
  if (regex === undefined) return null;
  const flags = regex.flags.replace('u', '');
  if (flags.replace('i', '') !== needed) return null;
  return quote(flags.includes('i') ? `(?i:${regex.pattern})` : regex.pattern);
}

/** `x.replace(/a/g, "b")` and `/a/.test(x)`. */
function patternOf(object: Node, name: string, args: readonly Node[], reading: Reading): string | null {
  const [first, second] = args;
  if (first === undefined) return null;
  if (name === 'test') {
    const source = sourceOf(unwrapped(object), '');
    return source === null ? null : filtered(first, `matches: ${source}`, reading);
  }
  const replacement = second === undefined ? undefined : constantOf(second);
  if ((name !== 'replace' && name !== 'replaceAll') || typeof replacement !== 'string') return null;
  const source = sourceOf(first, 'g');
  if (source === null || replacement.includes('$')) return null;
  return filtered(object, `replace_pattern: ${source}, ${quote(replacement)}`, reading);
}

/** `x.match(/a(b)/)[1]`. */
function groupOf(node: MemberExpression, reading: Reading): string | null {
  const group = node.computed ? constantOf(node.property) : undefined;
  const call = unwrapped(node.object);
  if (typeof group !== 'number' || call.type !== 'CallExpression') return null;
  const { callee } = call;
  if (callee.type !== 'MemberExpression' || nameOfMember(callee) !== 'match') return null;
  const source = sourceOf(call.arguments[0], '');
  if (source === null) return null;
  return filtered(callee.object, `match: ${source}, ${group}`, reading);
}

function filtered(object: Node, filter: string, reading: Reading): string | null {
  const inner = translateNode(object, reading);
  return inner === null ? null : `${inner} | ${filter}`;
}
