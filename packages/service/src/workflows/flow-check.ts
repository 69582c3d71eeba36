import type { FlowCheck } from '@millrace/admin-api';
import { describeMissing, findMissingReferences } from '@millrace/credentials/references';
import type { Queryable } from '@millrace/database/database';
import {
  DEFAULT_HANDLE,
  type Flow,
  findProblemsWork,
  handlesOf,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type NodeRegistry,
  type Problem,
  setOwn,
  stringifyJson,
  validateStructure,
} from '@millrace/engine';
import { presentMessage } from '@millrace/messages/english';
import { mayNameOwn } from '@millrace/own-connectors/names';
import { typesForFlow, typesToCheck } from '@millrace/own-connectors/types';
import { finishInTurns } from '@millrace/runtime/turns';

/** What a flow is checked against. */
export interface CheckContext {
  readonly registry: NodeRegistry;
  readonly maxNodes: number;
  /** The saved version of the flow; absent for a new one, which is checked with the newest connectors. */
  readonly saved?: { readonly workflowId: number; readonly version: number };
}

/** Everything the editor shows about a flow, finished or not. `tx` sees the organisation's credentials. */
export async function checkFlowData(
  tx: Queryable,
  organisationId: number,
  value: JsonValue,
  { registry: base, maxNodes, saved }: CheckContext,
): Promise<FlowCheck> {
  const registry = await typesOf(tx, organisationId, value, { base, saved });
  const faults = validateStructure(value, { maxNodes });
  const handles = listHandles(value, registry);
  if (faults.length > 0) {
    const structureErrors = faults.map(({ pointer, field, code, message }) => ({
      pointer,
      field,
      code,
      ...presentMessage(message),
    }));
    return { problems: [], handles, structure_errors: structureErrors };
  }
  const flow = value as Flow;
  const missing = await findMissingCredentials(tx, organisationId, flow, registry);
  const found = await finishInTurns(findProblemsWork(flow, registry));
  return { problems: presentProblems([...found, ...missing]), handles, structure_errors: [] };
}

/** With their messages in English, and what translates them. */
export function presentProblems(problems: readonly Problem[]): FlowCheck['problems'] {
  return problems.map((problem) => ({ ...problem, ...presentMessage(problem.message) }));
}

/** With the connectors that a saved version runs with, or the newest. */
function typesOf(
  tx: Queryable,
  organisationId: number,
  value: JsonValue,
  { base, saved }: { readonly base: NodeRegistry; readonly saved: CheckContext['saved'] },
): Promise<NodeRegistry> {
  if (saved === undefined || !mayNameOwn(value)) return typesForFlow(base, tx, organisationId, value);
  return typesToCheck(base, tx, saved, stringifyJson(value));
}

/** By node id; the flow's structure may be invalid. */
function listHandles(value: JsonValue, registry: NodeRegistry): FlowCheck['handles'] {
  // Without a prototype every node id is an ordinary key.
  const handles: FlowCheck['handles'] = Object.create(null);
  const nodes = isJsonObject(value) && isJsonArray(value.nodes ?? null) ? value.nodes : [];
  for (const node of nodes as readonly JsonValue[]) {
    if (!isJsonObject(node) || typeof node.id !== 'string' || typeof node.type !== 'string') continue;
    setOwn(handles, node.id, handleNames(node as Flow['nodes'][number], registry));
  }
  return handles;
}

function handleNames(node: Flow['nodes'][number], registry: NodeRegistry): string[] {
  const definition = registry(node.type);
  if (definition === undefined) return [];
  // If unknown, the node is drawn with one output.
  const handles = isJsonObject(node.data ?? {}) ? handlesOf(node, definition) : null;
  return [...(handles ?? [DEFAULT_HANDLE])];
}

async function findMissingCredentials(
  tx: Queryable,
  organisationId: number,
  flow: Flow,
  registry: NodeRegistry,
): Promise<Problem[]> {
  const missing = await findMissingReferences(tx, organisationId, flow, registry);
  return missing.map((reference) => {
    const { pointer } = reference;
    const index = Number(/^\/flow_data\/nodes\/(\d+)\//.exec(pointer)?.[1] ?? -1);
    const message = describeMissing(reference);
    return { pointer, node_id: flow.nodes[index]?.id ?? null, code: 'credential_not_found', message };
  });
}
