/*
 * Searches in texts of users. The engine's own search is fast, but with a long part that nearly occurs everywhere it compares all of the
 * part at every position: a minute for half a megabyte in one.
 */

/** Comparisons that the engine's own search may need in the worst case: about 25 ms. */
const MAX_COMPARISONS = 5e7;

function isCheap(text: string, part: string): boolean {
  return text.length * part.length <= MAX_COMPARISONS || part.length > text.length || part.length <= 1;
}

/** `text.includes(part)` in linear time. */
export function includesText(text: string, part: string): boolean {
  if (isCheap(text, part)) return text.includes(part);
  return new LinearSearch(part).find(text, 0) !== -1;
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

  constructor(part: string) {
    this.#part = part;
    this.#borders = new Uint32Array(part.length);
    for (let at = 1, matched = 0; at < part.length; at += 1) {
      matched = this.#extend(matched, part.charCodeAt(at));
      this.#borders[at] = matched;
    }
  }

  /** Where the part first occurs from there on; -1 if nowhere. */
  find(text: string, from: number): number {
    let matched = 0;
    for (let at = from; at < text.length; at += 1) {
      matched = this.#extend(matched, text.charCodeAt(at));
      if (matched === this.#part.length) return at - matched + 1;
    }
    return -1;
  }

  /** How much of the part is matched when this character follows what was. */
  #extend(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.#part.charCodeAt(length) !== code) length = this.#borders[length - 1] as number;
    return this.#part.charCodeAt(length) === code ? length + 1 : length;
  }
}
