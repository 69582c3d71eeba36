import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { readCronDialect } from './cron-dialect.ts';
import { type ScheduleDefinition, UNIT_MS } from './definition.ts';

/** What determines fire times. */
export type FireTiming = Pick<ScheduleDefinition, 'schedule' | 'timezone'>;

/** A Monday, so that every seven days means every Monday. */
const ANCHOR_YEAR = 2001;

/**
 * The next times at which a schedule fires, in epoch milliseconds, ascending and later than `afterMs`; fewer than `count` when there are no
 * more (30 February has none). Cron: fields are local time. When clocks go forward, a fire at a fixed time of day inside the gap moves to
 * the first moment after it; when they go back, it fires once, at the first of the two. An expression with a wildcard or step in its
 * seconds, minutes or hours is an interval instead: it follows elapsed time, skips what falls into the gap and fires in both of the
 * repeated hours. Intervals (`every`) are elapsed time from midnight of 1 January 2001 in the zone.
 * @throws Error when the expression or the zone is invalid
 */
export function nextFires({ schedule, timezone }: FireTiming, afterMs: number, count: number): number[] {
  if (schedule.type === 'cron') return cronFires(openCron(schedule.cron, timezone), afterMs, count);
  const stepMs = schedule.every * UNIT_MS[schedule.unit];
  const anchorMs = midnightOfAnchor(timezone);
  const firstMs = anchorMs + (Math.floor((afterMs - anchorMs) / stepMs) + 1) * stepMs;
  return Array.from({ length: count }, (_, index) => firstMs + index * stepMs);
}

/**
 * How long after its fire time a fire starts, in milliseconds: up to `jitter_s`, evenly distributed, and always the same for one schedule
 * and fire time.
 * @param name distinguishes schedules
 */
export function jitterMs(
  definition: Pick<ScheduleDefinition, 'jitter_s'>,
  name: string,
  fireMs: number,
): number {
  if (definition.jitter_s === 0) return 0;
  const digest = createHash('sha256').update(`${name} ${fireMs}`).digest();
  return digest.readUIntBE(0, 6) % (definition.jitter_s * 1_000 + 1);
}

/** @throws Error with a reason that can be shown */
export function openCron(expression: string, timezone: string): Cron {
  return new Cron(readCronDialect(expression), {
    timezone,
    paused: true,
    mode: '5-or-6-parts',
    fixedTimeRule: 'no-wildcard',
  });
}

function cronFires(cron: Cron, afterMs: number, count: number): number[] {
  const fires: number[] = [];
  for (let last = new Date(afterMs); fires.length < count; ) {
    const next = cron.nextRun(last);
    if (next === null) break;
    fires.push(next.getTime());
    last = next;
  }
  return fires;
}

/** Local midnight of the anchor's day, by the zone's rules. */
function midnightOfAnchor(timezone: string): number {
  const [midnight] = cronFires(openCron('0 0 0 1 1 *', timezone), Date.UTC(ANCHOR_YEAR - 1, 11, 25), 1);
  if (midnight === undefined) throw new Error(`the year ${ANCHOR_YEAR} has no beginning in ${timezone}`);
  return midnight;
}
