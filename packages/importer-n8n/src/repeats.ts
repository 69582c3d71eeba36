import { firstOf, type Ref, type Scope, template } from '@millrace/importer-kit/refs';
import { message } from '@millrace/messages';
import type { Arrival, BackEdgeLoops, Compiler, Out } from './compiler.ts';
import type { Started } from './graph.ts';
import type { N8nLink, N8nNode, N8nWorkflow } from './read.ts';

/** Nodes that run repeatedly because connections lead back to the first of them: polling, retries, pages. */
interface BackEdgeLoop {
  readonly head: string;
  readonly backs: readonly N8nLink[];
  /** Whether each item that enters goes back or leaves: none ends inside. */
  readonly isComplete: boolean;
  /** Outputs that lead out, as {@link placeOf} names them. */
  readonly exits: ReadonlySet<string>;
}

/** A loop and the node that it becomes. */
interface Opened {
  readonly loop: BackEdgeLoop;
  readonly scope: Scope;
  readonly id: string;
}

/** Limit of a loop's iterations; the original has none. */
const MAX_ITERATIONS = 1000;

const BACK = 'back';

function placeOf({ from, output }: Pick<N8nLink, 'from' | 'output'>): string {
  return `${from}\n${output}`;
}

/** The loops that back edges form, if they have a single entry, and each item either goes back or leaves. */
function loopsOf(workflow: N8nWorkflow, started: Started): readonly BackEdgeLoop[] {
  const incoming = Map.groupBy(started.links, ({ to }) => to);
  const outgoing = Map.groupBy([...started.links, ...started.cycles, ...started.returns], ({ from }) => from);
  const taken = new Set<string>();
  const loops: BackEdgeLoop[] = [];
  for (const [head, backs] of Map.groupBy(started.cycles, ({ to }) => to)) {
    const body = bodyOf(head, backs, incoming, workflow);
    if (body === null || [...body].some((name) => taken.has(name))) continue;
    const loop = closed(
      head,
      backs,
      [...body].flatMap((name) => workflow.nodes.get(name) ?? []),
      outgoing,
    );
    if (loop === null) continue;
    for (const name of body) taken.add(name);
    loops.push(loop);
  }
  return loops;
}

/** What lies between the head and the sources of its back edges; null if it is entered elsewhere. */
function bodyOf(
  head: string,
  backs: readonly N8nLink[],
  incoming: ReadonlyMap<string, readonly N8nLink[]>,
  workflow: N8nWorkflow,
): ReadonlySet<string> | null {
  const body = new Set([head]);
  const open = backs.map(({ from }) => from);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (body.has(name)) continue;
    body.add(name);
    const before = incoming.get(name) ?? [];
    if (before.length === 0 || workflow.nodes.get(name)?.kind === 'splitInBatches') return null;
    open.push(...before.map(({ from }) => from));
  }
  const { kind } = workflow.nodes.get(head) ?? {};
  const isPlain = kind !== 'merge' && (incoming.get(head) ?? []).every(({ input }) => input === 0);
  return isPlain && backs.every(({ input }) => input === 0) ? body : null;
}

/** Nodes that send an item to a single output. A Switch with all matches sends it to several. */
function isRouter({ kind, raw, parameters }: N8nNode): boolean {
  if (kind === 'switch')
    return JSON.stringify(parameters.options ?? {}).includes('allMatchingOutputs') === false;
  return kind === 'if' || kind === 'filter' || raw.onError === 'continueErrorOutput';
}

function closed(
  head: string,
  backs: readonly N8nLink[],
  nodes: readonly N8nNode[],
  outgoing: ReadonlyMap<string, readonly N8nLink[]>,
): BackEdgeLoop | null {
  const body = new Set(nodes.map(({ name }) => name));
  const exits = new Set<string>();
  let isComplete = true;
  for (const node of nodes) {
    const links = outgoing.get(node.name) ?? [];
    const outputs = Map.groupBy(links, ({ output }) => output);
    if (!isRouter(node) && links.length !== 1) return null;
    for (const [, each] of outputs) {
      const staying = each.filter((link) => body.has(link.to));
      const [first] = each;
      if (first === undefined) continue;
      if (staying.length === 0 && isRouter(node)) exits.add(placeOf(first));
      else if (staying.length !== 1 || each.length !== 1) return null;
    }
    if (isRouter(node) && (node.kind !== 'if' || outputs.size !== 2)) isComplete = false;
  }
  // It would run forever.
  if (!nodes.some(isRouter)) return null;
  return { head, backs, exits, isComplete: isComplete && exits.size === 1 };
}

