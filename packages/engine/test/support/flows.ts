import { inEnglish } from '@millrace/messages/english';
import * as fc from 'fast-check';
import {
  compile,
  type Flow,
  type FlowEdge,
  type FlowNode,
  type JsonObject,
  type JsonValue,
  type NodeRecord,
  type Plan,
  startRecords,
} from '../../src/index.ts';
import { PLAIN_SCRIPT, type Script, testRegistry } from './nodes.ts';

/** A compact flow: node data by id, edges as `'a -> b'` or `'a:handle -> b'`; the trigger is `t`. `in` is the loop that contains a node. */
export function flowOf(nodes: { readonly [id: string]: NodeSketch }, edges: readonly string[]): Flow {
  return {
    nodes: [
      { id: 't', type: 'test.trigger', data: {} },
      ...Object.entries(nodes).map(([id, { type = 'test.pure', in: parentId, ...data }]) =>
        parentId === undefined ? { id, type, data } : { id, type, parentId, data },
      ),
    ],
    edges: edges.map((edge) => {
      const [from = '', target = ''] = edge.split(' -> ');
      const [source = '', sourceHandle] = from.split(':');
      return sourceHandle === undefined ? { source, target } : { source, target, sourceHandle };
    }),
  };
}

export type NodeSketch = NonNullable<FlowNode['data']> & { readonly type?: string; readonly in?: string };

/** Plan of a flow that must be sound. */
export function planOf(flow: Flow): Plan {
  const compiled = compile(flow as JsonValue, testRegistry);
  if (compiled.kind === 'invalid')
    throw new Error(`the flow has a problem: ${inEnglish(compiled.problem.message)}`);
  return compiled.plan;
}

/** Optional contents of arbitrary flows besides plain nodes. */
export interface FlowOptions {
  /** Maximum nesting of loops; 0 for none. */
  readonly loops?: number;
  readonly signals?: boolean;
  readonly stops?: boolean;
  /** Nodes that time out. */
  readonly hangs?: boolean;
  /** Maximum number of triggers; the one with `starts` in its config starts executions. */
  readonly triggers?: number;
  /** Workflows that nodes may call, by number. */
  readonly children?: readonly number[];
}

type End = Script['end'];

function arbitraryScript({
  signals = false,
  stops = false,
  hangs = false,
}: FlowOptions): fc.Arbitrary<Script> {
  const ends: { weight: number; arbitrary: fc.Arbitrary<End> }[] = [
    { weight: 8, arbitrary: fc.constant('success') },
    { weight: 1, arbitrary: fc.constantFrom<End>('failure', 'fatal') },
    { weight: 2, arbitrary: fc.constant('wait') },
  ];
  if (signals) ends.push({ weight: 3, arbitrary: fc.constant('signal') });
  if (stops) ends.push({ weight: 1, arbitrary: fc.constant('stop') });
  if (hangs) ends.push({ weight: 1, arbitrary: fc.constant('hang') });
  return fc.record({
    failures: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
    ),
    end: fc.oneof(...ends),
    handles: fc.oneof(
      { weight: 4, arbitrary: fc.constant(['out']) },
      { weight: 2, arbitrary: fc.subarray(['out', 'left', 'right']) },
    ),
    tokens: fc.nat(5),
    waitMs: fc.constantFrom(0, 10, 1_000, 20_000),
    rounds: fc.integer({ min: 1, max: 2 }),
    failsAt: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.subarray([0, 1, 2, 3], { minLength: 1, maxLength: 1 }) },
    ),
  });
}

interface LoopSketch {
  /** Null repeats up to `limit` times. */
  readonly items: readonly number[] | null;
  readonly limit: number;
  /** The iteration after which a repeating loop is done; null for never. */
  readonly doneAt: number | null;
  readonly mayReachLimit: boolean;
  readonly concurrency: number;
  readonly collects: boolean;
  readonly hasResult: boolean;
  readonly body: readonly Sketch[];
}

