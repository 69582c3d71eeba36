import { parseMoment } from './zoned-time.ts';

const FORM = /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:)(\d{2})((?:\.\d{1,9})?(?:[Zz]|[+\- ]\d{2}:\d{2}))$/;

/**
 * Parses an RFC 3339 timestamp with any offset. A space in place of the offset's `+` is accepted: a query string turns an unescaped `+`
 * into one.
 * @returns the moment in milliseconds precision, or null when the string isn't such a timestamp, names a day that doesn't exist or has no
 * offset
 */
export function parseTimestamp(text: string): Date | null {
  const parts = FORM.exec(text);
  if (parts === null) return null;
  const [, minutes, second, rest = ''] = parts;
  // A leap second is a valid moment; it is read as the second after it.
  const isLeap = second === '60';
  const ms = parseMoment(`${minutes}${isLeap ? '59' : second}${rest.replace(' ', '+')}`);
  return ms === null ? null : new Date(isLeap ? ms + 1000 : ms);
}

/** Formats a moment as the API does: UTC with milliseconds. */
export function formatTimestamp(moment: Date): string {
  return moment.toISOString();
}
