import { createHash } from 'node:crypto';
import type { Queryable } from '@millrace/database/database';
import {
  canonicalJson,
  type Flow,
  type JsonObject,
  type JsonText,
  type NodeRegistry,
  parseJson,
} from '@millrace/engine';
import { beginPolling, lockPolling, reconnect, stopPolling } from './store.ts';

/** A workflow that has just been saved. */
export interface SavedWorkflow {
  readonly id: number;
  readonly status: string;
  readonly triggerType: string | null;
  /** Of the saved version. */
  readonly flowData: JsonText<Flow>;
}

/** Whether workflows with this trigger ask for what they are started for, or listen for it. */
export function isPolling(triggerType: string | null, registry: NodeRegistry): boolean {
  const definition = triggerType === null ? undefined : registry(triggerType);
  return definition?.polling !== undefined || definition?.listening !== undefined;
}

/**
 * Syncs a workflow's polling with its saved version and status, in the transaction that saved them. A workflow that polls the same as before
 * continues; one that is new, active again or polls something else begins afresh.
 */
export async function keepPolling(
  tx: Queryable,
  workflow: SavedWorkflow,
  registry: NodeRegistry,
): Promise<void> {
  const { id, status, triggerType } = workflow;
  const stored = await lockPolling(tx, id);
  if (status !== 'active' || !isPolling(triggerType, registry)) {
    if (stored?.is_active === true) await stopPolling(tx, id);
    return;
  }
  const listening = registry(triggerType ?? '')?.listening;
  const source = sourceOf(workflow, listening?.place ?? null);
  if (stored?.is_active !== true || !stored.source.equals(source)) {
    await beginPolling(tx, id, source, listening !== undefined);
  } else if (listening !== undefined) await reconnect(tx, id);
}

/**
 * What is polled, whatever the interval.
 * @param place the settings that say from where a trigger receives; null: all of them
 */
function sourceOf({ flowData, triggerType }: SavedWorkflow, place: readonly string[] | null): Buffer {
  const trigger = parseJson(flowData).nodes.find(({ type }) => type === triggerType);
  const { interval_s: _interval, existing: _existing, ...rest } = trigger?.data?.config ?? ({} as JsonObject);
  const source =
    place === null ? rest : Object.fromEntries(place.map((setting) => [setting, rest[setting] ?? null]));
  return createHash('sha256')
    .update(canonicalJson({ type: triggerType, source }))
    .digest();
}
