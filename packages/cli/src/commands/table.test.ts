import { describe, expect, it } from 'vitest';
import { card, moment, table } from './table.ts';

interface Row {
  readonly id: number;
  readonly name: string;
}

const columns = [
  { title: 'ID', align: 'right', cell: (row: Row) => String(row.id) },
  { title: 'NAME', cell: (row: Row) => row.name },
  { title: 'END', cell: () => '|' },
] as const;

describe('table', () => {
  it('aligns columns, numbers to the right', () => {
    const rows = [
      { id: 9, name: 'Acme' },
      { id: 10, name: 'B' },
    ];
    expect(table(rows, columns, 'none')).toBe(['ID  NAME  END', ' 9  Acme  |', '10  B     |'].join('\n'));
  });

  it('measures what a terminal shows: no colour codes, wide characters as two, marks as none', () => {
    const rows = [
      { id: 1, name: '\u001b[32mgreen\u001b[39m' },
      { id: 2, name: '日本語' },
      { id: 3, name: 'e\u0301' },
      { id: 4, name: '👨‍👩‍👧' },
    ];
    const lines = table(rows, columns, 'none').split('\n');
    expect(lines[1]).toBe(' 1  \u001b[32mgreen\u001b[39m   |');
    expect(lines[2]).toBe(' 2  日本語  |');
    expect(lines[3]).toBe(' 3  e\u0301       |');
    expect(lines[4]).toBe(' 4  👨‍👩‍👧      |');
  });

  it("isn't broken by line breaks and control characters in a cell", () => {
    const rows = [{ id: 1, name: 'two\nlines\u001b[2J\u0007' }];
    expect(table(rows, columns, 'none').split('\n')).toHaveLength(2);
    expect(table(rows, columns, 'none')).not.toContain('\u0007');
  });

  it('shows a message when there are no rows', () => {
    expect(table([], columns, 'none yet')).toBe('none yet');
  });
});

describe('card', () => {
  it('aligns values below one another', () => {
    expect(
      card([
        ['id', '1'],
        ['scopes', 'a b'],
      ]),
    ).toBe('id      1\nscopes  a b');
  });
});

describe('moment', () => {
  it('shows seconds in UTC, and a dash for none', () => {
    expect(moment(new Date('2026-11-20T09:30:00.123+02:00'))).toBe('2026-11-20 07:30:00Z');
    expect(moment(null)).toBe('-');
  });
});
