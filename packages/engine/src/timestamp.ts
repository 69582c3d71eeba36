const FORM = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+\- ]\d{2}:\d{2})$/;

/**
 * Reads an RFC 3339 timestamp with any offset.
 * A space in the place of the offset's `+` is what a query string makes of a `+` that was not escaped.
 * @returns the moment in milliseconds precision, or null when the text is no such timestamp, names a day that does
 *   not exist or has no offset
 */
export function parseTimestamp(text: string): Date | null {
  const parts = FORM.exec(text);
  if (parts === null) return null;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', offset = ''] =
    parts;
  const zone = offset.toUpperCase().replace(' ', '+');
  // A leap second is a moment that exists; it is read as the second after it.
  const leap = second === '60';
  const seconds = leap ? '59' : second;
  const milliseconds = fraction.padEnd(3, '0').slice(0, 3);
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${seconds}.${milliseconds}${zone}`);
  if (Number.isNaN(date.getTime()) || !dayExists(Number(year), Number(month), Number(day))) return null;
  return leap ? new Date(date.getTime() + 1000) : date;
}

/** A moment as the API writes it: UTC with milliseconds. */
export function formatTimestamp(moment: Date): string {
  return moment.toISOString();
}

function dayExists(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
