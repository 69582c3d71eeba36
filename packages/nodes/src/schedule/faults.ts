import type { ConfigFault, JsonObject, JsonValue } from '@millrace/engine';
import { readSchedule, type ScheduleDefinition } from './definition.ts';
import { type FireTiming, nextFires, openCron } from './next-fires.ts';

/** A fixed moment, because whether a config is good must not depend on when it is looked at. */
const LOOKED_AT_FROM_MS = Date.UTC(2025, 0, 1);
/** Fires looked at for the shortest time between two: all of a week, if they are not closer than 15 minutes. */
const LOOKED_AT = 700;

/**
 * What a schedule's config gets wrong although it fits the schema: a cron expression or zone that cannot be read, one
 * that never fires, jitter as long as the time between two fires, templates.
 */
export function findScheduleFaults(config: JsonObject): readonly ConfigFault[] {
  const templates = templatesIn(config, '');
  if (templates.length > 0) return templates;
  const definition = readSchedule(config);
  if (definition === null) return [];
  const zone = zoneFault(definition.timezone);
  const cron = definition.schedule.type === 'cron' ? cronFault(definition.schedule.cron) : null;
  const faults = [zone, cron].filter((fault) => fault !== null);
  return faults.length > 0 ? faults : timingFaults(definition);
}

function templatesIn(value: JsonValue, pointer: string): ConfigFault[] {
  if (typeof value === 'string') {
    const message = 'is fixed when the workflow is saved, so it cannot hold a template; write a constant';
    return value.includes('{{') ? [{ pointer, message }] : [];
  }
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) =>
    templatesIn(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

function zoneFault(timezone: string): ConfigFault | null {
  const pointer = '/timezone';
  const message = `is no time zone: ${JSON.stringify(timezone)}; write an IANA name such as Europe/Berlin`;
  // Intl also takes offsets, which know nothing of summer time.
  if (!/^[A-Za-z]/.test(timezone)) return { pointer, message };
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return null;
  } catch {
    return { pointer, message };
  }
}

function cronFault(expression: string): ConfigFault | null {
  try {
    openCron(expression, 'UTC');
    return null;
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^CronPattern: /, '').replace(/\.$/, '') : '';
    return { pointer: '/schedule/cron', message: `cannot be read as cron: ${reason}` };
  }
}

function timingFaults(definition: ScheduleDefinition): ConfigFault[] {
  const shortestMs = shortestGapMs(definition);
  if (shortestMs === null) return [{ pointer: '/schedule/cron', message: 'names no day that ever comes' }];
  if (definition.jitter_s * 1_000 < shortestMs) return [];
  const message = `must be less than the ${shortestMs / 1_000} seconds that can lie between two fires`;
  return [{ pointer: '/jitter_s', message }];
}

/** The shortest time between two of the fires looked at; null when there are none. */
function shortestGapMs(timing: FireTiming): number | null {
  const fires = nextFires(timing, LOOKED_AT_FROM_MS, LOOKED_AT);
  if (fires.length === 0) return null;
  const gaps = fires.slice(1).map((fire, index) => fire - (fires[index] ?? fire));
  return gaps.reduce((shortest, gap) => Math.min(shortest, gap), Number.POSITIVE_INFINITY);
}
