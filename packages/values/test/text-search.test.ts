import { runs } from '@millrace/testing/property-runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { includesText, includesTextWork, searchFor } from '../src/text-search.ts';
import { Meter } from '../src/work.ts';

/** Long enough that the engine's own search isn't used. */
const LENGTH = 20_000;

it('finds what the language finds, in texts that repeat themselves', () => {
  const unit = fc.stringMatching(/^[ab]{1,5}$/);
  fc.assert(
    fc.property(unit, unit, fc.nat(LENGTH), fc.nat(5_000), (one, other, turn, start) => {
      const text = (one.repeat(LENGTH).slice(0, turn) + other.repeat(LENGTH)).slice(0, LENGTH);
      const part = (text.slice(start, start + 4_000) + one).slice(-3_900);
      const find = searchFor(text, part);
      for (const from of [0, 1, start, LENGTH - 10]) {
        let at = find(from);
        while (at === null) at = find(from);
        expect(at).toBe(text.indexOf(part, from));
      }
      expect(includesText(text, part)).toBe(text.includes(part));
      expect(inPieces(text, part).found).toBe(text.includes(part));
    }),
    { numRuns: runs(50) },
  );
});

function inPieces(text: string, part: string): { readonly found: boolean; readonly pieces: number } {
  const work = includesTextWork(text, part, new Meter());
  if (typeof work === 'boolean') return { found: work, pieces: 1 };
  for (let pieces = 1; ; pieces += 1) {
    const { done, value } = work.next();
    if (done === true) return { found: value, pieces };
  }
}

it('finds what lies across the end of a piece, and yields between long ones', () => {
  const part = `${'a'.repeat(1_500_000)}b`;
  expect(inPieces(`${'a'.repeat(1_999_999)}b`, part)).toEqual({ found: true, pieces: 54 });
  expect(inPieces('a'.repeat(2_000_000), part)).toEqual({ found: false, pieces: 54 });
});

it('a part that is as long as the text, longer, or empty', () => {
  const text = 'a'.repeat(LENGTH);
  expect(includesText(text, text)).toBe(true);
  expect(includesText(text, `${text}a`)).toBe(false);
  expect(includesText(text, '')).toBe(true);
});
