import type { KeyReference } from '@millrace/identity/api-keys/store';
import { InvalidArgumentError } from 'commander';
import { UsageError } from './shell.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A moment: a date (its first second in UTC) or an RFC 3339 timestamp with an offset. */
export function readMoment(text: string): Date {
  const value = new Date(DATE.test(text) ? `${text}T00:00:00Z` : text);
  const calendarDay = text.slice(0, 10);
  if (
    !(DATE.test(text) || TIMESTAMP.test(text)) ||
    Number.isNaN(value.getTime()) ||
    !existsInCalendar(calendarDay)
  ) {
    throw new InvalidArgumentError(
      'Give a date (2027-01-31) or a time with its offset (2027-01-31T12:00:00Z).',
    );
  }
  return value;
}

/** JavaScript parses 30 February as 2 March. */
function existsInCalendar(day: string): boolean {
  const value = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(value.getTime()) && value.toISOString().startsWith(day);
}

/** @throws UsageError if the text isn't an id */
export function readId(text: string | undefined, of: string): number {
  if (text === undefined || !/^[1-9]\d{0,15}$/.test(text)) {
    throw new UsageError('invalid_id', `"${text ?? ''}" isn't the ID of ${of}. Use a whole number from 1.`);
  }
  return Number(text);
}

/** A key by its id or by the 12 characters between `mr_` and the next `_`. */
export function readKeyReference(text: string | undefined): KeyReference {
  if (text !== undefined && /^[A-Za-z0-9]{12}$/.test(text)) return { keyId: text };
  return { id: readId(text, 'a key') };
}
