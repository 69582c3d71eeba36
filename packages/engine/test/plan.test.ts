import { describe, expect, it } from 'vitest';
import {
  compile,
  displayNameOf,
  type Flow,
  failure,
  type JsonValue,
  outcomeOfProblem,
  recordsToKeep,
  success,
  triggerTypeOf,
  validateValue,
} from '../src/index.ts';
import { Drive } from './support/drive.ts';
import { flowOf, planOf, testRegistry } from './support/index.ts';

describe('plan', () => {
  it('E25: a flow with a problem makes no plan, and its executions fail with it', () => {
    const flow = flowOf({ a: { type: 'no.such' } }, ['t -> a']);
    const compiled = compile(flow as unknown as JsonValue, testRegistry);
    expect(compiled).toMatchObject({ kind: 'invalid', problem: { node_id: 'a', code: 'unknown_node_type' } });
    expect(compiled.kind === 'invalid' && outcomeOfProblem(compiled.problem)).toEqual({
      status: 'failed',
      error: { code: 'invalid_workflow', message: '"a": there is no node type "no.such"', nodeId: 'a' },
    });
  });

  it('E25: what is no flow at all makes no plan either', () => {
    for (const value of [null, [], {}, { nodes: [1], edges: [] }] as JsonValue[]) {
      expect(compile(value, testRegistry)).toMatchObject({ kind: 'invalid', problem: { node_id: null } });
    }
  });

  it('J1: nodes are in an order in which every edge points forward, with its handle', () => {
    const plan = planOf(flowOf({ c: {}, b: {}, a: {} }, ['a -> b', 'b:left -> c', 't -> a', 't -> c']));
    expect(plan.nodes.map(({ id }) => id)).toEqual(['t', 'a', 'b', 'c']);
    for (const node of plan.nodes) {
      for (const edge of node.outgoing) expect(edge.target).toBeGreaterThan(edge.source);
    }
    expect(plan.nodes[3]?.incoming.map(({ handle }) => handle)).toEqual(['left', 'out']);
  });

  it('R1 E15: policies and limits of nodes and of the whole', () => {
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

  it('E24: a rerun keeps what ended well and does not depend on what did not', () => {
    const nodes = { a: {}, b: {}, c: { on_error: 'continue' as const }, d: {}, e: {}, f: {} };
    const plan = planOf(
      flowOf(nodes, ['t -> a', 'a -> b', 't -> c', 'c -> d', 'a:left -> e', 'b -> f', 'd -> f']),
    );
    const drive = new Drive(plan);
    drive.end('c', failure('x', 'y'));
    drive.end('a', success({ text: 'A' }, { consumedAiTokens: 9 }));
    drive.end('d', success({}));
    drive.end('b', failure('broken', 'z'));
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
  it('F8: what does not fit is told with pointers', () => {
    const schema = {
      type: 'object',
      required: ['id', 'toString'],
      properties: { id: { type: 'integer' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
      additionalProperties: false,
    };
    expect(
      validateValue(schema, { id: 1.5, tags: ['a', 'c'], more: 1 }).map(({ pointer, message }) => [
        pointer,
        message,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['/toString', 'is required'],
        ['/more', 'is not known here; remove it or check how it is spelled'],
        ['/id', 'must be a whole number'],
        ['/tags/1', 'must be one of a, b'],
      ]),
    );
  });

  it('F8 N1: numbers that a double does not hold are numbers', () => {
    const big = JSON.parse('[1]', () =>
      (JSON as unknown as { rawJSON(text: string): JsonValue }).rawJSON('9007199254740993'),
    );
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
      expect.objectContaining({ message: expect.stringMatching(/references lead too far/) }),
    ]);
    expect(validateValue({ $defs, $ref: '#/$defs/n5' }, 'x')).toEqual([]);
  });
});
