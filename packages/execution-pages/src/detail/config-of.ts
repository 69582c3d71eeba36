import { type Flow, isJsonObject, type JsonObject } from '@millrace/engine';

/** A node's settings as written in this flow; null if there are none. */
export function configOf(flow: Flow | undefined, nodeId: string): JsonObject | null {
  const config = flow?.nodes.find(({ id }) => id === nodeId)?.data?.config;
  return isJsonObject(config) && Object.keys(config).length > 0 ? config : null;
}
