import { type ConfigFault, type JsonObject, remember } from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { templatesIn } from '@millrace/node-kit/values';
import { readSchedule, type ScheduleDefinition } from './definition.ts';
import { type FireTiming, nextFires, openCron } from './next-fires.ts';

/** A fixed moment, because the validity of a config must not depend on when it is checked. */
const LOOKED_AT_FROM_MS = Date.UTC(2025, 0, 1);
/** Fires examined for the shortest interval: a whole week, unless they are closer than 15 minutes. */
const LOOKED_AT = 700;

/**
 * Faults of a schedule's config that matches the schema: an invalid cron expression or zone, one that never fires, jitter as long as the
 * interval between two fires, templates.
 */
export function findScheduleFaults(config: JsonObject): readonly ConfigFault[] {
  const templates = templatesIn(config, message('nodes.template_in_schedule'));
  if (templates.length > 0) return templates;
  const definition = readSchedule(config);
  if (definition === null) return [];
  const zone = zoneFault(definition.timezone);
  const cron = definition.schedule.type === 'cron' ? cronFault(definition.schedule.cron) : null;
  const faults = [zone, cron].filter((fault) => fault !== null);
  return faults.length > 0 ? faults : timingFaults(definition);
}

function zoneFault(timezone: string): ConfigFault | null {
  const fault = { pointer: '/timezone', message: message('nodes.not_a_zone', { given: timezone }) };
  // Intl also accepts offsets, which have no daylight saving time.
  if (!/^[A-Za-z]/.test(timezone)) return fault;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return null;
  } catch {
    return fault;
  }
}

function cronFault(expression: string): ConfigFault | null {
  try {
    openCron(expression, 'UTC');
    return null;
  } catch (error) {
    return { pointer: '/schedule/cron', message: message('nodes.not_cron', { reason: cronReason(error) }) };
  }
}

/** Our own message, or the library's without its prefix and suffix. */
function cronReason(error: unknown): Message {
  if (error instanceof NodeProblem) return error.explanation;
  const words = error instanceof Error ? error.message : '';
  return verbatim(words.replace(/^CronPattern: /, '').replace(/\.$/, ''));
}

function timingFaults(definition: ScheduleDefinition): ConfigFault[] {
  const shortestMs = shortestGapMs(definition);
  if (shortestMs === null) return [{ pointer: '/schedule/cron', message: message('nodes.never_fires') }];
  if (definition.jitter_s * 1_000 < shortestMs) return [];
  return [
    { pointer: '/jitter_s', message: message('nodes.jitter_too_long', { seconds: shortestMs / 1_000 }) },
  ];
}

/** Shortest intervals by schedule, the one asked for longest ago first. */
const known = new Map<string, number | null>();
const MAX_KNOWN = 200;

/**
 * The shortest interval between two of the examined fires; null when there are none. It is remembered, because a schedule is examined each
 * time its workflow is read or saved, and examining one takes up to tens of milliseconds.
 */
function shortestGapMs({ schedule, timezone }: FireTiming): number | null {
  const key = JSON.stringify([schedule, timezone]);
  const gap = known.get(key);
  const gapMs = gap === undefined ? examinedGapMs({ schedule, timezone }) : gap;
  remember(known, key, gapMs, MAX_KNOWN);
  return gapMs;
}

function examinedGapMs(timing: FireTiming): number | null {
  const fires = nextFires(timing, LOOKED_AT_FROM_MS, LOOKED_AT);
  if (fires.length === 0) return null;
  const gaps = fires.slice(1).map((fire, index) => fire - (fires[index] ?? fire));
  return gaps.reduce((shortest, gap) => Math.min(shortest, gap), Number.POSITIVE_INFINITY);
}
