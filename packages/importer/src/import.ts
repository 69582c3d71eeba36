import { finishWork, type JsonValue, type Work } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { jsonDepth } from './json-depth.ts';
import type { ImportLimits } from './limits.ts';
import { arrayOf, isN8n, workflowIn } from './n8n/read.ts';
import { withTrigger } from './n8n/with-trigger.ts';
import { importN8n } from './n8n/workflow.ts';
import type { ImportResult, Product } from './report.ts';

export interface ImportOptions {
  readonly limits: ImportLimits;
  /** Used if the file has no name of its own. */
  readonly name: string;
  /** Absent: recognised by what only one product writes. */
  readonly product?: Product;
  /** It may be copied nodes without what starts them: they become a workflow that is started by hand. */
  readonly isPart?: boolean;
}

/** Why a file can't be imported at all. */
export interface ImportFault {
  readonly code: 'unknown_product' | 'too_deep' | 'too_many_nodes' | 'no_nodes';
  readonly message: Message;
}

/** The product that wrote a value; null if it isn't known. */
export function detectProduct(value: JsonValue): Product | null {
  return isN8n(value) ? 'n8n' : null;
}

/** What a file becomes, or why it can't be imported. */
export type Import = { readonly result: ImportResult } | { readonly fault: ImportFault };

/** {@link importWork} at once. */
export function importWorkflow(value: JsonValue, options: ImportOptions): Import {
  return finishWork(importWork(value, options));
}

/**
 * Makes Millrace workflows from a workflow of another product, in pieces: node by node. Pure, and never evaluates anything in it.
 */
export function* importWork(value: JsonValue, options: ImportOptions): Work<Import> {
  const { limits } = options;
  const product = options.product ?? detectProduct(value);
  if (product === null)
    return { fault: { code: 'unknown_product', message: message('import.unknown_product') } };
  if (jsonDepth(value) > limits.depth)
    return { fault: { code: 'too_deep', message: message('import.too_deep', { max: limits.depth }) } };
  const nodes = arrayOf(workflowIn(value)?.nodes).length;
  if (nodes > limits.nodes)
    return {
      fault: { code: 'too_many_nodes', message: message('import.too_many_nodes', { max: limits.nodes }) },
    };
  if (nodes === 0) return { fault: { code: 'no_nodes', message: message('import.no_nodes') } };
  const part = options.isPart === true ? withTrigger(value) : { value, added: null };
  const { name, workflows, report } = yield* importN8n(part.value);
  const named = workflows.map((workflow) => ({
    ...workflow,
    name: nameOf(workflow.name, name, options.name),
  }));
  const [workflow = null, ...companions] = named;
  const own = nameOf(name, name, options.name);
  const outcomes = report.outcomes().filter(({ node }) => node !== part.added);
  return { result: { product, name: own, workflow, companions, outcomes } };
}

const MAX_NAME = 255;

function nameOf(own: string, original: string, otherwise: string): string {
  const wanted = original === '' && own.startsWith(': ') ? `${otherwise}${own}` : own;
  const name = wanted.trim() === '' ? otherwise : wanted.trim();
  return name.slice(0, MAX_NAME) || 'Imported';
}
