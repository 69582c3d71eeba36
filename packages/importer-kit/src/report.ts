import type { Flow } from '@millrace/engine';
import type { Message } from '@millrace/messages';

/** A node of the original by name and type. */
export interface OriginalNode {
  readonly node: string;
  readonly type: string;
}

/** What became of an original node, and what people should know about it. */
export type Outcome =
  | (OriginalNode & { readonly kind: 'mapped' })
  | (OriginalNode & { readonly kind: 'approximated'; readonly what: readonly Message[] })
  | (OriginalNode & { readonly kind: 'dropped'; readonly reason: Message });

/** A workflow of Millrace that was made from a file. */
export interface ImportedWorkflow {
  readonly name: string;
  readonly flow_data: Flow;
}

/** What was made from one file. */
export interface ImportResult {
  readonly product: Product;
  readonly name: string;
  /** Null if nothing in the file can be started. */
  readonly workflow: ImportedWorkflow | null;
  /** Further workflows that were made from the file. */
  readonly companions: readonly ImportedWorkflow[];
  /** One entry for each node of the original. */
  readonly outcomes: readonly Outcome[];
}

/** All workflows that were made from a file, the main one first. */
export function workflowsOf({
  workflow,
  companions,
}: Pick<ImportResult, 'workflow' | 'companions'>): readonly ImportedWorkflow[] {
  return workflow === null ? companions : [workflow, ...companions];
}

/** Products whose workflows can be imported. */
export const PRODUCTS = ['n8n', 'dify', 'flowise'] as const;
export type Product = (typeof PRODUCTS)[number];

/** Collects what became of the nodes of one file; the worst finding about a node counts. */
export class Report {
  readonly #nodes = new Map<
    string,
    { readonly at: OriginalNode; readonly what: Message[]; reason: Message | null }
  >();

  /** Every node is mapped until something else is said about it. */
  mapped(at: OriginalNode): void {
    if (!this.#nodes.has(at.node)) this.#nodes.set(at.node, { at, what: [], reason: null });
  }

  approximated(at: OriginalNode, what: Message): void {
    this.mapped(at);
    const entry = this.#nodes.get(at.node);
    const isKnown = entry?.what.some((other) => JSON.stringify(other) === JSON.stringify(what));
    if (isKnown === false) entry?.what.push(what);
  }

  dropped(at: OriginalNode, reason: Message): void {
    this.mapped(at);
    const entry = this.#nodes.get(at.node);
    if (entry !== undefined) entry.reason ??= reason;
  }

  has(name: string): boolean {
    return this.#nodes.has(name);
  }

  outcomes(): readonly Outcome[] {
    return [...this.#nodes.values()].map(({ at, what, reason }) => {
      if (reason !== null) return { ...at, kind: 'dropped', reason };
      return what.length > 0 ? { ...at, kind: 'approximated', what } : { ...at, kind: 'mapped' };
    });
  }
}
