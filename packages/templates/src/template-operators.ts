import { compareDecimals } from '@millrace/values/decimal';
import {
  addExact,
  divideExact,
  type ExactNumber,
  multiplyExact,
  remainderExact,
  subtractExact,
  toDecimal,
} from '@millrace/values/exact-number';
import type { JsonValue } from '@millrace/values/json';
import { parseMoment } from '@millrace/values/zoned-time';
import type { InfixOperator } from './template-expression.ts';
import { isTruthy, type Spend, textOf, textSteps } from './template-filter.ts';
import { equalTo } from './template-filters-list.ts';
import { calculate, stepsToCompute } from './template-filters-number.ts';

/** An operator over two values. Total: what it can't handle gives null or false. */
type Operate = (left: JsonValue, right: JsonValue, maxBytes: number, spend: Spend) => JsonValue;

/** Operators that need the value after them only for some values before them. */
type Lazy = '||' | '&&' | '??';

/** Whether the value before one of these operators is its result already. */
export const SETTLED_BY_LEFT: { readonly [operator in Lazy]: (left: JsonValue) => boolean } = {
  '||': isTruthy,
  '&&': (left) => !isTruthy(left),
  '??': (left) => left !== null,
};

export function isLazy(operator: InfixOperator): operator is Lazy {
  return Object.hasOwn(SETTLED_BY_LEFT, operator);
}

export const OPERATORS: { readonly [operator in Exclude<InfixOperator, Lazy>]: Operate } = {
  '+': calculating(addExact),
  '-': calculating(subtractExact),
  '*': calculating(multiplyExact),
  '/': calculating(divideExact),
  '%': calculating(remainderExact),
  '~': (left, right, max, spend) => textOf(left, max, spend) + textOf(right, max, spend),
  '==': isEqual,
  '!=': (left, right, max, spend) => !isEqual(left, right, max, spend),
  '<': ordering((order) => order < 0),
  '<=': ordering((order) => order <= 0),
  '>': ordering((order) => order > 0),
  '>=': ordering((order) => order >= 0),
};

/** The number with the other sign; null for what isn't a number. */
export function negate(value: JsonValue, spend: Spend): JsonValue {
  spend(stepsToCompute(value));
  return calculate(subtractExact, 0, value);
}

function calculating(operation: (left: ExactNumber, right: ExactNumber) => ExactNumber | null): Operate {
  return (left, right, _, spend) => {
    spend(stepsToCompute(left) + stepsToCompute(right));
    return calculate(operation, left, right);
  };
}

function isEqual(left: JsonValue, right: JsonValue, maxBytes: number, spend: Spend): boolean {
  if (typeof left === 'string') spend(textSteps(left));
  return equalTo(right, maxBytes, spend)(left);
}

function ordering(fits: (order: number) => boolean): Operate {
  return (left, right, _, spend) => {
    spend(stepsToCompute(left) + stepsToCompute(right));
    const order = orderOf(left, right);
    return order !== null && fits(order);
  };
}

/** Negative, zero or positive for two numbers, two moments or two other texts; null for what has no order. */
function orderOf(left: JsonValue, right: JsonValue): number | null {
  const [a, b] = [toDecimal(left), toDecimal(right)];
  if (a !== null && b !== null) return compareDecimals(a, b);
  if (typeof left !== 'string' || typeof right !== 'string') return null;
  const [from, to] = [momentIn(left), momentIn(right)];
  if (from !== null && to !== null) return from - to;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** No moment is written with more characters. */
const MAX_MOMENT_LENGTH = 40;

function momentIn(text: string): number | null {
  return text.length > MAX_MOMENT_LENGTH ? null : parseMoment(text.trim());
}
