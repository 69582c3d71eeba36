import type { DebugData } from '@millrace/admin-api';
import {
  type CompileResult,
  canonicalJson,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NodeRecord,
  type NodeRegistry,
  parseJson,
  type ShownRecord,
  stringifyJson,
} from '@millrace/engine';
import { MASK } from '@millrace/runtime/mask';
import type { PinRow } from './pins-store.ts';

/** The limit of the table. */
export const MAX_PIN_BYTES = 262_144;
/** Per user and workflow. */
export const MAX_PINS = 100;

/** Outputs of an execution that can be pinned, and those that can't. */
export interface PinnableOutputs {
  /** JSON text by node id. */
  readonly texts: ReadonlyMap<string, string>;
  readonly leftOut: DebugData['left_out'];
}

/**
 * Sorts the outputs of the nodes that succeeded into those that can be pinned and those that can't. If there are too many, the latest are
 * taken, because the failed node reads these.
 * @param flow the workflow as the user edits it; a draft may be anything
 */
export function pinnableOutputs(
  records: readonly ShownRecord[],
  flow: JsonValue,
  registry: NodeRegistry,
): PinnableOutputs {
  const parents = parentsOf(flow);
  const triggers = triggersOf(flow, registry);
  const texts = new Map<string, string>();
  const leftOut: DebugData['left_out'] = [];
  const done = records.filter(({ status, nodeId }) => status === 'success' && !triggers.has(nodeId));
  const latestFirst = done.toSorted((a, b) => endOf(b) - endOf(a));
  for (const record of latestFirst) {
    const { nodeId } = record;
    const reason = reasonAgainst(record, parents, texts.size);
    if (reason !== null) leftOut.push({ node_id: nodeId, reason });
    else texts.set(nodeId, textOf(record));
  }
  return { texts, leftOut };
}

type Reason = DebugData['left_out'][number]['reason'];

function reasonAgainst(
  record: ShownRecord,
  parents: ReadonlyMap<string, string | null>,
  count: number,
): Reason | null {
  const parent = parents.get(record.nodeId);
  if (parent === undefined) return 'deleted';
  if (parent !== null || record.loopId !== undefined) return 'in_loop';
  if (Buffer.byteLength(textOf(record)) > MAX_PIN_BYTES) return 'too_large';
  return count >= MAX_PINS ? 'over_limit' : null;
}

function textOf(record: ShownRecord): string {
  return stringifyJson('output' in record && isJsonObject(record.output) ? record.output : {});
}

function endOf(record: ShownRecord): number {
  return 'completedAtMs' in record ? record.completedAtMs : 0;
}

/** The loop of each node of a flow, or null. */
function parentsOf(flow: JsonValue): ReadonlyMap<string, string | null> {
  return new Map(
    nodesOf(flow).flatMap(({ id, parentId }): [string, string | null][] =>
      typeof id === 'string' ? [[id, typeof parentId === 'string' ? parentId : null]] : [],
    ),
  );
}

function triggersOf(flow: JsonValue, registry: NodeRegistry): ReadonlySet<JsonValue | undefined> {
  const isTrigger = ({ type }: JsonObject) => typeof type === 'string' && registry(type)?.kind === 'trigger';
  return new Set(
    nodesOf(flow)
      .filter(isTrigger)
      .map(({ id }) => id),
  );
}

function nodesOf(flow: JsonValue): readonly JsonObject[] {
  const nodes = isJsonObject(flow) ? flow.nodes : undefined;
  return nodes !== undefined && isJsonArray(nodes) ? nodes.filter(isJsonObject) : [];
}

/** Nodes whose output contains the mask. */
export function maskedIn({ texts }: PinnableOutputs): string[] {
  return [...texts].filter(([, text]) => text.includes(MASK)).map(([id]) => id);
}

/** Nodes with another pinned output. */
export function replacedBy({ texts }: PinnableOutputs, pins: readonly PinRow[]): string[] {
  const isOther = ({ node_id: id, output }: PinRow) => {
    const text = texts.get(id);
    return text === undefined || canonicalJson(parseJson(text)) !== canonicalJson(parseJson(output));
  };
  return pins.filter(isOther).map(({ node_id: id }) => id);
}

/** What a rerun with the saved version does with the nodes that succeeded, apart from the trigger. */
export function rerunPreview(
  records: readonly ShownRecord[],
  kept: readonly NodeRecord[],
  saved: CompileResult,
): NonNullable<DebugData['rerun']> {
  const keptIds = new Set(kept.map(({ nodeId }) => nodeId));
  if (saved.kind === 'invalid') return { kept: [], again: [] };
  const { root } = saved.plan;
  const nodes = new Set(root.nodes.filter(({ kind }) => kind !== 'trigger').map(({ id }) => id));
  const ids = records
    .filter(({ nodeId, status }) => status === 'success' && nodes.has(nodeId))
    .map(({ nodeId }) => nodeId);
  return { kept: ids.filter((id) => keptIds.has(id)), again: ids.filter((id) => !keptIds.has(id)) };
}
