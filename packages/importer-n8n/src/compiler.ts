import type { JsonValue } from '@millrace/engine';
import { type Exit, FlowBuilder, type NodeExtras, type Position } from '@millrace/importer-kit/flow-builder';
import {
  asList,
  commonScope,
  firstOf,
  isSameRef,
  isWithin,
  listValue,
  memberPath,
  type Ref,
  type Scope,
  template,
  wholeValue,
} from '@millrace/importer-kit/refs';
import type { Report } from '@millrace/importer-kit/report';
import { type Message, message } from '@millrace/messages';
import { batchOutputs, type Started } from './graph.ts';
import { Guards } from './guards.ts';
import type { N8nLink, N8nNode, N8nPart, N8nWorkflow } from './read.ts';
import { Reads } from './reads.ts';

/** An output of an original node: where edges leave from, and the items it passes on. */
export interface Out {
  readonly exit: Exit;
  readonly ref: Ref;
}

/** The items that arrive at an input, in one scope. */
export interface Arrival {
  readonly ref: Ref;
  readonly exits: readonly Exit[];
}

/** What is added to while a file is read: the node that needs it. */
export interface Adding {
  readonly scope: Scope;
  add(type: string, config: { [name: string]: JsonValue }, options: { readonly suffix: string }): string;
  continueFrom(exits: readonly Exit[]): void;
}

/** As many as one template can name one after the other. */
const MAX_CHOICES = 15;

/** Makes one list of lists, and of items among them; null stands for a branch that wasn't taken. */
const FLATTEN = 'return input.lists.flat().filter((item) => item !== null);';

/** Loops formed by back edges. */
export interface BackEdgeLoops {
  /** What a node gets if a loop starts at it; otherwise, what arrived. */
  enter(node: N8nNode, arrival: Arrival): Arrival;
  /** What leaves a loop by an output; undefined for any other output. */
  exitBy(link: Pick<N8nLink, 'from' | 'output'>, inside: Out): Out | undefined;
}

function unsure(perhapsMany: Ref['perhapsMany']): Pick<Ref, 'perhapsMany'> {
  return perhapsMany === undefined ? {} : { perhapsMany };
}

const NO_LOOPS: BackEdgeLoops = { enter: (_node, arrival) => arrival, exitBy: () => undefined };

/** What compiling one workflow of a file shares. */
export interface Compilation {
  readonly workflow: N8nWorkflow;
  readonly started: Started;
  readonly report: Report;
}

/**
 * Knows what was built so far. Items of n8n become values: one item is read where it is, a list opens a loop for the nodes that n8n would
 * run once per item, and leaves it where a node needs the whole list.
 */
export class Compiler {
  readonly builder = new FlowBuilder();
  readonly workflow: N8nWorkflow;
  readonly started: Started;
  readonly report: Report;
  /** By original name: its outputs. */
  readonly outs = new Map<string, readonly Out[]>();
  readonly variables = new Set<string>();
  /** Names what n8n keeps with this workflow in the data store, whose entries all workflows share. */
  readonly staticDataKey: string;
  readonly #incoming: ReadonlyMap<string, readonly N8nLink[]>;
  readonly #parts: ReadonlyMap<string, readonly N8nPart[]>;
  readonly #loops = new Map<string, Scope>();
  readonly guards: Guards;
  readonly reads: Reads;
  /** Set before anything is compiled. */
  repeats: BackEdgeLoops = NO_LOOPS;
  readonly #markers = new Map<string, Out>();
  readonly #arrivals = new Map<string, Arrival>();
  readonly #finished = new Map<string, Out>();
  readonly #finishing = new Set<string>();
  readonly #late = new Map<string, (at: Adding) => string>();
  readonly #each = new Map<string, (item: Ref) => NonNullable<Ref['files']>>();
  /** Where files that are read late were read last. */
  readonly readFiles = new Map<
    string,
    { readonly path: string; readonly id: string; readonly scope: Scope }
  >();

