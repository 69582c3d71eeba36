import { type Flow, type JsonObject, type JsonValue, validateStructure } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { expect } from 'vitest';
import { type ImportResult, importWorkflow } from '../index.ts';

export const OPTIONS = { limits: { nodes: 500, depth: 100 }, name: 'File' };

/** The result of a file that can be read. */
export function read(value: JsonValue): ImportResult {
  const outcome = importWorkflow(value, OPTIONS);
  if ('fault' in outcome) throw new Error(inEnglish(outcome.fault.message));
  return outcome.result;
}

/** The code with which a file is refused; null if it is imported. */
export function faultOf(value: JsonValue): string | null {
  const outcome = importWorkflow(value, OPTIONS);
  return 'fault' in outcome ? outcome.fault.code : null;
}

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
    connections: connections as unknown as JsonValue,
  };
}

export const START: Sketch = { type: 'manualTrigger' };

/** The valid flow that was made. */
export function flowOf({ workflow }: ImportResult): Flow {
  if (workflow === null) throw new Error('nothing was made');
  expect(validateStructure(workflow.flow_data, { maxNodes: 2000 })).toEqual([]);
  return workflow.flow_data as unknown as Flow;
}

/** The config of the node with the label. */
export function configOf(result: ImportResult, label: string): JsonObject | undefined {
  return flowOf(result).nodes.find((node) => node.data?.label === label)?.data?.config;
}

/** What became of an original node. */
export function outcomeOf(result: ImportResult, name: string) {
  return result.outcomes.find(({ node }) => node === name);
}
