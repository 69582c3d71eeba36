import { type AnyNode, type Program, parse } from 'acorn';

const OPTIONS = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
} as const;

/** The syntax tree of the code of a Code node; null if it isn't JavaScript. Nothing is evaluated. */
export function programOf(code: string): Program | null {
  try {
    return parse(code, OPTIONS);
  } catch {
    // Not valid, or nested so deeply that the parser gave up.
    return null;
  }
}

/** All nodes of a tree, in the order in which they are written. */
export function allNodes(program: Program): readonly AnyNode[] {
  const found: AnyNode[] = [];
  const open: AnyNode[] = [program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    found.push(node);
    open.push(...childrenOf(node).toReversed());
  }
  return found;
}

/** The nodes right below a node. */
export function childrenOf(node: AnyNode): readonly AnyNode[] {
  return Object.values(node).flatMap((value: unknown) =>
    (Array.isArray(value) ? value : [value]).filter(isNode),
  );
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** A part of code, and what takes its place. */
export interface Cut {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Code with parts of it replaced; the parts don't overlap. */
export function withCuts(code: string, cuts: readonly Cut[]): string {
  let made = code;
  for (const { start, end, text } of cuts.toSorted((left, right) => right.start - left.start))
    made = made.slice(0, start) + text + made.slice(end);
  return made;
}
