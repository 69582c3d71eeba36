import type { ContentTask, FileService, JsonObject, OpenFile } from '@millrace/engine';
import type { Caller } from '@millrace/runtime/node-services';
import { afterAll, describe, expect, it } from 'vitest';
import { createContentService } from '../src/contents.ts';

const services = createContentService({ maxOutputBytes: 2 * 1024 * 1024 });
afterAll(() => services.close());

const caller = { organisationId: 1 } as Caller;
const NEVER = new AbortController().signal;

function fileOf(content: string): OpenFile {
  const bytes = Buffer.from(content);
  return {
    name: 'a.ics',
    type: 'text/calendar',
    size: bytes.length,
    sha256: '',
    async *read(range = { start: 0, end: bytes.length - 1 }) {
      yield bytes.subarray(range.start, range.end + 1);
    },
  };
}

async function work(task: ContentTask, content: string): Promise<JsonObject & { readonly written: string }> {
  let written = '';
  const save: FileService['save'] = async ({ name, type }, source) => {
    for await (const piece of source) written += Buffer.from(piece).toString();
    return { $file: 'saved', name, type, size: written.length, sha256: '' };
  };
  const inputs = content === '' ? [] : [fileOf(content)];
  const output = await services.service(caller).work({ task, inputs, save, timeoutMs: 60_000 }, NEVER);
  return { ...output, written };
}

const read = (content: string, more: { skip?: number; limit?: number } = {}) =>
  work(
    { kind: 'read_rows', form: { format: 'ical', encoding: 'auto' }, skip: 0, limit: 100, ...more },
    content,
  );

