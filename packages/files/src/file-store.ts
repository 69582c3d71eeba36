import type { Readable } from 'node:stream';

/** A part of a file, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where the bytes of files lie, by the file's id. Every method may throw FileError `file_store_unavailable`. */
export interface FileStore {
  /**
   * Writes while it reads. Once it resolves, the bytes survive a crash of the machine; until then, nothing can be read.
   * @throws what the source throws; FileError `file_store_full`
   */
  write(id: string, source: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * @param size of the whole file
   * @throws FileError `file_missing` if it isn't there with this size
   */
  read(id: string, size: number, range?: ByteRange): Promise<Readable>;
  /** Whether it is there with this size, without reading it. */
  has(id: string, size: number): Promise<boolean>;
  /** Whatever there is under this id, parts of it included; nothing is fine, too. */
  delete(id: string): Promise<void>;
  /** What can still be written; null if that has no meaning here. */
  freeBytes(): Promise<number | null>;
}
