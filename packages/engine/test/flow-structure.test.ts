import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { type JsonObject, type JsonValue, parseJson, validateStructure } from '../src/index.ts';

const LIMITS = { maxNodes: 2_000 };

function codes(value: JsonValue): string[] {
  return validateStructure(value, LIMITS).map(({ pointer, code }) => `${pointer} ${code}`);
}

function node(id: JsonValue, over: JsonObject = {}): JsonObject {
  return { id, type: 'test.pure', position: { x: 0, y: 0 }, data: {}, ...over };
}

function edge(source: JsonValue, target: JsonValue, over: JsonObject = {}): JsonObject {
  return { source, target, ...over };
}

function flow(
  nodes: readonly JsonValue[],
  edges: readonly JsonValue[] = [],
  over: JsonObject = {},
): JsonObject {
  return { nodes, edges, ...over };
}

describe('structure of flow_data', () => {
  it('F1: a flow is an object with arrays of objects', () => {
    expect(codes(flow([]))).toEqual([]);
    expect(codes(null)).toEqual(['/flow_data invalid_type']);
    expect(codes([])).toEqual(['/flow_data invalid_type']);
    expect(codes({})).toEqual(['/flow_data/nodes required', '/flow_data/edges required']);
    expect(codes({ nodes: {}, edges: 'x' })).toEqual([
      '/flow_data/nodes invalid_type',
      '/flow_data/edges invalid_type',
    ]);
    expect(codes(flow([null, 3], ['x']))).toEqual([
      '/flow_data/nodes/0 invalid_type',
      '/flow_data/nodes/1 invalid_type',
      '/flow_data/edges/0 invalid_type',
    ]);
  });

  it('F1: an error has pointer, field, code and message; the location of the flow can be chosen', () => {
    expect(validateStructure(flow([node('')]), LIMITS)).toEqual([
      {
        pointer: '/flow_data/nodes/0/id',
        field: 'flow_data.nodes.0.id',
        code: 'empty',
        message: saying('must not be empty'),
      },
    ]);
    expect(validateStructure(flow([node('')]), { ...LIMITS, at: '' })[0]?.pointer).toBe('/nodes/0/id');
  });

  it('F2: ids are unique non-empty strings', () => {
    expect(codes(flow([node('a'), node('a'), node(5), { type: 'x' }]))).toEqual([
      '/flow_data/nodes/1/id duplicate_id',
      '/flow_data/nodes/2/id invalid_type',
      '/flow_data/nodes/3/id required',
    ]);
    expect(codes(flow([{ id: 'a' }, node('b', { type: '' }), node('c', { type: null })]))).toEqual([
      '/flow_data/nodes/0/type required',
      '/flow_data/nodes/1/type empty',
      '/flow_data/nodes/2/type invalid_type',
    ]);
    const edges = [
      edge('a', 'b', { id: 'e' }),
      edge('a', 'b', { id: 'e' }),
      edge('a', 'b', { id: '' }),
      edge('a', 'b'),
    ];
    expect(codes(flow([node('a'), node('b')], edges))).toEqual([
      '/flow_data/edges/1/id duplicate_id',
      '/flow_data/edges/2/id empty',
    ]);
  });

  it('F2: ids may contain any characters, including names that every object has', () => {
    const ids = ['ä "b"', '__proto__', 'constructor', 'a.b[0]', ' '];
    expect(
      codes(
        flow(
          ids.map((id) => node(id)),
          [edge('__proto__', 'constructor')],
        ),
      ),
    ).toEqual([]);
    expect(codes(parseJson('{"__proto__":{"nodes":[],"edges":[]}}'))).toHaveLength(2);
  });

  it('F3: edges join existing nodes', () => {
    expect(
      codes(flow([node('a')], [edge('a', 'b'), edge('toString', 'a'), edge(1, 'a'), edge('a', '')])),
    ).toEqual([
      '/flow_data/edges/0/target unknown_node',
      '/flow_data/edges/1/source unknown_node',
      '/flow_data/edges/2/source invalid_type',
      '/flow_data/edges/3/target empty',
    ]);
    const handles = [
      edge('a', 'b', { sourceHandle: null, targetHandle: 'in' }),
      edge('a', 'b', { sourceHandle: 7 }),
    ];
    expect(codes(flow([node('a'), node('b')], handles))).toEqual([
      '/flow_data/edges/1/sourceHandle invalid_type',
    ]);
  });

  it('F4: a cycle is refused and named', () => {
    const nodes = ['t', 'a', 'b', 'c', 'd'].map((id) => node(id));
    const edges = [edge('t', 'a'), edge('a', 'b'), edge('b', 'c'), edge('c', 'a'), edge('c', 'd')];
    const [error, ...others] = validateStructure(flow(nodes, edges), LIMITS);
    expect(others).toEqual([]);
    expect(error).toMatchObject({ code: 'cycle' });
    expect(error?.message).toEqual(saying(/(a -> b -> c -> a|b -> c -> a -> b|c -> a -> b -> c);/));
    expect(['/flow_data/edges/1', '/flow_data/edges/2', '/flow_data/edges/3']).toContain(error?.pointer);
    expect(codes(flow([node('a')], [edge('a', 'a')]))).toEqual(['/flow_data/edges/0 cycle']);
  });

  it('F4: a long cycle is named in part', () => {
    const nodes = Array.from({ length: 1_000 }, (_, n) => node(`n${n}`));
    const edges = nodes.map((_, n) => edge(`n${n}`, `n${(n + 1) % 1_000}`));
    expect(inEnglish(validateStructure(flow(nodes, edges), LIMITS)[0]?.message ?? '').length).toBeLessThan(
      500,
    );
  });

  it('F5: parentId names a loop', () => {
    const loop = node('loop', { type: 'core.for_each' });
    expect(codes(flow([loop, node('a', { parentId: 'loop' }), node('b', { parentId: null })]))).toEqual([]);
    expect(
      codes(
        flow([
          node('a', { parentId: 'b' }),
          node('b', { parentId: 'none' }),
          node('c', { parentId: 5 }),
          node('d', { type: 'core.repeat', parentId: 'e' }),
          node('e', { type: 'core.repeat', parentId: 'd' }),
        ]),
      ),
    ).toEqual([
      '/flow_data/nodes/0/parentId not_a_loop',
      '/flow_data/nodes/1/parentId unknown_node',
      '/flow_data/nodes/2/parentId invalid_type',
      '/flow_data/nodes/3/parentId cycle',
      '/flow_data/nodes/4/parentId cycle',
    ]);
  });

  it('F5: of loops inside each other only these are reported, and nesting is limited', () => {
    const loop = (id: string, parentId: string | null): JsonObject =>
      node(id, { type: 'core.repeat', parentId });
    expect(
      codes(flow([loop('a', 'b'), loop('b', 'a'), node('x', { parentId: 'a' }), loop('c', 'c')])),
    ).toEqual([0, 1, 3].map((n) => `/flow_data/nodes/${n}/parentId cycle`));
    const chain = (depth: number): JsonObject[] => [
      ...Array.from({ length: depth }, (_, n) => loop(`l${n}`, n === 0 ? null : `l${n - 1}`)),
      node('x', { parentId: `l${depth - 1}` }),
    ];
    expect(codes(flow(chain(50)))).toEqual([]);
    expect(validateStructure(flow(chain(51)), LIMITS)).toEqual([
      {
        ...{
          pointer: '/flow_data/nodes/51/parentId',
          field: 'flow_data.nodes.51.parentId',
          code: 'too_deep',
        },
        message: saying('is nested in more than 50 loops; take it out of some of them'),
      },
    ]);
    const ring = Array.from({ length: 200 }, (_, n) => loop(`l${n}`, `l${(n + 1) % 200}`));
    expect(codes(flow(ring))[0]).toBe('/flow_data/nodes/0/parentId too_deep');
  });

  it('F6: position is two numbers or absent', () => {
    expect(codes(flow([{ id: 'a', type: 'x' }]))).toEqual([]);
    expect(codes(flow([node('a', { position: { x: 1 } }), node('b', { position: [1, 2] })]))).toEqual([
      '/flow_data/nodes/0/position/y invalid_type',
      '/flow_data/nodes/1/position invalid_type',
    ]);
    expect(codes(flow([node('a', { position: { x: parseJson('1e400'), y: 0 } })]))).toEqual([
      '/flow_data/nodes/0/position/x invalid_type',
    ]);
  });

  it('F7: data of a node', () => {
    const good = {
      label: '',
      config: {},
      on_error: 'branch',
      timeout_ms: 86_400_000,
      retry: { max_attempts: 20, backoff_ms: 0, max_backoff_ms: 5 },
    };
    expect(codes(flow([node('a', { data: good })]))).toEqual([]);
    const bad = {
      label: 5,
      config: [],
      on_error: 'ignore',
      timeout_ms: 0,
      retry: { max_attempts: 21, backoff_ms: -1, max_backoff_ms: 1.5, attempts: 3 },
    };
    expect(
      codes(flow([node('a', { data: bad }), node('b', { data: { retry: 3 } }), node('c', { data: 'x' })])),
    ).toEqual([
      '/flow_data/nodes/0/data/label invalid_type',
      '/flow_data/nodes/0/data/config invalid_type',
      '/flow_data/nodes/0/data/timeout_ms invalid_value',
      '/flow_data/nodes/0/data/on_error invalid_value',
      '/flow_data/nodes/0/data/retry/max_attempts invalid_value',
      '/flow_data/nodes/0/data/retry/backoff_ms invalid_value',
      '/flow_data/nodes/0/data/retry/max_backoff_ms invalid_value',
      '/flow_data/nodes/0/data/retry/attempts unknown_field',
      '/flow_data/nodes/1/data/retry invalid_type',
      '/flow_data/nodes/2/data invalid_type',
    ]);
  });

  it('F8: settings', () => {
    const input_schema = {
      type: 'object',
      properties: { a: { pattern: '^x' } },
      $defs: { b: {} },
      $ref: '#/$defs/b',
    };
    const good = { display_name: 'x', timeout_s: 31_536_000, vars: { a: 1 }, input_schema, more: true };
    expect(codes(flow([], [], { settings: good }))).toEqual([]);
    const bad = { display_name: '', timeout_s: 0.5, vars: [], input_schema: true };
    expect(codes(flow([], [], { settings: bad }))).toEqual([
      '/flow_data/settings/display_name empty',
      '/flow_data/settings/timeout_s invalid_value',
      '/flow_data/settings/vars invalid_type',
      '/flow_data/settings/input_schema invalid_type',
    ]);
    expect(codes(flow([], [], { settings: 1 }))).toEqual(['/flow_data/settings invalid_type']);
    const more = {
      max_concurrency: 10_000,
      priority: 'high',
      error_workflow_id: 7,
      token_budget: 1,
      timezone: 'Asia/Tokyo',
    };
    expect(codes(flow([], [], { settings: more }))).toEqual([]);
    const worse = {
      max_concurrency: 10_001,
      priority: 'urgent',
      error_workflow_id: 0,
      token_budget: '1',
      timezone: 'Mars/Base',
    };
    expect(codes(flow([], [], { settings: worse }))).toEqual([
      '/flow_data/settings/max_concurrency invalid_value',
      '/flow_data/settings/priority invalid_value',
      '/flow_data/settings/error_workflow_id invalid_value',
      '/flow_data/settings/token_budget invalid_value',
      '/flow_data/settings/timezone unknown_timezone',
    ]);
    const concurrency = { key: '{{trigger.data.id}}', limit: 1, on_limit: 'cancel_running' };
    expect(codes(flow([], [], { settings: { concurrency } }))).toEqual([]);
    const wrong = { key: 7, limit: 0, on_limit: 'wait', more: true };
    expect(codes(flow([], [], { settings: { concurrency: wrong } }))).toEqual([
      '/flow_data/settings/concurrency/limit invalid_value',
      '/flow_data/settings/concurrency/key invalid_type',
      '/flow_data/settings/concurrency/on_limit invalid_value',
      '/flow_data/settings/concurrency/more unknown_field',
    ]);
    expect(codes(flow([], [], { settings: { concurrency: {} } }))).toEqual([
      '/flow_data/settings/concurrency/limit required',
    ]);
    const holds = {
      rate: { limit: 100_000, per_seconds: 86_400, key: 'x' },
      debounce: { seconds: 60, max_seconds: 60, key: '{{trigger.data.id}}' },
    };
    expect(codes(flow([], [], { settings: holds }))).toEqual([]);
    const wrongHolds = {
      rate: { limit: 0, key: '', burst: 5 },
      debounce: { seconds: 60, max_seconds: 59, key: 7 },
    };
    expect(codes(flow([], [], { settings: wrongHolds }))).toEqual([
      '/flow_data/settings/rate/limit invalid_value',
      '/flow_data/settings/rate/per_seconds required',
      '/flow_data/settings/rate/key empty',
      '/flow_data/settings/rate/burst unknown_field',
      '/flow_data/settings/debounce/max_seconds invalid_value',
      '/flow_data/settings/debounce/key invalid_type',
    ]);
    expect(codes(flow([], [], { settings: { rate: 5, debounce: {} } }))).toEqual([
      '/flow_data/settings/rate invalid_type',
      '/flow_data/settings/debounce/seconds required',
    ]);
    for (const timezone of ['+09:00', '', 7]) {
      expect(codes(flow([], [], { settings: { timezone } }))).toHaveLength(1);
    }
  });

  it('F9: members of the editor are allowed everywhere', () => {
    const nodes = [
      node('a', { measured: { width: 1 }, selected: true, style: {}, width: 5, data: { note: 'x' } }),
    ];
    const edges = [edge('a', 'b', { animated: true, label: 'x', type: 'smoothstep' })];
    const value = flow([...nodes, node('b')], edges, { viewport: { x: 0, y: 0, zoom: 1 }, anything: [1] });
    expect(codes(value)).toEqual([]);
    expect(codes({ ...value, viewport: 5 })).toEqual(['/flow_data/viewport invalid_type']);
  });

  it('F10: a flow that is too large is refused at once', () => {
    const nodes = Array.from({ length: 100_000 }, () => null);
    expect(validateStructure(flow(nodes), LIMITS)).toEqual([
      expect.objectContaining({ code: 'too_many_nodes' }),
    ]);
    expect(validateStructure(flow([], nodes), { ...LIMITS, maxEdges: 99_999 })).toEqual([
      expect.objectContaining({ code: 'too_many_edges' }),
    ]);
  });

  it('F10: at most 100 errors are reported', () => {
    expect(codes(flow(Array.from({ length: 2_000 }, () => 0)))).toHaveLength(100);
  });
});
