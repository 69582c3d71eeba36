import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compile,
  compileWork,
  type Flow,
  findProblems,
  findProblemsWork,
  type JsonValue,
  validateStructure,
} from '../src/index.ts';
import { arbitraryFlow, flowOf, testRegistry } from './support/index.ts';

function codes(flow: Flow): string[] {
  return findProblems(flow, testRegistry).map(({ node_id, code }) => `${node_id ?? '-'} ${code}`);
}

function echo(config: { readonly [name: string]: JsonValue }): { type: string; config: typeof config } {
  return { type: 'test.echo', config };
}

describe('problems of a flow', () => {
  it('P1: an unknown node type', () => {
    const flow = flowOf({ a: { type: 'slack.postt' } }, ['t -> a']);
    expect(findProblems(flow, testRegistry)).toEqual([
      {
        pointer: '/flow_data/nodes/1/type',
        node_id: 'a',
        code: 'unknown_node_type',
        message: saying('"a": there is no node type "slack.postt"'),
      },
    ]);
  });

  it('are looked for in pieces', () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const flow = flowOf(Object.fromEntries(names.map((name) => [name, {}])), ['t -> n0']);
    expect([...findProblemsWork(flow, testRegistry)].length).toBeGreaterThanOrEqual(5);
    expect([...compileWork(flow as unknown as JsonValue, testRegistry)].length).toBeGreaterThanOrEqual(5);
  });

  it('P2: no trigger, more than 20, or two with one address', () => {
    expect(findProblems({ nodes: [], edges: [] }, testRegistry)).toEqual([
      expect.objectContaining({ pointer: '/flow_data/nodes', node_id: null, code: 'no_trigger' }),
    ]);
    const triggers = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`u${index}`, { type: 'test.trigger' }] as const),
      );
    expect(codes(flowOf(triggers(19), []))).toEqual([]);
    expect(codes(flowOf(triggers(21), []))).toEqual(['u19 too_many_triggers', 'u20 too_many_triggers']);
    const at = (address: string) => ({ type: 'test.trigger', config: { address } });
    const flow = flowOf({ u: at('/a'), v: at('/b'), w: at('/a') }, []);
    expect(findProblems(flow, testRegistry)).toEqual([
      expect.objectContaining({
        pointer: '/flow_data/nodes/3',
        node_id: 'w',
        code: 'same_address',
        message: saying(
          '"w": has the same address as "u", which would be started instead; change one of them',
        ),
      }),
    ]);
  });

  it('P3: unreachable nodes, and edges into the trigger', () => {
    expect(codes(flowOf({ a: {}, b: {}, c: {} }, ['t -> a', 'b -> c']))).toEqual([
      'b unreachable_node',
      'c unreachable_node',
    ]);
    expect(codes(flowOf({ t2: { type: 'test.trigger' }, a: {} }, ['t2 -> a']))).toEqual([]);
    expect(codes(flowOf({ t2: { type: 'test.trigger' }, a: {} }, ['t -> a', 'a -> t2']))).toEqual([
      't2 edge_into_trigger',
    ]);
  });

  it("P4: config that is missing or doesn't match", () => {
    const flow = flowOf(
      { a: { type: 'test.echo' }, b: echo({ value: 1, count: 0, mode: 'slowly', odd: 1, options: [] }) },
      ['t -> a', 'a -> b'],
    );
    const problems = findProblems(flow, testRegistry);
    expect(problems.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/flow_data/nodes/1/data/config/value missing_config',
      '/flow_data/nodes/2/data/config/odd invalid_config',
      '/flow_data/nodes/2/data/config/count invalid_config',
      '/flow_data/nodes/2/data/config/mode invalid_config',
      '/flow_data/nodes/2/data/config/options invalid_config',
    ]);
    expect(problems.map(({ message }) => inEnglish(message))).toEqual([
      '"a": "value" is required',
      '"b": "odd" is not known here; remove it or check its spelling',
      '"b": "count" must be 1 or more',
      '"b": "mode" must be one of fast, slow',
      '"b": "options" must be an object',
    ]);
  });

  it('P4: a value from a template is not checked', () => {
    const template = '{{trigger.data.x}}';
    const config = {
      value: template,
      url: template,
      count: template,
      mode: `${template}!`,
      options: template,
    };
    expect(codes(flowOf({ a: echo(config) }, ['t -> a']))).toEqual([]);
    expect(codes(flowOf({ a: echo({ value: 1, target: template }) }, ['t -> a']))).toEqual([]);
    expect(codes(flowOf({ a: echo({ value: 1, target: { id: template } }) }, ['t -> a']))).toEqual([]);
    expect(codes(flowOf({ a: echo({ value: 1, target: { other: 1 } }) }, ['t -> a']))).not.toEqual([]);
    expect(codes(flowOf({ a: echo({ url: template, count: 0 }) }, ['t -> a']))).toEqual([
      'a missing_config',
      'a invalid_config',
    ]);
  });

  it('P4: a literal that looks like a template is text, and checked', () => {
    expect(codes(flowOf({ a: echo({ value: 1, count: '\\{{x}}' }) }, ['t -> a']))).toEqual([
      'a invalid_config',
    ]);
  });

  it("P5: handles that a node doesn't have", () => {
    const nodes = {
      a: { config: { script: { handles: ['x'] } } },
      b: { on_error: 'branch' as const },
      c: { on_error: 'continue' as const, ...echo({ value: 1 }) },
      d: {},
    };
    expect(
      codes(flowOf(nodes, ['t -> a', 'a:x -> b', 'a:left -> b', 'b:error -> c', 'c -> d', 'c:out -> d'])),
    ).toEqual([]);
    expect(
      codes(flowOf({ a: {}, b: {} }, ['t -> a', 'a:nope -> b', 'a:error -> b', 't:error -> b'])),
    ).toEqual(['t unknown_handle', 'a unknown_handle', 'a unknown_handle']);
    const [problem] = findProblems(flowOf({ a: {}, b: {} }, ['t -> a', 'a:error -> b']), testRegistry);
    expect(problem).toMatchObject({ pointer: '/flow_data/edges/1/sourceHandle', node_id: 'a' });
    expect(problem?.message).toEqual(saying(/on_error is "branch"/));
  });

  it("P6: expressions that can't be parsed", () => {
    const flow = flowOf({ a: echo({ value: { deep: ['{{ '] }, url: '{{trigger.data | shout}}' }) }, [
      't -> a',
    ]);
    expect(findProblems(flow, testRegistry).map(({ pointer, code }) => `${pointer} ${code}`)).toEqual(
      expect.arrayContaining([
        '/flow_data/nodes/1/data/config/value/deep/0 template_syntax',
        '/flow_data/nodes/1/data/config/url unknown_filter',
      ]),
    );
    const named: Flow = { ...flowOf({}, []), settings: { display_name: '{{' } };
    expect(findProblems(named, testRegistry)).toEqual([
      expect.objectContaining({
        pointer: '/flow_data/settings/display_name',
        node_id: null,
        code: 'template_syntax',
      }),
    ]);
  });

  it('P7: a template only reads earlier nodes', () => {
    const reads = (id: string): { type: string; config: { value: string } } =>
      echo({ value: `x{{nodes.${id}.output}}` }) as never;
    const edges = ['t -> a', 'a -> b', 't -> c', 'b -> d', 'c -> d'];
    expect(codes(flowOf({ a: {}, b: reads('a'), c: {}, d: reads('a') }, edges))).toEqual([]);
    expect(codes(flowOf({ a: {}, b: reads('t'), c: {}, d: reads('c') }, edges))).toEqual([]);
    expect(codes(flowOf({ a: reads('b'), b: reads('b'), c: reads('a'), d: reads('nobody') }, edges))).toEqual(
      ['a node_not_before', 'b node_not_before', 'c node_not_before', 'd unknown_node'],
    );
    const fallback = echo({ value: '{{trigger.data.x | default: nodes.b.output}}' });
    expect(codes(flowOf({ a: fallback, b: {}, c: {}, d: {} }, edges))).toEqual(['a node_not_before']);
  });

  it('P7: the display name reads no nodes', () => {
    const flow: Flow = { ...flowOf({}, []), settings: { display_name: 'x {{nodes.t.output.data}}' } };
    expect(codes(flow)).toEqual(['- node_not_before']);
    const sound: Flow = {
      ...flowOf({}, []),
      settings: { display_name: '{{trigger.data.x}} {{execution.id}}' },
    };
    expect(codes(sound)).toEqual([]);
  });

  it('P8: variables and paths that lead nowhere', () => {
    const at = (path: string): string[] =>
      codes({
        ...flowOf({ a: echo({ value: `{{${path}}}` }) }, ['t -> a']),
        settings: { vars: { known: 1 } },
      });
    expect(at('vars.known')).toEqual([]);
    expect(at('vars.unknown')).toEqual(['a unknown_variable']);
    expect(at('vars.toString')).toEqual(['a unknown_variable']);
    expect(at('vars')).toEqual(['a unknown_variable']);
    for (const path of [
      'triger.data',
      'trigger.body',
      'execution.name',
      'nodes.t.status',
      'item',
      'index',
      'process.env',
      'now.year',
      'it.name',
      'a+b',
      '1 + -x',
      'trigger.data | map: "x" | map: (trigger.data.x + it2)',
    ]) {
      expect(at(path)).toEqual(['a unknown_reference']);
    }
    for (const path of [
      'constructor',
      '__proto__.x',
      'toString',
      'trigger.data.constructor',
      'execution.id',
      'now',
      '1 + 1',
      'trigger.data | map: (it.x)',
    ]) {
      expect(at(path)).toEqual([]);
    }
  });

  it('P7 P8: what an operator or an expression for each item reads is checked, too', () => {
    const reads = '{{true ? 1 : (trigger.data | where: (it.x == nodes.z.output.y)) ~ vars.none}}';
    expect(codes(flowOf({ a: echo({ value: reads }), z: {} }, ['t -> a', 'a -> z']))).toEqual([
      ...['a unknown_variable', 'a node_not_before'],
    ]);
  });

  it('P11: edges stay inside or outside a loop, and a loop is not empty', () => {
    const loop = { type: 'core.for_each', config: { items: [] } };
    const nodes = { l: loop, m: { ...loop, in: 'l' }, a: { in: 'l' }, b: { in: 'm' }, z: {} };
    const sound = ['t -> l', 'm -> a', 'l -> z'];
    expect(codes(flowOf(nodes, sound))).toEqual([]);
    for (const [edge, by] of [
      ['t -> a', 'a'],
      ['a -> z', 'a'],
      ['l -> a', 'a'],
      ['b -> a', 'b'],
      ['a -> b', 'b'],
      ['t -> b', 'b'],
    ]) {
      expect(codes(flowOf(nodes, [...sound, edge as string]))).toEqual([`${by} edge_across_loop`]);
    }
    expect(codes(flowOf({ l: loop, z: {} }, ['t -> l', 'l -> z']))).toEqual(['l empty_loop']);
    expect(codes(flowOf({ l: loop, u: { in: 'l', type: 'test.trigger' } }, ['t -> l']))).toEqual([
      'u trigger_in_loop',
    ]);
    expect(findProblems(flowOf(nodes, [...sound, 't -> b']), testRegistry)[0]).toMatchObject({
      pointer: '/flow_data/edges/3',
      message: saying('"b": this edge leads into the loop "m"; connect the loop itself instead'),
    });
    expect(codes(flowOf({ ...nodes, c: { in: 'm' } }, ['m -> a', 'b -> c']))).toEqual([
      ...['l unreachable_node', 'm unreachable_node', 'a unreachable_node'],
      ...['b unreachable_node', 'z unreachable_node', 'c unreachable_node'],
    ]);
  });

  it('P12: what a node inside a loop may read, and who may read it', () => {
    const reads = (...ids: string[]): { config: { see: string } } => ({
      config: { see: `x${ids.map((id) => `{{nodes.${id}.output}}`).join('')}` },
    });
    const at = (over: { [id: string]: object }): string[] => {
      const loop = { type: 'core.for_each', config: { items: [] } };
      const nodes = {
        ...{ p: {}, l: loop, a: { in: 'l' }, m: { ...loop, in: 'l' }, b: { in: 'm' }, c: { in: 'l' }, z: {} },
      };
      const merged = Object.entries(nodes).map(([id, node]) => [id, { ...node, ...over[id] }]);
      const edges = ['t -> p', 'p -> l', 'a -> m', 'm -> c', 'l -> z'];
      return codes(flowOf(Object.fromEntries(merged), edges));
    };
    expect(at({ b: reads('t', 'p', 'a'), c: reads('m', 'a', 'p'), z: reads('l', 'p') })).toEqual([]);
    expect(at({ z: reads('a'), c: reads('b') })).toEqual(['c node_inside_loop', 'z node_inside_loop']);
    expect(at({ b: reads('m', 'l', 'c', 'b', 'z') })).toEqual(
      Array.from({ length: 5 }, () => 'b node_not_before'),
    );
    expect(at({ a: reads('l', 'm'), p: reads('l') })).toEqual([
      ...['p node_not_before', 'a node_not_before', 'a node_not_before'],
    ]);
  });

  it('P13: what deferred members may read', () => {
    const loop = (result: string): object => ({ type: 'core.for_each', config: { items: [], result } });
    const at = (result: string): string[] => {
      const inner = { ...loop('{{nodes.b.output}}{{item}}'), in: 'l' };
      const nodes = { p: {}, l: loop(result), a: { in: 'l' }, m: inner, b: { in: 'm' }, z: {} };
      return codes(flowOf(nodes, ['t -> p', 'p -> l', 'l -> z']));
    };
    expect(at('{{nodes.a.output}}{{nodes.m.output}}{{nodes.p.output}}{{item}}{{index}}')).toEqual([]);
    expect(at('{{nodes.b.output}}')).toEqual(['l node_inside_loop']);
    expect(at('{{nodes.l.output}}')).toEqual(['l node_not_before']);
    expect(at('{{nodes.z.output}}')).toEqual(['l node_not_before']);
    expect(at('{{args.x}}')).toEqual(['l unknown_reference']);
    const tool = (config: { [name: string]: JsonValue }): string[] => {
      const nodes = { a: { type: 'test.tool', config }, l: loop('x'), b: { in: 'l' }, z: {} };
      return codes(flowOf(nodes, ['t -> a', 'a -> l', 'l -> z']));
    };
    expect(tool({ count: '{{args.n}}', text: 'x' })).toEqual([]);
    expect(
      tool({ answer: { all: ['{{nodes.z.output}}', '{{nodes.a.output}}', '{{nodes.l.output}}'] } }),
    ).toEqual([]);
    expect(tool({ answer: { x: '{{nodes.b.output}}' } })).toEqual(['a node_inside_loop']);
    expect(tool({ answer: { x: '{{item}}' } })).toEqual(['a unknown_reference']);
    expect(tool({ text: '{{args.n}}' })).toEqual(['a unknown_reference']);
    expect(tool({ count: '{{nodes.z.output}}' })).toEqual(['a node_not_before']);
    expect(tool({ count: 'many' })).toEqual(['a invalid_config']);
  });

  it('P7 P8: keys of rate and debounce read what is known at the start', () => {
    const problems = (key: string) =>
      findProblems(
        {
          ...flowOf({}, []),
          settings: { rate: { limit: 1, per_seconds: 1, key }, debounce: { seconds: 1, key } },
        },
        testRegistry,
      ).map(({ pointer, code }) => `${pointer} ${code}`);
    const both = (code: string) => [
      `/flow_data/settings/rate/key ${code}`,
      `/flow_data/settings/debounce/key ${code}`,
    ];
    expect(problems('{{trigger.data.customer}} {{execution.id}}')).toEqual([]);
    expect(problems('{{')).toEqual(both('template_syntax'));
    expect(problems('{{vars.none}}')).toEqual(both('unknown_variable'));
    expect(problems('{{nodes.t.output.data}}')).toEqual(both('node_not_before'));
  });

  it('P9: problems of nodes come first, in the order of the flow', () => {
    const flow: Flow = {
      ...flowOf({ a: { type: 'no.a' }, b: { type: 'no.b' }, c: {} }, ['t -> a', 'a -> b', 't:odd -> c']),
      settings: { display_name: '{{vars.x}}' },
    };
    expect(codes(flow)).toEqual([
      't unknown_handle',
      'a unknown_node_type',
      'b unknown_node_type',
      '- unknown_variable',
    ]);
    expect(compile(flow as JsonValue, testRegistry)).toMatchObject({ problem: { node_id: 't' } });
  });

  it('P9 F10: 2,000 nodes, 100,000 edges and a reference in each node take linear time', () => {
    const ids = Array.from({ length: 1_999 }, (_, n) => `n${n}`);
    const nodes = Object.fromEntries(
      ids.map((id, n) => [id, echo({ value: n === 0 ? 1 : `{{nodes.n${(n * 7) % n}.output.value}}` })]),
    );
    const edges = ids.flatMap((id, n) => [
      `t -> ${id}`,
      ...Array.from({ length: Math.min(n, 49) }, (_, back) => `n${n - back - 1} -> ${id}`),
    ]);
    const flow = flowOf(nodes, edges);
    expect(flow.edges.length).toBeGreaterThan(95_000);
    expect(validateStructure(flow as JsonValue, { maxNodes: 2_000 })).toEqual([]);
    expect(findProblems(flow, testRegistry)).toEqual([]);
  });

  it('P5 P7 P9: arbitrary valid flows have no problems, and any damage to one is found', () => {
    fc.assert(
      fc.property(arbitraryFlow(), fc.nat(), (flow, choice) => {
        expect(validateStructure(flow as JsonValue, { maxNodes: 100 })).toEqual([]);
        expect(findProblems(flow, testRegistry)).toEqual([]);
        if (flow.edges.length === 0) return;
        const at = choice % flow.edges.length;
        const edges = flow.edges.map((edge, n) => (n === at ? { ...edge, sourceHandle: 'nowhere' } : edge));
        expect(codes({ ...flow, edges })).toEqual([`${flow.edges[at]?.source} unknown_handle`]);
      }),
    );
  });
});
