/** Common schedules: cron expressions described by a few values. */
export type CronPattern =
  | { readonly kind: 'minutes'; readonly every: number }
  | { readonly kind: 'hourly'; readonly minute: number }
  | { readonly kind: 'daily'; readonly time: string }
  /** 0 (Sunday) to 6. */
  | { readonly kind: 'weekly'; readonly time: string; readonly days: readonly number[] }
  | { readonly kind: 'monthly'; readonly time: string; readonly day: number }
  /** Any other expression. */
  | { readonly kind: 'custom'; readonly cron: string };

export type PatternKind = CronPattern['kind'];
export const PATTERN_KINDS: readonly PatternKind[] = [
  'minutes',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'custom',
];

/** The five-field expression. */
export function cronOf(pattern: CronPattern): string {
  switch (pattern.kind) {
    case 'minutes':
      return pattern.every === 1 ? '* * * * *' : `*/${pattern.every} * * * *`;
    case 'hourly':
      return `${pattern.minute} * * * *`;
    case 'daily':
      return `${timeFields(pattern.time)} * * *`;
    case 'weekly':
      return `${timeFields(pattern.time)} * * ${daysField(pattern.days)}`;
    case 'monthly':
      return `${timeFields(pattern.time)} ${pattern.day} * *`;
    case 'custom':
      return pattern.cron;
  }
}

/** The pattern of an expression: the one for which `cronOf` yields the same schedule, else custom. */
export function patternOf(cron: string): CronPattern {
  const custom: CronPattern = { kind: 'custom', cron };
  const fields = cron.trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5 || month !== '*') return custom;
  const isAnyDay = day === '*' && weekday === '*';
  if (hour === '*' && isAnyDay) return withinTheHour(minute) ?? custom;
  const time = timeOf(minute, hour);
  if (time === null) return custom;
  if (isAnyDay) return { kind: 'daily', time };
  if (weekday === '*') {
    const number = numberIn(day, 1, 31);
    return number === null ? custom : { kind: 'monthly', time, day: number };
  }
  const days = day === '*' ? daysOf(weekday) : null;
  return days === null ? custom : { kind: 'weekly', time, days };
}

/** The initial pattern of a kind, keeping the previous one's time. */
export function startOf(kind: PatternKind, before: CronPattern): CronPattern {
  const time = 'time' in before ? before.time : '09:00';
  switch (kind) {
    case 'minutes':
      return { kind, every: 15 };
    case 'hourly':
      return { kind, minute: 0 };
    case 'daily':
      return { kind, time };
    case 'weekly':
      return { kind, time, days: [1, 2, 3, 4, 5] };
    case 'monthly':
      return { kind, time, day: 1 };
    case 'custom':
      return { kind, cron: cronOf(before) };
  }
}

function withinTheHour(minute: string): CronPattern | null {
  if (minute === '*') return { kind: 'minutes', every: 1 };
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (step !== undefined) {
    const every = numberIn(step, 2, 59);
    return every === null ? null : { kind: 'minutes', every };
  }
  const number = numberIn(minute, 0, 59);
  return number === null ? null : { kind: 'hourly', minute: number };
}

function timeOf(minute: string, hour: string): string | null {
  const [m, h] = [numberIn(minute, 0, 59), numberIn(hour, 0, 23)];
  return m === null || h === null ? null : `${two(h)}:${two(m)}`;
}

function timeFields(time: string): string {
  const [hour = '0', minute = '0'] = time.split(':');
  return `${Number(minute)} ${Number(hour)}`;
}

/** Parses `1-5`, `1,3`, `0`; Sunday may be 7. */
function daysOf(field: string): readonly number[] | null {
  const days = new Set<number>();
  for (const part of field.split(',')) {
    const [from, to = from, ...more] = part.split('-').map((each) => numberIn(each, 0, 7));
    if (from == null || to == null || more.length > 0 || from > to) return null;
    for (let day = from; day <= to; day += 1) days.add(day % 7);
  }
  return [...days].sort((a, b) => a - b);
}

function daysField(days: readonly number[]): string {
  const sorted = [...days].sort((a, b) => a - b);
  const isRun = sorted.length > 2 && sorted.every((day, index) => day === (sorted[0] ?? 0) + index);
  return isRun ? `${sorted[0]}-${sorted.at(-1)}` : sorted.join(',');
}

function numberIn(text: string, min: number, max: number): number | null {
  if (!/^\d{1,2}$/.test(text)) return null;
  const number = Number(text);
  return number >= min && number <= max ? number : null;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}
