import { verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import {
  compile,
  displayNameOf,
  type Flow,
  failure,
  findProblems,
  type JsonSchema,
  type JsonValue,
  outcomeOfProblem,
  recordsToKeep,
  renderAtEnd,
  startKeyOf,
  success,
  triggerTypeOf,
  validateValue,
} from '../src/index.ts';
import { Drive } from './support/drive.ts';
import { flowOf, planOf, testRegistry } from './support/index.ts';

describe('plan', () => {
  it('E25: a flow with a problem has no plan, and its executions fail with it', () => {
    const flow = flowOf({ a: { type: 'no.such' } }, ['t -> a']);
    const compiled = compile(flow as JsonValue, testRegistry);
    expect(compiled).toMatchObject({ kind: 'invalid', problem: { node_id: 'a', code: 'unknown_node_type' } });
    expect(compiled.kind === 'invalid' && outcomeOfProblem(compiled.problem)).toEqual({
      status: 'failed',
      error: {
        code: 'invalid_workflow',
        message: saying('"a": there is no node type "no.such"'),
        nodeId: 'a',
      },
    });
  });

  it('E25: what is not a flow has no plan either', () => {
    for (const value of [null, [], {}, { nodes: [1], edges: [] }] as JsonValue[]) {
      expect(compile(value, testRegistry)).toMatchObject({ kind: 'invalid', problem: { node_id: null } });
    }
  });

  it('J1: nodes are ordered so that every edge points forward, with its handle', () => {
    const plan = planOf(flowOf({ c: {}, b: {}, a: {} }, ['a -> b', 'b:left -> c', 't -> a', 't -> c']));
    expect(plan.nodes.map(({ id }) => id)).toEqual(['t', 'a', 'b', 'c']);
    for (const node of plan.nodes) {
      for (const edge of node.outgoing) expect(edge.target).toBeGreaterThan(edge.source);
    }
    expect(plan.nodes[3]?.incoming.map(({ handle }) => handle)).toEqual(['left', 'out']);
  });

  it('R1 E15: policies and limits of nodes and of the flow', () => {
    const retry = { max_attempts: 4 };
    const flow: Flow = {
      ...flowOf({ a: { retry, label: 'A', on_error: 'branch' }, b: { type: 'test.effect' } }, [
        't -> a',
        'a -> b',
      ]),
      settings: { timeout_s: 90, input_schema: { type: 'object' }, vars: { x: 1 } },
    };
    const plan = planOf(flow);
    expect(plan).toMatchObject({ timeoutMs: 90_000, inputSchema: { type: 'object' }, vars: { x: 1 } });
    expect(plan.trigger.id).toBe('t');
    expect(plan.nodes[1]).toMatchObject({
      label: 'A',
      onError: 'branch',
      timeoutMs: null,
      retry: { maxAttempts: 4, backoffMs: 1_000, maxBackoffMs: 60_000 },
    });
    expect(plan.nodes[2]).toMatchObject({
      label: 'b',
      onError: 'fail',
      timeoutMs: 300_000,
      retry: { maxAttempts: 1 },
    });
    expect(triggerTypeOf(flow, testRegistry)).toBe('test.trigger');
    expect(triggerTypeOf({ nodes: [], edges: [] }, testRegistry)).toBeNull();
  });

  it('F8: execution settings', () => {
    const settings = {
      max_concurrency: 3,
      priority: 'low' as const,
      rate: { limit: 5, per_seconds: 60, key: '{{trigger.data.id}}' },
      debounce: { seconds: 2 },
      error_workflow_id: 9,
      timezone: 'Europe/Berlin',
      token_budget: 500,
    };
    const plan = planOf({ ...flowOf({}, []), settings });
    expect(plan).toMatchObject({
      maxConcurrency: 3,
      priority: 'low',
      rate: { limit: 5, periodMs: 60_000, key: { kind: 'expression' } },
      debounce: { waitMs: 2_000, maxWaitMs: null, key: null },
      errorWorkflowId: 9,
      timezone: 'Europe/Berlin',
      tokenBudget: 500,
    });
    expect(planOf(flowOf({}, []))).toMatchObject({
      ...{
        maxConcurrency: null,
        priority: 'normal',
        rate: null,
        debounce: null,
        errorWorkflowId: null,
        timezone: null,
        tokenBudget: null,
      },
    });
  });

  it('F8 P8: a concurrency key is a template over the trigger, rendered as text', () => {
    const key = '{{trigger.data.customer}}';
    const { concurrency, ...plan } = planOf({
      ...flowOf({}, []),
      settings: { concurrency: { key, limit: 2 } },
    });
    if (concurrency === null) throw new Error('no concurrency');
    expect(concurrency).toMatchObject({ limit: 2, onLimit: 'queue' });
    const keyOf = (customer: JsonValue): string =>
      startKeyOf(concurrency.key, plan, { executionId: 1, triggerData: { customer } });
    expect([keyOf('a'), keyOf(5), keyOf('5'), keyOf({ b: 1 })]).toEqual(['a', '5', '5', '{"b":1}']);
    const unknown = { ...flowOf({}, []), settings: { concurrency: { key: '{{nodes.x.output}}', limit: 1 } } };
    expect(findProblems(unknown, testRegistry).map(({ pointer }) => pointer)).toEqual([
      '/flow_data/settings/concurrency/key',
    ]);
    const keyless = planOf({ ...flowOf({}, []), settings: { concurrency: { limit: 1, on_limit: 'skip' } } });
    expect(keyless.concurrency).toEqual({ key: null, limit: 1, onLimit: 'skip' });
    expect(planOf(flowOf({}, [])).concurrency).toBeNull();
  });

  it('L1: the top level and each body are separate scopes', () => {
    const loop = { type: 'core.for_each', config: { items: [] } };
    const nodes = {
      b: { in: 'l' },
      l: loop,
      m: { ...loop, in: 'l' },
      e: { in: 'm', type: 'test.effect' },
      p: loop,
      a: { in: 'p' },
    };
    const plan = planOf(flowOf(nodes, ['t -> l', 't -> p', 'm -> b']));
    expect(plan.nodes.map(({ id, index, place }) => `${id} ${index} ${place}`)).toEqual([
      ...['t 0 0', 'l 1 1', 'p 2 2', 'm 3 0', 'b 4 1', 'e 5 0', 'a 6 0'],
    ]);
    const bodies = ['l', 'm', 'p'].map((id) => plan.nodes[plan.nodeIndexes.get(id) ?? 0]?.body);
    expect(bodies.map((body) => [body?.entries.length, body?.sinks.map(({ id }) => id)])).toEqual([
      [1, ['b']],
      [1, ['e']],
      [1, ['a']],
    ]);
  });

  it("R5: the type's retry defaults apply to what the node doesn't set", () => {
    const nodes = { a: { type: 'test.tool' }, b: { type: 'test.tool', retry: { max_attempts: 7 } }, c: {} };
    const plan = planOf(flowOf(nodes, ['t -> a', 't -> b', 't -> c']));
    expect(plan.nodes.slice(1).map(({ retry }) => retry)).toEqual([
      { maxAttempts: 3, backoffMs: 400, maxBackoffMs: 800 },
      { maxAttempts: 7, backoffMs: 400, maxBackoffMs: 800 },
      { maxAttempts: 1, backoffMs: 1_000, maxBackoffMs: 60_000 },
    ]);
  });

  it('E27 P13: deferred members reach the node as written, and are rendered later', () => {
    const text = '{{trigger.data.name}}';
    const count = '{{args.n}}';
    const answer = {
      all: 'z {{nodes.z.output.text}}',
      own: '{{nodes.a.output}}',
      at: '{{now}}',
      inside: '{{nodes.none.output}}',
    };
    const { inside: _, ...config } = answer;
    const flow = flowOf({ a: { type: 'test.tool', config: { text, count, answer: config } }, z: {} }, [
      't -> a',
      'a -> z',
    ]);
    const drive = new Drive(planOf(flow));
    const start = drive.lastStart('a');
    expect(start?.config).toEqual({ text: 'Ada', count, answer: config });
    const { render } = start ?? {};
    expect(
      render?.(
        { x: [count, '{{trigger.data.name}} {{args.s}}', '{{nodes.t.output.data.name}}'] },
        { n: 5, s: '{{x}}' },
      ),
    ).toEqual({
      x: [5, 'Ada {{x}}', 'Ada'],
    });
    expect(() => render?.('{{args.s}}{{args.s}}', { s: 'x'.repeat(9_000) })).toThrow(/would exceed/);
    drive.end('a', success({ text: 'A' }));
    drive.end('z', success({ text: 'Z' }));
    const node = drive.state.plan.nodes[drive.state.plan.nodeIndexes.get('a') ?? 0];
    const of = { executionId: 7, triggerData: {}, records: drive.journal(), maxBytes: 1_000 };
    expect(node === undefined ? null : renderAtEnd(drive.state.plan, node, of)).toEqual({
      ...{
        text,
        count,
        answer: { all: 'z Z', own: { text: 'A' }, at: new Date(drive.nowMs).toISOString() },
      },
    });
  });

  it('T18: settings know when the start was accepted, the response when the last node ended', () => {
    const plan = planOf({
      ...flowOf({}, []),
      settings: { display_name: 'Report {{now | date: "yyyy-MM-dd"}}' },
    });
    const of = { executionId: 7, workflowName: 'Orders', triggerData: {}, nowMs: Date.parse('2026-03-01') };
    expect(displayNameOf(plan, of)).toBe('Report 2026-03-01');
  });

  it('T13: times are shown in the zone of the settings if none is named', () => {
    const named = (timezone?: string): Parameters<typeof displayNameOf>[0] => {
      const display_name =
        '{{trigger.data.at | date: "HH:mm"}} {{trigger.data.at | date: "HH:mm", "UTC"}} {{trigger.data.at | date: "HH:mm", trigger.data.no}}';
      const zone = timezone === undefined ? {} : { timezone };
      return planOf({ ...flowOf({}, []), settings: { display_name, ...zone } });
    };
    const of = { executionId: 7, workflowName: 'Orders', triggerData: { at: '2026-01-01T00:00:00Z' } };
    expect(displayNameOf(named('Asia/Tokyo'), of)).toBe('09:00 00:00');
    expect(displayNameOf(named(), of)).toBe('00:00 00:00');
  });

  it('E23: display names', () => {
    const named = (display_name: string): Parameters<typeof displayNameOf>[0] =>
      planOf({ ...flowOf({}, []), settings: { display_name, vars: { team: 'Ops' } } });
    const of = {
      executionId: 7,
      workflowName: 'Orders',
      triggerData: { id: 5, list: [1], nul: 'a\u0000\ud800' },
    };
    expect(displayNameOf(null, of)).toBe('Orders #7');
    expect(displayNameOf(planOf(flowOf({}, [])), of)).toBe('Orders #7');
    expect(displayNameOf(named('{{vars.team}}: order {{trigger.data.id}} ({{execution.id}})'), of)).toBe(
      'Ops: order 5 (7)',
    );
    expect(displayNameOf(named('{{trigger.data.id}}'), of)).toBe('5');
    expect(displayNameOf(named('{{trigger.data.list}}'), of)).toBe('[1]');
    expect(displayNameOf(named('{{trigger.data.missing}}'), of)).toBe('Orders #7');
    expect(displayNameOf(named('  {{trigger.data.missing}} '), of)).toBe('Orders #7');
    expect(displayNameOf(named('{{trigger.data.nul}}'), of)).toBe('a\ufffd\ufffd');
    expect(displayNameOf(named('{{trigger.data}}'), { ...of, triggerData: '😀'.repeat(300) })).toBe(
      '😀'.repeat(255),
    );
    expect(displayNameOf(named('x{{trigger.data}}'), { ...of, triggerData: 'x'.repeat(200_000) })).toBe(
      'Orders #7',
    );
  });

  it("E24: a rerun keeps what succeeded and doesn't depend on what didn't", () => {
    const nodes = { a: {}, b: {}, c: { on_error: 'continue' as const }, d: {}, e: {}, f: {} };
    const plan = planOf(
      flowOf(nodes, ['t -> a', 'a -> b', 't -> c', 'c -> d', 'a:left -> e', 'b -> f', 'd -> f']),
    );
    const drive = new Drive(plan);
    drive.end('c', failure('x', verbatim('y')));
    drive.end('a', success({ text: 'A' }, { consumedAiTokens: 9 }));
    drive.end('d', success({}));
    drive.end('b', failure('broken', verbatim('z')));
    const kept = recordsToKeep(plan, [...drive.stored().values()]);
    expect(kept.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual([
      't success',
      'a success',
      'e skipped',
    ]);
    expect(kept[1]).toMatchObject({ output: { text: 'A' }, consumedAiTokens: 0 });
    const again = new Drive(plan, {}, kept);
    expect(
      again.effects.map((effect) => (effect.kind === 'start_node' ? effect.node.id : effect.kind)),
    ).toEqual(['c', 'b']);
  });
});

describe('JSON Schema', () => {
  it('F8: mismatches are reported with pointers', () => {
    const schema = {
      type: 'object',
      required: ['id', 'toString'],
      properties: { id: { type: 'integer' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
      additionalProperties: false,
    };
    expect(
      validateValue(schema, { id: 1.5, tags: ['a', 'c'], more: 1 }).map(({ pointer, message }) => [
        pointer,
        inEnglish(message),
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['/toString', 'is required'],
        ['/more', 'is not known here; remove it or check its spelling'],
        ['/id', 'must be a whole number'],
        ['/tags/1', 'must be one of a, b'],
      ]),
    );
  });

  it('F8 N1: numbers beyond a double are numbers', () => {
    const big = JSON.parse('[1]', () => JSON.rawJSON('9007199254740993'));
    expect(validateValue({ type: 'integer' }, big)).toEqual([]);
    expect(validateValue({ type: 'object' }, big)).toHaveLength(1);
  });

  it('F8: schemas built to explode end in an error', () => {
    expect(validateValue({ $ref: '#' }, 1)).toEqual([expect.objectContaining({ pointer: '' })]);
    const $defs: { [name: string]: unknown } = { n0: { type: 'string' } };
    for (let n = 1; n < 60; n++) {
      $defs[`n${n}`] = { allOf: [{ $ref: `#/$defs/n${n - 1}` }, { $ref: `#/$defs/n${n - 1}` }] };
    }
    expect(validateValue({ $defs, $ref: '#/$defs/n59' }, 'x')).toEqual([
      expect.objectContaining({ message: saying(/references lead too far/) }),
    ]);
    expect(validateValue({ $defs, $ref: '#/$defs/n5' }, 'x')).toEqual([]);
  });

  const numbers = Array.from({ length: 3_000 }, (_, index) => index);
  const some = numbers.slice(0, 200);
  const names = Object.fromEntries(numbers.slice(0, 2_000).map((index) => [`k${index}`, index]));
  const properties = Object.fromEntries(Object.keys(names).map((name) => [name, {}]));
  const [many, objects] = [some.map(() => names), numbers.map((n) => ({ a: { b: n } }))];
  it.each<[string, JsonSchema, JsonValue]>([
    ['enum', { enum: numbers }, numbers],
    ['enum of objects', { enum: objects }, objects],
    ['const', { anyOf: numbers.map((n) => ({ const: [n] })) }, numbers.map((n) => [n])],
    ['anyOf', { anyOf: numbers.map((n) => ({ const: n })) }, numbers],
    ['allOf', { allOf: numbers.map((n) => ({ not: { const: -n - 1 } })) }, numbers],
    ['properties', { properties }, numbers.map(() => ({ k0: 1 }))],
    ['additionalProperties', { properties, additionalProperties: false }, many],
    ['contains', { contains: { contains: { type: 'integer' } } }, some.map(() => some.map(() => some))],
  ])('F8: a value and a schema that multiply end in an error (%s)', (_, items, value) => {
    expect(validateValue({ items }, value)).toEqual([
      expect.objectContaining({ message: saying(/takes more than 4,?000,?000 steps/) }),
    ]);
  });

  it('F8: large values with ordinary schemas pass', () => {
    const item = {
      type: 'object',
      properties: { id: { type: 'integer' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
      required: ['id'],
      additionalProperties: false,
    };
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, tags: ['a', 'b', 'a'] }));
    expect(validateValue({ type: 'array', items: item, uniqueItems: true }, rows)).toEqual([]);
  });

  it('F8: duplicate items are found in linear time, however many there are', () => {
    const ones = Array.from({ length: 500_000 }, () => 1);
    const expected = [
      expect.objectContaining({
        pointer: '/a',
        code: 'invalid_value',
        message: saying('must not have duplicate items'),
      }),
    ];
    const schema = { properties: { a: { uniqueItems: true } } };
    expect(validateValue(schema, { a: ones })).toEqual(expected);
    expect(validateValue(schema, { a: [{ b: 1, c: 2 }, 1, { c: 2, b: 1 }] })).toEqual(expected);
    expect(validateValue(schema, { a: [1, '1', [1], { a: 1 }, null] })).toEqual([]);
    expect(validateValue({ uniqueItems: false }, [1, 1])).toEqual([]);
    expect(validateValue({ not: { uniqueItems: true } }, [1, 1])).toEqual([]);
    expect(validateValue({ uniqueItems: true }, 'no list')).toEqual([]);
  });
});
