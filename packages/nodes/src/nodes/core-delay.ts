import { failure, type NodeResult, parseTimestamp, success, waitUntil } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { isBlank } from '@millrace/node-kit/values';
import { type Static, Type } from 'typebox';

const UNIT_MS = { ms: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

const MAX_DAYS = 366;
const MAX_MS = MAX_DAYS * UNIT_MS.days;

const durationSchema = Type.Object(
  {
    amount: Type.Number({ title: 'Amount', description: 'The number of units.', minimum: 0, default: 1 }),
    unit: Type.Unsafe<Unit>({
      type: 'string',
      enum: Object.keys(UNIT_MS),
      title: 'Unit',
      description: 'The unit of the interval. A day is 24 hours.',
      default: 'minutes',
      'x-labels': {
        ms: 'Milliseconds',
        seconds: 'Seconds',
        minutes: 'Minutes',
        hours: 'Hours',
        days: 'Days',
      },
    }),
  },
  { additionalProperties: false },
);

const properties = {
  duration_ms: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    title: 'Milliseconds',
    description: 'How long to wait, in milliseconds.',
    default: null,
  }),
  duration: Type.Union([durationSchema, Type.Null()], {
    title: 'Duration',
    description: 'How long to wait, as an amount and a unit.',
    default: null,
  }),
  until: Type.Union([Type.String(), Type.Null()], {
    title: 'Until',
    description: 'When to continue: an RFC 3339 timestamp with an offset, such as 2026-11-20T09:30:00Z.',
    default: null,
    'x-moment': true,
  }),
};

export const coreDelay = checkedNode({
  type: 'core.delay',
  title: 'Delay',
  description: `Waits for a duration or until a point in time, at most ${MAX_DAYS} days. Set one of the three. A time in the past doesn't wait.`,
  icon: 'timer',
  kind: 'effect',
  properties,
  findGaps: ({ duration_ms = null, duration = null, until = null }) =>
    [duration_ms, duration, until].every(isBlank)
      ? [{ pointer: '/duration_ms', message: message('nodes.no_delay') }]
      : [],
  form: { main: ['duration_ms', 'duration', 'until'] },
  synonyms: ['sleep', 'wait', 'pause', 'timer', 'later'],
  examples: [
    {
      title: 'Wait two hours',
      config: { duration: { amount: 2, unit: 'hours' } },
      expect: { waitMs: 7_200_000, output: { waited_until: '2026-01-01T02:00:00.000Z' } },
    },
    {
      title: 'Wait until a time from the data',
      config: { until: '{{trigger.data.ships_at}}' },
      trigger: { ships_at: '2026-01-02T09:00:00+09:00' },
      expect: { waitMs: 86_400_000, output: { waited_until: '2026-01-02T00:00:00.000Z' } },
    },
    {
      title: 'Two settings at once',
      config: { duration_ms: 5, until: '2026-01-02T00:00:00Z' },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  run(config, context) {
    const nowMs = context.now();
    const target = targetOf(config, nowMs);
    if ('problem' in target) return target.problem;
    if (target.untilMs - nowMs > MAX_MS) {
      return failure('delay_too_long', message('nodes.delay_too_long', { days: MAX_DAYS }));
    }
    const output = { waited_until: new Date(target.untilMs).toISOString() };
    return target.untilMs <= nowMs ? success(output) : waitUntil(target.untilMs, output);
  },
});

type Target = { readonly untilMs: number } | { readonly problem: NodeResult };

function targetOf(config: Static<ReturnType<typeof Type.Object<typeof properties>>>, nowMs: number): Target {
  const given = [config.duration_ms, config.duration, config.until].filter((each) => each !== null);
  if (given.length !== 1) {
    return invalid(message('nodes.not_one_delay', { given: given.length }));
  }
  if (config.duration_ms !== null) return { untilMs: nowMs + config.duration_ms };
  if (config.duration !== null) {
    return { untilMs: nowMs + Math.round(config.duration.amount * UNIT_MS[config.duration.unit]) };
  }
  // A space before the time is allowed in RFC 3339; a leap second counts as the second before it.
  const text = (config.until ?? '').replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T').replace(/:60(?=[.Zz+-])/, ':59');
  const until = parseTimestamp(text);
  if (until !== null) return { untilMs: until.getTime() };
  return invalid(message('nodes.wrong_until'));
}

function invalid(said: Message): Target {
  return { problem: failure('invalid_config', said) };
}
