import type { Queryable } from '@millrace/database/database';
import type { CompileResult } from '@millrace/engine';
import { storeStarts } from '@millrace/runtime/held-starts';
import type { PlanCache } from '@millrace/runtime/plans';
import { recordsOfStart, toStartRow } from '@millrace/runtime/start-row';
import { reserveExecutionIds } from '@millrace/runtime/statements';
import type { ScheduleDefinition } from '@millrace/triggers';
import { type DueFire, dueTime, takeDue } from './due.ts';
import {
  advanceSchedule,
  type ClaimedSchedule,
  claimQueuedSchedule,
  closeEndedFires,
  countUnfinishedFires,
  type FireOutcome,
  type FiringTrigger,
  findFirstQueued,
  insertFires,
  type NewFire,
  startQueuedFire,
} from './store.ts';
import { nextOf, readSchedules, type ScheduledTrigger, toStored } from './stored.ts';
import { SCHEDULE_TRIGGER } from './sync.ts';

/** Fires of one schedule that may be queued. */
const MAX_QUEUED = 1_000;
/** Executions inserted by one statement. */
const BATCH = 500;

/** A fire that was recorded. */
export interface RecordedFire {
  readonly organisationId: number;
  readonly outcome: FireOutcome['outcome'];
  /** How long after it was due. */
  readonly lateMs: number;
}

/**
 * Records every due fire of a claimed schedule and starts an execution for each that should have one, all in the claim's
 * transaction: a fire is started once or not at all.
 */
export async function fireSchedule(
  tx: Queryable,
  plans: PlanCache,
  schedule: ClaimedSchedule,
  nowMs: number,
): Promise<RecordedFire[]> {
  const { workflow_id: workflowId, next_fire_time: nextFireTime } = schedule;
  if (nextFireTime === null) throw new Error(`schedule ${workflowId} is due without a next fire`);
  const dueOf = (definition: ScheduleDefinition, fireMs: number) => dueTime(definition, workflowId, fireMs);
  const triggers: ScheduledTrigger[] = [];
  const all: RecordedFire[] = [];
  for (const [place, trigger] of readSchedules(schedule).entries()) {
    const { definition, nextMs } = trigger;
    if (nextMs === null || dueOf(definition, nextMs) > nowMs) {
      triggers.push(trigger);
      continue;
    }
    const { fires, nextMs: after } = await fireTrigger(
      tx,
      plans,
      schedule,
      { ...trigger, nextMs, place },
      nowMs,
    );
    triggers.push({ ...trigger, nextMs: after, fireCount: trigger.fireCount + fires.length });
    for (const { outcome, fireMs } of fires) {
      const lateMs = nowMs - dueOf(definition, fireMs);
      all.push({ organisationId: schedule.organisation_id, outcome, lateMs });
    }
  }
  const next = nextOf(triggers, dueOf);
  const times = next === null ? null : { fireTime: new Date(next.fireMs), dueAt: new Date(next.dueMs) };
  await advanceSchedule(tx, workflowId, toStored(triggers), times, triggers[0]?.fireCount ?? 0);
  return all;
}

async function fireTrigger(
  tx: Queryable,
  plans: PlanCache,
  schedule: ClaimedSchedule,
  trigger: ScheduledTrigger & FiringTrigger & { readonly nextMs: number },
  nowMs: number,
): Promise<{ readonly fires: readonly NewFire[]; readonly nextMs: number | null }> {
  const { workflow_id: workflowId } = schedule;
  const { definition, fireCount } = trigger;
  const { fires, nextMs } = takeDue(definition, workflowId, trigger.nextMs, nowMs);
  const decided = await withIds(tx, await decide(tx, trigger, workflowId, fires), fireCount);
  const recorded = new Set((await insertFires(tx, schedule, trigger, decided)).map((time) => time.getTime()));
  const started = decided.flatMap((fire) =>
    fire.outcome === 'started' && recorded.has(fire.fireMs) ? [fire] : [],
  );
  await startExecutions(tx, plans, schedule, trigger, started, nowMs);
  return { fires: decided, nextMs };
}

/**
 * Starts the first queued fire of a schedule whose earlier executions have ended.
 * @returns null if there is none; otherwise the organisation that it was started for, if it was
 */
