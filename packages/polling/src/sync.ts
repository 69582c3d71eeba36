import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import {
  canonicalJson,
  type Flow,
  type FlowNode,
  type JsonObject,
  type JsonText,
  type NodeRegistry,
  parseJson,
} from '@millrace/engine';
import { beginPolling, deletePolling, lockPolling, reconnect, stopPolling } from './store.ts';

/** A workflow that has just been saved. */
export interface SavedWorkflow {
  readonly id: number;
  readonly status: string;
  /** Of the saved version. */
  readonly flowData: JsonText<Flow>;
}

/** Whether a trigger of this type asks for what it starts executions for, or listens for it. */
export function isPolling(triggerType: string | null, registry: NodeRegistry): boolean {
  const definition = triggerType === null ? undefined : registry(triggerType);
  return definition?.polling !== undefined || definition?.listening !== undefined;
}

/**
 * Syncs a workflow's polling with its saved version and status, in the transaction that saved them. A trigger that polls the same as before
 * continues; one that is new, active again or polls something else begins afresh.
 */
export async function syncPolling(
  tx: Queryable,
  { id, status, flowData }: SavedWorkflow,
  registry: NodeRegistry,
): Promise<void> {
  const stored = new Map((await lockPolling(tx, id)).map((row) => [row.node_id, row]));
  const triggers = parseJson(flowData).nodes.filter(({ type }) => isPolling(type, registry));
  const known = new Set(triggers.map((trigger) => trigger.id));
  const gone = [...stored.keys()].filter((nodeId) => !known.has(nodeId));
  if (gone.length > 0) await deletePolling(tx, id, gone);
  for (const trigger of triggers) {
    const key = { workflow_id: id, node_id: trigger.id };
    const before = stored.get(trigger.id);
    const listening = registry(trigger.type)?.listening;
    const source = sourceOf(trigger, listening?.place ?? null);
    if (status !== 'active') {
      if (before?.is_active === true) await stopPolling(tx, key);
    } else if (before?.is_active !== true || !before.source.equals(source)) {
      await beginPolling(tx, key, source, listening !== undefined);
    } else if (listening !== undefined) await reconnect(tx, key);
  }
}

/**
 * What is polled, regardless of the interval.
 * @param place the settings that say from where a trigger receives; null: all of them
 */
function sourceOf({ type, data }: FlowNode, place: readonly string[] | null): Buffer {
  const { interval_s: _interval, existing: _existing, ...rest } = data?.config ?? ({} as JsonObject);
  const source =
    place === null ? rest : Object.fromEntries(place.map((setting) => [setting, rest[setting] ?? null]));
  return createHash('sha256').update(canonicalJson({ type, source })).digest();
}
