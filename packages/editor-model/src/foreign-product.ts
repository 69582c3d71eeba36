import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** The product that a workflow, a list of its nodes or a single node comes from, by markers only it writes; null if unknown. */
export function foreignProductOf(value: JsonValue): string | null {
  if (isJsonArray(value)) return value.some(isN8nNode) ? 'n8n' : null;
  if (!isJsonObject(value)) return null;
  const nodes = value.nodes !== undefined && isJsonArray(value.nodes) ? value.nodes : [value];
  if (nodes.some(isN8nNode) || isObject(value.connections)) return 'n8n';
  if (isObject(value.app)) return 'Dify';
  if (nodes.some((node) => hasType(node, /^(customNode|agentFlow)$/))) return 'Flowise';
  if (isObject(value.value) && 'modules' in value.value) return 'Windmill';
  if (isObject(value.blocks) || (isObject(value.state) && isObject(value.state.blocks))) return 'Sim';
  return null;
}

/** Whether the service can make workflows of what a product writes. */
export function isImported(product: string): boolean {
  return /^(n8n|Dify|Flowise)$/.test(product);
}

/** Whether a text is an export of Dify, which is YAML. */
export function isDifyText(text: string): boolean {
  return /^app:\s*$/m.test(text) && /^(kind|workflow|model_config):/m.test(text);
}

function isN8nNode(node: JsonValue): boolean {
  return hasType(node, /^(@n8n\/|n8n-nodes-)/);
}

function hasType(node: JsonValue, pattern: RegExp): boolean {
  return isJsonObject(node) && typeof node.type === 'string' && pattern.test(node.type);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return value !== undefined && isJsonObject(value);
}