const calendar = (...lines: readonly string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');

const event = (...lines: readonly string[]) => ['BEGIN:VEVENT', ...lines, 'END:VEVENT'];

async function write(rows: readonly JsonObject[]): Promise<string> {
  const table = {
    format: 'ical',
    name: 'a.ics',
    type: 'text/calendar',
    columns: [],
    header: true,
    delimiter: ',',
    mark: false,
    formulas: false,
    sheet: '',
  } as const;
  return (await work({ kind: 'write_rows', table, rows: JSON.stringify(rows), forms: [] }, '')).written;
}

const codeOf = (working: Promise<unknown>) =>
  working.then(
    () => 'none',
    (error: unknown) => (error as { readonly code: string }).code,
  );

describe('a calendar', () => {
  it('has a row for each event, with everything that is around and in it left out', async () => {
    const text = calendar(
      'BEGIN:VTIMEZONE',
      'TZID:Europe/Berlin',
      'BEGIN:STANDARD',
      'DTSTART:19701025T030000',
      'END:STANDARD',
      'END:VTIMEZONE',
      ...event(
        'UID:1@example.com',
        'SUMMARY;LANGUAGE=en:Lunch\\, with "Ada"\\; long\\nand',
        '  folded',
        'DTSTART;TZID=Europe/Berlin:20260701T120000',
        'DTEND;TZID="Europe/Berlin":20260701T130000',
        'ORGANIZER;CN="Lovelace; Ada":mailto:ada@example.com',
        'ATTENDEE;PARTSTAT=ACCEPTED;CN=Bo:MAILTO:bo@example.com',
        'CATEGORIES:food,a\\,b',
        'STATUS:CONFIRMED',
        'RRULE:FREQ=WEEKLY;COUNT=3',
        'EXDATE;TZID=Europe/Berlin:20260708T120000',
        'BEGIN:VALARM',
        'SUMMARY:not this',
        'END:VALARM',
      ),
      'BEGIN:VTODO',
      'SUMMARY:nor this',
      'END:VTODO',
      ...event('SUMMARY:Holiday', 'DTSTART;VALUE=DATE:20260301', 'DURATION:P1D'),
    );
    expect(await read(text)).toMatchObject({
      format: 'ical',
      count: 2,
      has_more: false,
      rows: [
        {
          uid: '1@example.com',
          summary: 'Lunch, with "Ada"; long\nand folded',
          start: '2026-07-01T12:00:00+02:00',
          end: '2026-07-01T13:00:00+02:00',
          all_day: false,
          timezone: 'Europe/Berlin',
          status: 'confirmed',
          categories: ['food', 'a,b'],
          organizer: { name: 'Lovelace; Ada', email: 'ada@example.com' },
          attendees: [{ name: 'Bo', email: 'bo@example.com', status: 'accepted' }],
          recurrence: 'FREQ=WEEKLY;COUNT=3',
          excluded: ['2026-07-08T12:00:00+02:00'],
          description: null,
        },
        { summary: 'Holiday', start: '2026-03-01', end: '2026-03-02', all_day: true, uid: null },
      ],
    });
    expect(await read(text, { skip: 1, limit: 1 })).toMatchObject({ count: 1, has_more: false });
  });

  it('gives moments in UTC as such, and others without an offset if their zone is unknown', async () => {
    const text = calendar(
      ...event('DTSTART:20260101T000000Z', 'DURATION:PT1H30M'),
      ...event('DTSTART;TZID=Tokyo Standard Time:20260101T090000'),
      ...event('DTSTART:20260101T090000', 'DTEND:nonsense'),
    );
    expect((await read(text)).rows).toMatchObject([
      { start: '2026-01-01T00:00:00Z', end: '2026-01-01T01:30:00Z' },
      { start: '2026-01-01T09:00:00', timezone: 'Tokyo Standard Time' },
      { start: '2026-01-01T09:00:00', end: null },
    ]);
  });

  it('that is none, is cut off or never ends a line is refused', async () => {
    expect(await codeOf(read('id,name\n1,Ada\n'))).toBe('invalid_data');
    expect(await codeOf(read('\n'))).toBe('invalid_data');
    expect(await codeOf(read('BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\n'))).toBe('invalid_data');
    expect(await codeOf(read(calendar('BEGIN:VEVENT', 'END:VTODO')))).toBe('invalid_data');
    expect(await codeOf(read(calendar('no property')))).toBe('invalid_data');
    expect(await codeOf(read(`BEGIN:VCALENDAR\nX:${'x'.repeat(5_000_000)}`))).toBe('invalid_data');
    expect(await codeOf(read(`BEGIN:VCALENDAR\n${'BEGIN:X\n'.repeat(30)}`))).toBe('invalid_data');
  });
});

describe('writing a calendar', () => {
  it('makes what reading gives back', async () => {
    const rows = [
      {
        uid: '1@example.com',
        summary: `Lunch, with "Ada"; ${'長い題名'.repeat(20)}`,
        description: 'One\nTwo\\n',
        start: '2026-07-01T10:00:00Z',
        end: '2026-07-01T11:00:00Z',
        location: 'Roof',
        status: 'tentative',
        url: 'https://example.com/?a=1,2;3',
        categories: ['food', 'a,b'],
        organizer: { name: 'Lovelace; Ada', email: 'ada@example.com' },
        attendees: [{ name: null, email: 'bo@example.com', status: 'declined' }],
        recurrence: 'FREQ=WEEKLY;COUNT=3',
        excluded: ['2026-07-08T10:00:00Z'],
      },
      { summary: 'Holiday', start: '2026-03-01', end: '2026-03-02' },
    ];
    const text = await write(rows);
    expect(text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
    expect((await read(text)).rows).toMatchObject(rows);
  });

  it('writes offsets as UTC, days as days, and the same event with the same UID', async () => {
    const rows = [
      { start: '2026-03-01T09:00:00+09:00', end: '2026-03-01T10:00:00.5+09:00' },
      { start: '2026-03-01T09:00', attendees: ['bo@example.com'] },
      { start: '2026-03-01T09:00:00Z', end: '2026-03-02T09:00:00Z', all_day: true },
    ];
    const [text, again] = [await write(rows), await write(rows)];
    expect(text).toContain('DTSTART:20260301T000000Z\r\nDTEND:20260301T010000Z\r\n');
    expect(text).toContain('DTSTART:20260301T090000\r\nATTENDEE:mailto:bo@example.com\r\n');
    expect(text).toContain('DTSTART;VALUE=DATE:20260301\r\nDTEND;VALUE=DATE:20260302\r\n');
    const uids = (calendarText: string) => calendarText.match(/^UID:.*$/gm);
    expect(uids(text)).toEqual(uids(again));
    expect(new Set(uids(text)).size).toBe(3);
  });

  it('adds no line of somebody else', async () => {
    const text = await write([
      { start: '2026-03-01', summary: 'a\r\nATTENDEE:mailto:eve@example.com\u0000', uid: 'x\nURL:y' },
    ]);
    expect(text).not.toMatch(/^(?:ATTENDEE|URL)/m);
    for (const bad of [
      { start: '2026-02-30' },
      { summary: 'no start' },
      { start: '2026-03-01', url: 'https://a\r\nX:1' },
      { start: '2026-03-01', recurrence: 'FREQ=DAILY\nX:1' },
      { start: '2026-03-01', status: 'maybe' },
      { start: '2026-03-01', attendees: ['a@b\r\nX:1'] },
      { start: '2026-03-01', organizer: 'nobody' },
      { start: '2026-03-01', colour: 'red' },
    ])
      expect([bad, await codeOf(write([bad]))]).toEqual([bad, 'invalid_data']);
  });
});
