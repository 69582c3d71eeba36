import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** The product that a workflow, a list of its nodes or a single node comes from, by markers only it writes; null if unknown. */
export function foreignProductOf(value: JsonValue): string | null {
  if (isJsonArray(value)) return value.some(isN8nNode) ? 'n8n' : null;
  if (!isJsonObject(value)) return null;
  const nodes = value.nodes !== undefined && isJsonArray(value.nodes) ? value.nodes : [value];
  if (nodes.some(isN8nNode) || isObject(value.connections)) return 'n8n';
  if (isObject(value.value) && 'modules' in value.value) return 'Windmill';
  if (isObject(value.blocks) || (isObject(value.state) && isObject(value.state.blocks))) return 'Sim';
  return null;
}

function isN8nNode(node: JsonValue): boolean {
  return isJsonObject(node) && typeof node.type === 'string' && /^(@n8n\/|n8n-nodes-)/.test(node.type);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && isJsonObject(value);
}
