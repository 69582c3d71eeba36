import {
  canonicalJson,
  compareDecimals,
  type Decimal,
  isNumber,
  type JsonValue,
  toDecimal,
} from '@millrace/engine';
import { scalarText } from '../values.ts';

/** How values are interpreted for sorting. */
export type SortAs = 'auto' | 'number' | 'text';

/** A value prepared for comparison; lower ranks come first. */
export interface OrderKey {
  readonly rank: number;
  readonly number: Decimal | null;
  readonly text: string;
}

/** Null and values without an order come last, whatever the direction. */
export const LAST_RANK = 4;

const unordered = (rank: number): OrderKey => ({ rank, number: null, text: '' });

/**
 * `auto`: numbers by their exact value, then strings by UTF-16 code units, then false and true, then lists and objects, then null.
 * `number`: numeric strings count as numbers, other values come last. `text`: numbers and booleans count as their text.
 */
export function orderKey(value: JsonValue, as: SortAs = 'auto'): OrderKey {
  if (as === 'number') {
    const number = toDecimal(value);
    return number === null ? unordered(LAST_RANK) : { rank: 0, number, text: '' };
  }
  if (as === 'text') {
    const text = scalarText(value);
    return text === undefined ? unordered(LAST_RANK) : { rank: 1, number: null, text };
  }
  if (isNumber(value)) return { rank: 0, number: toDecimal(value), text: '' };
  if (typeof value === 'string') return { rank: 1, number: null, text: value };
  if (typeof value === 'boolean') return { rank: 2, number: null, text: String(value) };
  return unordered(value === null ? LAST_RANK : 3);
}

/** Negative, zero or positive, for keys of one rank. */
export function compareKeys(left: OrderKey, right: OrderKey): number {
  if (left.number !== null && right.number !== null) return compareDecimals(left.number, right.number);
  if (left.text === right.text) return 0;
  return left.text < right.text ? -1 : 1;
}

/** The same key for equal values: same type and content, numbers by value. */
export function identityOf(values: readonly JsonValue[]): string {
  const [first = null] = values;
  return values.length === 1 ? canonicalJson(first) : canonicalJson(values);
}
