/** Listeners by the id of what they wait for. */
export class Subscribers {
  readonly #listeners = new Map<number, Set<() => void>>();

  /** Calls `listener` after each change. @returns a function that unsubscribes */
  subscribe(id: number, listener: () => void): () => void {
    const set = this.#listeners.get(id) ?? new Set();
    set.add(listener);
    this.#listeners.set(id, set);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.#listeners.get(id) === set) this.#listeners.delete(id);
    };
  }

  notify(id: number): void {
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }

  /** The ids that somebody waits for. */
  get ids(): readonly number[] {
    return [...this.#listeners.keys()];
  }
}
