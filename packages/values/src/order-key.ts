import { compareDecimals, type Decimal } from './decimal.ts';
import { toDecimal } from './exact-number.ts';
import { isNumber, type JsonValue } from './json.ts';
import { type Meter, sortWork, type Work } from './work.ts';

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

/**
 * The items by their keys, which are as many; equal ones keep their order. Each key is ordered once, by the language itself where it knows the
 * order: calling back for each comparison takes several times as long.
 * @param sign -1 for descending; ranks stay as they are
 */
export function* sortByKeysWork(
  items: readonly JsonValue[],
  keys: readonly JsonValue[],
  sign: 1 | -1,
  meter: Meter,
): Work<JsonValue[]> {
  const texts = new Groups<string>(items.length);
  const numbers = new Groups<number>(items.length);
  const others: { readonly at: number; readonly key: OrderKey }[] = [];
  for (let at = 0; at < items.length; at += 1) {
    const value = keys[at] ?? null;
    if (typeof value === 'string') texts.add(value, at);
    else if (typeof value === 'number') numbers.add(value, at);
    else others.push({ at, key: orderKey(value) });
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  // Between doubles and exact numbers, only a comparison knows the order.
  if (others.some(({ key }) => key.rank === 0)) {
    numbers.moveTo((number, at) =>
      others.push({ at, key: { rank: 0, number: toDecimal(number), text: '' } }),
    );
  }
  const inOrder = yield* sortWork(
    others,
    meter,
    ({ key: left }, { key: right }) => left.rank - right.rank || sign * compareKeys(left, right),
  );
  const ascending = yield* sortWork([...texts.keys()], meter, compareTexts, (run) => run.sort());
  const sorted: JsonValue[] = [];
  const put = (at: number): void => void sorted.push(items[at] ?? null);
  numbers.inOrder([...Float64Array.from(numbers.keys()).sort()], sign, put);
  for (const { at, key } of inOrder) if (key.rank === 0) put(at);
  texts.inOrder(ascending, sign, put);
  for (const { at, key } of inOrder) if (key.rank > 0) put(at);
  return sorted;
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Indexes of items by their key. Most keys are few items', so those of one key are a chain instead of a list. */
class Groups<Key> {
  readonly #first = new Map<Key, number>();
  readonly #next: Int32Array;
  /** By the first index of a chain. */
  readonly #last: Int32Array;

  constructor(size: number) {
    this.#next = new Int32Array(size).fill(-1);
    this.#last = new Int32Array(size);
  }

  add(key: Key, at: number): void {
    const first = this.#first.get(key);
    if (first === undefined) this.#first.set(key, at);
    else this.#next[this.#last[first] as number] = at;
    this.#last[first ?? at] = at;
  }

  keys(): Iterable<Key> {
    return this.#first.keys();
  }

  /** @param keys ascending */
  inOrder(keys: readonly Key[], sign: 1 | -1, put: (at: number) => void): void {
    for (const key of sign === 1 ? keys : keys.toReversed()) this.#each(key, put);
  }

  moveTo(put: (key: Key, at: number) => void): void {
    for (const key of this.#first.keys()) this.#each(key, (at) => put(key, at));
    this.#first.clear();
  }

  #each(key: Key, put: (at: number) => void): void {
    for (let at = this.#first.get(key) ?? -1; at >= 0; at = this.#next[at] as number) put(at);
  }
}
