import { isFinalStatus, type ShownRecord } from '@millrace/engine';
import { eventsOf, formatEvent } from '@millrace/http/event-stream';
import { type Chunk, parseChunks } from '@millrace/runtime/chunks';
import type { Watch } from '@millrace/runtime/watch';
import type { ChildTokens, ExecutionDetailRow } from '@millrace/service/executions/store';
import { parseChildTokens, presentItem, presentNode } from './present.ts';

/** Minimum interval between reads of a loop: one with many short iterations would send more than anyone can read. */
const LOOP_PAUSE_MS = 200;
/** Milliseconds after which a client that lost the stream reconnects. */
const RETRY_MS = 1_000;

/**
 * The server-sent events of one execution: `execution` (the list item) at the start and on each change of status, `node` (a node output
 * record with its `node_id`) for each change of a node; for a node inside a loop, with its `iteration`, for the latest change since the
 * last read. Ids are the checkpoints' numbers; the last one, after the final status, is one higher than the last checkpoint. Ends with the
 * final status.
 * @param afterSeq what the client has seen already
 */
export async function* streamEvents(
  read: (afterSeq: number) => Promise<ExecutionDetailRow | undefined>,
  watch: Watch,
  afterSeq: number,
): AsyncGenerator<string> {
  let seq = afterSeq;
  let shownStatus: string | null = null;
  yield `retry: ${RETRY_MS}\n\n`;
  yield* eventsOf(watch, async () => {
    const row = await read(seq);
    if (row === undefined) return { text: '', isLast: true };
    const isFinal = isFinalStatus(row.status);
    const { text, isLooping } = describeChanges(row, row.status !== shownStatus && !isFinal);
    shownStatus = row.status;
    seq = Math.max(seq, row.checkpoint_seq);
    const end = isFinal ? formatEvent('execution', presentItem(row), finalEventId(row)) : '';
    return { text: text + end, isLast: isFinal, pauseMs: isLooping ? LOOP_PAUSE_MS : 0 };
  });
}

/** The id of the event with the final status. */
export function finalEventId(row: ExecutionDetailRow): number {
  return row.checkpoint_seq + 1;
}

function describeChanges(
  row: ExecutionDetailRow,
  withStatus: boolean,
): { readonly text: string; readonly isLooping: boolean } {
  const chunks = parseChunks(row.chunks).map(toShownChunk);
  const childTokens = parseChildTokens(row.child_tokens);
  const status = withStatus ? formatEvent('execution', presentItem(row), null) : '';
  const latest = new Map(chunks.flatMap(({ records }) => records.map((record) => [record.nodeId, record])));
  const isLooping = [...latest.values()].some(isInsideLoop);
  return {
    text: status + chunks.map((chunk) => describeChunk(chunk, row, latest, childTokens)).join(''),
    isLooping,
  };
}

interface ShownChunk {
  readonly seq: number;
  readonly records: readonly ShownRecord[];
}

/** The end of an iteration is an internal record of the engine. */
function toShownChunk({ seq, records }: Chunk): ShownChunk {
  return { seq, records: records.filter((record) => record.status !== 'iteration_ended') };
}

function isInsideLoop({ iteration }: ShownRecord): boolean {
  return iteration !== undefined;
}

/** How a record is shown while its execution is running. */
const UNDER_WAY = { status: 'running', completed_at: null } as const;

/**
 * Only the last event of a chunk carries its id: a client that lost the rest gets the whole chunk again. A record that a later one replaces
 * is reported as it was then, although the execution may have ended since; inside a loop it is omitted.
 */
function describeChunk(
  { seq, records }: ShownChunk,
  row: ExecutionDetailRow,
  latest: ReadonlyMap<string, ShownRecord>,
  childTokens: ChildTokens,
): string {
  const shown = records.filter((record) => !isInsideLoop(record) || latest.get(record.nodeId) === record);
  const last = shown.length - 1;
  return shown
    .map((record, index) => {
      const execution = latest.get(record.nodeId) === record ? row : UNDER_WAY;
      const place = record.iteration === undefined ? {} : { iteration: record.iteration };
      const node = { node_id: record.nodeId, ...place, ...presentNode(record, execution, childTokens) };
      return formatEvent('node', node, index === last ? seq : null);
    })
    .join('');
}
