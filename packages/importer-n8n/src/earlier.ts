import type { JsonObject } from '@millrace/engine';
import type { Exit } from '@millrace/importer-kit/flow-builder';
import { type Ref, type Scope, template } from '@millrace/importer-kit/refs';
import { type Message, message } from '@millrace/messages';
import type { Compiler, Out } from './compiler.ts';
import type { N8nNode } from './read.ts';

/** The step that reads. */
interface Reader {
  readonly compiler: Compiler;
  readonly node: N8nNode;
  readonly scope: Scope;
  readonly after: readonly Exit[];
  approximate(what: Message): void;
}

/** The items of earlier nodes, as one step can read them. */
export class EarlierNodes {
  readonly #step: Reader;

  constructor(step: Reader) {
    this.#step = step;
  }

  /** The nodes that have run, or were skipped, when the step's next node starts. */
  before(): Pick<ReadonlySet<string>, 'has'> {
    const { compiler, after, scope } = this.#step;
    return compiler.builder.beforeAll(after, scope);
  }

  /** An earlier node's items for code: all of them, and which one belongs to the current item. */
  entry(name: string): JsonObject {
    const found = this.find(name);
    if (found === null) return { all: null };
    const { ref } = found;
    const all = this.#step.compiler.listIn(ref, this.#step.scope);
    if (ref.kind === 'one') return { all };
    const item = this.itemOf(ref);
    if (item !== null) return { all, item: template(item) };
    return this.#step.scope.kind === 'items' ? { all, index: '{{index}}' } : { all };
  }

  /** An earlier node's items as they can be read here; null if it doesn't run before. */
  find(name: string): { readonly ref: Ref } | null {
    const [out] = this.#step.compiler.outs.get(name) ?? [];
    const before = this.before();
    if (out !== undefined) {
      const seen = this.#seenFromHere(out);
      if (this.#step.compiler.canRead(seen.ref, this.#step.scope, before)) return { ref: seen.ref };
    }
    if (this.#step.compiler.workflow.nodes.has(name))
      this.#step.approximate(message('import.reads_later', { node: name }));
    else this.#step.approximate(message('import.reads_unknown', { node: name }));
    return null;
  }

  #seenFromHere(out: Out): Out {
    let around: Scope | null = this.#step.scope;
    const scopes = new Set<Scope>();
    for (; around !== null; around = around.parent) scopes.add(around);
    let target: Scope | null = out.ref.scope;
    while (target !== null && !scopes.has(target)) target = target.parent;
    if (target === null || target === out.ref.scope) return out;
    // A loop that isn't around this node: its result has the items, if it ends before this node starts.
    const { id } = innermostBelow(out.ref.scope, target);
    if (id === null || !this.before().has(id)) return out;
    return this.#step.compiler.leave(this.#step.node, out, target);
  }

  /** The item that a loop around this node takes from a list. */
  itemOf(list: Ref): string | null {
    for (let at: Scope | null = this.#step.scope; at !== null; at = at.parent) {
      if (at.kind !== 'items' || at.list !== list.path) continue;
      return this.#step.compiler.pathIn(
        { kind: 'one', path: 'item', scope: at, owner: null },
        this.#step.scope,
      );
    }
    return null;
  }
}

function innermostBelow(scope: Scope, outer: Scope): Scope {
  let at = scope;
  while (at.parent !== null && at.parent !== outer) at = at.parent;
  return at;
}
