/** Lets one in at a time, in the order of asking. */
export class Gate {
  #isTaken = false;
  readonly #waiting: (() => void)[] = [];

  /** @returns how to leave; more than once does nothing */
  async enter(): Promise<() => void> {
    if (this.#isTaken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
    this.#isTaken = true;
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    };
  }
}
