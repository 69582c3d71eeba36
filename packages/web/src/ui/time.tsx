import { Text, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { serviceNow } from '../api/clock.ts';

const MINUTE_MS = 60_000;
const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', MINUTE_MS],
];

/** A moment as `3 minutes ago` (a week and more ago: the date), with the exact value in the reader's zone on hover. */
export function Moment({ at, relative = true }: { readonly at: string; readonly relative?: boolean }) {
  const { i18n } = useTranslation();
  const now = useMinute();
  const date = new Date(at);
  const exact = `${date.toLocaleString(i18n.language, { dateStyle: 'medium', timeStyle: 'medium' })} (${Intl.DateTimeFormat().resolvedOptions().timeZone})\n${at}`;
  return (
    <Tooltip label={exact} multiline style={{ whiteSpace: 'pre-line' }}>
      <Text component="time" dateTime={at} size="sm" inherit tabIndex={-1} style={{ whiteSpace: 'nowrap' }}>
        {relative ? describe(date, now, i18n.language) : date.toLocaleString(i18n.language)}
      </Text>
    </Tooltip>
  );
}

function describe(date: Date, now: number, language: string): string {
  const ms = date.getTime() - now;
  if (Math.abs(ms) >= 7 * 86_400_000) return date.toLocaleDateString(language, { dateStyle: 'medium' });
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const [unit, size] of UNITS) {
    if (Math.abs(ms) >= size) return format.format(Math.trunc(ms / size), unit);
  }
  return format.format(0, 'second');
}

/** The time, anew every minute. */
function useMinute(): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** Milliseconds as people read them: `340 ms`, `12.4 s`, `3 min 05 s`, `2 h 10 min`, `6 d 04 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1_000);
  const pad = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  const hours = Math.floor(seconds / 3_600);
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${pad(hours % 24)} h`;
  return `${hours} h ${pad(Math.floor((seconds % 3_600) / 60))} min`;
}
