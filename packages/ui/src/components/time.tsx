import { Text, Tooltip } from '@mantine/core';
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import { useNow } from './use-now.ts';

const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** As date and time inputs write it: `2026-11-23T14:05:00`, in the reader's zone. */
export function localText(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

interface MomentProps {
  at: string;
  relative?: boolean;
}

/** A time as `3 minutes ago` (the date after a week), with the exact value in the reader's zone on hover. */
export function Moment({ at, relative = true }: MomentProps) {
  const { i18n } = useTranslation();
  const { zone, exact } = formatsOf(i18n.language);
  return (
    <Tooltip
      label={`${exact.format(new Date(at))} (${zone})\n${at}`}
      multiline
      style={{ whiteSpace: 'pre-line' }}
    >
      <Text component="time" dateTime={at} size="sm" inherit tabIndex={-1} style={{ whiteSpace: 'nowrap' }}>
        <MomentText at={at} relative={relative} />
      </Text>
    </Tooltip>
  );
}

/** The text alone, without the tooltip. */
export function MomentText({ at, relative = true }: MomentProps) {
  const { i18n } = useTranslation();
  const now = useNow(true, 'minute');
  const date = new Date(at);
  return relative ? describe(date, now, i18n.language) : formatsOf(i18n.language).full.format(date);
}

function describe(date: Date, now: number, language: string): string {
  const { relative, day } = formatsOf(language);
  const ms = date.getTime() - now;
  if (Math.abs(ms) >= 7 * 86_400_000) return day.format(date);
  // What was set to end in seven days does so in seven, not in six, a second later.
  const toCount = ms > 0 ? Math.round : Math.trunc;
  for (const [unit, size] of UNITS) {
    if (Math.abs(ms) >= size) return relative.format(toCount(ms / size), unit);
  }
  return relative.format(0, 'second');
}

interface Formats {
  readonly zone: string;
  readonly exact: Intl.DateTimeFormat;
  readonly full: Intl.DateTimeFormat;
  readonly day: Intl.DateTimeFormat;
  readonly relative: Intl.RelativeTimeFormat;
}

const formats = new Map<string, Formats>();

/** Cached: creating one takes longer than rendering a row. */
function formatsOf(language: string): Formats {
  const known = formats.get(language);
  if (known !== undefined) return known;
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const numeric = 'numeric';
  const made = {
    zone: exact.resolvedOptions().timeZone,
    exact,
    full: new Intl.DateTimeFormat(language, {
      ...{ year: numeric, month: numeric, day: numeric },
      ...{ hour: numeric, minute: numeric, second: numeric },
    }),
    day: new Intl.DateTimeFormat(language, { dateStyle: 'medium' }),
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
  };
  formats.set(language, made);
  return made;
}

/** A round time on an axis: `20 s` rather than `20.0 s`. */
export function formatRoundTime(ms: number): string {
  if (ms < 1_000 || ms >= 60_000) return formatDuration(ms);
  return i18next.t('common.duration.seconds', { seconds: ms / 1_000 });
}

/** Formats milliseconds: `340 ms`, `12.4 s`, `3 min 05 s`, `2 h 10 min`, `6 d 04 h`, or 3 分 05 秒. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return i18next.t('common.duration.milliseconds', { ms: Math.round(ms) });
  // From here on it would be rounded to 60.0 s.
  if (ms < 59_950) {
    return i18next.t('common.duration.seconds', { seconds: (ms / 1_000).toFixed(ms < 10_000 ? 2 : 1) });
  }
  const seconds = Math.round(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(seconds / 3_600);
  const pad = (value: number) => String(value).padStart(2, '0');
  if (hours < 1) return i18next.t('common.duration.minutes', { minutes, seconds: pad(seconds % 60) });
  if (hours < 48) return i18next.t('common.duration.hours', { hours, minutes: pad(minutes % 60) });
  return i18next.t('common.duration.days', { days: Math.floor(hours / 24), hours: pad(hours % 24) });
}
