import type { Flow, FlowNode, JsonObject, NodeRecord } from '../../src/index.ts';
import { describeNode, describeOutput, PLAIN_SCRIPT, type Script } from './nodes.ts';

/** How one node must end; `never`: it depends on a node that fails its scope. */
export interface Expected {
  readonly status: 'success' | 'failed' | 'skipped' | 'never';
  readonly handles: readonly string[];
  /** Null where it depends on the order of events. */
  readonly failures: number | null;
  readonly tokens: number | null;
  /** As later nodes see its output. */
  readonly text: string;
  /** It fails the execution, or the iteration it is in. */
  readonly fails: boolean;
  /** It fails the execution wherever it is. */
  readonly isFatal: boolean;
  /** It completes the execution. */
  readonly stops: boolean;
  /** Once reached, it ends everything, unless another node ends its scope first. */
  readonly endsAll: boolean;
  /** Its error code; null where it doesn't fail, or that depends on the order of events. */
  readonly code: string | null;
}

/** One iteration of a loop, or the top level. */
interface Scope {
  readonly loopId: string | null;
  readonly iteration: readonly number[];
  readonly item: string;
  readonly around: Scope | null;
  readonly ends: Map<string, Expected>;
}

/**
 * The required result of a flow of `test.*` nodes and loops, by recursion over the graph from the end: no queue, no events, no time.
 * Deliberately shares nothing with the engine.
 * @returns by node id and iteration (`n1_2 0`); for nodes inside loops also by id alone the summary of all iterations once the loop has
 * succeeded
 */
export function evaluateFlow(flow: Flow): ReadonlyMap<string, Expected> {
  const root: Scope = { loopId: null, iteration: [], item: '', around: null, ends: new Map() };
  const known = new Map<string, Expected>();
  new Evaluation(flow, known).scope(root);
  return known;
}

class Evaluation {
  readonly #flow: Flow;
  readonly #known: Map<string, Expected>;

  constructor(flow: Flow, known: Map<string, Expected>) {
    this.#flow = flow;
    this.#known = known;
  }

  scope(scope: Scope): void {
    for (const node of this.#nodesIn(scope.loopId)) this.#evaluate(node.id, scope);
  }

  #nodesIn(loopId: string | null): readonly FlowNode[] {
    return this.#flow.nodes.filter((node) => (node.parentId ?? null) === loopId);
  }

