import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Measured, recordIn } from './record.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/reliability.md'), 'utf8');
const measured = (name: string, beside: number): Measured => ({
  ...{ name, executions: 3, glances: 12, alone: 20, beside },
});

it('replaces the table of attacks and its summary, and nothing else', () => {
  const page = recordIn(PAGE, [measured('calm', 30.4), measured('wild', 41), measured('on the edge', 40)]);
  const lines = page.split('\n');
  const at = lines.indexOf('| calm | 3 | 12 | 20 ms | 30 ms | 1.5 |');
  expect(lines.slice(at, at + 4)).toEqual([
    '| calm | 3 | 12 | 20 ms | 30 ms | 1.5 |',
    '| wild | 3 | 12 | 20 ms | 41 ms | 2.0 |',
    '| on the edge | 3 | 12 | 20 ms | 40 ms | 2.0 |',
    '',
  ]);
  expect(page).toContain("Beside 1 of the 3, the bystander's p95");
  const before = new Set(PAGE.split('\n'));
  expect(lines.filter((line) => !before.has(line) && !line.startsWith('| ')).length).toBe(1);
  expect(recordIn(page, [])).toBe(recordIn(PAGE, []));
});

it('fails if the page has no such table', () => {
  expect(() => recordIn('# Reliability', [])).toThrow('no table');
});
