import { isJsonArray, isRawNumber, type JsonObject, type JsonValue } from './json.ts';

/**
 * Work on data of any size, done in pieces: a generator that yields how many steps it has done since it last yielded. Whoever runs it
 * may do something else in between, and may end it when it has done too many steps. A step is about what looking at one item takes;
 * steps are counted, not measured, so that the same data always takes the same number.
 */
export type Work<Result> = Generator<number, Result, void>;

/** Steps after which work yields. */
const PIECE = 1_000;
/** Characters of text that count as one step. */
const STEP_CHARACTERS = 1_024;

/** Counts the steps of work. */
export class Meter {
  #steps = 0;

  spend(steps: number): void {
    this.#steps += steps;
  }

  /** For reading or comparing this many characters. */
  spendText(characters: number): void {
    this.#steps += characters / STEP_CHARACTERS;
  }

  /** Whether it is time to yield. */
  get isDue(): boolean {
    return this.#steps >= PIECE;
  }

  /** The whole steps since it was last asked. */
  take(): number {
    const steps = Math.floor(this.#steps);
    this.#steps -= steps;
    return steps;
  }
}

/** Whether a value is {@link Work}: no JSON value and no promise has a `next`. */
export function isWork<Result>(value: Result | Promise<Result> | Work<Result>): value is Work<Result> {
  return typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function';
}

/** Work took more steps than it may. */
export class TooManyStepsError extends Error {}

/**
 * Runs work to its end at once.
 * @throws TooManyStepsError
 */
export function finishWork<Result>(work: Work<Result>, maxSteps = Number.POSITIVE_INFINITY): Result {
  let steps = 0;
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    steps += value;
    if (steps > maxSteps) throw new TooManyStepsError(`more than ${maxSteps} steps`);
  }
}

/** Each item changed. */
export function* mapWork<Item, Result>(
  items: readonly Item[],
  meter: Meter,
  change: (item: Item, index: number) => Result,
): Work<Result[]> {
  const changed: Result[] = [];
  for (let index = 0; index < items.length; index += 1) {
    changed.push(change(items[index] as Item, index));
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
  return changed;
}

/** Lists up to this length are sorted at once. */
const SORTED_AT_ONCE = 256;

/**
 * A sorted copy; equal items keep their order.
 * @param sortRun sorts a short list, where that is faster without calling back for each comparison
 */
export function* sortWork<Item>(
  items: readonly Item[],
  meter: Meter,
  compare: (left: Item, right: Item) => number,
  sortRun: (run: Item[]) => Item[] = (run) => run.sort(compare),
): Work<readonly Item[]> {
  let sorted: Item[] = [];
  for (let at = 0; at < items.length; at += SORTED_AT_ONCE) {
    const run = sortRun(items.slice(at, at + SORTED_AT_ONCE));
    for (const item of run) sorted.push(item);
    meter.spend(run.length * 8);
    if (meter.isDue) yield meter.take();
  }
  for (let width = SORTED_AT_ONCE; width < items.length; width *= 2) {
    const merged: Item[] = [];
    for (let at = 0; at < items.length; at += 2 * width) {
      yield* merge(sorted, [at, Math.min(at + width, items.length), at + 2 * width], merged, meter, compare);
    }
    sorted = merged;
  }
  return sorted;
}

/** Appends two neighbouring sorted runs, `[start, middle)` and `[middle, end)`. */
function* merge<Item>(
  from: readonly Item[],
  [start, middle, end]: readonly [number, number, number],
  to: Item[],
  meter: Meter,
  compare: (left: Item, right: Item) => number,
): Work<void> {
  let left = start;
  let right = middle;
  const last = Math.min(end, from.length);
  while (left < middle || right < last) {
    const isLeft = right >= last || (left < middle && compare(from[left] as Item, from[right] as Item) <= 0);
    to.push(from[isLeft ? left++ : right++] as Item);
    meter.spend(1);
    if (meter.isDue) yield meter.take();
  }
}

/**
 * About how many steps it takes to read a value, up to `most`.
 */
export function stepsToRead(value: JsonValue, most: number): number {
  if (typeof value === 'string') return 1 + value.length / STEP_CHARACTERS;
  if (value === null || typeof value !== 'object') return 1;
  let steps = 0;
  const stack: JsonValue[] = [value];
  for (let item = stack.pop(); item !== undefined && steps < most; item = stack.pop()) {
    steps += 1;
    if (typeof item === 'string') steps += item.length / STEP_CHARACTERS;
    else if (isRawNumber(item)) steps += item.rawJSON.length / STEP_CHARACTERS;
    else if (isJsonArray(item)) steps += pushSome(item, stack, most);
    else if (item !== null && typeof item === 'object') {
      const object = item as JsonObject;
      steps += pushSome(Object.values(object), stack, most);
    }
  }
  return Math.min(steps, most);
}

/** Pushes as many as can matter, and returns how many it left out. */
function pushSome(values: readonly JsonValue[], stack: JsonValue[], most: number): number {
  const count = Math.min(values.length, Math.ceil(most));
  for (let at = 0; at < count; at += 1) stack.push(values[at] ?? null);
  return values.length - count;
}