  #evaluate(id: string, scope: Scope): Expected {
    const before = scope.ends.get(id);
    if (before !== undefined) return before;
    const node = this.#flow.nodes.find((candidate) => candidate.id === id);
    if (node === undefined) throw new Error(`no node ${id}`);
    const expected =
      node.type === 'test.trigger' ? this.#evaluateTrigger(node) : this.#evaluateNode(node, scope);
    scope.ends.set(id, expected);
    this.#known.set([id, ...scope.iteration].join(' '), expected);
    return expected;
  }

  /** One trigger starts an execution: the one that says so, else the first. */
  #evaluateTrigger(node: FlowNode): Expected {
    const triggers = this.#flow.nodes.filter(({ type }) => type === 'test.trigger');
    const starting = triggers.find(({ data }) => data?.config?.starts === true) ?? triggers[0];
    return node === starting ? TRIGGER : SKIPPED;
  }

  #evaluateNode(node: FlowNode, scope: Scope): Expected {
    const incoming = this.#flow.edges.filter((edge) => edge.target === node.id);
    const sources = incoming.map((edge) => this.#evaluate(edge.source, scope));
    if (sources.some((source) => source.status === 'never' || source.fails)) return NEVER;
    const live = incoming.filter((edge) =>
      this.#evaluate(edge.source, scope).handles.includes(edge.sourceHandle ?? 'out'),
    );
    const isEntry = incoming.length === 0 && scope.loopId !== null;
    if (live.length === 0 && !isEntry) return this.#skipped(node, scope);
    const seen = [...new Set(live.map((edge) => edge.source))].map(
      (from) => `${from}=${this.#evaluate(from, scope).text}`,
    );
    if (node.type === 'test.child') return CHILD;
    return node.type.startsWith('core.')
      ? this.#evaluateLoop(node, scope)
      : this.#evaluateScript(node, seen, scope);
  }

  #skipped(node: FlowNode, scope: Scope): Expected {
    this.#skipInside(node.id, scope.iteration);
    return SKIPPED;
  }

  #skipInside(loopId: string, iteration: readonly number[]): void {
    for (const node of this.#nodesIn(loopId)) {
      this.#known.set([node.id, ...iteration].join(' '), SKIPPED);
      this.#skipInside(node.id, iteration);
    }
  }

  #evaluateScript(node: FlowNode, seen: readonly string[], scope: Scope): Expected {
    const { id, data } = node;
    const script = { ...PLAIN_SCRIPT, ...(data?.config?.script as Partial<Script> | undefined) };
    const maxAttempts = data?.retry?.max_attempts ?? 1;
    const tooOften = script.failures >= maxAttempts;
    const isOut = script.end === 'hang';
    const index = scope.iteration.at(-1);
    const failsHere = index !== undefined && script.failsAt.includes(index);
    if (tooOften || failsHere || isOut || script.end === 'failure' || script.end === 'fatal') {
      const failures = tooOften || isOut ? maxAttempts : script.failures + 1;
      const isFatal = !tooOften && !failsHere && script.end === 'fatal';
      const tokens = isOut ? 0 : failures * script.tokens;
      const code = tooOften ? 'flaky' : failsHere ? 'broken' : (CODES[script.end] ?? null);
      return failed(node, { isFatal, failures, tokens, code });
    }
    const isWait = script.end === 'wait';
    const isStop = script.end === 'stop';
    const tokens = (script.failures + (isWait || isStop ? 0 : 1)) * script.tokens;
    const handles = isWait ? ['out'] : isStop ? [] : script.handles;
    const payloads = Array.from({ length: script.rounds }, (_, n) =>
      script.waitMs === 0 ? `!${JSON.stringify(`${id}.${n + 1}`)}` : '!timeout',
    );
    const text = describeNode(id, seen, this.#whatIsSeen(data?.config?.see, scope));
    return {
      ...{ ...WELL, handles, failures: script.failures, tokens, stops: isStop, endsAll: isStop },
      text: script.end === 'signal' ? `${text}${payloads.join('')}` : text,
    };
  }

  /** The template forms in arbitrary flows: `{{nodes.<id>.output.text}}!`, in loops also ` {{index}}/{{item}}`. */
  #whatIsSeen(see: unknown, scope: Scope): string | null {
    if (typeof see !== 'string') return null;
    const id = /nodes\.(\w+)\./.exec(see)?.[1] ?? '';
    const own = see.includes('{{index}}') ? ` ${scope.iteration.at(-1)}/${scope.item}` : '';
    for (let at: Scope | null = scope; at !== null; at = at.around) {
      if (!this.#nodesIn(at.loopId).some((node) => node.id === id)) continue;
      const { status, text } = this.#evaluate(id, at);
      const isScript = this.#nodesIn(at.loopId).some((node) => node.id === id && hasText(node));
      return `${status === 'success' && isScript ? text : ''}!${own}`;
    }
    return `!${own}`;
  }

  #evaluateLoop(node: FlowNode, scope: Scope): Expected {
    const config: JsonObject = node.data?.config ?? {};
    const items = config.items as readonly number[] | undefined;
    const doneAt = Number(/"(\d)"/.exec(config.until as string)?.[1] ?? Infinity);
    const limit = items?.length ?? Number(config.max_iterations);
    const isDone = doneAt < limit;
    const count = isDone ? doneAt + 1 : limit;
    const results: string[] = [];
    const failedAt: number[] = [];
    let endsAll = false;
    let tokens: number | null = 0;
    let last = '';
    for (let index = 0; index < count; index++) {
      const item = items === undefined ? last : String(items[index]);
      const iteration = [...scope.iteration, index];
      const inside: Scope = { loopId: node.id, iteration, item, around: scope, ends: new Map() };
      this.scope(inside);
      const ends = [...inside.ends.values()];
      if (ends.some((end) => end.fails && !end.isFatal)) failedAt.push(index);
      else if (ends.some((end) => end.endsAll)) endsAll = true;
      last = items === undefined ? `${item}.${index}` : this.#comesTo(config, inside, index, item);
      results.push(failedAt.includes(index) ? '-' : last);
      tokens =
        failedAt.length > 0 ? null : ends.reduce((sum: number | null, end) => plus(sum, end.tokens), tokens);
    }
    const collects = config.on_item_error === 'collect';
    if (failedAt.length > 0 && !collects)
      return failed(node, { isFatal: false, failures: null, tokens: null, code: null });
    if (endsAll) return { ...NEVER, endsAll };
    if (items === undefined && !isDone && config.on_limit === 'fail') {
      const code = 'max_iterations_reached';
      return failed(node, { isFatal: false, failures: null, tokens, code });
    }
    if (count === 0) this.#skipInside(node.id, scope.iteration);
    else this.#sumUp(node.id, scope.iteration, count - 1);
    const text =
      items === undefined ? `${count}x${last}${isDone}` : `[${results.join(';')}|${failedAt.join()}]`;
    return { ...WELL, handles: ['out'], failures: 0, tokens, text };
  }

  /** The result of an iteration, as it appears in the output of its loop. */
  #comesTo(config: JsonObject, { loopId, ends }: Scope, index: number, item: string): string {
    if (config.result !== undefined) return `${index} of ${item}`;
    const last = this.#nodesIn(loopId).filter(
      ({ id }) => !this.#flow.edges.some((edge) => edge.source === id),
    );
    const outputs = last.flatMap(({ id }): [string, string][] => {
      const end = ends.get(id);
      return end?.status === 'success' || end?.status === 'failed' ? [[id, end.text]] : [];
    });
    if (outputs.length === 0) return '-';
    if (outputs.length === 1) return outputs[0]?.[1] ?? '';
    return `{${outputs
      .map(([id, text]) => `${id}=${text}`)
      .sort()
      .join()}}`;
  }

  /** The summary of all iterations: the ends in the last one. */
  #sumUp(loopId: string, iteration: readonly number[], index: number): void {
    for (const node of this.#nodesIn(loopId)) {
      const end = this.#known.get([node.id, ...iteration, index].join(' '));
      if (end !== undefined) this.#known.set([node.id, ...iteration].join(' '), end);
      else this.#known.delete([node.id, ...iteration].join(' '));
      this.#sumUp(node.id, iteration, index);
    }
  }
}

