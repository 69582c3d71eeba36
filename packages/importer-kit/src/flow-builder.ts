import type { Flow, FlowSettings, JsonObject, JsonValue } from '@millrace/engine';
import { quote, type Ref, type Scope, template, wholeValue } from './refs.ts';

/** Where an edge leaves from. */
export interface Exit {
  readonly id: string;
  readonly handle: string;
}

export interface Position {
  readonly x: number;
  readonly y: number;
}

/** Settings every node may have, besides its config. */
export interface NodeExtras {
  readonly retry?: JsonObject;
  readonly on_error?: 'continue' | 'branch';
}

interface BuiltNode {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly config: { [name: string]: JsonValue };
  readonly scope: Scope;
  readonly position: Position;
  readonly extras: NodeExtras;
}

const COLUMN = 240;
/** The originals' distances are those of smaller nodes. */
const STRETCH = 1.3;

/** The nodes before some others, found as far back as they are asked for: most expressions read what is near. */
class Before {
  readonly #known: Set<string>;
  readonly #open: string[];
  readonly #sources: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(
    from: readonly string[],
    sources: ReadonlyMap<string, ReadonlySet<string>>,
    others: readonly string[],
  ) {
    this.#known = new Set(others);
    this.#open = from.filter((id) => !this.#known.has(id));
    for (const id of this.#open) this.#known.add(id);
    this.#sources = sources;
  }

  has(id: string): boolean {
    while (!this.#known.has(id)) {
      const next = this.#open.pop();
      if (next === undefined) return false;
      for (const source of this.#sources.get(next) ?? []) {
        if (this.#known.has(source)) continue;
        this.#known.add(source);
        this.#open.push(source);
      }
    }
    return true;
  }
}

/** Collects the nodes and edges of one workflow; ids are readable and unique, positions free. */
export class FlowBuilder {
  readonly #nodes = new Map<string, BuiltNode>();
  readonly #edges = new Map<string, { source: string; sourceHandle: string; target: string }>();
  /** By node: where its edges come from. */
  readonly #sources = new Map<string, Set<string>>();
  readonly #ids = new Set<string>();
  readonly #captures = new Map<string, string>();
  /** Changes of sources and captures so far. */
  #changes = 0;
  #lastBefore: {
    readonly place: string;
    readonly scope: Scope;
    readonly changes: number;
    readonly known: Before;
  } | null = null;
  readonly #results = new Map<string, Map<string, string>>();
  readonly #taken = new Set<string>();

  /** An id made from a name, for a node that is added later. */
  reserve(name: string): string {
    const base = slug(name);
    let id = base;
    for (let number = 2; this.#ids.has(id); number += 1) id = `${base}_${number}`;
    this.#ids.add(id);
    return id;
  }

  add(node: {
    readonly id: string;
    readonly type: string;
    readonly label: string;
    readonly config: { [name: string]: JsonValue };
    readonly scope: Scope;
    readonly position: Position;
    readonly extras?: NodeExtras;
    readonly after: readonly Exit[];
  }): void {
    const { after, extras = {}, ...rest } = node;
    this.#nodes.set(node.id, { ...rest, extras, position: this.#free(node.position) });
    for (const exit of after) this.connect(exit, node.id);
  }

  /** An exit without a node is the beginning of a loop's body. */
  connect({ id, handle }: Exit, target: string): void {
    if (id === '') return;
    const sources = this.#sources.get(target) ?? new Set<string>();
    this.#changes += 1;
    this.#sources.set(target, sources.add(id));
    this.#edges.set(`${id} ${handle} ${target}`, { source: id, sourceHandle: handle, target });
  }

  /** Connects a node to everything that another one leads to. */
  connectAs(source: string, other: string): void {
    for (const edge of [...this.#edges.values()])
      if (edge.source === source) this.connect({ id: other, handle: edge.sourceHandle }, edge.target);
  }

  /** Connects a loop that exists already to another source. */
  connectLoop(exit: Exit, loop: string): void {
    if (exit.id !== loop) this.connect(exit, loop);
  }

  /** What a node in this scope that follows these exits may read: everything that has run, or was skipped, when it starts. */
  beforeAll(after: readonly Exit[], scope: Scope): Before {
    const place = after.map(({ id }) => id).join(' ');
    const last = this.#lastBefore;
    // Each expression of a node asks for the same: with thousands of nodes, going through all of them takes seconds.
    if (last?.place === place && last.scope === scope && last.changes === this.#changes) return last.known;
    const known = this.#findBefore(after, scope);
    this.#lastBefore = { place, scope, changes: this.#changes, known };
    return known;
  }

  #findBefore(after: readonly Exit[], scope: Scope): Before {
    const captures: string[] = [];
    const open = after.map(({ id }) => id);
    for (let around: Scope | null = scope; around !== null; around = around.parent) {
      if (around.id === null) continue;
      open.push(...(this.#sources.get(around.id) ?? []));
      const capture = this.#captures.get(around.id);
      if (capture !== undefined) captures.push(capture);
    }
    return new Before(open, this.#sources, captures);
  }

  typeOf(id: string): string | undefined {
    return this.#nodes.get(id)?.type;
  }

  hasType(type: string): boolean {
    return [...this.#nodes.values()].some((node) => node.type === type);
  }

  config(id: string): { [name: string]: JsonValue } | undefined {
    return this.#nodes.get(id)?.config;
  }

  /** The item of a loop, readable in the loops inside it, too: `{{item}}` is always that of the innermost one. */
  capture(scope: Scope): string {
    const loop = scope.id ?? '';
    const known = this.#captures.get(loop);
    if (known !== undefined) return `nodes.${known}.output.item`;
    const id = this.reserve(`${loop}_item`);
    this.#changes += 1;
    this.#captures.set(loop, id);
    return `nodes.${id}.output.item`;
  }

  /** Everything that is set, as JSON text. */
  text(): string {
    return JSON.stringify([...this.#nodes.values()].map(({ config }) => config));
  }

  /** How far the building has come, for {@link rollBack}: how many nodes there are. */
  mark(): number {
    return this.#nodes.size;
  }

  /** Takes back what was added since, except loops that were opened, and what is inside them already. */
  rollBack(mark: number): void {
    const gone = new Set([...this.#nodes.keys()].slice(mark));
    for (const results of this.#results.values())
      for (const value of results.keys()) {
        const [, id = ''] = /\{\{nodes\.([a-z0-9_]+)/.exec(value) ?? [];
        if (gone.has(id)) results.delete(value);
      }
    if (gone.size === 0) return;
    for (const id of gone) {
      this.#nodes.delete(id);
      this.#changes += 1;
      this.#sources.delete(id);
    }
    for (const [key, { source, target }] of this.#edges) {
      if (!gone.has(source) && !gone.has(target)) continue;
      this.#edges.delete(key);
      this.#changes += 1;
      this.#sources.get(target)?.delete(source);
    }
  }

  /**
   * Takes back a node that was added since a mark, if what else was added only computes values for it.
   * @returns null if more was added
   */
  takeLast(
    mark: number,
    id: string | null,
  ): {
    readonly type: string;
    readonly config: { [name: string]: JsonValue };
    readonly before: readonly Exit[];
  } | null {
    const added = [...this.#nodes.values()].slice(mark);
    const last = added.at(-1);
    const others = added.slice(0, -1);
    if (last === undefined || last.id !== id || !others.every(({ type }) => type === 'core.code'))
      return null;
    const before = others.length === 0 ? [] : [...this.#edges.values()].filter(({ target }) => target === id);
    this.rollBack(this.#nodes.size - 1);
    return {
      type: last.type,
      config: last.config,
      before: before.map(({ source, sourceHandle }) => ({ id: source, handle: sourceHandle })),
    };
  }

  /** A loop without a node inside can't run. */
  fillEmptyLoops(): void {
    const filled = new Set([...this.#nodes.values()].map(({ scope }) => scope.id));
    for (const { id, type, position, scope: parent } of [...this.#nodes.values()]) {
      if (type !== 'core.for_each' || filled.has(id)) continue;
      const scope: Scope = { id, parent, kind: 'items', list: '' };
      const inner = this.reserve(`${id}_each`);
      this.add({
        id: inner,
        type: 'core.set',
        label: 'Item',
        config: { values: { item: template('item') } },
        scope,
        position,
        after: [],
      });
    }
  }

  /** A member of what each iteration of a loop results in. The value is null where the branch wasn't taken. */
  loopResult(loop: string, ref: Ref): string {
    const name = this.#nameResult(loop, wholeValue(ref));
    return `nodes.${loop}.output.items | where: ${quote(name)} | map: ${quote(name)}`;
  }

  /** A member of what the last iteration of a Repeat loop results in. */
  lastResult(loop: string, path: string): string {
    return `nodes.${loop}.output.last.${this.#nameResult(loop, template(path))}`;
  }

  /** The member of a loop's result that has this value. */
  #nameResult(loop: string, value: JsonValue): string {
    const text = JSON.stringify(value);
    const known = this.#results.get(loop) ?? new Map<string, string>();
    const name = known.get(text) ?? `result_${known.size + 1}`;
    this.#results.set(loop, known.set(text, name));
    return name;
  }

  /** Names a member of a loop's result. */
  setResult(loop: string, name: string, value: JsonValue): void {
    const known = this.#results.get(loop) ?? new Map<string, string>();
    this.#results.set(loop, known.set(JSON.stringify(value), name));
  }

  /** The finished flow. */
  flow(settings: FlowSettings): Flow {
    this.#finishLoops();
    const nodes = [...this.#nodes.values()].map(({ id, type, label, config, scope, position, extras }) => ({
      id,
      type,
      position: { x: position.x, y: position.y },
      ...(scope.id === null ? {} : { parentId: scope.id }),
      data: { label, config, ...extras },
    }));
    const edges = [...this.#edges.values()].map(({ source, sourceHandle, target }, index) => ({
      id: `e${index + 1}`,
      source,
      sourceHandle,
      target,
    }));
    return { nodes, edges, settings };
  }

  #finishLoops(): void {
    for (const [loop, results] of this.#results) {
      const config = this.#nodes.get(loop)?.config;
      if (config === undefined) continue;
      config.result = Object.fromEntries(
        [...results].map(([value, name]) => [name, JSON.parse(value) as JsonValue]),
      );
    }
    const targets = new Set([...this.#edges.values()].map(({ target }) => target));
    for (const [loop, id] of this.#captures) {
      const inside = [...this.#nodes.values()].filter(({ scope }) => scope.id === loop);
      const [first] = inside;
      if (first === undefined) continue;
      const { x, y } = first.position;
      this.#nodes.set(id, {
        id,
        type: 'core.set',
        label: 'Item',
        config: { values: { item: template('item'), index: template('index') } },
        scope: first.scope,
        position: this.#free({ x: x - COLUMN, y }),
        extras: {},
      });
      for (const root of inside) if (!targets.has(root.id)) this.connect({ id, handle: 'out' }, root.id);
    }
  }

  #free({ x, y }: Position): Position {
    let at = { x: Math.round(x), y: Math.round(y) };
    while (this.#taken.has(`${Math.round(at.x / 40)} ${Math.round(at.y / 40)}`))
      at = { x: at.x, y: at.y + 80 };
    this.#taken.add(`${Math.round(at.x / 40)} ${Math.round(at.y / 40)}`);
    return at;
  }
}

/** Original coordinates; what isn't a pair of numbers is 0, 0. */
export function readPosition(value: JsonValue | undefined): Position {
  const [x, y] = Array.isArray(value) ? value : [];
  return { x: coordinate(x) * STRETCH, y: coordinate(y) * STRETCH };
}

function coordinate(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) < 1e6 ? value : 0;
}

function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 48);
  if (plain === '') return 'node';
  return /^[a-z]/.test(plain) ? plain : `n_${plain}`;
}
