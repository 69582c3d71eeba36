import { MAX_EXPRESSION_LENGTH } from '@millrace/importer-kit/limits';
import { extend } from '@millrace/importer-kit/refs';
import {
  type ChainExpression,
  type Expression,
  type MemberExpression,
  type ParenthesizedExpression,
  type PrivateIdentifier,
  parseExpressionAt,
  type SpreadElement,
  type Super,
  tokenizer,
  tokTypes,
} from 'acorn';

/** Which items of an earlier node an expression reads. */
export type ReadMode = 'item' | 'first' | 'last' | 'all';

/** What an expression can read, as the place where it stands sees it. */
export interface Reading {
  /** The inside of a template for a member of the current item; null if there is none. */
  current(names: readonly string[]): string | null;
  /** For a member of an earlier node's item; null if it has to be computed. */
  earlier(node: string, mode: ReadMode, names: readonly string[]): string | null;
  /** For an argument of a tool that the model fills in. */
  argument(name: string, description: string, type: string): string | null;
  /** For a constant of the workflow. */
  variable(name: string): string | null;
  /** For a file of the current item (null) or of an earlier node's, or what is known of it; null if it has none. */
  file?(node: string | null, names: readonly string[]): string | null;
  /** For what the original knows of its loop at this node: whether this is the last round, or which one it is. */
  loop?(node: string, name: string): string | null;
  /** For the item of a list within a function that is called for each; null for any other name. */
  item?(name: string, names: readonly string[]): string | null;
}

/** What may stand where a value is expected, told apart by its `type`. */
export type Node = Expression | PrivateIdentifier | SpreadElement | Super;

/** A part of a parameter's text. */
export type Segment = { readonly text: string } | { readonly code: string };

