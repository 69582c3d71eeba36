import { expect, test } from 'vitest';
import { parseOptions, UsageError } from './options.ts';

const ROWS = ['bare', 'latency'];

test('without options every row is measured', () => {
  expect(parseOptions([], ROWS)).toMatchObject({ kind: 'measure', rows: ROWS, rounds: 5, json: false });
});

test('--quick is short, and can be overridden', () => {
  expect(parseOptions(['--quick', '--rounds', '2'], ROWS)).toMatchObject({
    rounds: 2,
    effort: { seconds: 1, pageRows: 5000 },
  });
});

test('--only chooses rows', () => {
  expect(parseOptions(['--only', 'latency'], ROWS)).toMatchObject({ rows: ['latency'] });
});

test('rows that are measured only if they are named are not part of everything', () => {
  expect(parseOptions([], ROWS, ['growth'])).toMatchObject({ rows: ROWS });
  expect(parseOptions(['--only', 'growth', '--history', '1000'], ROWS, ['growth'])).toMatchObject({
    rows: ['growth'],
    effort: { historyRows: 1000 },
  });
});

test('a name that begins several rows chooses them all', () => {
  const growth = ['growth-fill', 'growth-reads'];
  expect(parseOptions(['--only', 'growth'], ROWS, growth)).toMatchObject({
    rows: growth,
    historyFolder: null,
  });
  const kept = ['--only', 'growth-reads', '--history-folder', '/var/tmp/kept'];
  expect(parseOptions(kept, ROWS, growth)).toMatchObject({
    rows: ['growth-reads'],
    historyFolder: '/var/tmp/kept',
  });
});

test('a row with a name of its own is chosen alone', () => {
  const rows = ['execute-1', 'execute-1-key'];
  expect(parseOptions(['--only', 'execute-1'], rows)).toMatchObject({ rows: ['execute-1'] });
});

test.each([
  [['--only', 'lattency'], 'no row lattency; there are bare, latency'],
  [['--rounds', '0'], '--rounds takes a whole number'],
  [['--seconds', 'many'], '--seconds takes a whole number'],
  [['--history', '0'], '--history takes a whole number'],
  [['--quick', '--record'], '--record needs a complete run'],
  [['--check'], '--check only works with --document'],
  [['--only', 'bare', '--history-folder', 'kept'], '--history-folder only works with --only growth'],
  [['--history-folder', 'kept'], '--history-folder only works with --only growth'],
  [['--fast'], '--fast'],
])('rejects %j with a reason', (args, reason) => {
  expect(() => parseOptions(args, ROWS)).toThrow(UsageError);
  expect(() => parseOptions(args, ROWS)).toThrow(reason);
});
