import type { JsonObject, JsonValue } from '@millrace/engine';

export { configOf, faultOf, flowOf, OPTIONS, outcomeOf, read } from '@millrace/importer/testing';

/** A node of n8n in short. */
export interface Sketch {
  readonly type: string;
  readonly parameters?: JsonObject;
  readonly version?: number;
  readonly more?: JsonObject;
}

/** A file of n8n with these nodes, connected as given. */
export function n8n(
  nodes: { readonly [name: string]: Sketch },
  chain: readonly (readonly [string, string, string?])[],
): JsonObject {
  const connections: { [from: string]: { [role: string]: JsonValue[][] } } = {};
  for (const [from, to, role = 'main'] of chain) {
    const roles = connections[from] ?? {};
    const [targets = []] = roles[role] ?? [];
    connections[from] = { ...roles, [role]: [[...targets, { node: to, type: role, index: 0 }]] };
  }
  return {
    name: 'Sketch',
    nodes: Object.entries(nodes).map(([name, { type, parameters = {}, version = 1, more = {} }], index) => ({
      name,
      type: type.includes('.') ? type : `n8n-nodes-base.${type}`,
      typeVersion: version,
      position: [index * 200, 40],
      parameters,
      ...more,
    })),
    connections,
  };
}

export const START: Sketch = { type: 'manualTrigger' };
