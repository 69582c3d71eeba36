import type { Meter, Work } from '@millrace/engine';

/** Ranges in a byte string: alternating starts and ends, in order and disjoint. */
export type Ranges = readonly number[];

/** Bytes searched between two checks of the meter: about a millisecond. */
export const STRIDE = 256 * 1024;

/** Forms encode a space as `+`, so the two are treated as equal here. */
const FOLD = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 0x2b ? 0x20 : byte));

/**
 * Finds any number of secrets in one pass (Aho and Corasick, 1975). The cost of a pass depends neither on the number of
 * secrets nor on how much of the text resembles the start of one. The trie has a node for each byte of the secrets. Its
 * edges are lists: secrets rarely share prefixes, so most nodes have one edge.
 */
export class SecretSearch {
  /** Lengths in bytes of the shortest and the longest secret. */
  readonly shortest: number;
  readonly longest: number;
  readonly #byte: Uint8Array;
  readonly #firstChild: Int32Array;
  readonly #sibling: Int32Array;
  readonly #fallback: Int32Array;
  /** Length in bytes of the longest secret that ends at the node; 0 for none. */
  readonly #ending: Int32Array;
  /** Indexed by byte, so that bytes no secret starts with cost one look-up. */
  readonly #fromRoot = new Int32Array(256);
  #nodes = 1;

  constructor(secrets: readonly Uint8Array[]) {
    this.shortest = Math.min(...secrets.map(({ length }) => length));
    this.longest = Math.max(0, ...secrets.map(({ length }) => length));
    const size = 1 + secrets.reduce((sum, { length }) => sum + length, 0);
    this.#byte = new Uint8Array(size);
    this.#firstChild = new Int32Array(size);
    this.#sibling = new Int32Array(size);
    this.#fallback = new Int32Array(size);
    this.#ending = new Int32Array(size);
    for (const secret of secrets) this.#add(secret);
    this.#link();
    this.#fromRoot[0x2b] = this.#fromRoot[0x20] as number;
  }

  /** The ranges of secrets; overlapping ones are merged. */
  *find(bytes: Uint8Array, meter: Meter): Work<Ranges> {
    const ranges: number[] = [];
    let node = 0;
    for (let from = 0; from < bytes.length; from += STRIDE) {
      const until = Math.min(from + STRIDE, bytes.length);
      node = this.#advance(node, bytes, [from, until], ranges);
      meter.spendText(until - from);
      if (meter.isDue) yield meter.take();
    }
    return ranges;
  }

  /** Searches a piece. @param node where the one before it ended @returns where this one ends */
  #advance(
    node: number,
    bytes: Uint8Array,
    [from, until]: readonly [number, number],
    ranges: number[],
  ): number {
    const fromRoot = this.#fromRoot;
    const ending = this.#ending;
    let here = node;
    for (let at = from; at < until; at += 1) {
      if (here === 0) {
        while (at < until && fromRoot[bytes[at] as number] === 0) at += 1;
        if (at >= until) return 0;
        here = fromRoot[bytes[at] as number] as number;
      } else here = this.#next(here, FOLD[bytes[at] as number] as number);
      const found = ending[here] as number;
      if (found > 0) addRange(ranges, at + 1 - found, at + 1);
    }
    return here;
  }

  #add(secret: Uint8Array): void {
    let node = 0;
    for (const raw of secret) {
      const byte = FOLD[raw] as number;
      node = this.#child(node, byte) || this.#grow(node, byte);
    }
    this.#ending[node] = secret.length;
  }

  #grow(parent: number, byte: number): number {
    const node = this.#nodes;
    this.#nodes += 1;
    this.#byte[node] = byte;
    if (parent === 0) {
      this.#fromRoot[byte] = node;
    } else {
      this.#sibling[node] = this.#firstChild[parent] as number;
      this.#firstChild[parent] = node;
    }
    return node;
  }

  #child(parent: number, byte: number): number {
    if (parent === 0) return this.#fromRoot[byte] as number;
    let node = this.#firstChild[parent] as number;
    while (node !== 0 && this.#byte[node] !== byte) node = this.#sibling[node] as number;
    return node;
  }

  #next(from: number, byte: number): number {
    for (let node = from; node !== 0; node = this.#fallback[node] as number) {
      const child = this.#child(node, byte);
      if (child !== 0) return child;
    }
    return this.#fromRoot[byte] as number;
  }

  /** Sets each node's fallback for when no child matches; parents come before their children. */
  #link(): void {
    const queue = [...this.#fromRoot.filter((node) => node !== 0)];
    for (let at = 0; at < queue.length; at += 1) {
      const parent = queue[at] as number;
      for (let node = this.#firstChild[parent] as number; node !== 0; node = this.#sibling[node] as number) {
        const fallback = this.#next(this.#fallback[parent] as number, this.#byte[node] as number);
        this.#fallback[node] = fallback;
        this.#ending[node] = Math.max(this.#ending[node] as number, this.#ending[fallback] as number);
        queue.push(node);
      }
    }
  }
}

/** Adds a range that ends after all others. */
function addRange(ranges: number[], from: number, end: number): void {
  let start = from;
  while (ranges.length > 0 && (ranges.at(-1) as number) > start) {
    ranges.pop();
    start = Math.min(start, ranges.pop() as number);
  }
  ranges.push(start, end);
}

/** The union of several lists of ranges, in order. */
export function unionOf(all: readonly Ranges[]): Ranges {
  const some = all.filter(({ length }) => length > 0);
  const [only] = some;
  if (only === undefined || some.length === 1) return only ?? [];
  const pairs = some.flatMap((ranges) =>
    Array.from({ length: ranges.length / 2 }, (_, at) => [
      ranges[2 * at] as number,
      ranges[2 * at + 1] as number,
    ]),
  );
  const union: number[] = [];
  for (const [start = 0, end = 0] of pairs.sort(([a = 0], [b = 0]) => a - b)) {
    const last = union.at(-1);
    if (last === undefined || start >= last) union.push(start, end);
    else if (end > last) union[union.length - 1] = end;
  }
  return union;
}
