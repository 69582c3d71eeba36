import { isJsonObject, type JsonObject, type JsonValue, own, type Work } from '@millrace/engine';
import { type Exit, FlowBuilder, type NodeExtras, type Position } from '@millrace/importer-kit/flow-builder';
import { extend, isWithin, literalValue, MISSING, type Scope } from '@millrace/importer-kit/refs';
import type { Product, Report } from '@millrace/importer-kit/report';
import { Unmappable } from '@millrace/importer-kit/unmappable';
import { type Message, message } from '@millrace/messages';
import { type Origin, type OriginFlow, type OriginLink, orderFrom, reported } from './origin.ts';
import { Variables } from './variables.ts';

/** What an original node has become: where its edges leave from, and what can be read of it. */
export interface Made {
  readonly scope: Scope;
  /** By the original's handle. */
  readonly exits: { readonly [handle: string]: Exit };
  /** For any other handle. */
  readonly exit: Exit;
  /** The inside of a template for a member of its output; null if there is no such thing. */
  readonly read: (names: readonly string[], reader: DirectStep) => string | null;
}

/** How a kind of node is made. */
export type Make = (step: DirectStep) => Made | Work<Made>;

/** Larger settings aren't shown in a placeholder. */
const MAX_KEPT = 100_000;

/** Makes one workflow out of nodes that correspond to nodes here, one by one. */
export class Maker {
  readonly builder = new FlowBuilder();
  readonly flow: OriginFlow;
  readonly report: Report;
  readonly product: Product;
  readonly makers: { readonly [type: string]: Make };
  /** Values that nodes change while they run. */
  readonly variables = new Variables();
  /** Constants of the workflow. */
  readonly constants = new Map<string, JsonValue>();
  readonly made = new Map<string, Made>();
  /** By loop: how what is inside can be read from outside, if its result has it. */
  readonly shared = new Map<string, (path: string) => string>();
  readonly #incoming: ReadonlyMap<string, readonly OriginLink[]>;
  readonly #children: ReadonlyMap<string | null, readonly Origin[]>;

  constructor(flow: OriginFlow, { report, product, makers }: Pick<Maker, 'report' | 'product' | 'makers'>) {
    this.flow = flow;
    this.report = report;
    this.product = product;
    this.makers = makers;
    this.#incoming = Map.groupBy(flow.links, ({ to }) => to);
    this.#children = Map.groupBy(flow.origins.values(), ({ parent }) => parent);
  }

  childrenOf(id: string | null): readonly Origin[] {
    return this.#children.get(id) ?? [];
  }

  /** Whether something follows a node. */
  isEnd(id: string): boolean {
    return !this.flow.links.some(({ from }) => from === id);
  }

  /** Makes the nodes of one level that these lead to. What they lead back to becomes a placeholder. */
  *makeLevel(roots: readonly Origin[], scope: Scope, before: readonly Exit[] = []): Work<readonly Origin[]> {
    const [first] = roots;
    const level = new Map(this.childrenOf(first?.parent ?? null).map((origin) => [origin.id, origin]));
    const { order, cycles } = orderFrom(roots, level, this.flow.links);
    const back = new Set(cycles);
    for (const origin of order) {
      yield 1;
      if (this.made.has(origin.id)) continue;
      if (origin.isHelper !== true) this.report.mapped(reported(origin));
      const links = (this.#incoming.get(origin.id) ?? []).filter(
        (link) => !back.has(link) && level.has(link.from),
      );
      const after = links.flatMap((link) => this.exitOf(link) ?? []);
      this.made.set(origin.id, yield* this.#makeOne(origin, scope, after.length === 0 ? before : after));
    }
    for (const link of cycles) this.#placeBack(link, scope);
    return order;
  }

  exitOf({ from, handle }: Pick<OriginLink, 'from' | 'handle'>): Exit | undefined {
    const made = this.made.get(from);
    if (made === undefined) return undefined;
    return own(made.exits, handle) ?? made.exit;
  }

  *#makeOne(origin: Origin, scope: Scope, after: readonly Exit[]): Work<Made> {
    const step = new DirectStep(this, origin, scope, after);
    const make = own(this.makers, origin.type);
    if (make === undefined) return this.placeholder(step, message('import.unknown_node'));
    const mark = this.builder.mark();
    const written = this.variables.mark();
    const known = this.made.size;
    try {
      const made = make(step);
      return 'next' in made ? yield* made : made;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      this.builder.rollBack(mark);
      this.variables.rollBack(written);
      for (const id of [...this.made.keys()].slice(known)) this.made.delete(id);
      return this.placeholder(new DirectStep(this, origin, scope, after), reason);
    }
  }

  /** A node that shows the original, and keeps the workflow from being activated. */
  placeholder(step: DirectStep, reason: Message): Made {
    const { origin, scope } = step;
    const lost = [
      ...(origin.isHelper === true ? [] : [origin]),
      ...this.#within(origin.id).filter(({ isHelper }) => isHelper !== true),
    ];
    for (const each of lost)
      this.report.dropped(reported(each), each === origin ? reason : message('import.part_of_dropped'));
    const id = step.add('core.placeholder', {
      product: this.product,
      type: origin.type,
      name: origin.name,
      parameters: keptOf(origin.data),
    });
    return {
      scope,
      exits: {},
      exit: { id, handle: 'out' },
      read: (names) => extend(`nodes.${id}.output`, names),
    };
  }

