import type { Meter, Work } from './work.ts';

/*
 * Searches in texts of users. The engine's own search is fast, but with a long part that nearly occurs everywhere it compares all of the
 * part at every position: a minute for half a megabyte in one.
 */

/** Comparisons that the engine's own search may need in the worst case: about 5 ms. */
const MAX_COMPARISONS = 1e7;
/** Characters of a piece: about a millisecond. */
const STRIDE = 64 * 1024;

function isCheap(text: string, part: string): boolean {
  return text.length * part.length <= MAX_COMPARISONS || part.length > text.length || part.length <= 1;
}

/** `text.includes(part)` in linear time. */
export function includesText(text: string, part: string): boolean {
  if (isCheap(text, part)) return text.includes(part);
  return new LinearSearch(part).find(text, 0) !== -1;
}

/** {@link includesText}, in pieces if it takes long. The meter counts the characters of both. */
export function includesTextWork(text: string, part: string, meter: Meter): boolean | Work<boolean> {
  if (!isCheap(text, part)) return new LinearSearch(part, 1).includedIn(text, meter);
  meter.spendText(text.length);
  return text.includes(part);
}

/** Where a part occurs in a text, from a position on, as `indexOf` tells; all searches together take linear time. */
export function searchFor(text: string, part: string): (from: number) => number {
  if (isCheap(text, part)) return (from) => text.indexOf(part, from);
  const search = new LinearSearch(part);
  return (from) => search.find(text, from);
}

/** Knuth, Morris and Pratt's search: it never goes back in the text. */
class LinearSearch {
  readonly #part: string;
  /** Of each beginning of the part: how long the longest shorter beginning is with which it also ends. */
  readonly #borders: Uint32Array;
  /** How many borders are known. */
  #known = 1;

  /** @param known of how many beginnings the borders are found now; the others are found by {@link includedIn} */
  constructor(part: string, known = part.length) {
    this.#part = part;
    this.#borders = new Uint32Array(part.length);
    this.#learn(known);
  }

  /** Where the part first occurs from there on; -1 if nowhere. */
  find(text: string, from: number): number {
    const end = this.#advance(text, [from, text.length], 0);
    return end.at === -1 ? -1 : end.at - this.#part.length;
  }

  /** Whether the part occurs in a text, in pieces. */
  *includedIn(text: string, meter: Meter): Work<boolean> {
    for (let at = 1; at < this.#part.length; at += STRIDE) {
      this.#learn(Math.min(at + STRIDE, this.#part.length));
      meter.spendText(STRIDE);
      yield meter.take();
    }
    let matched = 0;
    for (let from = 0; from < text.length; from += STRIDE) {
      const end = this.#advance(text, [from, Math.min(from + STRIDE, text.length)], matched);
      if (end.at !== -1) return true;
      matched = end.matched;
      meter.spendText(STRIDE);
      yield meter.take();
    }
    return false;
  }

  #learn(known: number): void {
    let matched = this.#borders[this.#known - 1] as number;
    for (; this.#known < known; this.#known += 1) {
      matched = this.#extend(matched, this.#part.charCodeAt(this.#known));
      this.#borders[this.#known] = matched;
    }
  }

  /** @param before how much of the part is matched before the piece @returns where the part ends in the piece, or -1, and what of it ends there */
  #advance(
    text: string,
    [from, until]: readonly [number, number],
    before: number,
  ): { readonly at: number; readonly matched: number } {
    let matched = before;
    for (let at = from; at < until; at += 1) {
      matched = this.#extend(matched, text.charCodeAt(at));
      if (matched === this.#part.length) return { at: at + 1, matched };
    }
    return { at: -1, matched };
  }

  /** How much of the part is matched when this character follows what was. */
  #extend(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.#part.charCodeAt(length) !== code) length = this.#borders[length - 1] as number;
    return this.#part.charCodeAt(length) === code ? length + 1 : length;
  }
}
