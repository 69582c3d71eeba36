import {
  canonicalWork,
  type JsonValue,
  LAST_RANK,
  type Meter,
  type OrderKey,
  orderKey,
  toDecimal,
  type Work,
} from '@millrace/engine';
import { scalarText } from '@millrace/node-kit/values';

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
export function identityOf(values: readonly JsonValue[], meter: Meter): Work<string> {
  const [first = null] = values;
  return canonicalWork(values.length === 1 ? first : values, meter);
}
