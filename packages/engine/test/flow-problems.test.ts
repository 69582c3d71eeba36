import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, type Flow, findProblems, type JsonValue, validateStructure } from '../src/index.ts';
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
        message: '"a": there is no node type "slack.postt"',
      },
    ]);
  });

  it('P2: no trigger, or more than one', () => {
    expect(findProblems({ nodes: [], edges: [] }, testRegistry)).toEqual([
      expect.objectContaining({ pointer: '/flow_data/nodes', node_id: null, code: 'no_trigger' }),
    ]);
    expect(codes(flowOf({ t2: { type: 'test.trigger' }, t3: { type: 'test.trigger' } }, []))).toEqual([
      't2 several_triggers',
      't3 several_triggers',
    ]);
  });

  it('P3: what the trigger does not reach, and edges into it', () => {
    expect(codes(flowOf({ a: {}, b: {}, c: {} }, ['t -> a', 'b -> c']))).toEqual([
      'b unreachable_node',
      'c unreachable_node',
    ]);
    expect(codes(flowOf({ t2: { type: 'test.trigger' }, a: {} }, ['t -> a', 'a -> t2']))).toEqual([
      't2 several_triggers',
      't2 edge_into_trigger',
    ]);
  });

  it('P4: config that is missing or does not fit', () => {
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
    expect(problems.map(({ message }) => message)).toEqual([
      '"a": "value" is required',
      '"b": "odd" is not known here; remove it or check how it is spelled',
      '"b": "count" must be 1 or more',
      '"b": "mode" must be one of fast, slow',
      '"b": "options" must be an object',
    ]);
  });

  it('P4: a value that a template gives is not judged', () => {
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

  it('P4: a literal that looks like a template is text, and judged', () => {
    expect(codes(flowOf({ a: echo({ value: 1, count: '\\{{x}}' }) }, ['t -> a']))).toEqual([
      'a invalid_config',
    ]);
  });

  it('P5: handles that a node does not have', () => {
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
    expect(problem?.message).toMatch(/on_error is "branch"/);
  });

  it('P6: expressions that cannot be read', () => {
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

  it('P7: a template reads only nodes that come before', () => {
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

  it('P7: the display name reads no node', () => {
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
    ]) {
      expect(at(path)).toEqual(['a unknown_reference']);
    }
    for (const path of [
      'constructor',
      '__proto__.x',
      'toString',
      'trigger.data.constructor',
      'execution.id',
    ]) {
      expect(at(path)).toEqual([]);
    }
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
    expect(compile(flow as unknown as JsonValue, testRegistry)).toMatchObject({ problem: { node_id: 't' } });
  });

  it('P9 F10: 2,000 nodes, 100,000 edges and a reference in each node', () => {
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
    expect(validateStructure(flow as unknown as JsonValue, { maxNodes: 2_000 })).toEqual([]);
    expect(findProblems(flow, testRegistry)).toEqual([]);
  });

  it('P5 P7 P9: arbitrary sound flows have no problem, and any damage to one is found', () => {
    fc.assert(
      fc.property(arbitraryFlow(), fc.nat(), (flow, choice) => {
        expect(validateStructure(flow as unknown as JsonValue, { maxNodes: 100 })).toEqual([]);
        expect(findProblems(flow, testRegistry)).toEqual([]);
        if (flow.edges.length === 0) return;
        const at = choice % flow.edges.length;
        const edges = flow.edges.map((edge, n) => (n === at ? { ...edge, sourceHandle: 'nowhere' } : edge));
        expect(codes({ ...flow, edges })).toEqual([`${flow.edges[at]?.source} unknown_handle`]);
      }),
    );
  });
});
