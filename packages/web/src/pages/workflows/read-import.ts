import type { Body } from '@millrace/admin-api';
import { foreignProductOf } from '@millrace/editor/model/foreign-product.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@millrace/engine';

export type NewWorkflow = Body<'POST /orgs/:org/workflows'>;

/** Why a text cannot become a workflow. */
export type ImportFault =
  | { readonly kind: 'no_json'; readonly message: string }
  /** A workflow of another product, which works otherwise. */
  | { readonly kind: 'foreign'; readonly product: string }
  | { readonly kind: 'several' }
  | { readonly kind: 'no_workflow' };

export type Import =
  | { readonly workflow: NewWorkflow & { readonly flow_data: JsonObject } }
  | { readonly fault: ImportFault };

/** The text of a file; null when its bytes are none: a picture, an archive. Any character may stand in it, U+FFFD too. */
export function readText(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\u0000') ? null : text;
  } catch {
    return null;
  }
}

/** Reads an export of a workflow, or what the API gives of one, or a bare flow. The service checks the flow itself. */
export function readImport(text: string): Import {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    return { fault: { kind: 'no_json', message: (error as SyntaxError).message } };
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
  return 'nodes' in value && 'edges' in value
    ? { workflow: { flow_data: value } }
    : { fault: { kind: 'no_workflow' } };
}

function readList(list: readonly JsonValue[]): Import {
  const [only, ...others] = list;
  if (only === undefined) return { fault: { kind: 'no_workflow' } };
  return others.length > 0 ? { fault: { kind: 'several' } } : readImport(JSON.stringify(only));
}