  /** Everything in a loop that couldn't be made. */
  #within(id: string): readonly Origin[] {
    const found: Origin[] = [];
    const open = [id];
    const seen = new Set(open);
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const child of this.childrenOf(at)) {
        if (seen.has(child.id)) continue;
        seen.add(child.id);
        found.push(child);
        open.push(child.id);
      }
    return found;
  }

  #placeBack({ from, to, handle }: OriginLink, scope: Scope): void {
    const [source, target] = [this.flow.origins.get(from), this.flow.origins.get(to)];
    const exit = this.exitOf({ from, handle });
    if (source === undefined || target === undefined || exit === undefined) return;
    this.report.dropped(reported(source), message('import.goes_back', { node: target.name }));
    this.builder.add({
      id: this.builder.reserve(`back to ${target.name}`),
      type: 'core.placeholder',
      label: `Back to ${target.name}`,
      config: {
        product: this.product,
        type: 'connection',
        name: `${source.name} → ${target.name}`,
        parameters: {},
      },
      scope,
      after: [exit],
      position: { x: source.position.x + 240, y: source.position.y + 120 },
    });
  }
}

function keptOf(data: JsonObject): JsonValue {
  const kept = literalValue(data);
  return isJsonObject(kept) && JSON.stringify(kept).length <= MAX_KEPT ? kept : {};
}

/** Why a node can't be made; null for any other error. A RangeError comes from a value nested deeper than the stack allows. */
function reasonOf(error: unknown): Message | null {
  if (error instanceof Unmappable) return error.reason;
  return error instanceof RangeError ? message('import.expression_unreadable') : null;
}

/** One original node while its nodes are made: they follow each other. */
export class DirectStep {
  readonly maker: Maker;
  readonly origin: Origin;
  readonly scope: Scope;
  after: readonly Exit[];
  /** Retries and what follows an error; they go to the node that got the original's own settings. */
  extras: NodeExtras = {};
  /** The node that got them. */
  mainId: string | null = null;
  /** Set where everything in the scope has run: at the end of a loop's round. */
  isAtEnd = false;

  constructor(maker: Maker, origin: Origin, scope: Scope, after: readonly Exit[]) {
    this.maker = maker;
    this.origin = origin;
    this.scope = scope;
    this.after = after;
  }

  get data(): JsonObject {
    return this.origin.data;
  }

  /** The end of a round of a loop, where everything in it has run. */
  at(scope: Scope): DirectStep {
    const end = new DirectStep(this.maker, this.origin, scope, []);
    end.isAtEnd = true;
    return end;
  }

  approximate(what: Message): void {
    this.maker.report.approximated(reported(this.origin), what);
  }

  /** Adds a node after the previous one. With a suffix, it is one that helps. */
  add(
    type: string,
    config: { [name: string]: JsonValue },
    { suffix = '', scope = this.scope }: { readonly suffix?: string; readonly scope?: Scope } = {},
  ): string {
    const { builder } = this.maker;
    const label = suffix === '' ? this.origin.name : `${this.origin.name}: ${suffix}`;
    const id = builder.reserve(label);
    const position: Position = this.origin.position;
    builder.add({
      id,
      type,
      label,
      config,
      scope,
      position: suffix === '' ? position : { x: position.x, y: position.y + 100 },
      extras: suffix === '' ? this.extras : {},
      after: this.after,
    });
    if (suffix === '') this.mainId = id;
    this.after = [{ id, handle: 'out' }];
    return id;
  }

  /** What a node became whose output is read by its own names. */
  result(read: Made['read'], exits: Made['exits'] = {}): Made {
    const [exit = { id: '', handle: 'out' }] = this.after;
    return { scope: this.scope, exits, exit, read };
  }

  /** The inside of a template for what an earlier node has put out; a path that finds nothing, and a note, if it can't be read here. */
  read(id: string, names: readonly string[]): string {
    const made = this.maker.made.get(id);
    const origin = this.maker.flow.origins.get(id);
    if (made === undefined || origin === undefined) {
      if (origin === undefined) this.approximate(message('import.reads_unknown', { node: id }));
      else this.approximate(message('import.reads_later', { node: origin.name }));
      return MISSING;
    }
    const isInside = !isWithin(this.scope, made.scope);
    const path = isInside ? this.#readFromOutside(made, names) : made.read(names, this);
    if (path === null) {
      if (isInside) this.approximate(message('import.reads_later', { node: origin.name }));
      else this.approximate(message('import.member_missing', { member: [origin.name, ...names].join('.') }));
      return MISSING;
    }
    if (this.hasRun(path)) return path;
    this.approximate(message('import.reads_later', { node: origin.name }));
    return MISSING;
  }

  /** What a node in a loop that has ended put out in its last round, if the loop's result tells. */
  #readFromOutside({ scope, read }: Made, names: readonly string[]): string | null {
    let path = read(names, this.at(scope));
    for (let at: Scope | null = scope; at !== null && !isWithin(this.scope, at); at = at.parent) {
      const share = this.maker.shared.get(at.id ?? '');
      if (share === undefined || path === null) return null;
      path = share(path);
    }
    return path;
  }

  /** Whether every node that a path reads has run when this one starts. */
  hasRun(path: string): boolean {
    if (this.isAtEnd) return true;
    const before = this.maker.builder.beforeAll(this.after, this.scope);
    return [...path.matchAll(/\bnodes\.([a-z0-9_]+)/g)].every(([, id = '']) => before.has(id));
  }
}
