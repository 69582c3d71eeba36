import type { IterationRecord, ShownRecord } from './execution.ts';

/** A record that is not that of a slot: a summary, or the end of an iteration. */
export interface LooseRecord {
  readonly record: ShownRecord | IterationRecord;
  readonly frame: null;
  unstoredAt: number;
}

/** What may have a record to be stored; `Frame` is what it belongs to. */
interface Entry<Frame> {
  readonly record: ShownRecord | IterationRecord | undefined;
  readonly frame: Frame | null;
  unstoredAt: number;
}

/** With fewer gaps than this it does not matter how many there are. */
const FEW = 50;

/**
 * What is not stored yet, each once, in the order in which it came to be: the latest records of nodes, and loose ones.
 * Entries know their place, because every attempt passes through here several times and a Set costs more than all else
 * a step does with it.
 */
export class Unstored<Frame> {
  #entries: (Entry<Frame> | null)[] = [];
  #gaps = 0;

  /** Places that are held, gaps included. */
  get size(): number {
    return this.#entries.length;
  }

  add(entry: Entry<Frame>): void {
    if (entry.unstoredAt < 0) entry.unstoredAt = this.#entries.push(entry) - 1;
  }

  /** It need not be stored, or comes to be anew. */
  drop(entry: Entry<Frame>): void {
    if (entry.unstoredAt < 0) return;
    this.#entries[entry.unstoredAt] = null;
    entry.unstoredAt = NOWHERE;
    this.#gaps += 1;
    // A loop over pure nodes drops what each iteration left behind.
    if (this.#gaps >= FEW && this.#gaps * 2 > this.#entries.length) this.#close();
  }

  /** All of it, which from now on counts as stored; `mark` is told whose records they are. */
  take(mark: (frame: Frame) => void): (ShownRecord | IterationRecord)[] {
    const records: (ShownRecord | IterationRecord)[] = [];
    for (const entry of this.#entries) {
      if (entry === null) continue;
      entry.unstoredAt = NOWHERE;
      if (entry.record !== undefined) records.push(entry.record);
      if (entry.frame !== null) mark(entry.frame);
    }
    this.#entries = [];
    this.#gaps = 0;
    return records;
  }

  #close(): void {
    const left = this.#entries.filter((entry) => entry !== null);
    left.forEach((entry, at) => {
      entry.unstoredAt = at;
    });
    this.#entries = left;
    this.#gaps = 0;
  }
}

/** `unstoredAt` of what is stored, or not there at all. */
export const NOWHERE = -1;

export function looseRecord(record: ShownRecord | IterationRecord): LooseRecord {
  return { record, frame: null, unstoredAt: NOWHERE };
}
