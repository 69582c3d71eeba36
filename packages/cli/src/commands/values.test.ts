import { describe, expect, it } from 'vitest';
import { readList } from '../read-list.ts';
import { readId, readKeyReference, readMoment } from './values.ts';

describe('readMoment', () => {
  it.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.000Z'],
    ['2027-01-31T12:00+02:00', '2027-01-31T10:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(readMoment(text).toISOString()).toBe(expected);
  });

  it.each(['', 'tomorrow', '2027', '2027-02-29', '2027-13-01', '2027-01-31T12:00:00', '31.01.2027', '1e9'])(
    'refuses %j',
    (text) => {
      expect(() => readMoment(text)).toThrow('2027-01-31');
    },
  );
});

describe('readList', () => {
  it('ignores blanks and empty parts', () => {
    expect(readList(' a, b,,c ,')).toEqual(['a', 'b', 'c']);
  });
});

describe('readId', () => {
  it('reads whole numbers from 1 on', () => {
    expect(readId('42', 'a workflow')).toBe(42);
  });

  it.each(['0', '-1', '1e3', '1.0', '+1', '0x10', '01', '', undefined, '99999999999999999'])(
    'refuses %j',
    (text) => {
      expect(() => readId(text, 'a workflow')).toThrow("isn't the ID of a workflow");
    },
  );
});

describe('readKeyReference', () => {
  it('distinguishes an id from the 12 characters of a key', () => {
    expect(readKeyReference('7')).toEqual({ id: 7 });
    expect(readKeyReference('Ab3dEf6hIj9k')).toEqual({ keyId: 'Ab3dEf6hIj9k' });
    expect(() => readKeyReference('Ab3dEf6hIj9')).toThrow("isn't the ID of a key");
  });
});
