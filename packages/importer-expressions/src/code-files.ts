import type { AnyNode, Expression, Pattern, Program } from 'acorn';
import { allNodes, childrenOf, programOf } from './syntax.ts';

/** What code of a Code node does with its items and their files. */
export interface CodeFiles {
  /** The code without what only passes the files of its items on. */
  readonly code: string;
  /** It passes on the files that its items have. */
  readonly passes: boolean;
  /** It returns as many items as it got. */
  readonly keepsCount: boolean;
  /** It does nothing but make an item of each, which doesn't depend on the others. */
  readonly isEach: boolean;
  /** Names of the files that it makes itself. */
  readonly makes: readonly string[];
  /** Whose files it reads besides: those of its items, or of others as well. */
  readonly reads: 'none' | 'own' | 'others';
}

/** Reads code, and evaluates nothing. Null if it isn't JavaScript. */
export function filesOfCode(code: string): CodeFiles | null {
  const program = programOf(code);
  if (program === null) return null;
  const nodes = allNodes(program);
  const names = namesOfItems(nodes);
  const cuts: { readonly start: number; readonly end: number }[] = [];
  const makes = new Set<string>();
  for (const node of nodes) {
    if (node.type !== 'Property' || node.computed || nameOf(node.key) !== 'binary') continue;
    if (isFilesOfItem(node.value, names)) cuts.push({ start: node.start, end: node.end });
    else if (node.value.type === 'ObjectExpression')
      for (const each of node.value.properties) {
        const name = each.type === 'Property' && !each.computed ? nameOf(each.key) : null;
        if (name !== null) makes.add(name);
      }
  }
  const isCut = ({ start }: AnyNode) => cuts.some((cut) => cut.start <= start && start < cut.end);
  const reading = nodes.filter((node) => readsFiles(node) && !isCut(node));
  const reads =
    reading.length === 0 ? 'none' : reading.every((node) => isOwn(node, names)) ? 'own' : 'others';
  const returns = ownReturns(program);
  // A file that is made only sometimes couldn't be written each time.
  const isAlways =
    returns.length < 2 || returns.every(({ start, end }) => code.slice(start, end).includes('binary'));
  const keepsCount = returns.length > 0 && returns.every((each) => isItems(each, names));
  const passes =
    cuts.length > 0 || (returns.length > 0 && returns.every((each) => areSameItems(each, names)));
  return {
    code: without(code, cuts),
    passes,
    keepsCount,
    isEach: isEach(program, nodes, names),
    makes: isAlways ? [...makes] : [],
    reads,
  };
}

/** `return items.map((item) => ...)`, and neither the position nor the list is read in it. */
function isEach({ body }: Program, nodes: readonly AnyNode[], names: Names): boolean {
  const [only, ...more] = body;
  if (only?.type !== 'ReturnStatement' || only.argument == null || more.length > 0) return false;
  const callback = nameOfCallee(only.argument) === 'map' ? mapped(only.argument, names) : null;
  return callback?.params.length === 1 && nodes.filter((node) => isList(node, names)).length === 1;
}

function readsFiles(node: AnyNode): boolean {
  if (node.type === 'Identifier') return node.name === '$binary';
  return node.type === 'MemberExpression' && !node.computed && nameOf(node.property) === 'binary';
}

function isOwn(node: AnyNode, names: Names): boolean {
  if (node.type !== 'MemberExpression') return true;
  const { object } = node;
  if (isItem(object, names)) return true;
  return object.type === 'MemberExpression' && object.computed && isList(object.object, names);
}

/** Names that stand for the current item, and for the list of all items. */
interface Names {
  readonly item: ReadonlySet<string>;
  readonly list: ReadonlySet<string>;
}

function namesOfItems(nodes: readonly AnyNode[]): Names {
  const item = new Set<string>();
  const list = new Set(['items']);
  const names = { item, list };
  const others = new Set<string>();
  const note = (name: Pattern | null | undefined, known: Set<string> | null) => {
    if (name?.type === 'Identifier') (known ?? others).add(name.name);
  };
  const callbacks = new Set<AnyNode>();
  for (const node of nodes) {
    if (node.type === 'VariableDeclarator') {
      const { init } = node;
      if (init == null) continue;
      note(node.id, isList(init, names) ? list : isItem(init, names) ? item : null);
    } else if (node.type === 'AssignmentExpression') {
      if (node.left.type === 'Identifier') others.add(node.left.name);
    } else if (node.type === 'ForOfStatement') {
      const [first] = node.left.type === 'VariableDeclaration' ? node.left.declarations : [];
      note(first?.id, isList(node.right, names) ? item : null);
    } else if (node.type === 'CallExpression') {
      const callback = mapped(node, names);
      if (callback === null) continue;
      callbacks.add(callback);
      note(callback.params[0], item);
    } else if (isFunction(node) && !callbacks.has(node)) {
      for (const each of node.params) note(each, null);
    }
  }
  for (const name of others) {
    item.delete(name);
    list.delete(name);
  }
  return names;
}

