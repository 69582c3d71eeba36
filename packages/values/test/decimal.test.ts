import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareDecimals, parseDecimal } from '../src/decimal.ts';

function compare(left: string, right: string): number {
  const a = parseDecimal(left);
  const b = parseDecimal(right);
  if (a === null || b === null) throw new Error('not a number');
  return Math.sign(compareDecimals(a, b));
}

describe('exact decimals', () => {
  it('agree with big integers', () => {
    const big = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
    fc.assert(
      fc.property(big, big, (a, b) => {
        expect(compare(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it('agree with doubles', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(double, double, (a, b) => {
        expect(compare(String(a), String(b))).toBe(a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });

  it("don't depend on the notation", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.nat(50), (value, shift) => {
        expect(compare(`${value}e${shift}`, `${value}${'0'.repeat(shift)}`)).toBe(0);
        expect(compare(`-${value}${'0'.repeat(shift)}e-${shift}`, `-${value}.000`)).toBe(0);
      }),
    );
  });

  it.each(['', ' 1', '1 ', '01', '+1', '.5', '1.', '0x10', '1e', 'NaN', 'Infinity', '--1', '1_000', '１'])(
    "don't parse %j",
    (text) => expect(parseDecimal(text)).toBeNull(),
  );
});
