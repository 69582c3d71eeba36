/** Other keys whose use is counted, per busiest key: enough to notice one that overtakes. */
const CANDIDATES_PER_KEY = 16;
/** A key takes the place of another once it is this many times as busy, so that two of about the same don't alternate. */
const CLEARLY_BUSIER = 2;

interface Place<Meter> {
  readonly meter: Meter;
  uses: number;
}

/**
 * A meter for each of the busiest keys, and one for all others: however many keys there are, memory and page stay small. No meter is
 * ever decreased. A key that loses its place to a busier one is then counted in the shared meter, and starts from zero when it returns.
 */
export class Busiest<Meter> {
  /** What all other keys share. */
  readonly rest: Meter;
  readonly #limit: number;
  readonly #create: () => Meter;
  readonly #places = new Map<number, Place<Meter>>();
  readonly #candidates = new Map<number, number>();

  constructor(limit: number, create: () => Meter) {
    this.#limit = limit;
    this.#create = create;
    this.rest = create();
  }

  /** The meter that a use of this key is counted in. */
  use(key: number): Meter {
    const place = this.#places.get(key);
    if (place !== undefined) {
      place.uses += 1;
      return place.meter;
    }
    if (this.#places.size < this.#limit) return this.#give(key, 1);
    const uses = this.#candidates.get(key) ?? 0;
    if (uses > 0 || this.#candidates.size < this.#limit * CANDIDATES_PER_KEY) {
      this.#candidates.set(key, uses + 1);
    }
    return this.rest;
  }

  /** The keys with a meter of their own. */
  entries(): [key: number, meter: Meter][] {
    return Array.from(this.#places, ([key, { meter }]) => [key, meter]);
  }

  /** Gives the places of the least busy keys to busier ones. Earlier uses count half as much from now on. */
  rearrange(): void {
    const leaving = Array.from(this.#places).sort(([, a], [, b]) => a.uses - b.uses);
    const coming = Array.from(this.#candidates).sort(([, a], [, b]) => b - a);
    for (const [index, [key, uses]] of coming.entries()) {
      const least = leaving[index];
      if (least === undefined || uses <= least[1].uses * CLEARLY_BUSIER) break;
      this.#places.delete(least[0]);
      this.#give(key, uses);
    }
    for (const place of this.#places.values()) place.uses /= 2;
    this.#candidates.clear();
  }

  #give(key: number, uses: number): Meter {
    const meter = this.#create();
    this.#places.set(key, { meter, uses });
    return meter;
  }
}
