import { type Decimal, parseDecimal } from './decimal.ts';
import { isNumber, type JsonValue, parseJson, stringifyJson } from './json.ts';

/**
 * Lossless decimal arithmetic: 0.1 + 0.2 is 0.3, and nothing is rounded unless asked for. A number is `units` times ten to the power of
 * minus `scale`.
 */
export interface ExactNumber {
  readonly units: bigint;
  /** Decimal places; never negative. */
  readonly scale: number;
}

/** Digits before or after the decimal point. Longer numbers aren't realistic amounts, and computing with them is expensive. */
const MAX_DIGITS = 1_000;
/** Digits of a non-terminating quotient; a double represents any 15. */
const QUOTIENT_DIGITS = 15;
/** A quotient that terminates within this many decimal places is exact. */
const MAX_QUOTIENT_SCALE = 20;

/** Converts a number, or a string that is a JSON number, for comparison; null for anything else. */
export function toDecimal(value: JsonValue): Decimal | null {
  if (isNumber(value)) return parseDecimal(stringifyJson(value));
  return typeof value === 'string' ? parseDecimal(value.trim()) : null;
}

/** Converts a number, or a string that is a JSON number; null for anything else, and for numbers of more than a thousand digits. */
export function toExact(value: JsonValue): ExactNumber | null {
  const decimal = toDecimal(value);
  if (decimal === null) return null;
  const scale = Number(-decimal.power);
  if (Math.abs(scale) > MAX_DIGITS || decimal.digits.length - scale > MAX_DIGITS * 2) return null;
  const units = BigInt(decimal.sign) * BigInt(decimal.digits);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** As JSON: a number, or a raw number where a double would lose digits. */
export function fromExact(number: ExactNumber): JsonValue {
  const { units, scale } = withoutTrailingZeros(number);
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return parseJson(units < 0n ? `-${text}` : text);
}

export function addExact(left: ExactNumber, right: ExactNumber): ExactNumber {
  const [a, b, scale] = aligned(left, right);
  return { units: a + b, scale };
}

export function subtractExact(left: ExactNumber, right: ExactNumber): ExactNumber {
  return addExact(left, { units: -right.units, scale: right.scale });
}

export function multiplyExact(left: ExactNumber, right: ExactNumber): ExactNumber {
  return { units: left.units * right.units, scale: left.scale + right.scale };
}

/** Exact when the quotient terminates within 20 decimal places, else rounded to 15 digits; null when dividing by zero. */
export function divideExact(left: ExactNumber, right: ExactNumber): ExactNumber | null {
  if (right.units === 0n) return null;
  const [a, b] = aligned(left, right);
  const shifted = a * 10n ** BigInt(MAX_QUOTIENT_SCALE);
  if (shifted % b === 0n) return withoutTrailingZeros({ units: shifted / b, scale: MAX_QUOTIENT_SCALE });
  // As many decimal places as make 15 digits in total; leading zeros after the decimal point don't count.
  const scale = QUOTIENT_DIGITS - magnitudeOf(a, b);
  const units =
    scale >= 0
      ? divideRounded(a * 10n ** BigInt(scale), b)
      : divideRounded(a, b * 10n ** BigInt(-scale)) * 10n ** BigInt(-scale);
  return withoutTrailingZeros({ units, scale: Math.max(0, scale) });
}

/** How many digits the quotient has before its decimal point; negative for zeros after it. */
function magnitudeOf(a: bigint, b: bigint): number {
  const difference = String(abs(a)).length - String(abs(b)).length;
  const isLarger =
    difference >= 0
      ? abs(a) >= abs(b) * 10n ** BigInt(difference)
      : abs(a) * 10n ** BigInt(-difference) >= abs(b);
  return isLarger ? difference + 1 : difference;
}

/** Rounds half away from zero. */
export function roundExact(number: ExactNumber, places: number): ExactNumber {
  if (number.scale <= places) return number;
  return { units: divideRounded(number.units, 10n ** BigInt(number.scale - places)), scale: places };
}

/** What is left of a division into whole parts, with the sign of the dividend; null when dividing by zero. */
export function remainderExact(left: ExactNumber, right: ExactNumber): ExactNumber | null {
  if (right.units === 0n) return null;
  const [a, b, scale] = aligned(left, right);
  return { units: a % b, scale };
}

/** The largest whole number that isn't larger. */
export function floorExact({ units, scale }: ExactNumber): ExactNumber {
  const divisor = 10n ** BigInt(scale);
  const whole = units / divisor;
  return { units: units < 0n && whole * divisor !== units ? whole - 1n : whole, scale: 0 };
}

function aligned(left: ExactNumber, right: ExactNumber): [bigint, bigint, number] {
  if (left.scale === right.scale) return [left.units, right.units, left.scale];
  const scale = Math.max(left.scale, right.scale);
  return [
    left.units * 10n ** BigInt(scale - left.scale),
    right.units * 10n ** BigInt(scale - right.scale),
    scale,
  ];
}

function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const [a, b] = [abs(dividend), abs(divisor)];
  const rounded = (2n * a + b) / (2n * b);
  return dividend < 0n === divisor < 0n ? rounded : -rounded;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function withoutTrailingZeros({ units, scale }: ExactNumber): ExactNumber {
  let [left, right] = [units, scale];
  while (right > 0 && left % 10n === 0n) {
    left /= 10n;
    right -= 1;
  }
  return { units: left, scale: right };
}
