import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

/** What n8n exports or copies, as a workflow: also a list of nodes, or one node. */
export function n8nWorkflowOf(value: JsonValue): JsonObject {
  if (isJsonObject(value) && (value.nodes !== undefined || value.workflow !== undefined)) return value;
  return { nodes: isJsonArray(value) ? value : [value], connections: {} };
}
