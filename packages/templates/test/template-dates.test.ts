import { runs } from '@millrace/testing/property-runs';
import { type JsonValue, parseJson } from '@millrace/values/json';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyFilter as apply } from './support/filters.ts';

describe('dates', () => {
  const date = (value: JsonValue, format: string, zone = 'UTC'): JsonValue =>
    apply('date', value, [format, zone]);

  it.each<[JsonValue, string | null]>([
    ['2026-03-08', '2026-03-08T00:00:00.000Z'],
    ['2026-03-08T09:30', '2026-03-08T09:30:00.000Z'],
    ['2026-03-08 09:30:15', '2026-03-08T09:30:15.000Z'],
    ['2026-03-08T09:30:15.123456Z', '2026-03-08T09:30:15.123Z'],
    ['2026-03-08t09:30:15z', '2026-03-08T09:30:15.000Z'],
    ['2026-03-08T09:30:15+0900', '2026-03-08T00:30:15.000Z'],
    [' 2026-03-08T00:00:00-03:30 ', '2026-03-08T03:30:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [-1.5, '1969-12-31T23:59:58.500Z'],
    [1767225600, '2026-01-01T00:00:00.000Z'],
    ['1767225600', '2026-01-01T00:00:00.000Z'],
    [1767225600123, '2026-01-01T00:00:00.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-02-29', null],
    ['2026-13-01', null],
    ['2026-01-01T24:00:00', null],
    ['2026-01-01T00:00:60Z', null],
    ['today', null],
    ['', null],
    [null, null],
    [true, null],
    [1e300, null],
    [parseJson('1e400'), null],
    [{ a: 1 }, null],
  ])('T13: %j is %s', (value, iso) => {
    expect(date(value, 'iso')).toBe(iso);
  });

  it('T13: clocks that go forward and back', () => {
    const format = 'yyyy-MM-dd HH:mm xxx';
    expect(date('2026-03-08T06:59:00Z', format, 'America/New_York')).toBe('2026-03-08 01:59 -05:00');
    expect(date('2026-03-08T07:00:00Z', format, 'America/New_York')).toBe('2026-03-08 03:00 -04:00');
    expect(date('2026-11-01T05:30:00Z', format, 'America/New_York')).toBe('2026-11-01 01:30 -04:00');
    expect(date('2026-11-01T06:30:00Z', format, 'America/New_York')).toBe('2026-11-01 01:30 -05:00');
    expect(date('2026-01-01T00:00:00Z', format, 'Asia/Kolkata')).toBe('2026-01-01 05:30 +05:30');
    expect(date('2026-01-01T00:00:00Z', format, '-03:00')).toBe('2025-12-31 21:00 -03:00');
    expect(date('2026-01-01T00:00:00Z', format, 'Mars/Base')).toBeNull();
  });

  it('T13: every letter', () => {
    const at = '2026-03-08T15:04:05.060Z';
    expect(date(at, 'yyyy yy|MMMM MMM MM M|dd d|EEEE EEE|HH H hh h a|mm m|ss s SSS|XXX xxx xx')).toBe(
      '2026 26|March Mar 03 3|08 8|Sunday Sun|15 15 03 3 PM|04 4|05 5 060|Z +00:00 +0000',
    );
    expect(date('2026-03-08T00:30:00Z', 'h:mm a')).toBe('12:30 AM');
    expect(date('2026-03-08T12:30:00Z', 'hh:mm a')).toBe('12:30 PM');
    expect(date(at, "'day' d 'of' MMMM, h 'o''clock', it''s '")).toBe("day 8 of March, 3 o'clock, it'5 '");
    expect(date(at, 'unix')).toBe(1772982245);
    expect(date(at, 'unix_ms')).toBe(1772982245060);
    expect(date(at, '')).toBe('');
    expect(date('0099-12-31', 'yyyy-MM-dd EEE')).toBe('0099-12-31 Thu');
  });

  it('T13: in UTC it agrees with JavaScript, in zones it only shifts', () => {
    const moment = fc.integer({ min: Date.parse('1000-01-01'), max: Date.parse('9999-01-01') });
    const zones = fc.constantFrom(
      'Asia/Tokyo',
      'America/Sao_Paulo',
      'Europe/London',
      'Australia/Lord_Howe',
      '+05:45',
    );
    fc.assert(
      fc.property(moment, zones, (ms, zone) => {
        if (Math.abs(ms) < 1e11) return;
        expect(date(ms, "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")).toBe(new Date(ms).toISOString());
        const moved = date(ms, 'yyyy-MM-ddTHH:mm:ss.SSSxxx', zone) as string;
        // Before 1900 zones were off by seconds, which an offset can't express.
        if (ms > Date.parse('1972-01-02')) expect(Date.parse(moved)).toBe(ms);
      }),
      { numRuns: runs(500) },
    );
  });
});
