import { describe, expect, it } from 'vitest';
import {
  type JsonObject,
  type NodeResult,
  recordsToShow,
  resultOf,
  stop,
  success,
  waitUntil,
} from '../src/index.ts';
import { abbreviate, Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { broken, effect, forEach, ok, playOn } from './support/loops.ts';

describe('stop', () => {
  it('E26: ends the execution as completed, with its output as the result', () => {
    const nodes = { a: effect, b: effect, c: effect, d: {}, l: forEach([0]), e: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> a', 't -> b', 't -> c', 'a -> d', 'd -> l'])));
    drive.end('c', waitUntil(90_000, {}));
    expect(abbreviate(drive.end('a', stop({ answer: 42 })))).toEqual([
      ...['abort b execution_ended', 'finish completed'],
    ]);
    const records = drive.journal();
    const statuses = recordsToShow([{ records }]).map(({ nodeId, status }) => `${nodeId} ${status}`);
    expect(statuses.sort()).toEqual([
      ...['a success', 'b cancelled', 'c cancelled', 'd skipped', 'e skipped', 'l skipped', 't success'],
    ]);
    expect(resultOf(drive.state.plan, records)).toEqual({ answer: 42 });
    expect(abbreviate(new Drive(drive.state.plan, {}, records).effects)).toEqual(['finish completed']);
  });

  it('E26: from inside loops it ends everything', () => {
    const nodes = {
      outer: forEach([0, 1], { concurrency: 2 }),
      inner: { ...forEach([0, 1], { concurrency: 2 }), in: 'outer' },
      a: { in: 'inner' },
      b: { in: 'inner' },
      z: {},
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> outer', 'a -> b', 'outer -> z'])));
    expect(abbreviate(drive.end('a 0 1', stop({ found: true })))).toEqual([
      ...['abort a 0 0 execution_ended', 'abort a 1 0 execution_ended', 'abort a 1 1 execution_ended'],
      'finish completed',
    ]);
    const records = drive.journal();
    expect(drive.stored().get('a')).toMatchObject({
      status: 'success',
      output: { found: true },
      iterations: 2,
    });
    expect(drive.stored().get('outer')).toMatchObject({ status: 'cancelled' });
    expect(drive.stored().get('z')).toMatchObject({ status: 'skipped' });
    expect(drive.stored().get('b')).toMatchObject({ status: 'skipped' });
    expect(resultOf(drive.state.plan, records)).toEqual({ found: true });
  });

  it('E26 L7: its result is kept when a later iteration had ended on an earlier worker', () => {
    const nodes = { l: forEach([0, 1], { concurrency: 2 }), a: { ...effect, in: 'l' }, b: { in: 'l' } };
    const first = new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b'])));
    for (const name of ['a 1', 'b 1', 'a 0']) first.end(name, ok);
    const stored = first.journal();
    const drive = new Drive(first.state.plan, {}, stored);
    drive.end('b 0', stop({ answer: 42 }));
    const records = [...stored, ...drive.journal()];
    expect(resultOf(first.state.plan, records)).toEqual({ answer: 42 });
    const shown = recordsToShow([{ records }]).find(({ nodeId }) => nodeId === 'b');
    expect(shown).toMatchObject({ status: 'success', isStop: true, iterations: 2 });
  });

  it('E26: without it the result is the outputs of the last nodes', () => {
    const resultAfter = (edges: string[], results: Record<string, NodeResult>): JsonObject => {
      const plan = planOf(flowOf({ a: {}, b: {}, c: { on_error: 'continue' } }, edges));
      const drive = new Drive(plan);
      playOn(drive, (nodeId) => results[nodeId] ?? success({ id: nodeId }));
      return resultOf(plan, drive.journal());
    };
    const row = ['t -> a', 'a -> b', 'b -> c'];
    expect(resultAfter(row, {})).toEqual({ id: 'c' });
    expect(resultAfter(['t -> a', 'a -> b', 'a -> c'], {})).toEqual({ b: { id: 'b' }, c: { id: 'c' } });
    expect(resultAfter(row, { b: success({}, { handles: [] }) })).toEqual({});
    expect(resultAfter(row, { c: broken })).toEqual({ error: { code: 'broken', message: 'it broke' } });
    expect(resultAfter(row, { a: broken })).toEqual({});
    expect(resultOf(planOf(flowOf({}, [])), [])).toEqual({});
  });

  it('E26 E16: an invalid output is a failure', () => {
    const drive = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    drive.end('a', stop({ text: 'x'.repeat(10_001) }));
    expect(drive.outcome()).toMatchObject({ error: { code: 'output_too_large' } });
  });
});
