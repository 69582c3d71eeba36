import type { NodeRunDetail, NodeSummary } from '@millrace/admin-api';
import { loopsAround } from '@millrace/editor/form/template-scope.ts';
import {
  type Flow,
  type FlowNode,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '@millrace/engine';
import {
  configAtStart,
  configOf,
  type InputSource,
  nodesReadBy,
  renderInput,
  renderMember,
} from './rendered-input.ts';

/** Where a run stands: the index of each loop around it, outermost first. */
type Place = readonly number[];

/** What is known of an execution, and how more of it is read. */
export interface KnownRun {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  readonly flow: Flow;
  readonly summaries: readonly NodeSummary[];
  /** Whether of nodes of this type each run in a loop is kept. */
  keepsRuns(type: string): boolean;
  /** The run of a node whose record stands at a place; at the empty one its last. Null when there is none. */
  read(nodeId: string, place: Place): Promise<NodeRunDetail | null>;
}

/** What one run of a node was given. */
export interface GivenInput {
  /** The settings with what their templates came to. Of an iteration as a whole: none. */
  readonly config: JsonObject | null;
  /** Inside a loop: its `index`, and its `item` when that is known. */
  readonly seen: JsonObject | null;
  /** Inside a loop, but it is not known in which iteration. */
  readonly isPlaceUnknown: boolean;
  /** Nodes in the same iteration whose outputs it reads, and that are not stored. */
  readonly notKept: readonly string[];
}

/** Characters of all outputs together that are read to show what came of them. */
const MAX_READ = 4_000_000;

/** More would have to be read than a page can bear. */
export class TooLargeError extends Error {}

/**
 * What a run of a node was given.
 * @param stored where its record stands: inside a loop that has ended there is one for all of its iterations, the last
 *   one's, at the place of the loop
 * @throws TooLargeError
 */
export async function readInput(known: KnownRun, nodeId: string, stored: Place): Promise<GivenInput> {
  const reader = new Reader(known, stored);
  const loops = outermostFirst(known.flow, nodeId);
  if (stored.length > loops.length) {
    const loop = await reader.seenOf([...loops, nodeId], stored);
    return { config: null, seen: loop, isPlaceUnknown: false, notKept: [] };
  }
  const place = await reader.findPlace(loops, nodeId);
  const loop = place === null ? null : await reader.seenOf(loops, place);
  const node = known.flow.nodes.find(({ id }) => id === nodeId);
  const config = configOf(known.flow, nodeId) ?? {};
  const source = await reader.source(configAtStart(config, node?.type ?? ''), loops, loop);
  return {
    config: renderInput(config, known.flow, source, node?.type),
    seen: loop,
    isPlaceUnknown: place === null,
    notKept: [...(source.unknown ?? [])],
  };
}

interface Seen extends JsonObject {
  readonly index: number;
  /** Left out: it is not known. */
  readonly item?: JsonValue;
}

function seen(index: number, item: JsonValue | undefined): Seen {
  return item === undefined ? { index } : { index, item };
}

function outermostFirst(flow: Flow, nodeId: string): readonly string[] {
  return [...loopsAround(flow, nodeId)].reverse();
}

class Reader {
  readonly #known: KnownRun;
  readonly #stored: Place;
  readonly #counted = new Set<string>();
  #left = MAX_READ;

  constructor(known: KnownRun, stored: Place) {
    this.#known = known;
    this.#stored = stored;
  }

  /** In which iterations of these loops the run was; null when that is not stored. */
  async findPlace(loops: readonly string[], nodeId: string): Promise<Place | null> {
    const place = this.#stored.slice(0, loops.length);
    for (let level = place.length; level < loops.length; level++) {
      const last = await this.#lastOf(loops, level, loops[level + 1] ?? nodeId);
      if (last === null) return null;
      place.push(last);
    }
    return place;
  }

  /** What the nodes of an iteration see of their innermost loop. */
  async seenOf(loops: readonly string[], place: Place): Promise<Seen | null> {
    const [loopId, index] = [loops.at(-1), place.at(-1)];
    if (loopId === undefined || index === undefined) return null;
    if (this.#nodeOf(loopId)?.type === 'core.repeat') {
      return seen(index, await this.#cameToBefore(loopId, place));
    }
    const { items } = configOf(this.#known.flow, loopId) ?? {};
    if (items === undefined) return seen(index, undefined);
    const around = loops.slice(0, -1);
    const outer = await this.seenOf(around, place.slice(0, -1));
    const list = renderMember(items, this.#known.flow, await this.source(items, around, outer));
    return seen(index, list !== undefined && isJsonArray(list) ? (list[index] ?? null) : undefined);
  }

  /** What templates of a node inside these loops read. */
  async source(config: JsonValue, loops: readonly string[], loop: Seen | null): Promise<InputSource> {
    const { executionId, triggerData, flow } = this.#known;
    const outputs: { [nodeId: string]: JsonObject } = Object.create(null);
    const unknown = new Set<string>();
    for (const id of nodesReadBy(config)) {
      const around = outermostFirst(flow, id);
      // Nothing inside another loop can be read.
      if (around.some((each, level) => loops[level] !== each)) continue;
      const run = await this.#read(id, this.#stored.slice(0, around.length));
      if (run !== null && run.status !== 'skipped') setOwn(outputs, id, run.output as JsonObject);
      else if (run === null && around.length > 0 && this.#isForgotten(id)) unknown.add(id);
    }
    return { executionId, triggerData, outputs, unknown, item: loop?.item, index: loop?.index };
  }

  #nodeOf(id: string): FlowNode | undefined {
    return this.#known.flow.nodes.find((node) => node.id === id);
  }

  #summaryOf(id: string): NodeSummary | undefined {
    return this.#known.summaries.find(({ node_id: nodeId }) => nodeId === id);
  }

  /** Of what touches the outside every run is kept: one that is not there has not been. */
  #isForgotten(id: string): boolean {
    return this.#summaryOf(id) !== undefined && !this.#known.keepsRuns(this.#nodeOf(id)?.type ?? '');
  }

  /** The iteration of a loop that stands for all, once the loop has ended: by which it failed, else its last. */
  async #lastOf(loops: readonly string[], level: number, inside: string): Promise<number | null> {
    const loopId = loops[level] ?? '';
    const isAll = this.#stored.length === 0;
    const loop = isAll ? this.#summaryOf(loopId) : await this.#read(loopId, this.#stored.slice(0, level));
    const isAtEnd = loop?.status === 'success' || loop?.error?.code === 'max_iterations_reached';
    if (loop?.status === 'failed' && !isAtEnd) {
      return loop.error?.iteration?.[level] ?? null;
    }
    if (!isAtEnd) return null;
    const count = isAll ? this.#summaryOf(inside)?.iterations : countOf(loop as NodeRunDetail);
    return count === undefined || count === 0 ? null : count - 1;
  }

  /** `{{item}}` of a loop without a list: what the iteration before came to. */
  async #cameToBefore(loopId: string, place: Place): Promise<JsonValue | undefined> {
    const index = place.at(-1) ?? 0;
    if (index === 0) return null;
    const before = await this.#read(loopId, [...place.slice(0, -1), index - 1]);
    return before?.result as JsonValue | undefined;
  }

  async #read(nodeId: string, place: Place): Promise<NodeRunDetail | null> {
    const summary = this.#summaryOf(nodeId);
    if (summary === undefined) return null;
    const key = `${nodeId} ${place.join()}`;
    if (!this.#counted.has(key)) this.#left -= summary.output_size;
    this.#counted.add(key);
    if (this.#left < 0) throw new TooLargeError();
    return this.#known.read(nodeId, place);
  }
}

function countOf({ output }: NodeRunDetail): number | undefined {
  const { items, iterations } = output as JsonObject;
  if (typeof iterations === 'number') return iterations;
  return items !== undefined && isJsonArray(items) ? items.length : undefined;
}
