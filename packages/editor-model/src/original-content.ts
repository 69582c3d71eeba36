import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { foreignProductOf } from './foreign-product.ts';

/** What another product exports or copies, as the service takes it: of n8n also a list of nodes, or one node. */
export function originalOf(value: JsonValue): JsonObject {
  const isWhole = isJsonObject(value) && (value.nodes !== undefined || value.workflow !== undefined);
  if (isWhole || (isJsonObject(value) && foreignProductOf(value) !== 'n8n')) return value as JsonObject;
  return { nodes: isJsonArray(value) ? value : [value], connections: {} };
}
