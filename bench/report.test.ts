import { expect, test } from 'vitest';
import { replaceSection } from './recorded-results.ts';
import { formatMarkdown, formatNumber, formatReport } from './report.ts';
import { type BenchResult, judge, summarise } from './result.ts';
import type { Metric } from './row.ts';

const METRICS: readonly Metric[] = [
  { id: 'bare', section: 'Throughput', label: 'Bare', unit: '/s' },
  { id: 'coalesced', section: 'Throughput', label: 'Coalesced', unit: '/s' },
  { id: 'execute-1.accepted', section: 'Throughput', label: 'Accepted', unit: '/s' },
  { id: 'execute-3.completed', section: 'Throughput', label: 'Completed', unit: '/s' },
  { id: 'latency.coalesced_p50', section: 'Latency', label: 'Round trip', unit: 'ms' },
  { id: 'latency.completed_p50', section: 'Latency', label: 'Seen completed', unit: 'ms' },
  { id: 'latency.completed_p99', section: 'Latency', label: 'Seen completed, p99', unit: 'ms' },
];

const ROUNDS = [
  {
    bare: 10_000,
    coalesced: 8000,
    'execute-1.accepted': 4000,
    'execute-3.completed': 2799,
    'latency.coalesced_p50': 10,
    'latency.completed_p50': 15,
    'latency.completed_p99': 30,
  },
  {
    bare: 9000,
    coalesced: 8200,
    'execute-1.accepted': 5000,
    'execute-3.completed': 2700,
    'latency.coalesced_p50': 9,
    'latency.completed_p50': 12,
    'latency.completed_p99': 25,
  },
  {
    bare: 11_000,
    coalesced: 7800,
    'execute-1.accepted': 3000,
    'execute-3.completed': 2900,
    'latency.coalesced_p50': 11,
    'latency.completed_p50': 20,
    'latency.completed_p99': 35,
  },
];

function resultOf(rounds: typeof ROUNDS): BenchResult {
  const metrics = summarise(METRICS, rounds);
  return {
    date: '2026-11-20T09:30:00.000Z',
    commit: '0123456789',
    machine: { cpu: 'Some CPU', cores: 2, memoryMib: 8192, kernel: '6.1', node: '24.0.0', postgres: '18.4' },
    effort: { rounds: 3, seconds: 5, warmupSeconds: 2, connections: 64, pageRows: 200_000 },
    stolenShare: 0.0125,
    metrics,
    aims: judge(metrics),
  };
}

test('a summary keeps every round and omits what was not measured', () => {
  const [bare, ...others] = summarise(METRICS, [{ bare: 3 }, { bare: 1 }, { bare: 2 }]);
  expect(bare).toMatchObject({ id: 'bare', median: 2, min: 1, max: 3, rounds: [3, 1, 2] });
  expect(others).toEqual([]);
});

test('a target is met at its bound for a ratio, and below it for a time', () => {
  const { aims } = resultOf(ROUNDS);
  expect(aims.map(({ value, met }) => ({ value, met }))).toEqual([
    { value: 0.3499, met: false },
    { value: 0.2799, met: true },
    { value: 0.5, met: true },
    { value: 1.5, met: true },
    { value: 30, met: false },
  ]);
});

test('no target is evaluated without its numbers', () => {
  expect(judge(summarise(METRICS, [{ bare: 1, 'execute-1.accepted': 1 }]))).toEqual([]);
});

test('numbers show their significant digits', () => {
  expect([8123.4, 123.4, 99.95, 12.34, 1.234, 0].map(formatNumber)).toEqual([
    '8,123',
    '123',
    '100.0',
    '12.3',
    '1.23',
    '0.00',
  ]);
});

test('several workers are compared with as many times one', () => {
  const metrics = [1, 2, 4].map((count) => ({ ...METRICS[0], id: `workers.${count}` }) as Metric);
  const aims = judge(summarise(metrics, [{ 'workers.1': 50, 'workers.2': 90, 'workers.4': 179 }]));
  expect(aims.map(({ value, met }) => ({ value, met }))).toEqual([
    { value: 0.9, met: true },
    { value: 0.895, met: false },
  ]);
});

test('the report has aligned columns with the ratios to both bare rows', () => {
  expect(formatReport(resultOf(ROUNDS)).split('\n').slice(0, 6)).toEqual([
    'Throughput',
    '           Median  Unit  Lowest  Highest  Of bare  Of coalesced',
    'Bare       10,000  /s     9,000   11,000     1.00          1.25',
    'Coalesced   8,000  /s     7,800    8,200     0.80          1.00',
    'Accepted    4,000  /s     3,000    5,000     0.40          0.50',
    'Completed   2,799  /s     2,700    2,900     0.28          0.35',
  ]);
});

test('the documentation shows the same numbers as tables', () => {
  const text = formatMarkdown(resultOf(ROUNDS));
  expect(text).toContain('| Accepted | 4,000 | /s | 3,000 | 5,000 | 0.40 | 0.50 |');
  expect(text).toContain('| Sent until seen completed, p99, idle service | 30.0 | below 30 ms | not met |');
});

test("only the text between the page's markers is replaced", () => {
  const marks = [
    '<!-- Written by: npm run bench -- --document -->',
    '<!-- End of what the command writes -->',
  ] as const;
  const page = `before\n\n${marks[0]}\n\nold\n\n${marks[1]}\n\nafter\n`;
  const replaced = replaceSection(page, 'new');
  expect(replaced).toBe(`before\n\n${marks[0]}\n\nnew\n\n${marks[1]}\n\nafter\n`);
  expect(replaceSection(replaced, 'new')).toBe(replaced);
  expect(() => replaceSection('no marks', 'new')).toThrow('lacks the lines');
});
