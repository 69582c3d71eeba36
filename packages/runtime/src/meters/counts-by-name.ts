/** The name for everything else: too many names, or ones that aren't plain codes. */
export const OTHER = 'other';

const PLAIN_NAME = /^[a-z][a-z0-9_.]{0,63}$/;

/** Counts by names that others choose: a limited number, and only plain ones, so that no data gets into labels. */
export class CountsByName {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  /** @param expected names that start at zero: Prometheus doesn't see an increase from nothing to one */
  constructor(limit: number, expected: readonly string[] = []) {
    this.#limit = limit;
    for (const name of expected) this.#counts.set(name, 0);
  }

  add(name: string, count = 1): void {
    const known = this.#counts.get(name);
    if (known !== undefined) this.#counts.set(name, known + count);
    else if (this.#counts.size < this.#limit && PLAIN_NAME.test(name)) this.#counts.set(name, count);
    else this.#counts.set(OTHER, (this.#counts.get(OTHER) ?? 0) + count);
  }

  entries(): [name: string, count: number][] {
    return Array.from(this.#counts);
  }
}
