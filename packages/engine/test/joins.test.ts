import { describe, expect, it } from 'vitest';
import { success } from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';

const ok = success({ text: 'ok' });

describe('joins and dead paths', () => {
  it('J1 J2 J3: edges not taken are dead, all the way to a join that still runs once', () => {
    const nodes = { a: {}, b: {}, c: {}, d: {}, e: {} };
    const edges = ['t -> a', 'a:left -> b', 'a:right -> c', 'b -> d', 'c -> e', 'd -> e'];
    const drive = new Drive(planOf(flowOf(nodes, edges)));
    expect(abbreviate(drive.end('a', success({}, { handles: ['right'] })))).toEqual(['start c']);
    const [start] = drive.end('c', ok);
    expect(start).toMatchObject({ kind: 'start_node', node: { id: 'e' }, inputs: { c: { text: 'ok' } } });
    expect(abbreviate(drive.end('e', ok))).toEqual(['finish completed']);
    expect(drive.stored().get('b')).toEqual({ nodeId: 'b', status: 'skipped', completedAtMs: START_MS });
    expect(drive.stored().get('d')).toMatchObject({ status: 'skipped' });
  });

  it('J2: a node with several live edges runs once, when the last is decided', () => {
    const drive = new Drive(
      planOf(flowOf({ a: {}, b: {}, c: {} }, ['t -> a', 't -> b', 'a -> c', 'a -> c', 'b -> c'])),
    );
    expect(drive.end('a', ok)).toEqual([]);
    expect(abbreviate(drive.end('b', ok))).toEqual(['start c']);
  });

  it('J3: if nothing is taken, everything after it is skipped', () => {
    const drive = new Drive(planOf(flowOf({ a: {}, b: {}, c: {} }, ['t -> a', 'a -> b', 'b -> c'])));
    expect(abbreviate(drive.end('a', success({}, { handles: [] })))).toEqual(['finish completed']);
    expect([...drive.stored().values()].map(({ status }) => status)).toEqual([
      'success',
      'success',
      'skipped',
      'skipped',
    ]);
  });
});
