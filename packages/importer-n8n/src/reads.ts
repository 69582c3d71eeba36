import type { N8nLink, N8nNode, N8nWorkflow } from './read.ts';

/** What an expression reads of the item that arrives. */
const OWN =
  /(?:\$json|\$input\.(?:item|first\(\))\.json|(?<![.\w])(?:items?(?:\[\d\])?|each|entry|row|i)\.json)(?=(.{0,80}))/g;

/** What an expression reads of a node that it names. In JSON, quotes are escaped. */
const NAMED = /\$(node|items)?\s*[([]\s*(?:\\"|'|`)([^"'`\\]{1,200})(?:\\"|'|`)\s*[)\]](?=(.{0,100}))/g;

/** Nodes that pass on the items that arrive, so that what follows them reads the same. */
const PASSING = new Set(['if', 'filter', 'switch', 'noOp', 'wait', 'limit', 'sort', 'removeDuplicates']);

/** So many nodes behind another are looked at, and so much of each: a file may be made to take long. */
const MAX_READERS = 10;
const MAX_TEXT = 10_000;

/** How the nodes of a workflow read each other's items. */
export class Reads {
  readonly #workflow: N8nWorkflow;
  readonly #outgoing: ReadonlyMap<string, readonly N8nLink[]>;
  readonly #texts = new Map<N8nNode, string>();
  #named: ReadonlyMap<string, readonly string[]> | null = null;

  constructor(workflow: N8nWorkflow, links: readonly N8nLink[]) {
    this.#workflow = workflow;
    this.#outgoing = Map.groupBy(links, ({ from }) => from);
  }

  /** The nodes that a node leads to. */
  after(name: string): readonly N8nNode[] {
    return (this.#outgoing.get(name) ?? []).flatMap(({ to }) => this.#workflow.nodes.get(to) ?? []);
  }

  /** What follows in the code where the items of a node are read, by those it leads to and by those that name it: `.id`, `.first().json.id`. */
  of(name: string): readonly string[] {
    const own = this.#behind(name).flatMap((node) =>
      [...this.#textOf(node).matchAll(OWN)].map(([, rest = '']) => rest),
    );
    this.#named ??= this.#findNamed();
    return [...own, ...(this.#named.get(name) ?? [])];
  }

  #behind(name: string): readonly N8nNode[] {
    const seen = new Set(this.after(name).slice(0, MAX_READERS));
    for (const node of seen) {
      if (!PASSING.has(node.kind)) continue;
      for (const next of this.after(node.name)) if (seen.size < MAX_READERS) seen.add(next);
    }
    return [...seen];
  }

  #textOf(node: N8nNode): string {
    const known = this.#texts.get(node) ?? JSON.stringify(node.parameters).slice(0, MAX_TEXT);
    this.#texts.set(node, known);
    return known;
  }

  #findNamed(): ReadonlyMap<string, readonly string[]> {
    const found = [...this.#workflow.nodes.values()].flatMap((node) =>
      [...this.#textOf(node).matchAll(NAMED)].map(([, how = '', name = '', rest = '']) => ({
        name,
        rest: how === 'items' ? '.all()' : rest,
      })),
    );
    return new Map(
      [...Map.groupBy(found, ({ name }) => name)].map(([name, all]) => [name, all.map(({ rest }) => rest)]),
    );
  }
}
