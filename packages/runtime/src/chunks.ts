import { type JsonText, Meter, type NodeRecord, parseJson, parseWork } from '@millrace/engine';
import { finishInTurns } from './turns.ts';

/** One checkpoint of an execution. */
export type Chunk = {
  readonly seq: number;
  readonly records: readonly NodeRecord[];
};

/** Parses the `chunks` column of a detail row. */
export function parseChunks(chunksJson: JsonText<Chunk[]> | null): Chunk[] {
  return chunksJson === null ? [] : parseJson(chunksJson);
}

/** {@link parseChunks} in turns: large outputs take long. */
export async function readChunks(chunksJson: JsonText<Chunk[]> | null): Promise<Chunk[]> {
  if (chunksJson === null) return [];
  return finishInTurns(parseWork(chunksJson, new Meter()));
}
