import { finishWork, type JsonValue, tryParseJson, type Work } from '@millrace/engine';
import { difyNodes, isDify } from '@millrace/importer-chatflows/dify/read';
import { importDify } from '@millrace/importer-chatflows/dify/workflow';
import { flowiseNodes, isFlowise } from '@millrace/importer-chatflows/flowise/read';
import { importFlowise } from '@millrace/importer-chatflows/flowise/workflow';
import { jsonDepthWork } from '@millrace/importer-kit/json-depth';
import type { ImportLimits } from '@millrace/importer-kit/limits';
import {
  type ImportedWorkflow,
  type ImportResult,
  PRODUCTS,
  type Product,
  type Report,
} from '@millrace/importer-kit/report';
import { arrayOf, isN8n, workflowIn } from '@millrace/importer-n8n/read';
import { withTrigger } from '@millrace/importer-n8n/with-trigger';
import { importN8n } from '@millrace/importer-n8n/workflow';
import { type Message, message } from '@millrace/messages';
import { parseYaml, YamlError } from './yaml.ts';

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
  readonly code: 'unknown_product' | 'not_yaml' | 'too_deep' | 'too_many_nodes' | 'no_nodes';
  readonly message: Message;
}

/** What the import of a product consists of. */
interface Format {
  readonly isOne: (value: JsonValue) => boolean;
  readonly nodes: (value: JsonValue) => number;
  readonly read: (
    value: JsonValue,
    maxNodes: number,
  ) => Work<{
    readonly name: string;
    readonly workflows: readonly ImportedWorkflow[];
    readonly report: Report;
  }>;
}

/** In the order in which they are recognised: only the first has marks in every node. */
const FORMATS: { readonly [product in Product]: Format } = {
  n8n: { isOne: isN8n, nodes: (value) => arrayOf(workflowIn(value)?.nodes).length, read: importN8n },
  dify: { isOne: isDify, nodes: difyNodes, read: importDify },
  flowise: { isOne: isFlowise, nodes: flowiseNodes, read: importFlowise },
};

/** The product that wrote a value; null if it isn't known. */
export function detectProduct(value: JsonValue): Product | null {
  return PRODUCTS.find((product) => FORMATS[product].isOne(value)) ?? null;
}

/** What a file becomes, or why it can't be imported. */
export type Import = { readonly result: ImportResult } | { readonly fault: ImportFault };

/** {@link importWork} at once. */
export function importWorkflow(value: JsonValue, options: ImportOptions): Import {
  return finishWork(importWork(value, options));
}

/**
 * Makes Millrace workflows from a workflow of another product, in pieces: node by node. Pure, and never evaluates anything in it.
 * @param given the value of a file that is JSON, or the text of any file
 */
export function* importWork(given: JsonValue, options: ImportOptions): Work<Import> {
  const { limits } = options;
  const parsed = typeof given === 'string' ? yield* parseText(given, limits.depth) : { value: given };
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  const product = options.product ?? detectProduct(value);
  if (product === null)
    return { fault: { code: 'unknown_product', message: message('import.unknown_product') } };
  const format = FORMATS[product];
  if ((yield* jsonDepthWork(value)) > limits.depth) return tooDeep(limits.depth);
  const nodes = format.nodes(value);
  if (nodes > limits.nodes)
    return {
      fault: { code: 'too_many_nodes', message: message('import.too_many_nodes', { max: limits.nodes }) },
    };
  if (nodes === 0) return { fault: { code: 'no_nodes', message: message('import.no_nodes') } };
  const part = options.isPart === true && product === 'n8n' ? withTrigger(value) : { value, added: null };
  const { name, workflows, report } = yield* format.read(part.value, limits.nodes);
  const named = workflows.map((workflow) => ({
    ...workflow,
    name: nameOf(workflow.name, name, options.name),
  }));
  const [workflow = null, ...companions] = named;
  const own = nameOf(name, name, options.name);
  const outcomes = report.outcomes().filter(({ node }) => node !== part.added);
  return { result: { product, name: own, workflow, companions, outcomes } };
}

function tooDeep(max: number): { readonly fault: ImportFault } {
  return { fault: { code: 'too_deep', message: message('import.too_deep', { max }) } };
}

/** JSON is YAML, too, but read faster as what it is. */
function* parseText(
  text: string,
  maxDepth: number,
): Work<{ readonly value: JsonValue } | { readonly fault: ImportFault }> {
  const plain = text.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(plain)) {
    const value = tryParseJson(plain);
    if (value !== undefined) return { value };
  }
  try {
    return { value: yield* parseYaml(plain, maxDepth) };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    if (error.isTooDeep) return tooDeep(maxDepth);
    const why = message('import.not_yaml', { line: error.line, why: error.message });
    return { fault: { code: 'not_yaml', message: why } };
  }
}

const MAX_NAME = 255;

function nameOf(own: string, original: string, otherwise: string): string {
  const wanted = original === '' && own.startsWith(': ') ? `${otherwise}${own}` : own;
  const name = wanted.trim() === '' ? otherwise : wanted.trim();
  return name.slice(0, MAX_NAME) || 'Imported';
}
