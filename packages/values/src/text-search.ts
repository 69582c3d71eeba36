import type { Meter, Work } from './work.ts';

/*
 * Searches in texts of users. The engine's own search is fast, but with a long part that nearly occurs everywhere it compares all of the
 * part at every position: a minute for half a megabyte in one.
 */

/** Comparisons that the engine's own search may need in the worst case: about 5 ms. */
const MAX_COMPARISONS = 1e7;
/** Characters that are looked at between two chances to do something else: about a millisecond. */
export const SEARCHED_AT_ONCE = 64 * 1024;

function isCheap(text: string, part: string): boolean {
  return text.length * part.length <= MAX_COMPARISONS || part.length > text.length || part.length <= 1;
}

/** `text.includes(part)` in linear time. */
export function includesText(text: string, part: string): boolean {
  const find = searchFor(text, part);
  for (;;) {
    const at = find(0);
    if (at !== null) return at !== -1;
  }
}

/** {@link includesText}, in pieces if it takes long. The meter counts the characters of both. */
export function includesTextWork(text: string, part: string, meter: Meter): boolean | Work<boolean> {
  if (!isCheap(text, part)) return includedWork(searchFor(text, part), meter);
  meter.spendText(text.length);
  return text.includes(part);
}

function* includedWork(find: TextSearch, meter: Meter): Work<boolean> {
  for (;;) {
    const at = find(0);
    if (at !== null) return at !== -1;
    meter.spendText(SEARCHED_AT_ONCE);
    yield meter.take();
  }
}

/** Whether searching a text for a part takes so long that it is done in pieces. */
export function isLongSearch(text: string, part: string): boolean {
  return !isCheap(text, part);
}

/**
 * Where a part occurs in a text, from a position on, as `indexOf` tells. Null after {@link SEARCHED_AT_ONCE} characters, about a millisecond: it goes on when it
 * is asked for the same position again.
 */
export type TextSearch = (from: number) => number | null;

/** Searches a text for a part, again and again; all searches together take linear time. */
export function searchFor(text: string, part: string): TextSearch {
  if (isCheap(text, part)) return (from) => text.indexOf(part, from);
  const search = new LinearSearch(text, part);
  return (from) => search.find(from);
}

/** Knuth, Morris and Pratt's search: it never goes back in the text. */
class LinearSearch {
  readonly #text: string;
  readonly #part: string;
  /** Of each beginning of the part: how long the longest shorter beginning is with which it also ends. */
  readonly #borders: Uint32Array;
  /** How many borders are known. */
  #known = 1;
  /** Where the search began that hasn't ended; null if there is none. */
  #from: number | null = null;
  /** How far it has come, and how much of the part ends there. */
  #at = 0;
  #matched = 0;

  constructor(text: string, part: string) {
    this.#text = text;
    this.#part = part;
    this.#borders = new Uint32Array(part.length);
  }

  find(from: number): number | null {
    if (this.#known < this.#part.length) {
      this.#learn(Math.min(this.#known + SEARCHED_AT_ONCE, this.#part.length));
      return null;
    }
    if (this.#from !== from) {
      this.#from = from;
      this.#at = from;
      this.#matched = 0;
    }
    const until = Math.min(this.#at + SEARCHED_AT_ONCE, this.#text.length);
    const isFound = this.#advance(until);
    if (!isFound && until < this.#text.length) return null;
    this.#from = null;
    return isFound ? this.#at - this.#part.length : -1;
  }

  #learn(known: number): void {
    let matched = this.#borders[this.#known - 1] as number;
    for (; this.#known < known; this.#known += 1) {
      matched = this.#extend(matched, this.#part.charCodeAt(this.#known));
      this.#borders[this.#known] = matched;
    }
  }

  /** @returns whether the part ends before there; then the search has come to its end */
  #advance(until: number): boolean {
    let matched = this.#matched;
    let at = this.#at;
    while (at < until && matched < this.#part.length) {
      matched = this.#extend(matched, this.#text.charCodeAt(at));
      at += 1;
    }
    this.#matched = matched;
    this.#at = at;
    return matched === this.#part.length;
  }

  /** How much of the part is matched when this character follows what was. */
  #extend(matched: number, code: number): number {
    let length = matched;
    while (length > 0 && this.#part.charCodeAt(length) !== code) length = this.#borders[length - 1] as number;
    return this.#part.charCodeAt(length) === code ? length + 1 : length;
  }
}
