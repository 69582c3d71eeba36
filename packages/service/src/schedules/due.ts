import { jitterMs, nextFires, type ScheduleDefinition } from '@millrace/triggers';

/** A fire that starts later than this after it was due was missed: no process was running to start it. */
const MISSED_AFTER_MS = 60_000;
/** How far back missed fires are considered. */
const LOOK_BACK_MS = 86_400_000;
/** Maximum fires handled at once; beyond that the earlier ones are skipped. */
const MAX_FIRES = 1_000;

/** A due fire. Times are epoch milliseconds. */
export interface DueFire {
  readonly fireMs: number;
  readonly isMissed: boolean;
  /** False if the policy for missed fires skips it. */
  readonly isWanted: boolean;
}

export interface DueFires {
  /** Ascending. */
  readonly fires: readonly DueFire[];
  /** The first fire that isn't due yet; null if there will be none. */
  readonly nextMs: number | null;
}

/** When a fire is due: its time plus its jitter. */
export function dueTime(definition: ScheduleDefinition, workflowId: number, fireMs: number): number {
  return fireMs + jitterMs(definition, String(workflowId), fireMs);
}

/**
 * The fires from `fromMs` on that are due at `nowMs`, with the definition's policy applied to those that were missed. Covers
 * the last 24 hours and at most 1,000 fires: in an outage with more, the latest ones.
 */
export function takeDue(
  definition: ScheduleDefinition,
  workflowId: number,
  fromMs: number,
  nowMs: number,
): DueFires {
  const lateness = (fireMs: number): number => nowMs - dueTime(definition, workflowId, fireMs);
  const earliestMs = nowMs - LOOK_BACK_MS - definition.jitter_s * 1_000;
  for (let backMs = nowMs - Math.max(fromMs - 1, earliestMs); ; backMs = Math.floor(backMs / 2)) {
    const found = firesWhile((fireMs) => lateness(fireMs) >= 0, definition, nowMs - backMs);
    if (found === null) continue;
    const fires = found.fires.map((fireMs) => ({ fireMs, isMissed: lateness(fireMs) > MISSED_AFTER_MS }));
    return { fires: chooseMissed(definition, fires), nextMs: found.nextMs };
  }
}

/** Fires after `afterMs` up to the first for which the condition is false; null if there are too many. */
function firesWhile(
  isDue: (fireMs: number) => boolean,
  definition: ScheduleDefinition,
  afterMs: number,
): { fires: number[]; nextMs: number | null } | null {
  const fires: number[] = [];
  // Nearly always one is due and the second is the next.
  for (let ask = 2; fires.length <= MAX_FIRES; ask = 100) {
    const asked = nextFires(definition, fires.at(-1) ?? afterMs, ask);
    for (const fireMs of asked) {
      if (!isDue(fireMs)) return { fires, nextMs: fireMs };
      fires.push(fireMs);
    }
    if (asked.length < ask) return { fires, nextMs: null };
  }
  return null;
}

function chooseMissed(
  { missed }: ScheduleDefinition,
  fires: readonly Omit<DueFire, 'isWanted'>[],
): DueFire[] {
  const lastMissed = fires.findLast((fire) => fire.isMissed);
  // An execution that starts on time replaces the single one for all missed fires.
  const standIn = fires.some((fire) => !fire.isMissed) ? undefined : lastMissed;
  return fires.map((fire) => ({
    ...fire,
    isWanted: !fire.isMissed || missed === 'run_all' || (missed === 'run_once' && fire === standIn),
  }));
}