interface Sketch {
  readonly script: Script;
  readonly isEffect: boolean;
  readonly onError: 'fail' | 'continue' | 'branch';
  readonly maxAttempts: number;
  /** Whether it may end everything from inside a loop, which leaves less to compare. */
  readonly endsAll: boolean;
  /** Edges into the node: how far back in the list their source is, and its handle. */
  readonly edges: readonly (readonly [number, string])[];
  readonly sees: boolean;
  readonly loop: LoopSketch | null;
  /** The workflow it calls, and whether it waits for it. */
  readonly child: { readonly workflow: number; readonly waits: boolean } | null;
}

function arbitraryNode(options: FlowOptions): fc.Arbitrary<Sketch> {
  const { loops = 0, children = [] } = options;
  const onError = fc.constantFrom('fail' as const, 'continue' as const, 'branch' as const, 'branch' as const);
  const inner = { ...options, loops: loops - 1 };
  const loop: fc.Arbitrary<LoopSketch | null> =
    loops === 0
      ? fc.constant(null)
      : fc.record({
          items: fc.oneof(
            { weight: 3, arbitrary: fc.array(fc.nat(9), { maxLength: 3 }) },
            { weight: 1, arbitrary: fc.constant(null) },
          ),
          limit: fc.integer({ min: 1, max: 3 }),
          doneAt: fc.option(fc.nat(3)),
          mayReachLimit: fc.boolean(),
          concurrency: fc.integer({ min: 1, max: 3 }),
          collects: fc.boolean(),
          hasResult: fc.boolean(),
          body: fc.array(
            fc.noShrink(fc.constant(0)).chain(() => arbitraryNode(inner)),
            {
              minLength: 1,
              maxLength: 3,
            },
          ),
        });
  return fc.record({
    script: arbitraryScript(options),
    isEffect: fc.boolean(),
    onError,
    maxAttempts: fc.integer({ min: 1, max: 4 }),
    endsAll: fc.nat(3).map((n) => n === 0),
    edges: fc.array(fc.tuple(fc.nat(11), fc.constantFrom('out', 'out', 'out', 'left', 'right', 'error')), {
      minLength: 1,
      maxLength: 3,
    }),
    sees: fc.boolean(),
    child:
      children.length === 0
        ? fc.constant(null)
        : fc.oneof(
            { weight: 3, arbitrary: fc.constant(null) },
            {
              weight: 1,
              arbitrary: fc.record({ workflow: fc.constantFrom(...children), waits: fc.boolean() }),
            },
          ),
    loop:
      loops === 0
        ? loop
        : fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: loop }),
  });
}

/**
 * A sound flow of at most `maxNodes` nodes besides the trigger and the contents of loops: any DAG, with branches, failures, retries, waits
 * and templates. Every edge leaves from a handle its node has.
 */
export function arbitraryFlow(maxNodes = 12, options: FlowOptions = {}): fc.Arbitrary<Flow> {
  const sketches = fc.array(arbitraryNode(options), { minLength: 0, maxLength: maxNodes });
  const triggers = fc.record({ count: fc.integer({ min: 1, max: options.triggers ?? 1 }), start: fc.nat(9) });
  return fc.tuple(sketches, triggers).map(([sketched, { count, start }]): Flow => {
    const nodes = Array.from({ length: count }, (_, index): FlowNode => {
      const config = count > 1 && index === start % count ? { starts: true } : {};
      return { id: index === 0 ? 't' : `t${index + 1}`, type: 'test.trigger', data: { config } };
    });
    const edges: FlowEdge[] = [];
    addScope({ nodes, edges }, sketched, null, 't');
    return { nodes, edges };
  });
}

/** What executions of a flow start with in tests: the record of the trigger that says so, unless it is the plan's own. */
export function firstRecords(plan: Plan, data: JsonValue, atMs: number): readonly NodeRecord[] {
  const starting = plan.triggers.find(({ writtenConfig }) => writtenConfig.starts === true) ?? plan.trigger;
  return startRecords(plan, starting, { data }, atMs);
}

