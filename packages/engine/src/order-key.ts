import { compareDecimals, type Decimal } from './decimal.ts';
import { toDecimal } from './exact-number.ts';
import { isNumber, type JsonValue } from './json.ts';

/** A value prepared for comparison; lower ranks come first. */
export interface OrderKey {
  readonly rank: number;
  /** A double as it is: comparing decimals takes ten times as long. */
  readonly number: Decimal | number | null;
  readonly text: string;
}

/** Numbers by their exact value, then strings by UTF-16 code units, then false and true, then lists and objects, then null. */
export function orderKey(value: JsonValue): OrderKey {
  if (typeof value === 'number') return { rank: 0, number: value, text: '' };
  if (isNumber(value)) return { rank: 0, number: toDecimal(value), text: '' };
  if (typeof value === 'string') return { rank: 1, number: null, text: value };
  if (typeof value === 'boolean') return { rank: 2, number: null, text: String(value) };
  return { rank: value === null ? LAST_RANK : 3, number: null, text: '' };
}

/** Null comes last, whatever the direction. */
export const LAST_RANK = 4;

/** Negative, zero or positive, for keys of one rank. */
export function compareKeys(left: OrderKey, right: OrderKey): number {
  if (typeof left.number === 'number' && typeof right.number === 'number') return left.number - right.number;
  const [a, b] = [decimalOf(left), decimalOf(right)];
  if (a !== null && b !== null) return compareDecimals(a, b);
  if (left.text === right.text) return 0;
  return left.text < right.text ? -1 : 1;
}

function decimalOf({ number }: OrderKey): Decimal | null {
  return typeof number === 'number' ? toDecimal(number) : number;
}
