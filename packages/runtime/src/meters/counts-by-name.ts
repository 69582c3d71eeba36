/** What is counted under when there are too many names, or one isn't a plain code. */
export const OTHER = 'other';

const PLAIN_NAME = /^[a-z][a-z0-9_.]{0,63}$/;

/** Counts under names that others choose: only so many of them, and only plain ones, so that data doesn't get into labels. */
export class CountsByName {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  /** @param expected names that are shown before anything is counted: Prometheus doesn't see an increase from nothing to one */
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
