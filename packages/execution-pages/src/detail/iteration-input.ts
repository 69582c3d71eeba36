import type { NodeRunDetail, NodeSummary } from '@millrace/admin-api';
import { loopsAround } from '@millrace/editor-model/flow-scope.ts';
import {
  type Flow,
  type FlowNode,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '@millrace/engine';
import { configOf } from './config-of.ts';
import {
  configAtStart,
  type InputSource,
  nodesReadBy,
  readsNow,
  readsRequest,
  renderInput,
  renderMember,
} from './rendered-input.ts';

/** A run's iteration path: the index in each loop around it, outermost first. */
type Place = readonly number[];

/** The known part of an execution, and how to load more. */
export interface KnownRun {
  readonly executionId: number;
  readonly triggerData: JsonValue;
  readonly flow: Flow;
  readonly summaries: readonly NodeSummary[];
  /** Whether every run in a loop is stored for nodes of this type. */
  keepsRuns(type: string): boolean;
  /** The node's run stored at a path; its last run at the empty path. Null if there is none. */
  read(nodeId: string, place: Place): Promise<NodeRunDetail | null>;
}

/** The input of one run of a node. */
export interface GivenInput {
  /** The rendered settings; null for a whole iteration. */
  readonly config: JsonObject | null;
  /** Inside a loop: its `index`, and its `item` if known. */
  readonly seen: JsonObject | null;
  /** Inside a loop, but in an unknown iteration. */
  readonly isPlaceUnknown: boolean;
  /** Nodes in the same iteration whose outputs it reads but which aren't stored. */
  readonly notKept: readonly string[];
}

/** Total characters of outputs loaded for rendering. */
const MAX_READ = 4_000_000;

/** More outputs would have to be loaded than the page can handle. */
export class TooLargeError extends Error {}

/**
 * Reconstructs the input of a node's run.
 * @param stored path of its record: a loop that has ended has one record per inner node for all iterations, that of the
 * last one, at the loop's own path
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
  const atStart = configAtStart(config, node?.type ?? '');
  const source = await reader.source(atStart, loops, loop);
  const startedAt = readsNow(atStart) ? (await known.read(nodeId, stored))?.started_at : null;
  const nowMs = startedAt == null ? undefined : Date.parse(startedAt);
  return {
    config: renderInput(config, known.flow, { ...source, nowMs }, node?.type),
    seen: loop,
    isPlaceUnknown: place === null,
    notKept: [...(source.unknown ?? [])],
  };
}

interface Seen extends JsonObject {
  readonly index: number;
  /** Omitted if unknown. */
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

  /** The run's iteration in each of these loops; null if that isn't stored. */
  async findPlace(loops: readonly string[], nodeId: string): Promise<Place | null> {
    const place = this.#stored.slice(0, loops.length);
    for (let level = place.length; level < loops.length; level++) {
      const last = await this.#lastOf(loops, level, loops[level + 1] ?? nodeId);
      if (last === null) return null;
      place.push(last);
    }
    return place;
  }

  /** The values of the innermost loop that an iteration's nodes can read. */
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

  /** What the templates of a node inside these loops read. */
  async source(config: JsonValue, loops: readonly string[], loop: Seen | null): Promise<InputSource> {
    const { executionId, triggerData, flow } = this.#known;
    const outputs: { [nodeId: string]: JsonObject } = Object.create(null);
    const unknown = new Set<string>();
    for (const id of nodesReadBy(config)) {
      const around = outermostFirst(flow, id);
      // Nodes inside other loops can't be read.
      if (around.some((each, level) => loops[level] !== each)) continue;
      const run = await this.#read(id, this.#stored.slice(0, around.length));
      if (run !== null && run.status !== 'skipped') setOwn(outputs, id, run.output as JsonObject);
      else if (run === null && around.length > 0 && this.#isForgotten(id)) unknown.add(id);
    }
    const request = readsRequest(config) ? await this.#request() : undefined;
    return { executionId, triggerData, request, outputs, unknown, item: loop?.item, index: loop?.index };
  }

  /** What the trigger has kept of a call besides its body. */
  async #request(): Promise<JsonValue | undefined> {
    const trigger = this.#known.flow.nodes.find(({ type }) => type.startsWith('trigger.'));
    const run = trigger === undefined ? null : await this.#read(trigger.id, []);
    return run === null || run.status === 'skipped' ? undefined : (run.output as JsonObject).request;
  }

  #nodeOf(id: string): FlowNode | undefined {
    return this.#known.flow.nodes.find((node) => node.id === id);
  }

  #summaryOf(id: string): NodeSummary | undefined {
    return this.#known.summaries.find(({ node_id: nodeId }) => nodeId === id);
  }

  /** Nodes with external effects keep every run, so a missing one of theirs never happened. */
  #isForgotten(id: string): boolean {
    return this.#summaryOf(id) !== undefined && !this.#known.keepsRuns(this.#nodeOf(id)?.type ?? '');
  }

  /** The iteration represented by an ended loop's record: the one that failed, else the last. */
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

  /** `{{item}}` of a loop without a list: the previous iteration's result. */
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