/** Splits the text of an expression into text and code; null if a piece of code doesn't end. */
export function splitSegments(text: string): readonly Segment[] | null {
  const segments: Segment[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{{', at);
    if (open < 0) break;
    if (open > at) segments.push({ text: text.slice(at, open) });
    const close = endOfCode(text, open + 2);
    if (close < 0) return null;
    segments.push({ code: text.slice(open + 2, close).trim() });
    at = close + 2;
  }
  if (at < text.length) segments.push({ text: text.slice(at) });
  return segments;
}

/** The first closing braces before which there is a complete expression; the first ones at all if there is none. */
function endOfCode(text: string, from: number): number {
  const first = text.indexOf('}}', from);
  let at = first;
  for (let tries = 0; at >= 0 && tries < 20; tries += 1) {
    const code = text.slice(from, at).trim();
    if (parse(code) !== null) return at;
    at = text.indexOf('}}', at + 1);
  }
  return first;
}

const OPTIONS = { ecmaVersion: 'latest', allowAwaitOutsideFunction: true, preserveParens: true } as const;

/** Parses one expression; null if it isn't one. Nothing is evaluated. */
export function parse(code: string): Node | null {
  if (code === '' || code.length > MAX_EXPRESSION_LENGTH) return null;
  try {
    const source = `(${code.replace(/;\s*$/, '')}\n)`;
    const parsed = parseExpressionAt(source, 0, OPTIONS);
    return parsed.end === source.length ? parsed : null;
  } catch {
    // Not valid, or nested so deeply that the parser gave up.
    return null;
  }
}

/** Code whose JSON text a piece of code makes: where JSON is expected, that text is the value. Any other code is returned as it is. */
export function jsonSource(code: string): string {
  if (!code.includes('stringify') && !code.includes('toJsonString')) return code;
  const ast = parse(code);
  if (ast === null) return code;
  const call = unwrapped(ast);
  if (call.type !== 'CallExpression' || call.callee.type !== 'MemberExpression') return code;
  const { callee } = call;
  const { object } = callee;
  const [first] = call.arguments;
  const name = nameOfMember(callee);
  const isStringify = object.type === 'Identifier' && object.name === 'JSON' && name === 'stringify';
  const inner = isStringify ? first : name === 'toJsonString' && first === undefined ? object : undefined;
  // The source begins with a parenthesis that isn't in the code.
  return inner === undefined ? code : code.slice(inner.start - 1, inner.end - 1);
}

/** The code of each item of a list that is written out; null for any other code. */
export function itemsOf(code: string): readonly string[] | null {
  const ast = parse(code);
  const list = ast === null ? null : unwrapped(ast);
  if (list?.type !== 'ArrayExpression') return null;
  const items = list.elements.filter((item) => item !== null && item.type !== 'SpreadElement');
  // The source begins with a parenthesis that isn't in the code.
  return items.length === list.elements.length
    ? items.map((item) => code.slice((item?.start ?? 1) - 1, (item?.end ?? 1) - 1))
    : null;
}

/** The code of each member of an object that is written out, by name; null for any other code. */
export function membersOf(code: string): ReadonlyMap<string, string> | null {
  const ast = parse(code);
  const object = ast === null ? null : unwrapped(ast);
  if (object?.type !== 'ObjectExpression') return null;
  const members = new Map<string, string>();
  for (const each of object.properties) {
    if (each.type !== 'Property' || each.computed || each.kind !== 'init') return null;
    const name = each.key.type === 'Identifier' ? each.key.name : constantOf(each.key);
    if (typeof name !== 'string') return null;
    // The source begins with a parenthesis that isn't in the code.
    members.set(name, code.slice(each.value.start - 1, each.value.end - 1));
  }
  return members;
}

/** Parentheses, and what marks optional chaining: neither changes what is read. */
export function isAround(node: Node): node is ChainExpression | ParenthesizedExpression {
  return node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression';
}

/** A plain path: `$json.a.b`, `$('A').item.json["c"]`, ... */
export function pathOf(node: Node, reading: Reading): string | null {
  const names: string[] = [];
  let at = node;
  for (;;) {
    if (isAround(at)) {
      at = at.expression;
      continue;
    }
    const root = rootOf(at, names, reading);
    if (root !== undefined) return root;
    if (at.type !== 'MemberExpression') return null;
    const name = nameOfMember(at);
    if (name === null || name === 'length') return null;
    names.unshift(name);
    at = at.object;
  }
}

/** Undefined while `at` isn't where a path begins. */
function rootOf(at: Node, names: readonly string[], reading: Reading): string | null | undefined {
  if (at.type === 'Identifier') return rootOfName(at.name, names, reading);
  if (at.type === 'MemberExpression') return rootOfMember(at, names, reading);
  if (at.type !== 'CallExpression') return undefined;
  const { callee } = at;
  const args = at.arguments.map(constantOf);
  if (callee.type !== 'Identifier' || callee.name !== '$fromAI' || typeof args[0] !== 'string')
    return undefined;
  const path = reading.argument(args[0], textOr(args[1], ''), textOr(args[2], 'string'));
  return path === null ? null : extend(path, names);
}

function rootOfName(name: string, names: readonly string[], reading: Reading): string | null {
  const [first, ...rest] = names;
  const item = reading.item?.(name, names) ?? null;
  if (item !== null) return item;
  if (name === '$json') return reading.current(names);
  if (name === '$binary') return reading.file?.(null, names) ?? null;
  if (name === '$execution' && names.length === 1 && first === 'id') return 'execution.id';
  if ((name === '$vars' || name === '$env') && first !== undefined) {
    const path = reading.variable(first);
    return path === null ? null : extend(path, rest);
  }
  return null;
}

/** `$input.item.json`, `$("A").first().json`, `$node["A"].json`; only where the member is `json` is it a root. */
function rootOfMember(
  at: MemberExpression,
  names: readonly string[],
  reading: Reading,
): string | null | undefined {
  const kind = nameOfMember(at);
  if (kind !== 'json' && kind !== 'binary' && kind !== 'context') return undefined;
  const source = sourceOf(at.object);
  if (source === null) return undefined;
  if (kind === 'context') {
    const [name = '', ...others] = names;
    return source.node === null || others.length > 0 ? null : (reading.loop?.(source.node, name) ?? null);
  }
  if (kind === 'binary') return reading.file?.(source.node, names) ?? null;
  return source.node === null
    ? source.mode === 'item' || source.mode === 'first'
      ? reading.current(names)
      : null
    : reading.earlier(source.node, source.mode, names);
}

/** The node whose items an expression's beginning reads (null: the current ones), and which of them. */
function sourceOf(given: Node): { readonly node: string | null; readonly mode: ReadMode } | null {
  const node = unwrapped(given);
  const named = nodeNamed(node);
  if (named !== undefined) return { node: named, mode: 'item' };
  if (node.type === 'MemberExpression') {
    const of = nodeNamed(node.object);
    return of !== undefined && nameOfMember(node) === 'item' ? { node: of, mode: 'item' } : null;
  }
  if (node.type !== 'CallExpression') return null;
  const { callee } = node;
  if (callee.type !== 'MemberExpression') return null;
  const of = nodeNamed(callee.object);
  const mode = nameOfMember(callee);
  if (of === undefined || (mode !== 'first' && mode !== 'last')) return null;
  return { node: of, mode };
}

/** The node that `$("A")`, `$node["A"]` or `$node.A` names; null for `$input`. */
function nodeNamed(node: Node): string | null | undefined {
  if (node.type === 'Identifier') return node.name === '$input' ? null : undefined;
  if (node.type === 'CallExpression') {
    const { callee } = node;
    const [name] = node.arguments.map(constantOf);
    return callee.type === 'Identifier' && callee.name === '$' && typeof name === 'string' ? name : undefined;
  }
  if (node.type !== 'MemberExpression') return undefined;
  const { object } = node;
  return object.type === 'Identifier' && object.name === '$node'
    ? (nameOfMember(node) ?? undefined)
    : undefined;
}

/** Without parentheses. */
export function unwrapped(node: Node): Node {
  return isAround(node) ? unwrapped(node.expression) : node;
}

/** The name of a member, or the position in a list; null if it has to be computed. */
export function nameOfMember({ property, computed }: MemberExpression): string | null {
  if (!computed) return property.type === 'Identifier' ? property.name : null;
  const value = constantOf(property);
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? String(value) : null;
}

/** The value of a literal; undefined for anything else. */
export function constantOf(node: Node): unknown {
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return node.quasis[0]?.value.cooked ?? undefined;
  return node.type === 'Literal' ? node.value : undefined;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Names of nodes that code mentions as `$("A")`, `$node["A"]`, `$node.A` or `$items("A")`. */
export function mentionedNodes(code: string): readonly string[] {
  const names = new Set<string>();
  const pattern =
    /\$(?:node|items)?\s*[([]\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`$\\]*)`)|\$node\.([A-Za-z_$][\w$]*)/g;
  for (const [, double, single, back, plain] of code.matchAll(pattern)) {
    const name = double ?? single ?? back ?? plain;
    if (name !== undefined) names.add(name.replace(/\\(['"\\])/g, '$1'));
  }
  return [...names];
}

/** What only n8n can run. */
const FOREIGN =
  /(?<![.\w$])(?:require|fetch|import)\s*\(|\bthis\.helpers\b|\$?\bgetWorkflowStaticData\b|(?<![.\w$])process\.|\$binary\b|\.binary\b|\bprepareBinaryData\b|\$secrets\b|\$response\b|\$request\b|\$pageCount\b|\$evaluateExpression|\$(?:node)?\s*[([][^()[\]]*[)\]]\s*\.context\b|\$node\.\w+\.context\b|\$tool\b|\$agentInfo\b|\$nodeVersion|\$parameter\b|(?<![.\w$])setTimeout\b|\$execution\.resume\w*|\$resumeWebhookUrl/;

/** What only n8n can run; null if Millrace's Code node can run it. */
export function foreignPartOf(code: string): string | null {
  if (!FOREIGN.test(code)) return null;
  const found = FOREIGN.exec(withoutTexts(code));
  if (found === null) return null;
  const context = /\.context$/.exec(found[0]);
  return (context ?? found)[0].replace(/\s*\($/, '');
}

/** Code without what its texts and comments say; as it is, if it isn't JavaScript. */
function withoutTexts(code: string): string {
  let made = '';
  let end = 0;
  try {
    for (const token of tokenizer(code, OPTIONS)) {
      const isText = token.type === tokTypes.string || token.type === tokTypes.template;
      made += `${token.start > end ? ' ' : ''}${isText ? '""' : code.slice(token.start, token.end)}`;
      end = token.end;
    }
    return made;
  } catch {
    return code;
  }
}