export async function startQueued(
  tx: Queryable,
  plans: PlanCache,
  nowMs: number,
): Promise<{ readonly startedFor: number | null } | null> {
  const schedule = await claimQueuedSchedule(tx);
  if (schedule === undefined) return null;
  const { workflow_id: workflowId } = schedule;
  // Another process may have started one between the statement's view of the fires and its lock.
  await closeEndedFires(tx, workflowId);
  const fire = await findFirstQueued(tx, workflowId);
  if (fire === undefined) return { startedFor: null };
  const trigger = readSchedules(schedule).find(({ nodeId }) => nodeId === fire.node_id);
  if (trigger === undefined) throw new Error(`schedule ${workflowId} has no trigger for a queued fire`);
  const [reserved] = await reserveExecutionIds(tx, 1);
  if (reserved === undefined) throw new Error('no id was reserved');
  const started = {
    fireMs: fire.fire_time.getTime(),
    number: fire.fire_number,
    isMissed: fire.is_missed,
    executionId: reserved.id,
  };
  await startExecutions(tx, plans, schedule, trigger, [started], nowMs);
  await startQueuedFire(tx, workflowId, fire, reserved.id);
  return { startedFor: schedule.organisation_id };
}

/** A fire's outcome before ids are reserved. */
type Decision = Exclude<FireOutcome, { outcome: 'started' }> | { readonly outcome: 'started' };
type DecidedFire = DueFire & { readonly decision: Decision };

async function decide(
  tx: Queryable,
  { nodeId, definition: { overlap } }: ScheduledTrigger,
  workflowId: number,
  fires: readonly DueFire[],
): Promise<DecidedFire[]> {
  await closeEndedFires(tx, workflowId);
  let { open, queued } = await countUnfinishedFires(tx, workflowId, nodeId);
  const decideOne = (fire: DueFire): Decision => {
    if (!fire.isWanted) return { outcome: 'skipped', reason: 'missed' };
    const isBusy = open > 0 || queued > 0;
    if (overlap === 'skip' && isBusy) return { outcome: 'skipped', reason: 'overlap' };
    if (overlap === 'queue' && isBusy) {
      if (queued >= MAX_QUEUED) return { outcome: 'skipped', reason: 'queue_full' };
      queued += 1;
      return { outcome: 'queued' };
    }
    open += 1;
    return { outcome: 'started' };
  };
  return fires.map((fire) => ({ ...fire, decision: decideOne(fire) }));
}

async function withIds(tx: Queryable, fires: readonly DecidedFire[], fireCount: number): Promise<NewFire[]> {
  const wanted = fires.filter(({ decision }) => decision.outcome === 'started').length;
  const ids = wanted === 0 ? [] : (await reserveExecutionIds(tx, wanted)).map((row) => row.id);
  return fires.map(({ fireMs, isMissed, decision }, index): NewFire => {
    const base = { fireMs, isMissed, number: fireCount + index + 1 };
    if (decision.outcome !== 'started') return { ...base, ...decision };
    const executionId = ids.shift();
    if (executionId === undefined) throw new Error('fewer ids were reserved than fires start');
    return { ...base, outcome: 'started', executionId };
  });
}

interface StartingFire {
  readonly fireMs: number;
  readonly number: number;
  readonly isMissed: boolean;
  readonly executionId: number;
}

/** The executions are queued: any worker with a free slot takes them. */
async function startExecutions(
  tx: Queryable,
  plans: PlanCache,
  schedule: ClaimedSchedule,
  { nodeId, definition }: ScheduledTrigger,
  fires: readonly StartingFire[],
  nowMs: number,
): Promise<void> {
  if (fires.length === 0) return;
  const compiled = await plans.get(schedule.workflow_id, schedule.version);
  const trigger = nodeId ?? onlyScheduleOf(compiled);
  const acceptedAt = new Date(Math.floor(nowMs));
  const rows = fires.map((fire) => {
    const input = {
      scheduled_at: new Date(fire.fireMs).toISOString(),
      timezone: definition.timezone,
      fire_number: fire.number,
      missed: fire.isMissed,
      input: definition.input,
    };
    return toStartRow({
      executionId: fire.executionId,
      acceptedAt,
      workflow: {
        id: schedule.workflow_id,
        organisationId: schedule.organisation_id,
        name: schedule.name,
        isTestMode: schedule.is_test_mode,
      },
      version: schedule.version,
      triggerType: 'schedule',
      input,
      compiled,
      records: recordsOfStart(compiled, trigger, { data: input }, acceptedAt),
    });
  });
  for (let from = 0; from < rows.length; from += BATCH) {
    // A fire is never refused: a schedule has its own bound on what it queues.
    const batch = rows.slice(from, from + BATCH);
    const { stored } = await storeStarts(tx, batch, null);
    // The fires are recorded once it is resumed.
    if (stored.length < batch.length)
      throw new Error('the organisation was paused while a schedule of it fired');
  }
}

/** The trigger of a workflow with one schedule; null for a flow that can't run. */
function onlyScheduleOf(compiled: CompileResult): string | null {
  if (compiled.kind === 'invalid') return null;
  return compiled.plan.triggers.find(({ type }) => type === SCHEDULE_TRIGGER)?.id ?? null;
}
