import type { Queryable } from '@millrace/database/database';
import { canonicalJson, type Flow, type JsonText, parseJson } from '@millrace/engine';
import { readDatabaseTime } from '@millrace/runtime/statements';
import { nextFires, readSchedule, type ScheduleDefinition } from '@millrace/triggers';
import { dueTime } from './due.ts';
import { assignFires, dropQueuedFires, lockSchedule, putSchedule, stopSchedule } from './store.ts';
import { nextOf, readSchedules, type ScheduledTrigger, type StoredSchedule, toStored } from './stored.ts';

/** The trigger of workflows with a schedule. */
export const SCHEDULE_TRIGGER = 'trigger.schedule';

/** A workflow that has just been saved. */
export interface SavedWorkflow {
  readonly id: number;
  readonly status: string;
  /** Of the saved version. */
  readonly flowData: JsonText<Flow>;
}

/**
 * Syncs a workflow's schedules with its saved version and status, in the transaction that saved them. A schedule whose times
 * are unchanged keeps its next fire; one that is new, changed or active again starts from now: nothing before that was
 * missed.
 */
export async function syncSchedules(tx: Queryable, workflow: SavedWorkflow): Promise<void> {
  const stored = await lockSchedule(tx, workflow.id);
  const defined = definitionsOf(workflow);
  if (defined.length > 0)
    await follow(tx, workflow.id, defined, stored === undefined ? [] : readableIn(stored));
  else if (stored !== undefined) {
    await stopSchedule(tx, workflow.id);
    await dropQueuedFires(tx, workflow.id);
  }
}

/** An unreadable schedule starts over. */
function readableIn(stored: StoredSchedule): readonly ScheduledTrigger[] {
  try {
    return readSchedules(stored);
  } catch {
    return [];
  }
}

interface Defined {
  readonly nodeId: string;
  readonly definition: ScheduleDefinition;
}

/** Empty if the workflow isn't started by a schedule. */
function definitionsOf({ status, flowData }: SavedWorkflow): readonly Defined[] {
  if (status !== 'active') return [];
  return parseJson(flowData).nodes.flatMap(({ id, type, data }) => {
    const definition = type === SCHEDULE_TRIGGER ? readSchedule(data?.config ?? {}) : null;
    return definition === null ? [] : [{ nodeId: id, definition }];
  });
}

async function follow(
  tx: Queryable,
  workflowId: number,
  defined: readonly Defined[],
  before: readonly ScheduledTrigger[],
): Promise<void> {
  const nowMs = await readDatabaseTime(tx);
  const isOnly = defined.length === 1;
  const triggers = defined.map(({ nodeId, definition }): ScheduledTrigger => {
    const known = formerOf(nodeId, defined, before);
    const keptMs = known !== null && isSameTiming(known.definition, definition) ? known.nextMs : null;
    const nextMs = keptMs ?? nextFires(definition, nowMs, 1)[0] ?? null;
    return { nodeId: isOnly ? null : nodeId, definition, nextMs, fireCount: known?.fireCount ?? 0 };
  });
  // Fires that are open or queued keep their trigger, whose name is stored only beside others.
  const renamed = triggers.flatMap(({ nodeId }, index) => {
    const known = formerOf(defined[index]?.nodeId ?? '', defined, before);
    return known === null || known.nodeId === nodeId ? [] : [{ from: known.nodeId, to: nodeId }];
  });
  if (before.length !== 1 || !isOnly)
    await assignFires(
      tx,
      workflowId,
      renamed,
      triggers.map(({ nodeId }) => nodeId),
    );
  const next = nextOf(triggers, (definition, fireMs) => dueTime(definition, workflowId, fireMs));
  await putSchedule(tx, {
    workflowId,
    definition: toStored(triggers),
    nextFireTime: next === null ? null : new Date(next.fireMs),
    nextFireAt: next === null ? null : new Date(next.dueMs),
    fireCount: triggers[0]?.fireCount ?? 0,
  });
}

/** What was stored of a trigger. A workflow's only one stays the same when its node gets another id, and becomes the first when others are added. */
function formerOf(
  nodeId: string,
  defined: readonly Defined[],
  before: readonly ScheduledTrigger[],
): ScheduledTrigger | null {
  const named = before.find((each) => each.nodeId === nodeId);
  if (named !== undefined) return named;
  const [only] = before;
  return only?.nodeId === null && defined[0]?.nodeId === nodeId ? only : null;
}

function isSameTiming(before: ScheduleDefinition, now: ScheduleDefinition): boolean {
  const timingOf = ({ schedule, timezone }: ScheduleDefinition) => canonicalJson({ schedule, timezone });
  return timingOf(before) === timingOf(now);
}
