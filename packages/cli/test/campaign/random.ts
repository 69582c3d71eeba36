import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Random choices that a seed decides. */
export class Random {
  readonly #generator;

  constructor(seed: number) {
    this.#generator = xoroshiro128plus(seed);
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return uniformInt(this.#generator, least, most);
  }

  chance(percent: number): boolean {
    return this.between(1, 100) <= percent;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.between(0, values.length - 1)];
    if (value === undefined) throw new RangeError('There is nothing to pick from');
    return value;
  }

  shuffle<T>(values: readonly T[]): T[] {
    const left = [...values];
    return values.flatMap(() => left.splice(this.between(0, left.length - 1), 1));
  }
}
