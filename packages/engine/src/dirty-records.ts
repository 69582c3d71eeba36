import type { IterationRecord, ShownRecord } from './execution.ts';
import { recordBytes } from './record-bytes.ts';

/** A record that doesn't belong to a slot: a summary, or the end of an iteration. */
export interface LooseRecord {
  readonly record: ShownRecord | IterationRecord;
  readonly frame: null;
  /** Of the record; see `recordBytes`. */
  readonly bytes: number;
  dirtyIndex: number;
}

/** May have a record to be stored; `Frame` is what it belongs to. */
interface Entry<Frame> {
  readonly record: ShownRecord | IterationRecord | undefined;
  readonly frame: Frame | null;
  dirtyIndex: number;
}

/** With fewer gaps than this, their number doesn't matter. */
const FEW = 50;

/**
 * Records that aren't stored yet, each once, in the order of their creation: the latest of each node, and loose ones. Entries know their index,
 * because every attempt passes through here several times and a Set would cost more than the rest of a step.
 */
export class DirtyRecords<Frame> {
  #entries: (Entry<Frame> | null)[] = [];
  #gaps = 0;

  /** Used indexes, including gaps. */
  get size(): number {
    return this.#entries.length;
  }

  add(entry: Entry<Frame>): void {
    if (entry.dirtyIndex < 0) entry.dirtyIndex = this.#entries.push(entry) - 1;
  }

  /** It needn't be stored, or is about to be added again. */
  drop(entry: Entry<Frame>): void {
    if (entry.dirtyIndex < 0) return;
    this.#entries[entry.dirtyIndex] = null;
    entry.dirtyIndex = NOT_DIRTY;
    this.#gaps += 1;
    // A loop over pure nodes drops the records of each iteration.
    if (this.#gaps >= FEW && this.#gaps * 2 > this.#entries.length) this.#compact();
  }

  /** Removes and returns all records, which count as stored from now on; `mark` is called with each record's frame. */
  take(mark: (frame: Frame) => void): (ShownRecord | IterationRecord)[] {
    const records: (ShownRecord | IterationRecord)[] = [];
    for (const entry of this.#entries) {
      if (entry === null) continue;
      entry.dirtyIndex = NOT_DIRTY;
      if (entry.record !== undefined) records.push(entry.record);
      if (entry.frame !== null) mark(entry.frame);
    }
    this.#entries = [];
    this.#gaps = 0;
    return records;
  }

  #compact(): void {
    const left = this.#entries.filter((entry) => entry !== null);
    left.forEach((entry, at) => {
      entry.dirtyIndex = at;
    });
    this.#entries = left;
    this.#gaps = 0;
  }
}

/** A record needn't be stored after all, and no longer counts. */
export function dropRecord<Frame>(
  from: { readonly dirtyRecords: DirtyRecords<Frame>; bytes: number },
  entry: Entry<Frame> & { readonly bytes: number },
): void {
  if (entry.dirtyIndex === NOT_DIRTY) return;
  from.dirtyRecords.drop(entry);
  from.bytes -= entry.bytes;
}

/** `dirtyIndex` of records that are stored or don't exist. */
export const NOT_DIRTY = -1;

export function looseRecord(record: ShownRecord | IterationRecord): LooseRecord {
  return { record, frame: null, bytes: recordBytes(record), dirtyIndex: NOT_DIRTY };
}
