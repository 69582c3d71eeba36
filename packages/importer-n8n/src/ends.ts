import type { Exit, Position } from '@millrace/importer-kit/flow-builder';
import { asList, firstOf, memberPath, type Ref, TOP } from '@millrace/importer-kit/refs';
import type { Compiler, Out } from './compiler.ts';
import { batchOutputs } from './graph.ts';
import type { N8nNode } from './read.ts';

/** So many ends are looked at: each is a part of one template. */
const MAX_ENDS = 15;
const COLUMN = 240;

/** The items of the node that ran last, as the whole workflow reads them. */
export interface LastItems {
  /** The inside of a template for all of them. */
  readonly all: string;
  /** The inside of a template for the first one, or for the member of it; nothing if there is none. */
  readonly first: string;
  readonly exits: readonly Exit[];
  /** Right of all that ends the workflow. */
  readonly position: Position;
  /** Whether some of the ends were left out. */
  readonly isCut: boolean;
}

/**
 * What n8n answers with: the items of the node that ran last. Of several ends that is the one at the bottom of those that passed something
 * on, as n8n runs branches from the top down.
 * @param member of the first one, if not the whole item is asked for
 * @returns null if nothing ends the workflow
 */
export function lastItems(
  compiler: Compiler,
  trigger: N8nNode,
  member: readonly string[] = [],
): LastItems | null {
  const ends = endsOf(compiler, trigger);
  const outs = ends.slice(0, MAX_ENDS).flatMap(({ node, out }) => {
    const found = out();
    return found === undefined ? [] : [compiler.ownIn(node, found, TOP, member)];
  });
  if (outs.length === 0) return null;
  const refs = outs.map(({ ref }) => ref);
  const all = lastOf(refs);
  const areSingle = refs.every(({ kind, perhapsMany }) => kind === 'one' && perhapsMany === undefined);
  const of = member.length === 0 ? '' : ` | map: ${JSON.stringify(member.join('.'))}`;
  return {
    all,
    first: areSingle
      ? firstOf(refs.map((ref) => memberPath(ref, member) ?? ref.path))
      : `(${all})${of} | first`,
    exits: outs.map(({ exit }) => exit),
    position: {
      x: Math.max(...ends.map(({ node }) => node.position.x)) + COLUMN,
      y: ends[0]?.node.position.y ?? 0,
    },
    isCut: ends.length > MAX_ENDS,
  };
}

/** The first of some lists that isn't empty. */
function lastOf([ref, ...others]: readonly Ref[]): string {
  if (ref === undefined) return 'null';
  const list = ref.kind === 'many' ? ref.path : asList(ref.path);
  return others.length === 0 ? list : `(${list} | length) ? (${list}) : (${lastOf(others)})`;
}

interface End {
  readonly node: N8nNode;
  readonly out: () => Out | undefined;
}

/** What nothing follows, of what a trigger starts: what n8n would run last comes first. */
function endsOf(compiler: Compiler, trigger: N8nNode): readonly End[] {
  const { workflow, started } = compiler;
  const outgoing = Map.groupBy([...started.links, ...started.returns, ...started.cycles], ({ from }) => from);
  const seen = new Set<string>();
  const ends: End[] = [];
  const passing: End[] = [];
  const open = [trigger.name];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const node = workflow.nodes.get(name);
    if (node === undefined || seen.has(name)) continue;
    seen.add(name);
    const links = outgoing.get(name) ?? [];
    const isFollowed = (output: number) => links.some((link) => link.output === output);
    const output = node.kind === 'splitInBatches' ? batchOutputs(node).done : 0;
    const end = { node, out: () => compiler.outOf({ from: name, output }) };
    if (links.length === 0 || (node.kind === 'splitInBatches' && !isFollowed(output))) ends.push(end);
    // What a branch lets through is answered with if nothing else runs afterwards.
    else if (!isFollowed(output)) passing.push(end);
    const next = links.flatMap(({ to }) => workflow.nodes.get(to) ?? []);
    open.push(...next.toSorted(byPosition).map((each) => each.name));
  }
  // Whatever fails ends the execution without an answer.
  return [...ends, ...passing].filter(({ node }) => node.kind !== 'stopAndError');
}

/** The order in which n8n runs what follows a node: from the top down, and from left to right. */
function byPosition({ position: left }: N8nNode, { position: right }: N8nNode): number {
  return left.y - right.y || left.x - right.x;
}
