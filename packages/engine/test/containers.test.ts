import { inEnglish } from '@millrace/messages/english';
import { runs } from '@millrace/testing/property-runs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, type Flow, findProblems, type JsonValue, validateStructure } from '../src/index.ts';
import { agree } from './support/agreement.ts';
import { Drive } from './support/drive.ts';
import { flowOf, type NodeSketch, PLAIN_SCRIPT, planOf, testRegistry } from './support/index.ts';
import { effect, ok, outputOf, playOn } from './support/loops.ts';
import { World } from './support/world.ts';

const LIMITS = { maxNodes: 100 };
const DAY_MS = 86_400_000;
const PLAIN = PLAIN_SCRIPT as unknown as JsonValue;
const LOOPS = ['core.for_each', 'core.repeat'];
const IDS = ['t', 'a', 'b', 'c', 'd', 'e'];

/** Values in place of a node's id in a damaged flow. */
const anyParent = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<JsonValue>(...IDS) },
  { weight: 8, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>(null, '', 'none', '__proto__', 'constructor', 5, {}, [], true),
  },
);
const anyType = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...LOOPS) },
  { weight: 6, arbitrary: fc.constantFrom('test.pure', 'test.effect') },
  { weight: 1, arbitrary: fc.constantFrom('test.trigger', 'no.type') },
);
const seen = fc.constantFrom(
  ...[{}, {}, { see: '{{nodes.a.output.text}}!' }, { see: '{{nodes.b.output.text}}! {{index}}/{{item}}' }],
);

interface Damaged {
  readonly nodes: readonly { readonly [name: string]: JsonValue }[];
  readonly edges: readonly { readonly source: string; readonly target: string }[];
}

/** Containers of all kinds: loops inside themselves or in nodes that aren't loops, empty ones, edges across; valid ones, too. */
const anyContainers: fc.Arbitrary<Damaged> = fc
  .tuple(
    fc.array(fc.tuple(anyType, anyParent, seen), { minLength: 1, maxLength: IDS.length - 1 }),
    fc.array(fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...IDS)), { maxLength: 4 }),
    fc.boolean(),
  )
  .map(([sketches, pairs, isSound]): Damaged => {
    const nodes = sketches.map(([type, parentId, reads], at) => {
      const config = LOOPS.includes(type) ? loopConfig(type) : { script: PLAIN, ...reads };
      const before = sketches.slice(0, at).findLastIndex(([other]) => LOOPS.includes(other));
      const tidy = before < 0 || parentId === undefined ? {} : { parentId: nameOf(before) };
      const parent = parentId === undefined ? {} : { parentId };
      return { id: nameOf(at), type, data: { config, timeout_ms: DAY_MS }, ...(isSound ? tidy : parent) };
    });
    const top = nodes.filter(({ parentId = null }) => parentId === null).map(({ id }) => id);
    return {
      nodes: [{ id: 't', type: 'test.trigger' }, ...nodes],
      edges: [
        ...top.map((target) => ({ source: 't', target })),
        ...(isSound ? [] : pairs.map(([source, target]) => ({ source, target }))),
      ],
    };
  });

function nameOf(place: number): string {
  return IDS[place + 1] as string;
}

function loopConfig(type: string): JsonValue {
  return type === 'core.repeat'
    ? { until: false, max_iterations: 2, on_limit: 'continue', result: '{{item}}.{{index}}' }
    : { items: [1, 2], concurrency: 2 };
}

describe('containers', () => {
  it('F3 F4 F5 P11 P12: any nesting is refused, reported clearly, or runs', () => {
    const ends = { refused: 0, reported: 0, run: 0 };
    fc.assert(
      fc.property(anyContainers, (value) => {
        const errors = validateStructure(value as unknown as JsonValue, LIMITS);
        for (const { pointer, code, message } of errors) {
          expect(pointer).toMatch(/^\/flow_data\/(nodes|edges)\/\d+(\/(parentId|source|target))?$/);
          expect(['not_a_loop', 'unknown_node', 'invalid_type', 'cycle']).toContain(code);
          expect(inEnglish(message).length).toBeGreaterThan(10);
        }
        expect(errors.length > 0).toBe(isUnsound(value as Flow));
        if (errors.length > 0) {
          ends.refused += 1;
          return;
        }
        const flow = value as Flow;
        const problems = findProblems(flow, testRegistry);
        const across = flow.edges.filter(
          ({ source, target }) => parentOf(flow, source) !== parentOf(flow, target),
        );
        expect(problems.filter(({ code }) => code === 'edge_across_loop')).toHaveLength(across.length);
        const empty = flow.nodes.filter(
          ({ id, type }) => LOOPS.includes(type) && !flow.nodes.some(({ parentId }) => parentId === id),
        );
        expect(problems.flatMap(({ code, node_id }) => (code === 'empty_loop' ? [node_id] : []))).toEqual(
          empty.map(({ id }) => id),
        );
        if (problems.length > 0) {
          ends.reported += 1;
          expect(compile(value as unknown as JsonValue, testRegistry)).toMatchObject({
            problem: problems[0],
          });
          return;
        }
        ends.run += 1;
        agree(
          flow,
          new World(planOf(flow), { choices: [0.5], crashesAt: new Set([3]), cancelAt: null }).run(),
        );
      }),
      { numRuns: runs(3_000) },
    );
    // All three must have occurred, or this proves nothing.
    expect(Math.min(ends.refused, ends.reported, ends.run)).toBeGreaterThan(100);
  });

  it('F5 L11 E12: 50 nested loops run, and are taken over halfway', () => {
    const depth = 50;
    const nodes: Record<string, NodeSketch> = {};
    for (let n = 0; n < depth; n++) {
      const around = n === 0 ? {} : { in: `l${n - 1}` };
      nodes[`l${n}`] = { type: 'core.for_each', config: { items: [n], result: '{{index}}' }, ...around };
    }
    nodes.a = { ...effect, in: `l${depth - 1}` };
    nodes.b = { ...effect, in: `l${depth - 1}` };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l0', 'a -> b'])));
    const place = (id: string): string => [id, ...Array.from({ length: depth }, () => 0)].join(' ');
    drive.end(place('a'), ok);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(later.lastStart(place('a'))).toBeUndefined();
    expect(later.lastStart(place('b'))?.attempt).toBe(2);
    playOn(later);
    expect(outputOf(later, 'l0')).toEqual({ items: [0], errors: [] });
  });
});

/** Whether the structure must be refused; shares nothing with the check. */
function isUnsound({ nodes, edges }: Flow): boolean {
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const isOdd = nodes.some(
    ({ parentId = null }) => parentId !== null && !LOOPS.includes(types.get(parentId) ?? ''),
  );
  const missing = edges.some(({ source, target }) => !types.has(source) || !types.has(target));
  const inside = nodes.flatMap(({ id, parentId }): [string, string][] => (parentId ? [[parentId, id]] : []));
  return isOdd || missing || turns(inside) || turns(edges.map(({ source, target }) => [source, target]));
}

/** Whether arrows form a cycle: repeatedly removing whatever has no incoming arrow leaves some. */
function turns(arrows: readonly (readonly [string, string])[]): boolean {
  const left = arrows.filter(([from]) => arrows.some(([, to]) => to === from));
  return left.length === arrows.length ? arrows.length > 0 : turns(left);
}

function parentOf(flow: Flow, id: string): string | null {
  return flow.nodes.find((node) => node.id === id)?.parentId ?? null;
}
