import * as fc from 'fast-check';
import { compile, type Flow, type FlowNode, type JsonValue, type Plan } from '../../src/index.ts';
import { PLAIN_SCRIPT, type Script, testRegistry } from './nodes.ts';

/** A flow in short: node data by id, edges as `'a -> b'` or `'a:handle -> b'`; the trigger is `t`. */
export function flowOf(nodes: { readonly [id: string]: NodeSketch }, edges: readonly string[]): Flow {
  return {
    nodes: [
      { id: 't', type: 'test.trigger', data: {} },
      ...Object.entries(nodes).map(([id, { type, ...data }]) => ({ id, type: type ?? 'test.pure', data })),
    ],
    edges: edges.map((edge) => {
      const [from = '', target = ''] = edge.split(' -> ');
      const [source = '', sourceHandle] = from.split(':');
      return sourceHandle === undefined ? { source, target } : { source, target, sourceHandle };
    }),
  };
}

export type NodeSketch = NonNullable<FlowNode['data']> & { readonly type?: string };

/** Plan of a flow that must be sound. */
export function planOf(flow: Flow): Plan {
  const compiled = compile(flow as unknown as JsonValue, testRegistry);
  if (compiled.kind === 'invalid') throw new Error(`the flow has a problem: ${compiled.problem.message}`);
  return compiled.plan;
}

const arbitraryScript: fc.Arbitrary<Script> = fc.record({
  failures: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
  ),
  end: fc.oneof(
    { weight: 8, arbitrary: fc.constant('success' as const) },
    { weight: 1, arbitrary: fc.constantFrom('failure' as const, 'fatal' as const) },
    { weight: 2, arbitrary: fc.constant('wait' as const) },
  ),
  handles: fc.oneof(
    { weight: 4, arbitrary: fc.constant(['out']) },
    { weight: 2, arbitrary: fc.subarray(['out', 'left', 'right']) },
  ),
  tokens: fc.nat(5),
  waitMs: fc.constantFrom(0, 10, 1_000, 20_000),
});

const arbitraryNode = fc.record({
  script: arbitraryScript,
  isEffect: fc.boolean(),
  onError: fc.constantFrom('fail' as const, 'continue' as const, 'branch' as const, 'branch' as const),
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  /** Edges into the node: how far back in the list they come from, and by which handle. */
  edges: fc.array(fc.tuple(fc.nat(11), fc.constantFrom('out', 'out', 'out', 'left', 'right', 'error')), {
    minLength: 1,
    maxLength: 3,
  }),
  sees: fc.boolean(),
});

/**
 * A sound flow of at most `maxNodes` nodes beside the trigger: any DAG, with branches, failures, retries, waits and
 * templates. Every edge leaves from a handle its node has.
 */
export function arbitraryFlow(maxNodes = 12): fc.Arbitrary<Flow> {
  return fc.array(arbitraryNode, { minLength: 0, maxLength: maxNodes }).map((sketches): Flow => {
    const nodes: FlowNode[] = [{ id: 't', type: 'test.trigger', data: {} }];
    const edges: Flow['edges'][number][] = [];
    sketches.forEach((sketch, index) => {
      const id = `n${index + 1}`;
      for (const [back, wanted] of sketch.edges) {
        const from = nodes[Math.max(0, index - back)] ?? nodes[0];
        if (from === undefined) continue;
        edges.push({ source: from.id, target: id, sourceHandle: handleOn(from, wanted) });
      }
      const source = edges.at(-1)?.source ?? 't';
      nodes.push({
        id,
        type: sketch.isEffect ? 'test.effect' : 'test.pure',
        data: {
          config: {
            script: { ...PLAIN_SCRIPT, ...sketch.script } as unknown as JsonValue,
            ...(sketch.sees ? { see: `{{nodes.${source}.output.text}}!` } : {}),
          },
          on_error: sketch.onError,
          retry: { max_attempts: sketch.maxAttempts, backoff_ms: 100, max_backoff_ms: 30_000 },
          timeout_ms: 86_400_000,
        },
      });
    });
    return { nodes, edges };
  });
}

function handleOn(node: FlowNode, wanted: string): string {
  if (node.type === 'test.trigger') return 'out';
  if (wanted === 'error') return node.data?.on_error === 'branch' ? 'error' : 'out';
  return wanted;
}