  constructor({ workflow, started, report }: Compilation) {
    this.workflow = workflow;
    this.started = started;
    this.report = report;
    this.staticDataKey = this.builder.reserve(`${workflow.name} data`);
    this.guards = new Guards(started.links);
    this.reads = new Reads(workflow, started.links);
    this.#incoming = Map.groupBy(started.links, ({ to }) => to);
    this.#parts = Map.groupBy(workflow.parts, ({ of }) => of);
  }

  approximate(node: N8nNode, what: Message): void {
    this.report.approximated({ node: node.name, type: node.type }, what);
  }

  /** Reports that something reads as one item what may turn out to be a list. */
  noteReadAsOne({ perhapsMany }: Pick<Ref, 'perhapsMany'>): void {
    const node = perhapsMany === undefined ? undefined : this.workflow.nodes.get(perhapsMany);
    if (node !== undefined) this.approximate(node, message('import.response_is_one_item'));
  }

  /**
   * A file that is read only where something needs it.
   * @returns what stands for its path until then
   */
  lateFile(read: (at: Adding) => string): string {
    const name = `late:${this.#late.size}`;
    this.#late.set(name, read);
    return name;
  }

  /** What reads the file that a name stands for; undefined for a path. */
  readerOf(path: string): ((at: Adding) => string) | undefined {
    return this.#late.get(path);
  }

  /** Names what says which files each item of a list has. */
  eachFiles(filesOf: (item: Ref) => NonNullable<Ref['files']>): string {
    const name = `each:${this.#each.size}`;
    this.#each.set(name, filesOf);
    return name;
  }

  /** An item of a list in a loop over it, with its files. */
  itemOf(list: Ref, scope: Scope): Ref {
    const item: Ref = { kind: 'one', path: 'item', scope, owner: null };
    const filesOf = list.each === undefined ? undefined : this.#each.get(list.each);
    return filesOf === undefined ? item : { ...item, files: filesOf(item) };
  }

  /** Models, memories and tools connected to an agent. */
  partsOf(name: string, role: string): readonly N8nNode[] {
    return (this.#parts.get(name) ?? [])
      .filter((part) => part.role === role)
      .flatMap(({ part }) => this.workflow.nodes.get(part) ?? []);
  }

  linksInto(name: string): readonly N8nLink[] {
    return this.#incoming.get(name) ?? [];
  }

  add(
    node: N8nNode,
    given: {
      readonly type: string;
      readonly config: { [name: string]: JsonValue };
      readonly scope: Scope;
      readonly after: readonly Exit[];
      readonly id?: string;
      readonly label?: string;
      readonly extras?: NodeExtras;
      readonly position?: Position;
    },
  ): string {
    const { label = node.name, id = this.builder.reserve(label) } = given;
    this.builder.add({ position: node.position, ...given, id, label });
    return id;
  }

  outOf({ from, output }: Pick<N8nLink, 'from' | 'output'>): Out | undefined {
    const node = this.workflow.nodes.get(from);
    if (node?.kind === 'splitInBatches' && output === batchOutputs(node).done)
      return this.finishBatches(node);
    const outs = this.outs.get(from) ?? [];
    const out = outs[output] ?? (outs.length === 1 ? outs[0] : undefined);
    return out === undefined ? undefined : (this.repeats.exitBy({ from, output }, out) ?? out);
  }

  /**
   * Whether what an output passes on is, unchanged, what the node where its edges leave from has made: null if that is skipped. `trigger.data` is
   * there whichever of several triggers has started the execution.
   */
  #isOwn({ exit, ref }: Out): boolean {
    if (ref.owner !== exit.id || ref.shape !== undefined) return false;
    return this.started.triggers.length === 1 || !ref.path.startsWith('trigger');
  }

