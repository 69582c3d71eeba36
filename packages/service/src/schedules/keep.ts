import type { Queryable } from '@millrace/database/database';
import {
  canonicalJson,
  type Flow,
  type JsonObject,
  type JsonText,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { nextFires, readSchedule, type ScheduleDefinition } from '@millrace/triggers';
import { dueTime } from './due.ts';
import { dropQueuedFires, lockSchedule, putSchedule, stopSchedule } from './store.ts';

/** The trigger of workflows with a schedule. */
export const SCHEDULE_TRIGGER = 'trigger.schedule';

/** A workflow that has just been saved. */
export interface SavedWorkflow {
  readonly id: number;
  readonly status: string;
  readonly triggerType: string | null;
  /** Of the saved version. */
  readonly flowData: JsonText<Flow>;
}

/**
 * Syncs a workflow's schedule with its saved version and status, in the transaction that saved them. A schedule whose times
 * are unchanged keeps its next fire; one that is new, changed or active again starts from now: nothing before that was
 * missed.
 */
export async function keepSchedule(tx: Queryable, workflow: SavedWorkflow): Promise<void> {
  const stored = await lockSchedule(tx, workflow.id);
  const definition = definitionOf(workflow);
  if (definition !== null) await follow(tx, workflow.id, definition, stored);
  else if (stored !== undefined) {
    await stopSchedule(tx, workflow.id);
    await dropQueuedFires(tx, workflow.id);
  }
}

/** Null if the clock doesn't start the workflow. */
function definitionOf({ status, triggerType, flowData }: SavedWorkflow): ScheduleDefinition | null {
  if (status !== 'active' || triggerType !== SCHEDULE_TRIGGER) return null;
  const flow = parseJson(flowData);
  const trigger = flow.nodes.find((node) => node.type === SCHEDULE_TRIGGER);
  return readSchedule(trigger?.data?.config ?? {});
}

async function follow(
  tx: Queryable,
  workflowId: number,
  definition: ScheduleDefinition,
  stored: { readonly definition: string; readonly next_fire_time: Date | null } | undefined,
): Promise<void> {
  const before = stored === undefined ? null : (parseJson(stored.definition) as JsonObject);
  const keptMs = isSameTiming(before, definition) ? stored?.next_fire_time?.getTime() : undefined;
  const nextMs = keptMs ?? nextFires(definition, await readDatabaseTime(tx), 1)[0];
  await putSchedule(tx, {
    workflowId,
    definition: stringifyJson(definition),
    nextFireTime: nextMs === undefined ? null : new Date(nextMs),
    nextFireAt: nextMs === undefined ? null : new Date(dueTime(definition, workflowId, nextMs)),
  });
}

function isSameTiming(before: JsonObject | null, now: ScheduleDefinition): boolean {
  if (before === null) return false;
  const { schedule, timezone } = now;
  const timing = canonicalJson({ schedule, timezone });
  return canonicalJson({ schedule: before.schedule ?? null, timezone: before.timezone ?? null }) === timing;
}
