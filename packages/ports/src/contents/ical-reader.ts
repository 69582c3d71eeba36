import { inZone, type JsonObject, type JsonValue, momentAt, stringifyJson } from '@millrace/engine';
import { message } from '@millrace/messages';
import { DocumentFault } from '../documents/fault.ts';

/** Of one event with everything in it, and of one line: longer ones are no calendar. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;
const BATCH = 500;

/** A line of a calendar (RFC 5545, 3.1): `NAME;PARAMETER=value:text`. */
interface Property {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly text: string;
}

/**
 * The events of a calendar as JSON texts.
 * @throws DocumentFault invalid_data
 */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  /** Names of the components around a line, from the outermost one. */
  const within: string[] = [];
  let event: Property[] = [];
  let length = 0;
  let isCalendar = false;
  let batch: string[] = [];
  for await (const { text, number } of unfolded(pieces)) {
    if (text.trim() === '') continue;
    const property = parseLine(text);
    if (!isCalendar && !(property?.name === 'BEGIN' && property.text.toUpperCase() === 'VCALENDAR'))
      throw new DocumentFault('invalid_data', message('ports.not_a_calendar'));
    isCalendar = true;
    if (property === null)
      throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: number }));
    const component = property.text.toUpperCase();
    if (property.name === 'BEGIN') {
      within.push(component);
      if (within.length > 20)
        throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: number }));
      if (within.length === 2) [event, length] = [[], 0];
    } else if (property.name === 'END') {
      if (within.pop() !== component)
        throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: number }));
      if (component === 'VEVENT' && within.length === 1) batch.push(stringifyJson(toRow(event)));
    } else if (within.length === 2 && within[1] === 'VEVENT') {
      length += text.length;
      if (length > MAX_EVENT_LENGTH)
        throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: number }));
      event.push(property);
    }
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (!isCalendar) throw new DocumentFault('invalid_data', message('ports.not_a_calendar'));
  // Half a calendar would look like one with fewer events.
  if (within.length > 0) throw new DocumentFault('invalid_data', message('ports.calendar_cut'));
  if (batch.length > 0) yield batch;
}

/** Lines, each with those that continue it. */
async function* unfolded(
  pieces: AsyncIterable<string>,
): AsyncGenerator<{ readonly text: string; readonly number: number }> {
  let parts: string[] = [];
  let length = 0;
  let rest = '';
  let [number, first] = [0, 1];
  function* take(line: string): Generator<{ readonly text: string; readonly number: number }> {
    number += 1;
    const continues = /^[ \t]/.test(line) && parts.length > 0;
    if (!continues) {
      if (parts.length > 0) yield { text: parts.join(''), number: first };
      [parts, length, first] = [[], 0, number];
    }
    const text = (continues ? line.slice(1) : line).replace(/\r$/, '');
    parts.push(text);
    length += text.length;
    if (length > MAX_EVENT_LENGTH)
      throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: first }));
  }
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_EVENT_LENGTH)
      throw new DocumentFault('invalid_data', message('ports.calendar_line', { line: number + 1 }));
    for (const line of lines) yield* take(line);
  }
  yield* take(rest);
  yield { text: parts.join(''), number: first };
}

