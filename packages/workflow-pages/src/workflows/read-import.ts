import type { Body } from '@millrace/admin-api';
import { foreignProductOf, isDifyText, isImported } from '@millrace/editor-model/foreign-product.ts';
import { originalOf } from '@millrace/editor-model/original-content.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@millrace/engine';
import { findJsonPlace, type TextPlace } from '@millrace/ui/components/json-place.ts';

export type NewWorkflow = Body<'POST /orgs/:org/workflows'>;

/** Why a file or text, or a workflow in it, can't be imported. */
export type ImportFault =
  | { readonly kind: 'no_json'; readonly at: TextPlace }
  /** From a product whose workflows aren't imported. */
  | { readonly kind: 'foreign'; readonly product: string }
  | { readonly kind: 'no_workflow' };

/** One workflow of a file. */
export type Import =
  | { readonly workflow: NewWorkflow & { readonly flow_data: JsonObject } }
  /** A workflow of another product: the service says what becomes of it. */
  | { readonly original: JsonObject | string }
  | { readonly fault: ImportFault };

/** The text of a file; null if it is binary: an image, an archive. Any character is valid, including U+FFFD. */
export function readText(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? null : text;
  } catch {
    return null;
  }
}

/**
 * Parses what was exported here or in another product, got from the API, or a bare flow; or a list of them. The service validates the flows, and reads
 * YAML.
 */
export function readImports(text: string): readonly Import[] {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    if (isDifyText(text)) return [{ original: text }];
    return [{ fault: { kind: 'no_json', at: findJsonPlace(text) } }];
  }
  if (isJsonObject(value) && value.data !== undefined && isJsonArray(value.data)) return readList(value.data);
  // A list of nodes that were copied in n8n is one workflow.
  return isJsonArray(value) && foreignProductOf(value) === null ? readList(value) : [readOne(value)];
}

function readList(list: readonly JsonValue[]): readonly Import[] {
  return list.length === 0 ? [{ fault: { kind: 'no_workflow' } }] : list.map(readOne);
}

function readOne(value: JsonValue): Import {
  const product = foreignProductOf(value);
  if (product !== null && isImported(product)) return { original: originalOf(value) };
  if (product !== null) return { fault: { kind: 'foreign', product } };
  if (!isJsonObject(value)) return { fault: { kind: 'no_workflow' } };
  const { flow_data: flow } = value;
  if (flow !== undefined && isJsonObject(flow)) {
    if (foreignProductOf(flow) !== null) return readOne(flow);
    return { workflow: { ...value, flow_data: flow } as NewWorkflow & { flow_data: JsonObject } };
  }
  if (!('nodes' in value && 'edges' in value)) return { fault: { kind: 'no_workflow' } };
  const { name, ...bare } = value;
  return { workflow: typeof name === 'string' ? { name, flow_data: bare } : { flow_data: value } };
}
