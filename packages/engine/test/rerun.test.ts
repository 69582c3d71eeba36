import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { type Flow, failure, type NodeRecord, type Plan, recordsToKeep, success } from '../src/index.ts';
import { Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { forEach } from './support/loops.ts';

const EDGES = ['t -> a', 'a -> b', 'b -> c', 't -> side'];
const NODES = {
  a: { config: { text: 'A {{vars.greeting}}' } },
  b: { label: 'Second' },
  c: {},
  side: { config: { text: '{{trigger.data.name}}' } },
};

function flowWith(nodes: Parameters<typeof flowOf>[0] = {}, edges = EDGES, settings: object = {}): Flow {
  const vars = { greeting: 'hello', other: 1 };
  return { ...flowOf({ ...NODES, ...nodes }, edges), settings: { vars, ...settings } };
}

/** Records of an execution in which everything succeeded but the last node. */
function recordsOf(plan: Plan): NodeRecord[] {
  const drive = new Drive(plan);
  for (const id of ['side', 'a', 'b']) drive.end(id, success({ from: id }));
  drive.end('c', failure('broken', verbatim('no')));
  return [...drive.stored().values()];
}

const former = planOf(flowWith());
const records = recordsOf(former);

function keptWith(flow: Flow, from?: string): string[] {
  const scope = { former, ...(from === undefined ? {} : { from }) };
  return recordsToKeep(planOf(flow), records, scope).map(({ nodeId }) => nodeId);
}

describe('rerun with another version', () => {
  it.each([
    ['nothing but the failed node', flowWith({ c: { config: { text: 'fixed' } } })],
    ['labels and places', { ...flowWith(), nodes: flowWith({ b: { label: 'Renamed' } }).nodes.toReversed() }],
    [
      'how often it is tried',
      flowWith({ a: { ...NODES.a, retry: { max_attempts: 3 }, on_error: 'continue' } }),
    ],
    ['variables nobody reads', flowWith({}, EDGES, { vars: { greeting: 'hello', other: 2 } })],
    ['what is behind the failed node', flowWith({ d: {} }, [...EDGES, 'c -> d'])],
  ])('E30: a change of %s keeps everything that succeeded', (_what, flow) => {
    expect(keptWith(flow).toSorted()).toEqual(['a', 'b', 'side', 't']);
  });

  it.each([
    ['its settings', flowWith({ a: { config: { text: 'B' } } }), ['side', 't']],
    ['its type', flowWith({ b: { type: 'test.effect' } }), ['a', 'side', 't']],
    ['a variable it reads', flowWith({}, EDGES, { vars: { greeting: 'good day', other: 1 } }), ['side', 't']],
    ['the time zone', flowWith({}, EDGES, { timezone: 'Asia/Tokyo' }), ['t']],
    ['what leads to it', flowWith({}, ['t -> a', 't -> b', 'b -> c', 't -> side']), ['a', 'side', 't']],
    [
      'a node inserted before it',
      flowWith({ n: {} }, ['t -> a', 'a -> n', 'n -> b', 'b -> c', 't -> side']),
      ['a', 'side', 't'],
    ],
  ])('E30: a node runs again after a change of %s, and so does what depends on it', (_what, flow, kept) => {
    expect(keptWith(flow).toSorted()).toEqual(kept);
  });

  it('E30: what is run again starts as usual, with the outputs that are kept', () => {
    const plan = planOf(flowWith({ b: { config: { text: 'fixed' } } }));
    const again = new Drive(plan, {}, recordsToKeep(plan, records, { former }));
    expect(again.effects).toMatchObject([
      { kind: 'start_node', node: { id: 'b' }, inputs: { a: { from: 'a' } } },
    ]);
  });

  it('E30: a loop is run again if anything in it has changed', () => {
    const flow = (text: string, settings: object = {}) =>
      flowOf(
        {
          l: forEach([0, 1]),
          a: { in: 'l', config: { text } },
          z: { type: 'test.effect' },
          ...settings,
        },
        ['t -> l', 'l -> z'],
      );
    const plan = planOf(flow('{{item}}'));
    const drive = new Drive(plan);
    drive.end('a 0', success({}));
    drive.end('a 1', success({}));
    drive.end('z', failure('broken', verbatim('no')));
    const keeps = (other: Flow) =>
      recordsToKeep(planOf(other), drive.journal(), { former: plan }).map(({ nodeId }) => nodeId);
    expect(keeps(flow('{{item}}'))).toEqual(['t', 'l', 'a']);
    expect(keeps(flow('{{index}}'))).toEqual(['t']);
    expect(keeps(flow('{{item}}', { b: { in: 'l' } }))).toEqual(['t']);
  });

  it('E30: from a node, it runs again with all that depends on it', () => {
    expect(keptWith(flowWith(), 'b').toSorted()).toEqual(['a', 'side', 't']);
    expect(keptWith(flowWith({ a: { config: { text: 'B' } } }), 'side')).toEqual(['t']);
  });
});
