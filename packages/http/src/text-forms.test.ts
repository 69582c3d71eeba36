import { parseTimestamp } from '@millrace/engine';
import { describe, expect, test } from 'vitest';
import { readBearer } from './bearer.ts';
import { pathId } from './ids.ts';
import { redactUrl } from './redact.ts';
import { mendUrl } from './routing.ts';

describe('parseTimestamp', () => {
  test.each([
    ['2026-11-20T09:30:00Z', '2026-11-20T09:30:00.000Z'],
    ['2026-11-20t09:30:00.5z', '2026-11-20T09:30:00.500Z'],
    ['2026-11-20T09:30:00.123456789+09:00', '2026-11-20T00:30:00.123Z'],
    ['2026-11-20T09:30:00-00:30', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20T09:30:00 09:00', '2026-11-20T00:30:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(moment);
  });

  test.each([
    '2026-11-20',
    '2026-11-20T09:30:00',
    '2026-11-20 09:30:00Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T24:30:00Z',
    '2026-11-20T09:30:00+25:00',
    '20261120T093000Z',
    '1700000000',
    'yesterday',
    '',
  ])('%s is not a timestamp', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });
});

test('pathId accepts ids that a row can have, and nothing else', () => {
  expect(pathId('1', 'workflow')).toBe(1);
  expect(pathId('9007199254740991', 'workflow')).toBe(2 ** 53 - 1);
  for (const text of [
    '0',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    ' 1',
    '9007199254740992',
    '9'.repeat(16),
    '',
  ]) {
    expect(() => pathId(text, 'workflow'), text).toThrow('Workflow not found.');
  }
});

test('redactUrl removes query strings, hashes, tokens and keys', () => {
  const key = `mr_${'a'.repeat(12)}_${'B'.repeat(49)}`;
  expect(redactUrl('/api/v1/webhooks/secret?x=1')).toBe('/api/v1/webhooks/[redacted]');
  expect(redactUrl('/API/V1/WEBHOOKS/secret/more')).toBe('/API/V1/WEBHOOKS/[redacted]/more');
  expect(redactUrl('/api/v1/callbacks/secret#x')).toBe('/api/v1/callbacks/[redacted]');
  expect(redactUrl(`/x/${key}/y?${key}`)).toBe('/x/[redacted]/y');
  expect(redactUrl(`/${'x'.repeat(10_000)}`)).toHaveLength(515);
});

test('mendUrl only changes paths that decode to no text', () => {
  expect(mendUrl('/a%20b?q=%zz')).toBe('/a%20b?q=%zz');
  expect(mendUrl('/a%zz?q=1')).toBe('/a%25zz?q=1');
  expect(mendUrl('/%ff')).toBe('/%25ff');
});

test('readBearer accepts one header with one token', () => {
  expect(readBearer(['Host', 'x'])).toEqual({ kind: 'absent' });
  expect(readBearer(['AUTHORIZATION', 'bEARER abc'])).toEqual({ kind: 'token', token: 'abc' });
  const malformed = [
    ['Bearer'],
    ['Bearer  a'],
    ['Bearer a b'],
    ['Basic a'],
    [`Bearer ${'x'.repeat(300)}`],
    ['a', 'a'],
  ];
  for (const values of malformed) {
    const headers = values.flatMap((value) => ['authorization', value]);
    expect(readBearer(headers)).toEqual({ kind: 'malformed' });
  }
});