type Growing = { readonly nodes: FlowNode[]; readonly edges: FlowEdge[] };

/** @param before a node that every node of the scope may read: the trigger, or the one before the loop */
function addScope(flow: Growing, sketches: readonly Sketch[], parentId: string | null, before: string): void {
  const siblings: FlowNode[] = parentId === null ? [...flow.nodes] : [];
  sketches.forEach((sketch, index) => {
    const id = parentId === null ? `n${index + 1}` : `${parentId}_${index + 1}`;
    let source = before;
    for (const [back, wanted] of sketch.edges) {
      const place = siblings.length - 1 - back;
      const from = siblings[parentId === null ? Math.max(0, place) : place];
      if (from === undefined) continue;
      source = from.id;
      flow.edges.push({ source, target: id, sourceHandle: handleOn(from, wanted) });
    }
    const node = { id, ...(parentId === null ? {} : { parentId }), ...nodeOf(sketch, source, parentId) };
    flow.nodes.push(node);
    siblings.push(node);
    if (sketch.loop !== null) addScope(flow, sketch.loop.body, id, source);
  });
}

function nodeOf(sketch: Sketch, source: string, parentId: string | null): Omit<FlowNode, 'id'> {
  const { onError, maxAttempts, loop } = sketch;
  const retry = { max_attempts: maxAttempts, backoff_ms: 100, max_backoff_ms: 30_000 };
  const common = { on_error: onError, timeout_ms: 86_400_000 };
  if (loop !== null) {
    const config = loopConfig(loop);
    const type = loop.items === null ? 'core.repeat' : 'core.for_each';
    return { type, data: { ...common, config, retry: { ...retry, max_attempts: Math.min(2, maxAttempts) } } };
  }
  if (sketch.child !== null) return { type: 'test.child', data: { ...common, config: sketch.child } };
  const see = parentId === null ? '' : ' {{index}}/{{item}}';
  const script = scriptIn(sketch, parentId);
  return {
    type: sketch.isEffect ? 'test.effect' : 'test.pure',
    data: {
      ...common,
      ...(script.end === 'hang' ? { timeout_ms: 50 + script.waitMs } : {}),
      retry,
      config: {
        script: script as unknown as JsonValue,
        ...(sketch.sees ? { see: `{{nodes.${source}.output.text}}!${see}` } : {}),
        ...(parentId === null ? {} : { index: '{{index}}' }),
      },
    },
  };
}

function loopConfig(sketch: LoopSketch): JsonObject {
  const { items, limit, doneAt, mayReachLimit, concurrency, collects, hasResult } = sketch;
  const result = hasResult ? { result: '{{index}} of {{item}}' } : {};
  if (items !== null) return { items, concurrency, on_item_error: collects ? 'collect' : 'fail', ...result };
  const until = doneAt === null ? false : `{{index | string | contains: "${doneAt}"}}`;
  const onLimit = mayReachLimit ? 'continue' : 'fail';
  return { until, max_iterations: limit, on_limit: onLimit, result: '{{item}}.{{index}}' };
}

function scriptIn({ script, endsAll }: Sketch, parentId: string | null): Script {
  const plain = { ...PLAIN_SCRIPT, ...script };
  // Another attempt would have so little time that it might time out, too.
  if (plain.end === 'hang') return { ...plain, failures: 0, failsAt: [] };
  if (parentId === null) return { ...plain, failsAt: [] };
  if (endsAll) return plain;
  if (plain.end === 'fatal') return { ...plain, end: 'failure' };
  return plain.end === 'stop' ? { ...plain, end: 'success' } : plain;
}

function handleOn(node: FlowNode, wanted: string): string {
  if (wanted === 'error') return node.data?.on_error === 'branch' ? 'error' : 'out';
  return node.type === 'test.pure' || node.type === 'test.effect' ? wanted : 'out';
}
