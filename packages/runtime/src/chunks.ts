import { type NodeRecord, parseJson } from '@millrace/engine';

/** One checkpoint of an execution. */
export interface Chunk {
  readonly seq: number;
  readonly records: readonly NodeRecord[];
}

/** Reads the `chunks` column of a detail row. */
export function parseChunks(chunksJson: string | null): Chunk[] {
  return chunksJson === null ? [] : (parseJson(chunksJson) as unknown as Chunk[]);
}
