/** A decimal number with any number of digits: `digits` times ten to the power of `power`, with no zeros at either end of `digits`. */
export interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** Empty for zero. */
  readonly digits: string;
  readonly power: bigint;
}

const NUMBER_TEXT = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Reading the digits of an exponent takes time quadratic in their number. */
const MAX_EXPONENT_DIGITS = 1_000;

/** Parses a JSON number exactly, however many digits it has; null when the text isn't one, or has an exponent of over a thousand digits. */
export function parseDecimal(text: string): Decimal | null {
  // Most texts aren't numbers.
  const first = text.charCodeAt(0);
  if (!(first === 0x2d || (first >= 0x30 && first <= 0x39))) return null;
  const match = NUMBER_TEXT.exec(text);
  if (match === null) return null;
  const [, minus = '', integer = '', fraction = '', exponent = '0'] = match;
  if (exponent.length > MAX_EXPONENT_DIGITS) return null;
  const padded = integer + fraction;
  // Loops, because `/0+$/` is quadratic on a long run of zeros in the middle of the text.
  let start = 0;
  while (padded[start] === '0') start += 1;
  let end = padded.length;
  while (end > start && padded[end - 1] === '0') end -= 1;
  if (start === end) return { sign: 0, digits: '', power: 0n };
  return {
    sign: minus === '' ? 1 : -1,
    digits: padded.slice(start, end),
    power: BigInt(exponent.replace('+', '')) - BigInt(fraction.length) + BigInt(padded.length - end),
  };
}

/** The same text for all ways to write a number: `-12.50e3` and `-12500` are both `-125e2`. */
export function decimalText({ sign, digits, power }: Decimal): string {
  return sign === 0 ? '0' : `${sign < 0 ? '-' : ''}${digits}e${power}`;
}

/** Negative, zero or positive, as `left` is less than, equal to or greater than `right`. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.sign !== right.sign) return left.sign - right.sign;
  const a = left.power + BigInt(left.digits.length);
  const b = right.power + BigInt(right.digits.length);
  if (a !== b) return a < b ? -left.sign : left.sign;
  if (left.digits === right.digits) return 0;
  return left.digits < right.digits ? -left.sign : left.sign;
}
