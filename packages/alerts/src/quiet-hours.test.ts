import { expect, test } from 'vitest';
import { endOfQuietHours } from './quiet-hours.ts';

const at = (text: string) => Date.parse(text);
const NIGHT = { from: 22 * 60, to: 7 * 60 };
const NOON = { from: 12 * 60, to: 13 * 60 };

test.each([
  ['2026-11-23T21:59:59Z', 'UTC', NIGHT, null],
  ['2026-11-23T22:00:00Z', 'UTC', NIGHT, '2026-11-24T07:00:00Z'],
  ['2026-11-24T06:59:59.999Z', 'UTC', NIGHT, '2026-11-24T07:00:00Z'],
  ['2026-11-24T07:00:00Z', 'UTC', NIGHT, null],
  ['2026-11-23T12:30:30Z', 'UTC', NOON, '2026-11-23T13:00:00Z'],
  ['2026-11-23T13:00:00Z', 'UTC', NOON, null],
  // 23:00 in Tokyo.
  ['2026-11-23T14:00:00Z', 'Asia/Tokyo', NIGHT, '2026-11-23T22:00:00Z'],
  ['2026-11-23T22:00:00Z', 'Asia/Tokyo', NIGHT, null],
  ['2026-11-23T03:00:00Z', 'Mars/Olympus', NIGHT, '2026-11-23T07:00:00Z'],
  ['2026-11-23T03:00:00Z', 'UTC', { from: 180, to: 180 }, null],
])('%s in %s', (now, zone, hours, end) => {
  expect(endOfQuietHours(at(now), zone, hours)).toBe(end === null ? null : at(end));
});
