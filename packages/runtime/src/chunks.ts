import { type JsonText, type NodeRecord, parseJson } from '@millrace/engine';

/** One checkpoint of an execution. */
export type Chunk = {
  readonly seq: number;
  readonly records: readonly NodeRecord[];
};

/** Parses the `chunks` column of a detail row. */
export function parseChunks(chunksJson: JsonText<Chunk[]> | null): Chunk[] {
  return chunksJson === null ? [] : parseJson(chunksJson);
}
