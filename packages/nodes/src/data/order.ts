import {
  canonicalJson,
  type JsonValue,
  LAST_RANK,
  type OrderKey,
  orderKey,
  toDecimal,
} from '@millrace/engine';
import { scalarText } from '../values.ts';

/**
 * How a value is compared for sorting. `auto`: by its type. `number`: numeric strings count as numbers, other values come last. `text`:
 * numbers and booleans count as their text.
 */
export function sortKey(value: JsonValue, as: 'auto' | 'number' | 'text' = 'auto'): OrderKey {
  if (as === 'auto') return orderKey(value);
  const number = as === 'number' ? toDecimal(value) : null;
  const text = as === 'text' ? scalarText(value) : undefined;
  const isLast = number === null && text === undefined;
  return { rank: isLast ? LAST_RANK : Number(as === 'text'), number, text: text ?? '' };
}

/** The same key for equal values: same type and content, numbers by value. */
export function identityOf(values: readonly JsonValue[]): string {
  const [first = null] = values;
  return values.length === 1 ? canonicalJson(first) : canonicalJson(values);
}
