import type { AuditItem } from '@millrace/admin-api';
import { describe, expect, test } from 'vitest';
import { toCsvRow, toJsonLine } from './export.ts';

const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠1'];
const BEFORE = ['', ' ', '"', '""', "'", '\u00a0', '\t', '\r', '\n', '\r\n'];
const SEPARATORS = [',', ';', '|', '\t'];

function itemWith(text: string): AuditItem {
  return {
    id: 1,
    occurred_at: '2026-11-20T09:30:00.000Z',
    action: 'x',
    actor: 'service',
    actor_name: text,
    api_key: null,
    member: null,
    source_ip: null,
    request_id: null,
    repeats: 1,
    last_occurred_at: null,
    details: { text },
  };
}

/** Cells as spreadsheets read them: quotes only count at the start of a cell, and what follows them belongs to it. */
function parseCells(text: string, separator: string): string[] {
  const cells: string[] = [];
  for (let at = 0; at <= text.length; at += 1) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] === '"' && text[at + 1] !== '"') break;
        if (text[at] === '"') at += 1;
        cell += text[at];
      }
      at += 1;
    }
    for (; at < text.length && text[at] !== separator && text[at] !== '\r' && text[at] !== '\n'; at += 1)
      cell += text[at];
    cells.push(cell);
  }
  return cells;
}

describe('no cell is a formula, whatever separator a spreadsheet uses', () => {
  test.each(SEPARATORS)('%j', (separator) => {
    for (const formula of FORMULAS) {
      for (const before of BEFORE) {
        for (const text of [`${before}${formula}`, `x${separator}${before}${formula}${separator}y`]) {
          const row = toCsvRow(itemWith(text));
          const formulas = parseCells(row, separator).filter((cell) => /^\s*[=+\-@＝＋－＠]/u.test(cell));
          expect(formulas, JSON.stringify({ text, row })).toEqual([]);
        }
      }
    }
  });
});

test('text that is not a formula is unchanged', () => {
  const row = toCsvRow(itemWith('ada@example.com, a-b; c=d | e + f'));
  expect(row).toContain('"ada@example.com, a-b; c=d | e + f"');
});

test('JSON lines keep everything unchanged', () => {
  expect(JSON.parse(toJsonLine(itemWith(';=1'))).details).toEqual({ text: ';=1' });
});