/** The loops that back edges form in one workflow. */
export class Repeats implements BackEdgeLoops {
  readonly #compiler: Compiler;
  readonly #loops: ReadonlyMap<string, BackEdgeLoop>;
  readonly #byExit = new Map<string, BackEdgeLoop>();
  readonly #opened = new Map<string, Opened>();
  readonly #exits = new Map<string, Out>();

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
    const loops = loopsOf(compiler.workflow, compiler.started);
    this.#loops = new Map(loops.map((loop) => [loop.head, loop]));
    for (const loop of loops) for (const exit of loop.exits) this.#byExit.set(exit, loop);
  }

  /** Opens the loop that starts at a node, which gets what arrives from outside, then what comes back. */
  enter(node: N8nNode, arrival: Arrival): Arrival {
    const loop = this.#loops.get(node.name);
    if (loop === undefined) return arrival;
    const compiler = this.#compiler;
    const isMany = arrival.ref.kind === 'many';
    const around = isMany ? compiler.openLoop(node, arrival) : arrival.ref.scope;
    const outside: Ref = isMany ? { kind: 'one', path: 'item', scope: around, owner: null } : arrival.ref;
    const id = compiler.add(node, {
      type: 'core.repeat',
      label: `Repeat: ${node.name}`,
      config: { until: [], max_iterations: MAX_ITERATIONS },
      scope: around,
      after: isMany ? [] : arrival.exits,
      position: { x: node.position.x - 120, y: node.position.y },
    });
    const scope: Scope = { id, parent: around, kind: 'repeat', list: '' };
    const input = compiler.add(node, {
      type: 'core.code',
      label: `${node.name}: round`,
      config: {
        code: 'return input.back ?? input.first;',
        input: { back: template(`item.${BACK}`), first: compiler.wholeIn(outside, scope) },
      },
      scope,
      after: [],
    });
    this.#opened.set(loop.head, { loop, scope, id });
    return {
      ref: { kind: 'one', path: `nodes.${input}.output.result`, scope, owner: input },
      exits: [{ id: input, handle: 'out' }],
    };
  }

  /** What leaves a loop by an output, after its last iteration; undefined for any other output. */
  exitBy(link: Pick<N8nLink, 'from' | 'output'>, inside: Out): Out | undefined {
    const place = placeOf(link);
    const loop = this.#byExit.get(place);
    const opened = loop === undefined ? undefined : this.#opened.get(loop.head);
    const node = this.#compiler.workflow.nodes.get(link.from);
    if (loop === undefined || opened === undefined || node === undefined) return undefined;
    const known = this.#exits.get(place);
    if (known !== undefined) return known;
    const compiler = this.#compiler;
    const { scope, id } = opened;
    const parent = scope.parent ?? scope;
    const within = compiler.leave(node, inside, scope);
    const left = compiler.leave(node, within, parent);
    const out = loop.isComplete ? left : { ...left, exit: this.#ifLeft(node, within, id, parent) };
    this.#exits.set(place, out);
    return out;
  }

  /** A condition after the loop: whether it was left this way. */
  #ifLeft(node: N8nNode, within: Out, loop: string, parent: Scope): Out['exit'] {
    const compiler = this.#compiler;
    const mark = compiler.add(node, {
      type: 'core.set',
      label: `${node.name}: way out`,
      config: { values: { left: true } },
      scope: within.ref.scope,
      after: [within.exit],
    });
    const path = compiler.builder.lastResult(loop, `nodes.${mark}.output.left`);
    const id = compiler.add(node, {
      type: 'core.if',
      label: `${node.name}: left here?`,
      config: { conditions: [{ left: template(path), operator: 'is_true' }] },
      scope: parent,
      after: [{ id: loop, handle: 'out' }],
    });
    return { id, handle: 'true' };
  }

  /** Completes each loop whose nodes exist: it ends after an iteration from which nothing goes back. */
  close(): void {
    for (const { loop, scope, id } of this.#opened.values()) this.#close(loop, scope, id);
  }

  #close({ backs, head }: BackEdgeLoop, scope: Scope, id: string): void {
    const compiler = this.#compiler;
    const agains = backs.flatMap((link) => {
      const node = compiler.workflow.nodes.get(link.from);
      const out = compiler.outOf(link);
      if (node === undefined || out === undefined) return [];
      const inside = compiler.leave(node, out, scope);
      compiler.approximate(node, message('import.repeats', { node: head, max: MAX_ITERATIONS }));
      const item =
        inside.ref.kind === 'many'
          ? template(`${inside.ref.path} | first`)
          : compiler.wholeIn(inside.ref, scope);
      return compiler.add(node, {
        type: 'core.set',
        label: `Back to ${head}`,
        config: { values: { again: true, item } },
        scope,
        after: [inside.exit],
        position: { x: node.position.x + 240, y: node.position.y + 120 },
      });
    });
    const config = compiler.builder.config(id);
    if (config === undefined) return;
    config.until = agains.map((again) => ({
      left: template(`nodes.${again}.output.again`),
      operator: 'not_exists',
    }));
    config.combine = 'all';
    compiler.builder.setResult(
      id,
      BACK,
      template(firstOf(agains.map((again) => `nodes.${again}.output.item`))),
    );
  }

  /** Whether a back edge has become a loop. */
  has({ to }: N8nLink): boolean {
    return this.#opened.has(to);
  }
}
