import { createHash } from 'node:crypto';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  own,
  parseMoment,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';

/** The members of an event; those that only reading gives are taken and left out where they say nothing. */
const MEMBERS = new Set([
  ...['uid', 'summary', 'start', 'end', 'all_day', 'timezone', 'location', 'description', 'status', 'url'],
  ...['categories', 'organizer', 'attendees', 'recurrence', 'recurrence_id', 'excluded'],
]);
const MAX_LINE_BYTES = 75;

/**
 * A calendar of events.
 * @param now when it was made
 * @throws DocumentFault invalid_data for an event that can't be written
 */
export async function* writeCalendar(
  rows: AsyncIterable<readonly JsonValue[]>,
  now: Date,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(lines(['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Millrace//EN']));
  let number = 0;
  for await (const batch of rows) {
    const events = batch.map((row) => {
      number += 1;
      return lines(eventLines(row, number, now));
    });
    yield Buffer.from(events.join(''));
  }
  yield Buffer.from(lines(['END:VCALENDAR']));
}

function eventLines(row: JsonValue, number: number, now: Date): readonly string[] {
  const refuse = (member: string): never => {
    throw new DocumentFault('invalid_data', message('ports.event_member', { row: number, name: member }));
  };
  if (!isJsonObject(row)) return refuse('start');
  const unknown = Object.keys(row).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) return refuse(unknown);
  const given = (name: string): JsonValue => own(row, name) ?? null;
  const text = (name: string): string | null => {
    const value = given(name);
    return value === null || value === '' ? null : typeof value === 'string' ? value : refuse(name);
  };
  const time = (name: string): string | null => {
    const value = text(name);
    return value === null ? null : (stampOf(value) ?? refuse(name));
  };
  const list = (name: string): readonly JsonValue[] => {
    const value = given(name);
    return value === null ? [] : isJsonArray(value) ? value : refuse(name);
  };
  const bare = (name: string, form: RegExp): string | null => {
    const value = text(name);
    return value === null || form.test(value) ? value : refuse(name);
  };
  const isDay = given('all_day') === true;
  const side = (name: string): string | null => {
    const value = text(name);
    return value === null ? null : (stampOf(isDay ? value.slice(0, 10) : value) ?? refuse(name));
  };
  const [start, recurrence] = [side('start') ?? refuse('start'), bare('recurrence', /^[A-Za-z0-9=;,:+-]+$/)];
  const organizer = given('organizer');
  return [
    'BEGIN:VEVENT',
    `UID:${escaped(text('uid') ?? uidOf(row))}`,
    `DTSTAMP:${utc(now)}`,
    `DTSTART${start}`,
    ...some('DTEND', side('end')),
    ...some('SUMMARY:', text('summary'), escaped),
    ...some('DESCRIPTION:', text('description'), escaped),
    ...some('LOCATION:', text('location'), escaped),
    ...some('STATUS:', bare('status', /^(?:tentative|confirmed|cancelled)$/i)?.toUpperCase() ?? null),
    ...some('URL:', bare('url', /^[^\s\p{C}]+$/u)),
    ...categories(list('categories'), () => refuse('categories')),
    ...(organizer === null ? [] : [person('ORGANIZER', organizer) ?? refuse('organizer')]),
    ...list('attendees').map((each) => person('ATTENDEE', each) ?? refuse('attendees')),
    ...some('RRULE:', recurrence),
    ...some('RECURRENCE-ID', time('recurrence_id')),
    ...list('excluded').map(
      (each) => `EXDATE${(typeof each === 'string' ? stampOf(each) : null) ?? refuse('excluded')}`,
    ),
    'END:VEVENT',
  ];
}

function some(
  start: string,
  value: string | null,
  write: (value: string) => string = (each) => each,
): readonly string[] {
  return value === null ? [] : [`${start}${write(value)}`];
}

function categories(values: readonly JsonValue[], refuse: () => never): readonly string[] {
  if (values.length === 0) return [];
  const texts = values.map((each) => (typeof each === 'string' ? escaped(each) : refuse()));
  return [`CATEGORIES:${texts.join(',')}`];
}

const LOCAL = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})(:\d{2})?(?:\.\d+)?$/;

/** A day, a moment in UTC, or what the clocks show wherever somebody looks at it. Null for anything else. */
function stampOf(text: string): string | null {
  const moment = parseMoment(text);
  if (moment === null) return null;
  if (text.length === 10) return `;VALUE=DATE:${text.replaceAll('-', '')}`;
  const local = LOCAL.exec(text);
  if (local === null) return `:${utc(new Date(moment))}`;
  const [, date = '', minutes = '', seconds = ':00'] = local;
  return `:${date.replaceAll('-', '')}T${`${minutes}${seconds}`.replaceAll(':', '')}`;
}

function utc(moment: Date): string {
  return moment.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
}

/** An address, or an object with `email` and perhaps `name`. */
function person(name: string, value: JsonValue): string | null {
  const { email, name: called = null, status = null } = isJsonObject(value) ? value : { email: value };
  if (typeof email !== 'string' || !/^[^\s@:;,"\p{C}]+@[^\s@:;,"\p{C}]+$/u.test(email)) return null;
  if (called !== null && typeof called !== 'string') return null;
  if (status !== null && (typeof status !== 'string' || !/^[A-Za-z-]+$/.test(status))) return null;
  const shown = called?.replaceAll(/["\p{C}]/gu, '') ?? '';
  const parameters = `${shown === '' ? '' : `;CN="${shown}"`}${status === null ? '' : `;PARTSTAT=${status.toUpperCase()}`}`;
  return `${name}${parameters}:mailto:${email}`;
}

/** The same for the same event, so that a calendar that gets it twice shows it once. */
function uidOf(row: JsonObject): string {
  return `${createHash('sha256').update(stringifyJson(row)).digest('hex').slice(0, 32)}@millrace`;
}

/** RFC 5545, 3.3.11: other control characters can't be in a text. */
function escaped(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\\;,]/g, (character) => `\\${character}`)
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, '');
}

/** Lines of at most 75 bytes, continued by a space (RFC 5545, 3.1). */
function lines(texts: readonly string[]): string {
  return texts.map((text) => `${folded(text)}\r\n`).join('');
}

function folded(text: string): string {
  if (text.length <= MAX_LINE_BYTES / 4 || Buffer.byteLength(text) <= MAX_LINE_BYTES) return text;
  const parts: string[] = [];
  let [part, bytes] = ['', 0];
  for (const character of text) {
    const size = Buffer.byteLength(character);
    if (bytes + size > MAX_LINE_BYTES) {
      parts.push(part);
      [part, bytes] = ['', 1];
    }
    part += character;
    bytes += size;
  }
  return [...parts, part].join('\r\n ');
}
