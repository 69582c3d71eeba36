import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Measured, recordIn } from './record.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/reliability.md'), 'utf8');
const measured = (name: string, beside: number): Measured => ({
  name,
  byWorker: { alone: 20, beside },
  byDefault: { alone: 10, beside: beside / 3 },
});

it('replaces the table of attacks and its summary, and nothing else', () => {
  const attacks = [measured('calm', 30.4), measured('wild', 41), measured('wildest', 63)];
  const page = recordIn(PAGE, [...attacks, measured('on the edge', 40)]);
  const lines = page.split('\n');
  const at = lines.indexOf('| calm | 20 ms | 30 ms | 1.5 | 10 ms | 10 ms | 1.0 |');
  expect(lines.slice(at, at + 5)).toEqual([
    '| calm | 20 ms | 30 ms | 1.5 | 10 ms | 10 ms | 1.0 |',
    '| wild | 20 ms | 41 ms | 2.0 | 10 ms | 14 ms | 1.4 |',
    '| wildest | 20 ms | 63 ms | 3.1 | 10 ms | 21 ms | 2.1 |',
    '| on the edge | 20 ms | 40 ms | 2.0 | 10 ms | 13 ms | 1.3 |',
    '',
  ]);
  expect(page).toContain('Beside 2 of the 4 attacks through the worker, and 1 by default,');
  const before = new Set(PAGE.split('\n'));
  expect(lines.filter((line) => !before.has(line) && !line.startsWith('| ')).length).toBe(1);
  expect(recordIn(page, [])).toBe(recordIn(PAGE, []));
});

it('fails if the page has no such table', () => {
  expect(() => recordIn('# Reliability', [])).toThrow('no table');
});