function isFunction(node: AnyNode) {
  return (
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'FunctionExpression' ||
    node.type === 'FunctionDeclaration'
  );
}

/** The function that is called for each item; null for any other call. */
function mapped(node: AnyNode, names: Names) {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return null;
  const { object, property } = node.callee;
  if (property.type !== 'Identifier' || !/^(?:map|forEach)$/.test(property.name)) return null;
  const [callback] = node.arguments;
  if (callback?.type !== 'ArrowFunctionExpression' && callback?.type !== 'FunctionExpression') return null;
  return isList(object, names) ? callback : null;
}

/** `$input.all()`, `items`, or a name for them. */
function isList(node: AnyNode, { list }: Names): boolean {
  if (node.type === 'Identifier') return list.has(node.name);
  return isInputCall(node, 'all');
}

function isInputCall(node: AnyNode, name: string): boolean {
  if (node.type !== 'CallExpression' || node.arguments.length > 0) return false;
  return isMember(node.callee, '$input', name);
}

function isMember(node: AnyNode, object: string, name: string): boolean {
  if (node.type === 'ChainExpression') return isMember(node.expression, object, name);
  if (node.type !== 'MemberExpression' || node.object.type !== 'Identifier') return false;
  return node.object.name === object && !node.computed && nameOf(node.property) === name;
}

/** `$input.item`, `$input.first()`, `items[0]`, or a name for one. */
function isItem(given: AnyNode, names: Names): boolean {
  const node = given.type === 'ChainExpression' ? given.expression : given;
  if (node.type === 'Identifier') return names.item.has(node.name);
  if (isMember(node, '$input', 'item') || isInputCall(node, 'first')) return true;
  if (node.type !== 'MemberExpression' || !node.computed) return false;
  return node.property.type === 'Literal' && node.property.value === 0 && isList(node.object, names);
}

/** `item.binary`, `item.binary || {}`, `{ ...item.binary }`. */
function isFilesOfItem(given: AnyNode, names: Names): boolean {
  const node = given.type === 'ChainExpression' ? given.expression : given;
  if (node.type === 'Identifier') return node.name === '$binary';
  if (node.type === 'LogicalExpression')
    return node.operator !== '&&' && isFilesOfItem(node.left, names) && isEmpty(node.right);
  if (node.type === 'ObjectExpression') {
    const [only, ...more] = node.properties;
    return only?.type === 'SpreadElement' && more.length === 0 && isFilesOfItem(only.argument, names);
  }
  return (
    node.type === 'MemberExpression' &&
    !node.computed &&
    nameOf(node.property) === 'binary' &&
    isItem(node.object, names)
  );
}

function isEmpty(node: AnyNode): boolean {
  return node.type === 'ObjectExpression'
    ? node.properties.length === 0
    : (node.type === 'Identifier' && node.name === 'undefined') ||
        (node.type === 'Literal' && node.value === null);
}

/** What is returned has one item for each that arrived. */
function isItems(node: AnyNode, names: Names): boolean {
  if (mapped(node, names) !== null && nameOfCallee(node) === 'map') return true;
  return areSameItems(node, names);
}

function nameOfCallee(node: AnyNode): string | null {
  return node.type === 'CallExpression' && node.callee.type === 'MemberExpression'
    ? nameOf(node.callee.property)
    : null;
}

function areSameItems(node: AnyNode, names: Names): boolean {
  if (isList(node, names) || isItem(node, names)) return true;
  if (node.type !== 'ArrayExpression' || node.elements.length !== 1) return false;
  const [only] = node.elements;
  return only != null && only.type !== 'SpreadElement' && isItem(only, names);
}

function nameOf(node: AnyNode): string | null {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null;
}

/** What the code itself returns: not what functions in it do. */
function ownReturns(program: Program): readonly Expression[] {
  const found: Expression[] = [];
  const open: AnyNode[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isFunction(node)) continue;
    if (node.type === 'ReturnStatement' && node.argument != null) found.push(node.argument);
    open.push(...childrenOf(node));
  }
  return found;
}

function without(code: string, cuts: readonly { readonly start: number; readonly end: number }[]): string {
  let made = code;
  for (const { start, end } of cuts.toSorted((left, right) => right.start - left.start)) {
    const rest = made.slice(end).replace(/^\s*,/, '');
    made = made.slice(0, start) + rest;
  }
  return made;
}
