import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { anySeed, commandToRepeat, parseSoakOptions, seedsFrom } from './soak-options.ts';
import { propertyTests } from './test-needs.ts';

const USUAL = { kind: 'run', runs: 20, seed: null, minutes: 0, files: [], testName: null };

it('runs everything once with any seed unless told otherwise', () => {
  expect(parseSoakOptions([])).toEqual(USUAL);
  const some = ['--runs', '100', '--seed', '7', '--minutes', '30', '-t', 'E29', 'engine', 'packages/ui'];
  expect(parseSoakOptions(some)).toEqual({
    ...{ kind: 'run', runs: 100, seed: 7, minutes: 30, testName: 'E29', files: ['engine', 'packages/ui'] },
  });
  expect(parseSoakOptions(['--help'])).toEqual({ kind: 'help' });
});

it.each([
  [['--runs', '0'], '--runs takes a whole number from 1 to 100000, not "0".'],
  [['--seed', '-5'], /seed/],
  [['--seed', '1.5'], '--seed takes a whole number from 1 to 100000000, not "1.5".'],
  [['--minutes', 'all'], /--minutes takes a whole number/],
  [['--fast'], /--fast/],
])('refuses %j', (args, explanation) => {
  expect(() => parseSoakOptions(args)).toThrow(explanation);
});

it('tells the command that repeats a round, which that command understands', () => {
  const task = parseSoakOptions(['--runs', '3', '--minutes', '5', '-t', "can't", 'engine']);
  if (task.kind !== 'run') throw new Error('it runs');
  expect(commandToRepeat(task, 42)).toBe(
    String.raw`npm run test:soak -- --runs 3 --seed 42 -t 'can'\''t' engine`,
  );
});

it('takes one seed after the other, all within the range', () => {
  const [first, second, third] = seedsFrom(99_999_999);
  expect([first, second, third]).toEqual([99_999_999, 100_000_000, 1]);
  expect([anySeed(0), anySeed(1 - Number.EPSILON)]).toEqual([1, 100_000_000]);
});

it('knows the test files with properties, also those of a contract', () => {
  const files = propertyTests(fileURLToPath(new URL('..', import.meta.url)));
  expect(files).toEqual(
    expect.arrayContaining([
      'bench/statistics.test.ts',
      'packages/engine/test/memory-store.test.ts',
      'packages/engine/test/model.test.ts',
      'packages/engine/test/simulation.test.ts',
      'packages/runtime/test/worker/pg-store.test.ts',
    ]),
  );
  expect(files).not.toContain('packages/engine/test/loops.test.ts');
});
