import { expect, test } from 'vitest';
import { type VectorFacts, vectorFindings } from './vector-findings.ts';

const NONE: VectorFacts = {
  extension: 'missing',
  large: 0,
  indexed: 0,
  unfilled: 0,
  filled_items: 0,
  unfilled_items: 0,
  too_large: 0,
};

test.each<[string, Partial<VectorFacts>, readonly string[]]>([
  ['no large collections: nothing to say', {}, []],
  ['none, with the extension', { extension: 'ready' }, []],
  ['without the extension', { large: 2 }, ['info vectors_compared vectors_fix_missing']],
  [
    'with an old one',
    { large: 1, extension: 'old', too_large: 0 },
    ['info vectors_compared vectors_fix_old'],
  ],
  [
    'with one that could be added',
    { large: 1, extension: 'available' },
    ['info vectors_compared vectors_fix_available'],
  ],
  [
    'an index that is being filled',
    { large: 2, extension: 'ready', indexed: 1, unfilled: 1 },
    ['info vectors_filling vectors_filling_fix'],
  ],
  ['indexes', { large: 1, extension: 'ready', indexed: 1 }, ['info vectors_indexed vectors_indexed_fix']],
  [
    'an index that was lost',
    { large: 2, indexed: 1, too_large: 1 },
    ['warning vectors_too_large vectors_fix_missing'],
  ],
])('%s', (_, facts, expected) => {
  const said = vectorFindings({ ...NONE, ...facts }).map(({ level, what, fix }) =>
    `${level} ${what.key} ${fix.key}`.replaceAll('doctor.', ''),
  );
  expect(said).toEqual(expected);
});
