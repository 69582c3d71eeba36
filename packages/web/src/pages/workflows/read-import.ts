import type { Body } from '@millrace/admin-api';
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

/** Reads an export of a workflow, or what the API gives of one, or a bare flow. What is wrong inside of the flow the service tells. */
export function readImport(text: string): Import {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    return { fault: { kind: 'no_json', message: (error as SyntaxError).message } };
  }
  if (isJsonArray(value)) return readList(value);
  if (!isJsonObject(value)) return { fault: { kind: 'no_workflow' } };
  const product = productOf(value);
  if (product !== null) return { fault: { kind: 'foreign', product } };
  const { flow_data: flow } = value;
  if (flow !== undefined && isJsonObject(flow)) {
    const inner = productOf(flow);
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

/** By what only its exports have. */
function productOf(value: JsonObject): string | null {
  const nodes = value.nodes !== undefined && isJsonArray(value.nodes) ? value.nodes : [];
  const types = nodes.map((node) => (isJsonObject(node) ? node.type : null));
  const isN8n = types.some((type) => typeof type === 'string' && /^(@n8n\/|n8n-nodes-)/.test(type));
  if (isN8n || isObject(value.connections)) return 'n8n';
  if (isObject(value.value) && 'modules' in value.value) return 'Windmill';
  if (isObject(value.blocks) || (isObject(value.state) && isObject(value.state.blocks))) return 'Sim';
  return null;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && isJsonObject(value);
}