function parseLine(line: string): Property | null {
  const name = /^[A-Za-z0-9-]+(?=[;:])/.exec(line)?.[0];
  if (name === undefined) return null;
  const parameters = new Map<string, string>();
  let at = name.length;
  while (line[at] === ';') {
    const parameter = /;([A-Za-z0-9-]+)=((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)/y;
    parameter.lastIndex = at;
    const match = parameter.exec(line);
    if (match === null) return null;
    parameters.set((match[1] ?? '').toUpperCase(), (match[2] ?? '').replaceAll('"', ''));
    at = parameter.lastIndex;
  }
  return line[at] === ':' ? { name: name.toUpperCase(), parameters, text: line.slice(at + 1) } : null;
}

function toRow(properties: readonly Property[]): JsonObject {
  const all = (name: string) => properties.filter((each) => each.name === name);
  const first = (name: string) => properties.find((each) => each.name === name);
  const textOf = (name: string): string | null => {
    const property = first(name);
    return property === undefined ? null : plain(property.text);
  };
  const [from, to] = [first('DTSTART'), first('DTEND')];
  const start = from === undefined ? null : timeOf(from);
  const end = to === undefined ? endAfter(from, first('DURATION')) : timeOf(to);
  const organizer = first('ORGANIZER');
  return {
    uid: textOf('UID'),
    summary: textOf('SUMMARY'),
    start,
    end,
    all_day: start !== null && start.length === 10,
    timezone: from?.parameters.get('TZID') ?? null,
    location: textOf('LOCATION'),
    description: textOf('DESCRIPTION'),
    status: first('STATUS')?.text.toLowerCase() ?? null,
    url: first('URL')?.text ?? null,
    categories: all('CATEGORIES').flatMap(({ text }) => listed(text)),
    organizer: organizer === undefined ? null : personOf(organizer),
    attendees: all('ATTENDEE').map((each) => ({
      ...personOf(each),
      status: each.parameters.get('PARTSTAT')?.toLowerCase() ?? null,
    })),
    recurrence: first('RRULE')?.text ?? null,
    recurrence_id: timeOrNull(first('RECURRENCE-ID')),
    excluded: all('EXDATE').flatMap((each) =>
      each.text.split(',').flatMap((text) => timeOf({ ...each, text }) ?? []),
    ),
  };
}

function timeOrNull(property: Property | undefined): string | null {
  return property === undefined ? null : timeOf(property);
}

const TIME = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/;

/** `2026-03-01` of a day, else ISO 8601: with its offset, unless nobody knows in which zone it is. Null if it is no time. */
function timeOf({ text, parameters }: Property): string | null {
  const match = TIME.exec(text.trim());
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour, minute = '', second = '', utc] = match;
  const date = `${year}-${month}-${day}`;
  if (hour === undefined) return date;
  const local = `${date}T${hour}:${minute}:${second}`;
  if (utc !== undefined) return `${local}Z`;
  return withOffset(local, parameters.get('TZID'));
}

/** Zones that a calendar defines itself, such as Outlook's, have no offset here. */
function withOffset(local: string, zone: string | undefined): string {
  const name = zone?.replace(/^\//, '');
  if (name === undefined || !/^[A-Za-z]/.test(name)) return local;
  const [year, month, day, hour, minute, second] = local.split(/[-T:]/).map(Number);
  if (second === undefined) return local;
  const clock = { year, month, day, hour, minute, second, millisecond: 0 } as Parameters<typeof momentAt>[0];
  const moment = momentAt(clock, name);
  const shown = moment === null ? null : inZone(moment, name);
  if (shown === null) return local;
  const minutes = Math.abs(shown.offsetMinutes);
  const two = (value: number) => String(value).padStart(2, '0');
  const sign = shown.offsetMinutes < 0 ? '-' : '+';
  const time = `${two(shown.hour)}:${two(shown.minute)}:${two(shown.second)}`;
  const date = `${String(shown.year).padStart(4, '0')}-${two(shown.month)}-${two(shown.day)}`;
  return `${date}T${time}${sign}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

const DURATION = /^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/;

/** The end of an event that says how long it is; null if it doesn't. */
function endAfter(from: Property | undefined, duration: Property | undefined): string | null {
  const start = TIME.exec(from?.text.trim() ?? '');
  const match = DURATION.exec(duration?.text.trim() ?? '');
  if (from === undefined || start === null || match === null) return null;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((text) => Number(text ?? 0));
  const total = (weeks ?? 0) * 7 * 86_400 + (days ?? 0) * 86_400 + (hours ?? 0) * 3_600 + (minutes ?? 0) * 60;
  const [, year, month, day, hour, minute, second, utc] = start;
  const begun = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
  );
  const ended = new Date(begun + (total + (seconds ?? 0)) * 1_000);
  if (Number.isNaN(ended.getTime())) return null;
  const text = ended.toISOString().slice(0, 19).replaceAll(/[-:]/g, '');
  return timeOf({ ...from, text: hour === undefined ? text.slice(0, 8) : `${text}${utc ?? ''}` });
}

function personOf({ text, parameters }: Property): { readonly name: string | null; readonly email: string } {
  return { name: parameters.get('CN') ?? null, email: text.replace(/^mailto:/i, '') };
}

/** RFC 5545, 3.3.11 */
function plain(text: string): string {
  return text.replaceAll(/\\([\\;,nN])/g, (_all, character: string) =>
    character === 'n' || character === 'N' ? '\n' : character,
  );
}

function listed(text: string): JsonValue[] {
  return (text.match(/(?:\\.|[^\\,])+/g) ?? []).map((each) => plain(each).trim());
}
