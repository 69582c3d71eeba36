import type { Out } from './compiler.ts';
import type { N8nNode } from './read.ts';
import type { Step } from './step.ts';

export type Takes = 'item' | 'list' | 'join';

/**
 * How a kind of node is made.
 * - `item`: n8n runs it once per item; here it is inside a loop when there are several.
 * - `list`: it takes all items at once.
 * - `join`: it passes on what arrives, one item or many.
 */
export interface Handler {
  readonly takes: Takes | ((node: N8nNode) => Takes);
  /** Each of its outputs is a branch that an item takes or not. */
  readonly isRouter?: boolean;
  /** It makes one item of the list: without any items, n8n wouldn't run it at all. */
  readonly collects?: boolean;
  /**
   * Adds its nodes.
   * @returns its outputs, in n8n's order
   * @throws Unmappable
   */
  readonly run: (step: Step) => readonly Out[];
}

/** By kind: the type without its package. */
export type Handlers = { readonly [kind: string]: Handler };

/** A node that n8n runs for each item. */
export function forItem(run: Handler['run'], more: Partial<Handler> = {}): Handler {
  return { takes: 'item', run, ...more };
}

/** A node that takes the whole list. */
export function forList(run: Handler['run'], more: Partial<Handler> = {}): Handler {
  return { takes: 'list', run, ...more };
}
