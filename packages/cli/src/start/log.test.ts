import { pino } from 'pino';
import { expect, test } from 'vitest';
import { TurnLines } from './log.ts';

function open() {
  const writes: string[][] = [];
  const lines = new TurnLines({
    write: (text) =>
      void writes.push(
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).msg),
      ),
  });
  const formatters = { level: (name: string) => ({ level: name }) };
  return { log: pino({ base: null, formatters }, lines), lines, writes };
}

test('lines of one turn are written together, in order', async () => {
  const { log, writes } = open();
  log.info('one');
  log.child({ a: 1 }).info('two');
  expect(writes).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  log.info('three');
  await new Promise((resolve) => setImmediate(resolve));
  expect(writes).toEqual([['one', 'two'], ['three']]);
});

test('a warning is written at once with the lines before it, and so is what a flush finds', () => {
  const { log, lines, writes } = open();
  log.info('one');
  log.warn('two');
  expect(writes).toEqual([['one', 'two']]);
  log.info('three');
  lines.flush();
  lines.flush();
  expect(writes).toEqual([['one', 'two'], ['three']]);
});

test('no more is held than fits into a write', () => {
  const { log, writes } = open();
  log.info('x'.repeat(70_000));
  expect(writes).toHaveLength(1);
});
