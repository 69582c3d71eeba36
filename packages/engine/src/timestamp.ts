import { parseMoment } from './zoned-time.ts';

const FORM = /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:)(\d{2})((?:\.\d{1,9})?(?:[Zz]|[+\- ]\d{2}:\d{2}))$/;

/**
 * Reads an RFC 3339 timestamp with any offset.
 * A space in the place of the offset's `+` is what a query string makes of a `+` that was not escaped.
 * @returns the moment in milliseconds precision, or null when the text is no such timestamp, names a day that does
 *   not exist or has no offset
 */
export function parseTimestamp(text: string): Date | null {
  const parts = FORM.exec(text);
  if (parts === null) return null;
  const [, minutes, second, rest = ''] = parts;
  // A leap second is a moment that exists; it is read as the second after it.
  const isLeap = second === '60';
  const ms = parseMoment(`${minutes}${isLeap ? '59' : second}${rest.replace(' ', '+')}`);
  return ms === null ? null : new Date(isLeap ? ms + 1000 : ms);
}

/** A moment as the API writes it: UTC with milliseconds. */
export function formatTimestamp(moment: Date): string {
  return moment.toISOString();
}
