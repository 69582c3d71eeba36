import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { includesText, searchFor } from '../src/text-search.ts';

/** Long enough that the engine's own search isn't used. */
const LENGTH = 20_000;

it('finds what the language finds, in texts that repeat themselves', () => {
  const unit = fc.stringMatching(/^[ab]{1,5}$/);
  fc.assert(
    fc.property(unit, unit, fc.nat(LENGTH), fc.nat(5_000), (one, other, turn, start) => {
      const text = (one.repeat(LENGTH).slice(0, turn) + other.repeat(LENGTH)).slice(0, LENGTH);
      const part = (text.slice(start, start + 4_000) + one).slice(-3_900);
      const find = searchFor(text, part);
      for (const from of [0, 1, start, LENGTH - 10]) expect(find(from)).toBe(text.indexOf(part, from));
      expect(includesText(text, part)).toBe(text.includes(part));
    }),
    { numRuns: runs(50) },
  );
});

it('a part that is as long as the text, longer, or empty', () => {
  const text = 'a'.repeat(LENGTH);
  expect(includesText(text, text)).toBe(true);
  expect(includesText(text, `${text}a`)).toBe(false);
  expect(includesText(text, '')).toBe(true);
});
