import { isRawNumber, type JsonValue } from '@millrace/engine';

/** A number as exact decimal: `sign` times 0.`digits` times ten to the power of `magnitude`. Zero has no digits. */
interface Decimal {
  readonly sign: -1 | 0 | 1;
  readonly digits: string;
  readonly magnitude: bigint;
}

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The JSON text of a number, raw or not; undefined for anything else. */
export function numberText(value: JsonValue): string | undefined {
  if (typeof value === 'number') return String(value);
  return isRawNumber(value) ? value.rawJSON : undefined;
}

/** Parses a JSON number exactly, however many digits it has; undefined when the string isn't a JSON number. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = JSON_NUMBER.exec(text);
  if (match === null) return undefined;
  const [, minus = '', integer = '', fraction = '', exponent = '0'] = match;
  const padded = integer + fraction;
  const start = leadingZeros(padded);
  const digits = padded.slice(start, padded.length - trailingZeros(padded, start));
  if (digits === '') return { sign: 0, digits, magnitude: 0n };
  return {
    sign: minus === '' ? 1 : -1,
    digits,
    magnitude: BigInt(integer.length - start) + BigInt(exponent.replace('+', '')),
  };
}

/** Negative, zero or positive, as `left` is less than, equal to or greater than `right`. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.sign !== right.sign) return left.sign - right.sign;
  if (left.magnitude !== right.magnitude) return left.magnitude < right.magnitude ? -left.sign : left.sign;
  if (left.digits === right.digits) return 0;
  return left.digits < right.digits ? -left.sign : left.sign;
}

function leadingZeros(digits: string): number {
  let count = 0;
  while (digits[count] === '0') count += 1;
  return count;
}

function trailingZeros(digits: string, from: number): number {
  let end = digits.length;
  while (end > from && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}
