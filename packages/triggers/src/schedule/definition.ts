import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { validatorOf } from '@millrace/node-kit/validator';
import { Type } from 'typebox';

/** Milliseconds of the units of an interval. A day is 24 hours, even when clocks change that day. */
export const UNIT_MS = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** When a schedule fires: at the local times of a cron expression, or at intervals of elapsed time. */
export type Timing =
  | { readonly type: 'cron'; readonly cron: string }
  | { readonly type: 'every'; readonly every: number; readonly unit: keyof typeof UNIT_MS };

export const OVERLAPS = ['allow', 'skip', 'queue'] as const;
export const MISSED_POLICIES = ['skip', 'run_once', 'run_all'] as const;

/** The settings of a schedule trigger with all defaults filled in. */
export type ScheduleDefinition = {
  readonly schedule: Timing;
  /** IANA name. */
  readonly timezone: string;
  /** Maximum delay of a fire in seconds. */
  readonly jitter_s: number;
  /** What happens to a fire while an earlier execution of the schedule is still active. */
  readonly overlap: (typeof OVERLAPS)[number];
  /** What happens to fires that nothing was running to start in time. */
  readonly missed: (typeof MISSED_POLICIES)[number];
  /** Passed to the workflow with each fire. */
  readonly input: JsonObject;
};

const MAX_EVERY = 100_000;
const MAX_JITTER_S = 86_400;

const cronSchema = Type.Object(
  {
    type: Type.Literal('cron', { title: 'Type', description: 'Use a cron expression.', default: 'cron' }),
    cron: Type.String({
      title: 'Cron expression',
      description:
        'Minute, hour, day of the month, month, day of the week; with six fields, seconds come first. Or a name such as @daily.',
      maxLength: 255,
      default: '0 9 * * 1-5',
      'x-cron': true,
    }),
  },
  { additionalProperties: false, title: 'Cron' },
);

const everySchema = Type.Object(
  {
    type: Type.Literal('every', { title: 'Type', description: 'Use a fixed interval.', default: 'every' }),
    every: Type.Integer({
      title: 'Interval',
      description: 'The number of units between two runs.',
      minimum: 1,
      maximum: MAX_EVERY,
      default: 15,
    }),
    unit: Type.Unsafe<keyof typeof UNIT_MS>({
      type: 'string',
      enum: Object.keys(UNIT_MS),
      title: 'Unit',
      description: 'The unit of the interval. A day is 24 hours.',
      default: 'minutes',
      'x-labels': { seconds: 'Seconds', minutes: 'Minutes', hours: 'Hours', days: 'Days' },
    }),
  },
  { additionalProperties: false, title: 'Interval' },
);

/** The settings of the schedule trigger, for its schema and its form. */
export const scheduleProperties = {
  schedule: Type.Union([cronSchema, everySchema], {
    title: 'Schedule',
    description:
      'When it runs. Intervals are elapsed time since midnight on 1 January 2001 in the time zone.',
    default: { type: 'cron', cron: '0 9 * * 1-5' },
  }),
  timezone: Type.String({
    title: 'Time zone',
    description: 'IANA name of the time zone that the schedule follows, such as Europe/Berlin.',
    minLength: 1,
    maxLength: 100,
    default: 'UTC',
    'x-time-zone': true,
  }),
  jitter_s: Type.Integer({
    title: 'Jitter in seconds',
    description:
      'Delays each run by up to this long, always by the same amount for the same run. Must be less than the time between two runs.',
    minimum: 0,
    maximum: MAX_JITTER_S,
    default: 0,
  }),
  overlap: Type.Unsafe<ScheduleDefinition['overlap']>({
    type: 'string',
    enum: OVERLAPS,
    title: 'Overlap',
    description:
      'What to do while an earlier execution of the schedule is still running: start another, skip this run, or start it afterwards.',
    default: 'allow',
    'x-labels': { allow: 'Start another', skip: 'Skip this run', queue: 'Start it afterwards' },
  }),
  missed: Type.Unsafe<ScheduleDefinition['missed']>({
    type: 'string',
    enum: MISSED_POLICIES,
    title: 'Missed runs',
    description:
      'What to do about runs that were due while the service was down: skip them, start one execution for all of them, or start each. Looks back 24 hours.',
    default: 'run_once',
    'x-labels': { skip: 'Skip them', run_once: 'Run once for all', run_all: 'Run each' },
  }),
  input: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Input',
    description: 'The workflow reads it as {{trigger.data.input}}. Constants only, no templates.',
    default: {},
  }),
};

export const SCHEDULE_REQUIRED = ['schedule', 'timezone'] as const;

const DEFAULTS = { jitter_s: 0, overlap: 'allow', missed: 'run_once', input: {} } as const;
const validator = validatorOf(
  Type.Unsafe<ScheduleDefinition>(Type.Object(scheduleProperties, { additionalProperties: false })),
);

/** A schedule trigger's config with defaults filled in; null when it doesn't match the schema. */
export function readSchedule(config: JsonValue): ScheduleDefinition | null {
  const complete: unknown = isJsonObject(config) ? { ...DEFAULTS, ...config } : null;
  return validator().Check(complete) ? complete : null;
}
