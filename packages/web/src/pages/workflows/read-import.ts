import type { Body } from '@millrace/admin-api';
import { foreignProductOf } from '@millrace/editor/model/foreign-product.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@millrace/engine';
import { findJsonPlace, type TextPlace } from '@millrace/ui/components/json-place.ts';

export type NewWorkflow = Body<'POST /orgs/:org/workflows'>;

/** Why a file or text can't be imported. */
export type ImportFault =
  | { readonly kind: 'no_json'; readonly at: TextPlace }
  /** From another product, whose workflows work differently. */
  | { readonly kind: 'foreign'; readonly product: string }
  | { readonly kind: 'several' }
  | { readonly kind: 'no_workflow' };

export type Import =
  | { readonly workflow: NewWorkflow & { readonly flow_data: JsonObject } }
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

/** Parses an exported workflow, one from the API, or a bare flow. The service validates the flow itself. */
export function readImport(text: string): Import {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    return { fault: { kind: 'no_json', at: findJsonPlace(text) } };
  }
  const product = foreignProductOf(value);
  if (product !== null) return { fault: { kind: 'foreign', product } };
  if (isJsonArray(value)) return readList(value);
  if (!isJsonObject(value)) return { fault: { kind: 'no_workflow' } };
  const { flow_data: flow } = value;
  if (flow !== undefined && isJsonObject(flow)) {
    const inner = foreignProductOf(flow);
    if (inner !== null) return { fault: { kind: 'foreign', product: inner } };
    return { workflow: { ...value, flow_data: flow } as NewWorkflow & { flow_data: JsonObject } };
  }
  if (!('nodes' in value && 'edges' in value)) return { fault: { kind: 'no_workflow' } };
  const { name, ...bare } = value;
  return { workflow: typeof name === 'string' ? { name, flow_data: bare } : { flow_data: value } };
}

function readList(list: readonly JsonValue[]): Import {
  const [only, ...others] = list;
  if (only === undefined) return { fault: { kind: 'no_workflow' } };
  return others.length > 0 ? { fault: { kind: 'several' } } : readImport(JSON.stringify(only));
}