  /** Everything that arrives at an input, as one item or one list. */
  arrivalAt(node: N8nNode, input: number | null = null): Arrival | null {
    const key = `${node.name}\n${input ?? ''}`;
    const known = this.#arrivals.get(key);
    if (known !== undefined) return known;
    const outside = this.#arrive(node, input);
    const arrival = outside === null ? null : this.repeats.enter(node, outside);
    if (arrival !== null) this.#arrivals.set(key, arrival);
    return arrival;
  }

  #arrive(node: N8nNode, input: number | null): Arrival | null {
    const links = this.linksInto(node.name).filter((link) => input === null || link.input === input);
    const given = links.flatMap((link) => {
      const out = this.outOf(link);
      return out === undefined ? [] : [{ link, out }];
    });
    const [first, ...others] = given;
    if (first === undefined) return null;
    if (others.length === 0) return { ref: first.out.ref, exits: [first.out.exit] };
    const scope = given.reduce((all, { out }) => commonScope(all, out.ref.scope), first.out.ref.scope);
    const outs = given.map(({ link, out }) => ({ link, out: this.leave(node, out, scope) }));
    const exits = outs.map(({ out }) => out.exit);
    const ref = this.leave(node, first.out, scope).ref;
    if (outs.every(({ out }) => isSameRef(out.ref, ref))) return { ref, exits };
    const areOnes = outs.every(({ out }) => out.ref.kind === 'one');
    const isChoice =
      areOnes &&
      outs.length <= MAX_CHOICES &&
      outs.every(({ link }, index) =>
        outs.slice(index + 1).every((other) => this.guards.areExclusive(link, other.link)),
      );
    return isChoice
      ? this.#choose(
          node,
          outs.map(({ out }) => out),
          scope,
        )
      : this.#concatenate(
          node,
          outs.map(({ out }) => out),
          scope,
        );
  }

  /** One item that comes from one of several branches. */
  #choose(node: N8nNode, outs: readonly Out[], scope: Scope): Arrival {
    // What a node passes on is there even if its branch isn't taken: one such item may come last.
    const last = outs.find((out) => !this.#isOwn(out) && out.ref.shape === undefined);
    const others = outs.filter((out) => out !== last);
    const all = [
      ...others.map((out) => (this.#isOwn(out) ? out : this.#mark(node, out))),
      ...(last === undefined ? [] : [last]),
    ];
    const item = template(firstOf(all.map(({ ref }) => this.pathIn(ref, scope))));
    const id = this.add(node, {
      type: 'core.set',
      label: `${node.name}: input`,
      config: { values: { item } },
      scope,
      after: all.map(({ exit }) => exit),
    });
    const perhapsMany = outs.find(({ ref }) => ref.perhapsMany !== undefined)?.ref.perhapsMany;
    return {
      ref: { kind: 'one', path: `nodes.${id}.output.item`, scope, owner: id, ...unsure(perhapsMany) },
      exits: [{ id, handle: 'out' }],
    };
  }

  /** All items of several branches, one after the other. */
  #concatenate(node: N8nNode, given: readonly Out[], scope: Scope): Arrival {
    const outs = given.map((out) =>
      this.#isOwn(out) || out.ref.kind === 'many' ? out : this.#mark(node, out),
    );
    const id = this.add(node, {
      type: 'core.code',
      label: `${node.name}: input`,
      config: {
        code: FLATTEN,
        input: { lists: outs.map(({ ref }) => listValue(ref)) },
      },
      scope,
      after: outs.map(({ exit }) => exit),
    });
    return {
      ref: { kind: 'many', path: `nodes.${id}.output.result`, scope, owner: id },
      exits: [{ id, handle: 'out' }],
    };
  }

  /** A node on a branch that repeats the item, so that it is null when the branch isn't taken. */
  #mark(node: N8nNode, out: Out): Out {
    const { exit, ref } = out;
    const key = `${exit.id} ${exit.handle} ${ref.path}`;
    const known = this.#markers.get(key);
    if (known !== undefined) return known;
    const id = this.add(node, {
      type: 'core.set',
      label: 'Pass on',
      config: { values: { item: this.wholeIn(ref, ref.scope) } },
      scope: ref.scope,
      after: [exit],
    });
    const marked: Out = {
      exit: { id, handle: 'out' },
      ref: {
        kind: ref.kind,
        path: `nodes.${id}.output.item`,
        scope: ref.scope,
        owner: id,
        ...unsure(ref.perhapsMany),
      },
    };
    this.#markers.set(key, marked);
    return marked;
  }

  /** The items of an output, seen from a scope around it. */
  leave(node: N8nNode, given: Out, scope: Scope): Out {
    let out = given;
    while (out.ref.scope !== scope && out.ref.scope.parent !== null) {
      const { scope: inner } = out.ref;
      const loop = inner.id ?? '';
      const { parent } = inner;
      if (parent === null) break;
      if (!this.#isOwn(out)) out = this.#mark(node, out);
      if (inner.kind === 'repeat') {
        const { kind } = out.ref;
        const last = this.builder.lastResult(loop, out.ref.path);
        out = { exit: { id: loop, handle: 'out' }, ref: { kind, path: last, scope: parent, owner: loop } };
        continue;
      }
      const path = this.builder.loopResult(loop, out.ref);
      const exit = { id: loop, handle: 'out' };
      if (out.ref.kind === 'one' && out.ref.perhapsMany === undefined) {
        out = { exit, ref: { kind: 'many', path, scope: parent, owner: loop } };
        continue;
      }
      const key = `${loop} ${out.ref.path}`;
      const known = this.#markers.get(key);
      if (known === undefined) {
        const list: Ref = { kind: 'many', path, scope: parent, owner: loop };
        this.#markers.set(key, this.#flatten(node, { exit, ref: list }));
      }
      out = this.#markers.get(key) ?? out;
    }
    return out;
  }

  /** The items of an output, or a member of them, seen from a scope around it; nothing if it isn't reached. */
  ownIn(node: N8nNode, given: Out, scope: Scope, member: readonly string[]): Out {
    const out = this.leave(node, given, scope);
    const { shape, ...plain } = out.ref;
    const isPlace = shape !== undefined && member.length > 0 && memberPath(out.ref, member) !== null;
    return this.#isOwn(isPlace ? { ...out, ref: plain } : out) ? out : this.#mark(node, out);
  }

  /** Opens the loop over a list, or returns the one that another reader of the list has opened. */
  openLoop(node: N8nNode, { ref, exits }: Arrival): Scope {
    const key = `${ref.scope.id ?? ''} ${ref.path}`;
    const known = this.#loops.get(key);
    if (known?.id != null && !this.#follow(exits, known.id, ref.scope)) {
      for (const exit of exits) this.builder.connectLoop(exit, known.id);
      return known;
    }
    const id = this.add(node, {
      type: 'core.for_each',
      label: `For each: ${node.name}`,
      config: { items: this.listIn(ref, ref.scope) },
      scope: ref.scope,
      after: exits,
      position: { x: node.position.x - 120, y: node.position.y },
    });
    const scope: Scope = { id, parent: ref.scope, kind: 'items', list: ref.path };
    this.#loops.set(key, scope);
    return scope;
  }

  /** Whether something that leads here comes after a loop: the loop can't come after it as well. */
  #follow(exits: readonly Exit[], loop: string, scope: Scope): boolean {
    const others = exits.filter(({ id }) => id !== loop);
    return others.length > 0 && this.builder.beforeAll(others, scope).has(loop);
  }

  /** The path of an item, or of a list, as a node in this scope reads it. */
  pathIn(ref: Ref, scope: Scope): string {
    if (ref.path !== 'item' || ref.scope === scope) return ref.path;
    return this.builder.capture(ref.scope);
  }

  /** A ref as a node in an inner scope reads it. */
  refIn(ref: Ref, scope: Scope): Ref {
    return { ...ref, path: this.pathIn(ref, scope) };
  }

  wholeIn(ref: Ref, scope: Scope): JsonValue {
    return wholeValue(this.refIn(ref, scope));
  }

  /** A whole item; the first one if it turns out to be a list. */
  firstIn(ref: Ref, scope: Scope): JsonValue {
    if (ref.perhapsMany === undefined) return this.wholeIn(ref, scope);
    return template(`${asList(this.pathIn(ref, scope))} | first`);
  }

  listIn(ref: Ref, scope: Scope): JsonValue {
    return listValue(this.refIn(ref, scope));
  }

  /** Whether a node that comes after these exits may read a ref. */
  canRead(ref: Ref, scope: Scope, before: Pick<ReadonlySet<string>, 'has'>): boolean {
    if (!isWithin(scope, ref.scope)) return false;
    const [, id] = /^nodes\.([a-z0-9_]+)/.exec(ref.path) ?? [];
    return id === undefined || before.has(id);
  }

  /** How far the work has come, to go back to. Everything is only ever added, so that counts say it. */
  mark(): () => void {
    const nodes = this.builder.mark();
    const caches = [this.#loops, this.#markers, this.#finished, this.#arrivals] as Map<string, unknown>[];
    const sizes = caches.map(({ size }) => size);
    return () => {
      this.builder.rollBack(nodes);
      for (const [index, cache] of caches.entries())
        for (const key of [...cache.keys()].slice(sizes[index])) cache.delete(key);
    };
  }

  /** Completes a loop of the original: its result is what leads back to it. */
  finishBatches(node: N8nNode): Out | undefined {
    const known = this.#finished.get(node.name);
    if (known !== undefined) return known;
    const { loop, done } = batchOutputs(node);
    const outs = this.outs.get(node.name) ?? [];
    const [round, end] = [outs[loop], outs[done]];
    const id = round?.ref.scope.id;
    if (round === undefined || end === undefined || id == null) return end;
    const { scope } = round.ref;
    // Loops that lead back into each other have no order: the inner one is read as it is.
    if (this.#finishing.has(node.name)) return end;
    this.#finishing.add(node.name);
    const back = this.returnsTo(node.name).flatMap((link) => {
      const out = this.outOf(link);
      return out === undefined || !isWithin(out.ref.scope, scope) ? [] : [this.leave(node, out, scope)];
    });
    const config = this.builder.config(id);
    const [first] = back;
    if (config !== undefined && first !== undefined) {
      const plain = back.map((out) => (this.#isOwn(out) ? out : this.#mark(node, out)));
      config.result = template(firstOf(plain.map(({ ref }) => this.pathIn(ref, scope))));
    }
    const isFlat =
      first === undefined
        ? round.ref.kind === 'one'
        : back.every(({ ref }) => ref.kind === 'one' && ref.perhapsMany === undefined);
    const finished = isFlat
      ? { ...end, ref: { ...end.ref, path: `${end.ref.path} | where: ""` } }
      : this.#flatten(node, end);
    this.#finishing.delete(node.name);
    this.#finished.set(node.name, finished);
    return finished;
  }

  #flatten(node: N8nNode, { exit, ref }: Out): Out {
    const id = this.add(node, {
      type: 'core.code',
      label: 'Collect',
      config: {
        code: FLATTEN,
        input: { lists: template(ref.path) },
      },
      scope: ref.scope,
      after: [exit],
    });
    return {
      exit: { id, handle: 'out' },
      ref: { kind: 'many', path: `nodes.${id}.output.result`, scope: ref.scope, owner: id },
    };
  }

  /** The links that bring back results of a Loop Over Items node. */
  returnsTo(name: string): readonly N8nLink[] {
    return this.started.returns.filter(({ to }) => to === name);
  }
}
