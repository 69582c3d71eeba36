import { type JsonObject, setOwn } from '@millrace/values/json';
import type { IterationRecord, NodeRecord, ShownRecord } from './execution.ts';
import type { Plan } from './plan.ts';

/** Stored records of one frame: the top level, or one iteration of a loop. */
export interface FoldedFrame {
  /** The latest record of each node. */
  readonly records: Map<string, ShownRecord>;
  /** Loops that have not ended. */
  readonly loops: Map<string, FoldedLoop>;
}

export interface FoldedLoop {
  readonly ended: Map<number, IterationRecord>;
  /** Iterations that have not ended, and the last one that has: the loop's end shows its records. */
  readonly frames: Map<number, FoldedFrame>;
  /** The highest index in `ended`; -1 while there is none. */
  lastEnded: number;
}

export type RecordChunks = readonly { readonly records: readonly NodeRecord[] }[];

/**
 * The stored records that `resume` needs: the latest of each node and iteration. Omits records inside iterations that have ended, except
 * the last one, and everything inside a loop that has ended or was restarted. The result can be folded again with later records.
 */
export function foldRecords(chunks: RecordChunks): NodeRecord[] {
  const folded: NodeRecord[] = [];
  flatten(foldFrames(chunks), folded);
  return folded;
}

function flatten(frame: FoldedFrame, into: NodeRecord[]): void {
  for (const record of frame.records.values()) into.push(record);
  for (const { frames, ended } of frame.loops.values()) {
    for (const inside of frames.values()) flatten(inside, into);
    for (const record of ended.values()) into.push(record);
  }
}

/** {@link foldRecords} as a tree of frames. */
export function foldFrames(chunks: RecordChunks): FoldedFrame {
  const root = newFoldedFrame();
  /** By node inside a loop: that loop. The records of the loops tell how loops are nested; summaries are further out than their nodes. */
  const loopAround = new Map<string, string>();
  for (const { records } of chunks) {
    for (const record of records) {
      const { iteration, loopId } = record;
      if (record.status === 'iteration_ended') {
        putEnded(root, pathTo(record.loopId, loopAround), record);
      } else if (iteration === undefined || loopId === undefined) {
        putRecord(root, record);
      } else {
        if (record.iterations === undefined) loopAround.set(record.nodeId, loopId);
        const frame = frameAt(root, pathTo(loopId, loopAround), iteration);
        if (frame !== null) putRecord(frame, record);
      }
    }
  }
  return root;
}

function newFoldedFrame(): FoldedFrame {
  return { records: new Map(), loops: new Map() };
}

function loopIn(frame: FoldedFrame, loopId: string): FoldedLoop {
  const known = frame.loops.get(loopId);
  if (known !== undefined) return known;
  const loop: FoldedLoop = { ended: new Map(), frames: new Map(), lastEnded: -1 };
  frame.loops.set(loopId, loop);
  return loop;
}

/** A loop and those around it, outermost first. */
function pathTo(loopId: string, loopAround: ReadonlyMap<string, string>): readonly string[] {
  const path = [loopId];
  for (let around = loopAround.get(loopId); around !== undefined; around = loopAround.get(around)) {
    path.unshift(around);
    // Records that name each other as their loops are invalid.
    if (path.length > 100) break;
  }
  return path;
}

/** Null for an iteration that has ended, and when loops and iteration don't match. */
function frameAt(
  root: FoldedFrame,
  loops: readonly string[],
  iteration: readonly number[],
): FoldedFrame | null {
  if (loops.length !== iteration.length) return null;
  let frame = root;
  for (let level = 0; level < loops.length; level++) {
    const loop = loopIn(frame, loops[level] as string);
    const index = iteration[level] as number;
    if (loop.ended.has(index)) return null;
    let inside = loop.frames.get(index);
    if (inside === undefined) {
      inside = newFoldedFrame();
      loop.frames.set(index, inside);
    }
    frame = inside;
  }
  return frame;
}

function putRecord(frame: FoldedFrame, record: ShownRecord): void {
  const { nodeId } = record;
  if (frame.loops.has(nodeId)) {
    const before = frame.records.get(nodeId);
    const goesOn =
      record.status === 'running' && before?.status === 'running' && before.attempts === record.attempts;
    if (!goesOn) frame.loops.delete(nodeId);
  }
  frame.records.set(nodeId, record);
}

function putEnded(root: FoldedFrame, path: readonly string[], record: IterationRecord): void {
  const { iteration, loopId } = record;
  const around = frameAt(root, path.slice(0, -1), iteration.slice(0, -1));
  const index = iteration.at(-1);
  if (around === null || index === undefined) return;
  const loop = loopIn(around, loopId);
  loop.ended.set(index, record);
  if (index > loop.lastEnded) {
    loop.frames.delete(loop.lastEnded);
    loop.lastEnded = index;
  } else if (index < loop.lastEnded) {
    loop.frames.delete(index);
  }
}

/**
 * One record per node, for readers of the execution. For a node inside a loop: its summary once the loop has ended, before that its latest
 * record and the number of `iterations` so far.
 */
export function recordsToShow(chunks: RecordChunks): ShownRecord[] {
  const shown = new Map<string, ShownRecord>();
  const iterations = new Map<string, Set<string>>();
  for (const { records } of chunks) {
    for (const record of records) {
      if (record.loopId !== undefined && record.iteration !== undefined) {
        const seen = iterations.get(record.loopId) ?? new Set();
        iterations.set(record.loopId, seen.add(record.iteration.join()));
      }
      if (record.status !== 'iteration_ended') shown.set(record.nodeId, record);
    }
  }
  return [...shown.values()].map((record) => {
    const { loopId, iterations: counted } = record;
    if (loopId === undefined || counted !== undefined) return record;
    return { ...record, iterations: iterations.get(loopId)?.size ?? 1 };
  });
}

/**
 * The result of an execution: the output of the node that stopped it, else the outputs of the final top-level nodes: the output itself if
 * there is one, an object by node id if there are several. Nodes that were skipped, cancelled or failed are omitted, unless their failure
 * was handled.
 * @param records of the execution in storage order, folded or not
 */
export function resultOf(plan: Plan, records: readonly NodeRecord[]): JsonObject {
  const latest = new Map<string, ShownRecord>();
  for (const record of records) {
    if (record.status === 'success' && record.isStop === true) return record.output;
    if (record.status !== 'iteration_ended' && record.iteration === undefined)
      latest.set(record.nodeId, record);
  }
  const outputs = plan.root.sinks.flatMap(({ id }): [string, JsonObject][] => {
    const record = latest.get(id);
    const isGood = record?.status === 'success' || (record?.status === 'failed' && record.handles.length > 0);
    return isGood ? [[id, record.output]] : [];
  });
  return joinOutputs(outputs) ?? {};
}

/** A single output as is, several as an object by node id, null for none. */
export function joinOutputs(outputs: readonly (readonly [string, JsonObject])[]): JsonObject | null {
  const [first] = outputs;
  if (first === undefined) return null;
  if (outputs.length === 1) return first[1];
  const joined: { [nodeId: string]: JsonObject } = {};
  for (const [nodeId, output] of outputs) setOwn(joined, nodeId, output);
  return joined;
}