function failed(node: FlowNode, of: Pick<Expected, 'isFatal' | 'failures' | 'tokens' | 'code'>): Expected {
  const { isFatal } = of;
  const onError = node.data?.on_error ?? 'fail';
  const fails = isFatal || onError === 'fail';
  const handles = fails ? [] : [onError === 'branch' ? 'error' : 'out'];
  return { ...of, status: 'failed', handles, text: 'error', fails, stops: false, endsAll: isFatal };
}

function plus(sum: number | null, tokens: number | null): number | null {
  return sum === null || tokens === null ? null : sum + tokens;
}

function hasText({ type }: FlowNode): boolean {
  return type.startsWith('test.') && type !== 'test.trigger';
}

/** By the end of a script that fails. */
const CODES: { readonly [end: string]: string } = { failure: 'broken', fatal: 'stop', hang: 'node_timeout' };
const WELL = {
  ...{ status: 'success' as const, fails: false, isFatal: false, stops: false, endsAll: false, code: null },
};
const NOTHING = { ...WELL, handles: [], failures: 0, tokens: 0, text: '' };
const TRIGGER: Expected = { ...NOTHING, status: 'success', handles: ['out'], text: 'trigger' };
const CHILD: Expected = { ...NOTHING, status: 'success', handles: ['out'], text: 'child' };
const SKIPPED: Expected = { ...NOTHING, status: 'skipped' };
const NEVER: Expected = { ...NOTHING, status: 'never' };

/** How an ended node's record differs from the expected one; null when it agrees. */
export function differenceOf(record: NodeRecord, expected: Expected): string | null {
  const actual = summaryOf(record);
  const wanted = { ...actual };
  wanted.status = expected.status;
  wanted.handles = expected.handles.join();
  wanted.text = expected.text;
  if (expected.failures !== null) wanted.failures = expected.failures;
  if (expected.tokens !== null) wanted.tokens = expected.tokens;
  if (expected.code !== null) wanted.code = expected.code;
  const [is, must] = [JSON.stringify(actual), JSON.stringify(wanted)];
  return is === must ? null : `${record.nodeId} is ${is} but must be ${must}`;
}

function summaryOf(record: NodeRecord) {
  if (record.status === 'skipped' || record.status === 'iteration_ended') {
    return { status: record.status as string, handles: '', failures: 0, tokens: 0, text: '', code: '' };
  }
  const ended = record.status === 'success' || record.status === 'failed';
  return {
    status: record.status as string,
    handles: ended ? record.handles.join() : '',
    failures: record.failures ?? 0,
    tokens: record.consumedAiTokens,
    text: ended ? (record.status === 'failed' ? 'error' : describeOutput(record.output)) : '',
    code: record.status === 'failed' ? record.error.code : '',
  };
}
