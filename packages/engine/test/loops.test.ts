import { describe, expect, it } from 'vitest';
import {
  failure,
  foldRecords,
  type JsonObject,
  type JsonValue,
  type NodeRecord,
  type NodeResult,
  recordsToKeep,
  recordsToShow,
  resultOf,
  stop,
  success,
  waitUntil,
} from '../src/index.ts';
import { Drive, inShort, START_MS } from './support/drive.ts';
import { flowOf, type NodeSketch, planOf } from './support/index.ts';

const effect = { type: 'test.effect', timeout_ms: 60_000 };
const ok = success({ text: 'ok' });
const broken = failure('broken', 'it broke');

function forEach(items: JsonValue, config: JsonObject = {}, data: NodeSketch = {}): NodeSketch {
  return { type: 'core.for_each', ...data, config: { items, ...config } };
}

function repeat(config: JsonObject, data: NodeSketch = {}): NodeSketch {
  return { type: 'core.repeat', ...data, config };
}

/** A loop `l` with the body `a -> b`, then `z`. */
function looped(loop: NodeSketch, body: NodeSketch = {}): Drive {
  const nodes = { l: loop, a: { ...body, in: 'l' }, b: { ...body, in: 'l' }, z: {} };
  return new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b', 'l -> z'])));
}

function outputOf(drive: Drive, node: string): JsonObject | undefined {
  const record = drive.state.root.slots.find((slot) => slot.node.id === node)?.record;
  return record !== undefined && 'output' in record ? record.output : undefined;
}

/** Ends whatever is started, in order, until the execution has ended. */
function playOn(
  drive: Drive,
  play: (nodeId: string, iteration: readonly number[], config: JsonObject) => NodeResult = () => ok,
): void {
  let at = 0;
  while (drive.state.phase.kind === 'running') {
    const next = drive.effects[at];
    at += 1;
    if (next?.kind === 'start_node') {
      const { node, iteration, config, attempt } = next;
      drive.end([node.id, ...iteration].join(' '), play(node.id, iteration, config), { attempt });
    } else if (next?.kind === 'wait_until') {
      if (next.atMs <= drive.nowMs) drive.time(drive.nowMs);
    } else if (next === undefined) {
      throw new Error('nothing happens any more');
    }
  }
}

describe('loops with items', () => {
  it('L1 L2 L3: runs its body for each item, one after the other', () => {
    const drive = looped(forEach(['x', 'y']));
    expect(inShort(drive.effects)).toEqual(['start a 0']);
    expect(inShort(drive.end('a 0', ok))).toEqual(['start b 0']);
    expect(inShort(drive.end('b 0', success({ n: 0 })))).toEqual(['start a 1']);
    drive.end('a 1', ok);
    expect(inShort(drive.end('b 1', success({ n: 1 })))).toEqual(['start z']);
    expect(outputOf(drive, 'l')).toEqual({ items: [{ n: 0 }, { n: 1 }], errors: [] });
    expect(drive.lastStart('z')?.inputs).toEqual({ l: { items: [{ n: 0 }, { n: 1 }], errors: [] } });
    expect(inShort(drive.end('z', ok))).toEqual(['finish completed']);
  });

  it('L1: item and index are those of the innermost loop, and what comes before the loops can be read', () => {
    const see = '{{nodes.p.output.text}} {{item.x}}{{index}} {{nodes.q.output.text}} {{trigger.data.name}}';
    const nodes = {
      p: {},
      outer: forEach([[{ x: 'A' }], [{ x: 'B' }, { x: 'C' }]]),
      q: { in: 'outer', config: { see: ':{{index}}' } },
      inner: { ...forEach('{{item}}'), in: 'outer' },
      a: { in: 'inner', config: { see } },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> p', 'p -> outer', 'q -> inner'])));
    const seen: JsonValue[] = [];
    playOn(drive, (nodeId, _, config) => {
      if (nodeId === 'a') seen.push(config.see ?? null);
      return success({ text: `${nodeId}${(config.see as string | undefined) ?? ''}` });
    });
    expect(seen).toEqual(['p A0 q:0 Ada', 'p B0 q:1 Ada', 'p C1 q:1 Ada']);
  });

  it('L2: what an iteration comes to', () => {
    const outputOfLoop = (config: JsonObject, edges: string[], results: Record<string, NodeResult>) => {
      const nodes = { l: forEach([7], config), a: { in: 'l' }, b: { in: 'l' }, c: { in: 'l' } };
      const drive = new Drive(planOf(flowOf(nodes, ['t -> l', ...edges])));
      playOn(drive, (nodeId) => results[nodeId] ?? success({ id: nodeId }));
      return (outputOf(drive, 'l') as { items: JsonValue[] }).items[0];
    };
    const left = success({}, { handles: ['left'] });
    expect(outputOfLoop({}, ['a -> b', 'b -> c'], {})).toEqual({ id: 'c' });
    expect(outputOfLoop({}, ['a -> b', 'a -> c'], {})).toEqual({ b: { id: 'b' }, c: { id: 'c' } });
    expect(outputOfLoop({}, ['a:left -> b', 'a:right -> c'], { a: left })).toEqual({ id: 'b' });
    expect(outputOfLoop({}, ['a:right -> b', 'b -> c'], { a: left })).toBeNull();
    const result = { of: '{{item}}', at: '{{index}}', b: '{{nodes.b.output.id}}', c: '{{nodes.c.output}}' };
    expect(outputOfLoop({ result }, ['a:left -> b', 'a:right -> c'], { a: left })).toEqual({
      ...{ of: 7, at: 0, b: 'b', c: null },
    });
    expect(
      outputOfLoop({ result: '{{nodes.b.output}}' }, ['a:right -> b', 'b -> c'], { a: left }),
    ).toBeNull();
    expect(outputOfLoop({ result: 'fixed' }, [], {})).toBe('fixed');
    expect(outputOfLoop({ result: null }, ['a -> b', 'b -> c'], {})).toEqual({ id: 'c' });
  });

  it('L2: a result that makes too much text fails the iteration', () => {
    const drive = looped(forEach([1], { result: '{{nodes.b.output.text}}{{nodes.b.output.text}}' }));
    drive.end('a 0', ok);
    drive.end('b 0', success({ text: 'x'.repeat(9_000) }));
    expect(drive.outcome()).toMatchObject({ error: { code: 'template_too_large', nodeId: 'l' } });
  });

  it('L3: at most so many run at the same time, begun in order, and the output is in order', () => {
    const drive = looped(forEach([0, 1, 2, 3, 4], { concurrency: 3 }));
    expect(inShort(drive.effects)).toEqual(['start a 0', 'start a 1', 'start a 2']);
    drive.end('a 1', ok);
    expect(inShort(drive.end('b 1', success({ n: 1 })))).toEqual(['start a 3']);
    drive.end('a 3', ok);
    drive.end('b 3', success({ n: 3 }));
    playOn(drive, (_, [n = -1]) => success({ n }));
    const items = [0, 1, 2, 3, 4].map((n) => ({ n }));
    expect(outputOf(drive, 'l')).toEqual({ items, errors: [] });
  });

  it('L3 L7: without items it has ended at once, and what is inside was skipped', () => {
    const drive = looped(forEach([]));
    expect(inShort(drive.effects)).toEqual(['start z']);
    expect(outputOf(drive, 'l')).toEqual({ items: [], errors: [] });
    drive.end('z', ok);
    expect(drive.stored().get('b')).toEqual({
      ...{ nodeId: 'b', status: 'skipped', iterations: 0, completedAtMs: START_MS },
    });
  });

  it('L3: items that are no list fail the loop', () => {
    const drive = looped(forEach('{{trigger.data}}'));
    expect(drive.outcome()).toMatchObject({ error: { code: 'invalid_config', nodeId: 'l' } });
  });

  it('J3 L7: a loop that is skipped takes what is inside with it', () => {
    const nodes = { s: {}, l: forEach([1]), m: { ...forEach([1]), in: 'l' }, a: { in: 'm' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> s', 's:left -> l'])));
    drive.end('s', ok);
    expect([...drive.stored()].map(([id, { status }]) => `${id} ${status}`)).toEqual([
      ...['t success', 's success', 'l skipped', 'm skipped', 'a skipped'],
    ]);
  });

  it('L4: a failing item fails the loop, and the others are aborted', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 3 }), effect);
    drive.end('a 1', ok);
    drive.end('a 2', waitUntil(START_MS + 90_000, {}));
    expect(inShort(drive.end('a 0', broken))).toEqual(['abort b 1 iteration_ended', 'finish failed']);
    expect(drive.outcome()).toEqual({
      status: 'failed',
      error: { code: 'broken', message: 'Iteration 0, node "a": it broke', nodeId: 'l' },
    });
    const stored = drive.stored();
    expect(stored.get('a 0')).toMatchObject({ status: 'failed', error: { code: 'broken' }, handles: [] });
    expect(stored.get('b 1')).toMatchObject({ status: 'cancelled' });
    expect(stored.get('a 2')).toMatchObject({ status: 'cancelled' });
    expect(stored.get('a')).toMatchObject({
      status: 'failed',
      iterations: 3,
      error: { message: 'it broke' },
    });
    expect(stored.get('l')).toMatchObject({ status: 'failed', error: { code: 'broken' } });
  });

  it('L4: collect goes on, and tells which items failed', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 2, on_item_error: 'collect' }));
    drive.end('a 1', ok);
    expect(inShort(drive.end('b 1', failure('second', 'later')))).toEqual(['start a 2']);
    expect(inShort(drive.end('a 0', broken))).toEqual([]);
    drive.end('a 2', ok);
    drive.end('b 2', success({ n: 2 }));
    expect(outputOf(drive, 'l')).toEqual({
      items: [null, null, { n: 2 }],
      errors: [
        { index: 0, code: 'broken', message: 'it broke', node_id: 'a' },
        { index: 1, code: 'second', message: 'later', node_id: 'b' },
      ],
    });
  });

  it('L4: a node beside the one that failed is aborted, its late end is nothing', () => {
    const nodes = { l: forEach([0, 1], { on_item_error: 'collect' }), a: { in: 'l' }, b: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])));
    expect(inShort(drive.end('a 0', broken))).toEqual([
      'abort b 0 iteration_ended',
      'start a 1',
      'start b 1',
    ]);
    expect(drive.end('b 0', ok)).toEqual([]);
    expect(inShort(drive.send(drive.ended('b 1', broken), drive.ended('a 1', ok)))).toEqual([
      ...['abort a 1 iteration_ended', 'finish completed'],
    ]);
  });

  it('L4 E4: what fails before it is started starts nothing beside it', () => {
    const bad = { in: 'l', type: 'test.echo', config: { value: 1, count: '{{item}}' } };
    const nodes = { l: forEach(['x', 2], { on_item_error: 'collect' }), a: { in: 'l' }, b: bad };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])));
    expect(inShort(drive.effects)).toEqual(['abort a 0 iteration_ended', 'start a 1', 'start b 1']);
  });

  it('L4 E7: on_error of a node inside helps the iteration', () => {
    const drive = looped(forEach([0]), { on_error: 'continue' });
    expect(inShort(drive.end('a 0', broken))).toEqual(['start b 0']);
    drive.end('b 0', broken);
    expect(outputOf(drive, 'l')).toEqual({
      items: [{ error: { code: 'broken', message: 'it broke' } }],
      errors: [],
    });
  });

  it('L4 E8: a fatal failure inside fails the execution', () => {
    const drive = looped(
      forEach([0, 1], { on_item_error: 'collect', concurrency: 2 }, { on_error: 'continue' }),
    );
    expect(inShort(drive.end('a 1', failure('stop', 'now', { fatal: true })))).toEqual([
      ...['abort a 0 execution_ended', 'finish failed'],
    ]);
    expect(drive.outcome()).toMatchObject({ error: { code: 'stop', message: 'now', nodeId: 'a' } });
    expect(drive.stored().get('a')).toMatchObject({ status: 'failed', iterations: 2 });
    expect(drive.stored().get('l')).toMatchObject({ status: 'cancelled' });
  });

  it('L5: retry runs all iterations anew', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0, 1], {}, { retry }), effect);
    const flaky = failure('flaky', 'not yet', { retryable: true, consumedAiTokens: 3 });
    drive.end('a 0', success({}, { consumedAiTokens: 2 }));
    drive.end('b 0', ok);
    expect(inShort(drive.end('a 1', flaky))).toEqual([
      'checkpoint a.1:failed end.l.1 l:waiting',
      'wait 1500',
    ]);
    expect(foldRecords([{ records: drive.journal() }]).map(({ nodeId }) => nodeId)).toEqual(['t', 'l']);
    expect(inShort(drive.time(1_500))).toEqual([
      'checkpoint l:running a.0:running',
      'start a 0',
      'wait 61500',
    ]);
    playOn(drive);
    expect(drive.stored().get('l')).toMatchObject({
      ...{ status: 'success', attempts: 2, failures: 1, consumedAiTokens: 5 },
    });
    expect(drive.effects.at(-1)).toMatchObject({ kind: 'finish', consumedAiTokens: 5 });
  });

  it('L5: what may not be tried again inside is not tried again outside', () => {
    const drive = looped(forEach([0], {}, { retry: { max_attempts: 5 } }));
    expect(inShort(drive.end('a 0', broken))).toEqual(['finish failed']);
  });

  it('L5 E15: timeout_ms holds for the whole loop, also when it is taken over', () => {
    const drive = looped(forEach([0, 1], {}, { timeout_ms: 5_000, on_error: 'branch' }), effect);
    expect(inShort(drive.effects)).toContain('wait 6000');
    drive.nowMs = 3_000;
    drive.end('a 0', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 4_000);
    expect(inShort(later.effects)).toEqual(['checkpoint b.0:running', 'start b 0', 'wait 6000']);
    expect(inShort(later.time(6_000))).toEqual(['abort b 0 iteration_ended', 'finish completed']);
    expect(later.stored().get('l')).toMatchObject({
      ...{ status: 'failed', error: { code: 'node_timeout' }, handles: ['error'] },
    });
  });

  it('R1 E10: retries and waits of nodes inside work, and park', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0, 1], { concurrency: 2 }), { ...effect, retry });
    const flaky = failure('flaky', 'not yet', { retryable: true, output: { at: 7 } });
    expect(inShort(drive.end('a 0', flaky))).toEqual(['checkpoint a.0:waiting', 'wait 1500']);
    drive.end('a 1', waitUntil(90_000, { text: 'late' }));
    expect(inShort(drive.time(1_500)).slice(0, 2)).toEqual(['checkpoint a.0:running', 'start a 0']);
    expect(drive.lastStart('a 0')).toMatchObject({ attempt: 2, previousOutput: { at: 7 } });
    drive.end('a 0', ok);
    expect(inShort(drive.end('b 0', ok))).toEqual(['park 90000']);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 90_000);
    expect(inShort(later.effects).slice(0, 2)).toEqual(['checkpoint a.1:success b.1:running', 'start b 1']);
    playOn(later);
    expect(outputOf(later, 'l')).toEqual({ items: [{ text: 'ok' }, { text: 'ok' }], errors: [] });
    expect(later.stored().get('a')).toMatchObject({ output: { text: 'late' }, iterations: 2 });
  });
});

describe('loops without items', () => {
  it('L6 L1: repeats until it is done, each iteration seeing what came of the one before', () => {
    const drive = looped(repeat({ until: '{{nodes.b.output.done}}', result: '{{nodes.b.output.n}}' }), {
      config: { see: 'saw {{item}} {{index}}' },
    });
    const seen: JsonValue[] = [];
    playOn(drive, (nodeId, [n = 0], config) => {
      if (nodeId === 'a') seen.push(config.see ?? null);
      return success({ n: n * 10, done: n === 2 });
    });
    expect(seen).toEqual(['saw  0', 'saw 0 1', 'saw 10 2']);
    expect(outputOf(drive, 'l')).toEqual({ iterations: 3, last: 20, done: true });
  });

  it('L6: its limit fails it, or ends it', () => {
    const never = { until: false, max_iterations: 3 };
    const failing = looped(repeat(never));
    playOn(failing);
    expect(failing.outcome()).toMatchObject({ error: { code: 'max_iterations_reached', nodeId: 'l' } });
    const going = looped(repeat({ ...never, on_limit: 'continue' }));
    playOn(going, (_, [n = 0]) => success({ n }));
    expect(outputOf(going, 'l')).toEqual({ iterations: 3, last: { n: 2 }, done: false });
  });

  it('L6 L4: a failing iteration and a condition that does not fit fail it', () => {
    const failing = looped(repeat({ until: false }));
    failing.end('a 0', broken);
    expect(failing.outcome()).toMatchObject({ error: { code: 'broken', nodeId: 'l' } });
    const odd = looped(repeat({ until: '{{nodes.b.output.text}}' }));
    playOn(odd);
    expect(odd.outcome()).toMatchObject({
      error: { code: 'invalid_config', message: expect.stringContaining('Iteration 0') },
    });
  });

  it('L8: taken over it goes on with what the last stored iteration came to', () => {
    const config = { until: '{{nodes.b.output.done}}', result: '{{nodes.b.output.n}}' };
    const drive = looped(repeat(config), { ...effect, config: { see: 'saw {{item}}' } });
    for (const n of [0, 1]) {
      drive.end(`a ${n}`, ok);
      drive.end(`b ${n}`, success({ n: n + 10, done: false }));
    }
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(later.lastStart('a 2')?.config).toMatchObject({ see: 'saw 11' });
    playOn(later, () => success({ n: 99, done: true }));
    expect(outputOf(later, 'l')).toEqual({ iterations: 3, last: 99, done: true });
  });
});

describe('records of loops', () => {
  it('L7 L8: of an iteration with effects its end is stored, and of pure nodes inside only the last', () => {
    const nodes = { l: forEach([5, 6]), a: { in: 'l' }, b: { ...effect, in: 'l' }, c: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b', 'b -> c'])));
    expect(drive.effects.map(({ kind }) => kind)).toEqual(['start_node']);
    expect(inShort(drive.end('a 0', ok))[0]).toBe('checkpoint t:success l:running a.0:success b.0:running');
    expect(inShort(drive.end('b 0', success({}, { consumedAiTokens: 4 })))[0]).toBe(
      'checkpoint b.0:success c.0:running',
    );
    // What is left of the first iteration is told with what comes next.
    expect(inShort(drive.end('c 0', ok))).toEqual(['start a 1']);
    expect(inShort(drive.end('a 1', ok))[0]).toBe('checkpoint end.l.0 a.1:success b.1:running');
    drive.end('b 1', ok);
    drive.nowMs += 5;
    expect(inShort(drive.end('c 1', success({ c: 1 })))).toEqual(['finish completed']);
    expect(drive.stored().get('end l 0')).toEqual({
      ...{ nodeId: 'l', status: 'iteration_ended', iteration: [0], loopId: 'l', output: { text: 'ok' } },
      ...{ consumedAiTokens: 4, startedAtMs: START_MS, completedAtMs: START_MS },
    });
    expect(drive.stored().get('c')).toEqual({
      ...{ nodeId: 'c', status: 'success', attempts: 1, startedAtMs: START_MS, consumedAiTokens: 0 },
      ...{ output: { c: 1 }, handles: ['out'], completedAtMs: START_MS + 5, iterations: 2 },
    });
    expect(drive.stored().get('l')).toMatchObject({ consumedAiTokens: 4 });
  });

  it('L8: taken over at any place an iteration that has ended is not run again', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 2 }), effect);
    drive.end('a 1', ok);
    drive.end('b 1', success({ n: 1 }, { consumedAiTokens: 7 }));
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(inShort(later.effects)).toEqual([
      'checkpoint a.0:running a.2:running',
      ...['start a 0', 'start a 2', 'wait 61000'],
    ]);
    expect(later.stored().get('a 0')).toMatchObject({ attempts: 2 });
    playOn(later, (_, [n = 0]) => success({ n }));
    expect(later.stored().get('l')).toMatchObject({
      ...{ attempts: 1, output: { items: [{ n: 0 }, { n: 1 }, { n: 2 }], errors: [] } },
      consumedAiTokens: 7,
    });
    expect(later.effects.at(-1)).toMatchObject({ kind: 'finish', consumedAiTokens: 7 });
    expect(later.stored().get('a')).toMatchObject({ iterations: 3, output: { n: 2 } });
  });

  it('L8: a failed item that was collected is not run again', () => {
    const drive = looped(forEach([0, 1], { on_item_error: 'collect' }), effect);
    drive.end('a 0', broken);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(inShort(later.effects)[1]).toBe('start a 1');
    playOn(later);
    expect(outputOf(later, 'l')).toMatchObject({
      errors: [{ index: 0, code: 'broken', message: 'it broke', node_id: 'a' }],
    });
  });

  it('L8: when the last iteration was stored before the loop ended, its records still stand for all', () => {
    const nodes = { l: forEach([0, 1], { concurrency: 2 }), a: { ...effect, in: 'l' }, b: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b'])));
    drive.end('a 1', success({ a: 1 }));
    drive.end('b 1', success({ b: 1 }));
    drive.end('a 0', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(inShort(later.effects)).toEqual(['start b 0']);
    later.end('b 0', success({ b: 0 }));
    expect(later.stored().get('a')).toMatchObject({ output: { a: 1 }, iterations: 2 });
    expect(later.stored().get('b')).toMatchObject({ output: { b: 1 }, iterations: 2 });
  });

  it('L9: folding keeps what resume needs, and may be done again and again', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 2 }), effect);
    drive.end('a 1', ok);
    drive.end('b 1', ok);
    drive.end('a 0', ok);
    const names = (records: readonly NodeRecord[]): string[] =>
      records
        .map(({ nodeId, iteration = [], status }) => `${[nodeId, ...iteration].join('.')}:${status}`)
        .sort();
    const folded = foldRecords([{ records: drive.journal() }]);
    expect(names(folded)).toEqual(
      [
        ...['t:success', 'l:running', 'a.0:success', 'b.0:running'],
        ...['a.1:success', 'b.1:success', 'l.1:iteration_ended', 'a.2:running'],
      ].sort(),
    );
    expect(names(foldRecords([{ records: folded }]))).toEqual(names(folded));
    drive.end('b 0', ok);
    playOn(drive);
    expect(names(foldRecords([{ records: folded }, { records: drive.journal() }]))).toEqual(
      ['t:success', 'l:success', 'a:success', 'b:success', 'z:success'].sort(),
    );
  });

  it('L9: records that do not fit together are not believed blindly', () => {
    const plan = looped(forEach([0, 1]), effect).state.plan;
    const base = { attempts: 1, startedAtMs: 1, consumedAiTokens: 0 };
    const odd: NodeRecord[] = [
      { ...base, nodeId: 'a', status: 'running', iteration: [0, 3], loopId: 'l' },
      { ...base, nodeId: 'l', status: 'running', iteration: [0], loopId: 'l' },
      { ...base, nodeId: 'a', status: 'running', iteration: [9], loopId: 'l' },
      { ...base, nodeId: 'a', status: 'running', iteration: [1] },
      { ...base, nodeId: 'b', status: 'running', iteration: [0], loopId: 'nobody' },
      ...([[5], [0, 0], []] as number[][]).map(
        (iteration): NodeRecord => ({
          ...{ nodeId: 'l', status: 'iteration_ended', iteration, loopId: 'l', output: 1 },
          ...{ consumedAiTokens: 0, startedAtMs: 1, completedAtMs: 1 },
        }),
      ),
    ];
    expect(inShort(new Drive(plan, {}, odd).effects).slice(0, 2)).toEqual([
      ...['checkpoint t:success l:running a.0:running', 'start a 0'],
    ]);
    const running: NodeRecord = { ...base, nodeId: 'l', status: 'running' };
    const done: NodeRecord = {
      ...base,
      nodeId: 't',
      status: 'success',
      output: {},
      handles: ['out'],
      completedAtMs: 1,
    };
    expect(inShort(new Drive(plan, {}, [done, running, ...odd]).effects)).toContain('start a 0');
  });

  it('L7: what is shown while it runs is the latest record and how many iterations there were', () => {
    const drive = looped(forEach([0, 1, 2]), effect);
    drive.end('a 0', success({ n: 0 }));
    drive.end('b 0', ok);
    drive.end('a 1', success({ n: 1 }));
    const shown = recordsToShow([{ records: drive.journal() }]);
    expect(shown.map(({ nodeId, status, iterations }) => [nodeId, status, iterations])).toEqual([
      ['t', 'success', undefined],
      ['l', 'running', undefined],
      ['a', 'success', 2],
      ['b', 'running', 2],
    ]);
    playOn(drive);
    const all = recordsToShow([{ records: drive.journal() }]);
    expect(all.map(({ nodeId, status, iterations }) => [nodeId, status, iterations])).toEqual([
      ['t', 'success', undefined],
      ['l', 'success', undefined],
      ['a', 'success', 3],
      ['b', 'success', 3],
      ['z', 'success', undefined],
    ]);
  });

  it('E24: a loop that ended well is kept with what is inside, another one is run again as a whole', () => {
    const nodes = {
      l: forEach([0]),
      a: { ...effect, in: 'l' },
      m: forEach([0, 1]),
      b: { ...effect, in: 'm' },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'l -> m'])));
    drive.end('a 0', ok);
    drive.end('b 0', ok);
    drive.end('b 1', broken);
    const kept = recordsToKeep(drive.state.plan, drive.journal());
    expect(kept.map(({ nodeId, iteration }) => [nodeId, iteration])).toEqual([
      ['t', undefined],
      ['l', undefined],
      ['a', undefined],
    ]);
    expect(inShort(new Drive(drive.state.plan, {}, kept).effects).slice(0, 2)).toEqual([
      ...['checkpoint m:running b.0:running', 'start b 0'],
    ]);
  });
});

describe('loops inside loops', () => {
  const nodes = {
    outer: forEach([[1, 2], [3], []], { concurrency: 2 }),
    inner: { ...forEach('{{item}}', { concurrency: 2 }), in: 'outer' },
    a: { ...effect, in: 'inner' },
  };
  const plan = planOf(flowOf(nodes, ['t -> outer']));

  it('L11 L7: run, and are summed up at each level', () => {
    const drive = new Drive(plan);
    expect(inShort(drive.effects).slice(1, 4)).toEqual(['start a 0 0', 'start a 0 1', 'start a 1 0']);
    playOn(drive, (_, [i = 0, j = 0]) => success({ at: `${i}.${j}` }, { consumedAiTokens: 1 }));
    const list = (...ats: string[]): JsonObject => ({ items: ats.map((at) => ({ at })), errors: [] });
    expect(outputOf(drive, 'outer')).toEqual({
      items: [list('0.0', '0.1'), list('1.0'), list()],
      errors: [],
    });
    expect(drive.stored().get('inner')).toMatchObject({ status: 'success', iterations: 3, output: list() });
    expect(drive.stored().get('a')).toMatchObject({ status: 'skipped', iterations: 0 });
    expect(drive.stored().get('outer')).toMatchObject({ consumedAiTokens: 3 });
    expect(foldRecords([{ records: drive.journal() }])).toHaveLength(4);
  });

  it('L11 L8: taken over they go on where they were', () => {
    const drive = new Drive(plan);
    drive.end('a 0 1', success({ at: 'kept' }));
    drive.end('a 1 0', success({ at: 'kept too' }));
    const later = new Drive(plan, {}, drive.journal());
    expect(inShort(later.effects).slice(0, 2)).toEqual(['checkpoint a.0.0:running', 'start a 0 0']);
    later.end('a 0 0', success({ at: 'new' }));
    expect(outputOf(later, 'outer')).toEqual({
      items: [
        { items: [{ at: 'new' }, { at: 'kept' }], errors: [] },
        { items: [{ at: 'kept too' }], errors: [] },
        { items: [], errors: [] },
      ],
      errors: [],
    });
  });

  it('L11 L4: a failure climbs from loop to loop', () => {
    const drive = new Drive(plan);
    drive.end('a 0 1', broken);
    expect(drive.outcome()).toMatchObject({
      error: {
        code: 'broken',
        nodeId: 'outer',
        message: 'Iteration 0, node "inner": Iteration 1, node "a": it broke',
      },
    });
  });

  it('E18 L11: stop aborts what runs inside', () => {
    const drive = new Drive(plan);
    expect(inShort(drive.send({ kind: 'stop', reason: 'shutdown', atMs: 2_000 }))).toEqual([
      ...['abort a 0 0 shutdown', 'abort a 0 1 shutdown', 'abort a 1 0 shutdown', 'hand_back '],
    ]);
  });
});

describe('long loops', () => {
  const items = Array.from({ length: 100_000 }, (_, n) => n);
  const limits = { maxOutputBytes: 16_000_000, inlineWaitMs: 5_000 };

  it('L10 L8: 100,000 pure items ask for one write, of a few records, and hold the running frames only', () => {
    const nodes = {
      l: forEach('{{trigger.data}}', { concurrency: 100, result: '{{index}}' }),
      a: { in: 'l' },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])), { triggerData: items, limits });
    let most = 0;
    let open = drive.effects.length;
    for (let at = 0; at < items.length; at++) {
      const effects = drive.end(`a ${at}`, ok, { attempt: 1 });
      open += effects.length - 1;
      most = Math.max(most, drive.state.dirty.size, drive.state.frames, open);
    }
    expect(most).toBeLessThan(110);
    expect(drive.effects.filter(({ kind }) => kind !== 'start_node').map(({ kind }) => kind)).toEqual([
      'finish',
    ]);
    expect(drive.journal().map(({ nodeId }) => nodeId)).toEqual(['t', 'l', 'a']);
    expect(outputOf(drive, 'l')).toEqual({ items, errors: [] });
  });

  it('L10: many items of an effect are written one by one, and the state stays small', () => {
    const some = items.slice(0, 5_000);
    const nodes = {
      l: forEach('{{trigger.data}}', { result: '{{index}}' }),
      a: { ...effect, in: 'l' },
      p: {},
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 't -> p'])), { triggerData: some, limits });
    let most = 0;
    for (const at of some) {
      drive.end(`a ${at}`, ok, { attempt: 1 });
      most = Math.max(most, drive.state.dirty.size, drive.state.frames);
    }
    drive.end('p', ok);
    expect(most).toBeLessThan(10);
    // Each item: running, its end, and what it came to.
    expect(drive.journal().length).toBeLessThan(3 * some.length + 10);
    expect(foldRecords([{ records: drive.journal() }])).toHaveLength(4);
  });

  it('L10: iterations that end without starting anything let others have their turn', () => {
    const nodes = {
      l: forEach('{{trigger.data}}', { on_item_error: 'collect', concurrency: 7 }),
      a: { in: 'l', type: 'test.echo', config: { value: 1, mode: '{{item}}' } },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])), {
      triggerData: items.slice(0, 2_100),
      limits,
    });
    let turns = 0;
    while (drive.state.phase.kind === 'running') {
      expect(drive.effects.at(-1)).toEqual({ kind: 'wait_until', atMs: START_MS });
      drive.time(START_MS);
      turns += 1;
    }
    expect(turns).toBe(4);
    expect((outputOf(drive, 'l') as { errors: unknown[] }).errors).toHaveLength(2_100);
  });

  it('L10: nested loops together do not begin everything at once', () => {
    const hundred = items.slice(0, 100);
    const nodes = {
      outer: forEach(hundred, { concurrency: 100 }),
      inner: { ...forEach(hundred, { concurrency: 100 }), in: 'outer' },
      a: { in: 'inner' },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> outer'])), { limits });
    drive.time(START_MS);
    drive.time(START_MS);
    const started = drive.effects.filter(({ kind }) => kind === 'start_node').length;
    expect(started).toBeGreaterThan(500);
    expect(drive.state.frames).toBeLessThan(1_200);
    playOn(drive);
    expect(drive.outcome()).toEqual({ status: 'completed' });
  });

  it('L10 E16: ends as soon as its outputs together are too large', () => {
    const drive = looped(forEach(items.slice(0, 100), {}));
    let ended = 0;
    playOn(drive, (nodeId) => {
      if (nodeId === 'b') ended += 1;
      return success({ text: 'x'.repeat(990) });
    });
    expect(drive.outcome()).toMatchObject({ error: { code: 'output_too_large', nodeId: 'l' } });
    expect(ended).toBe(10);
    expect(drive.stored().get('b')).toMatchObject({ status: 'success', iterations: 10 });
    const failing = looped(forEach(items.slice(0, 100), { on_item_error: 'collect' }));
    playOn(failing, () => failure('broken', 'x'.repeat(5_000)));
    expect(failing.outcome()).toMatchObject({ error: { code: 'output_too_large', nodeId: 'l' } });
  });
});

describe('stop', () => {
  it('E26: ends the execution as completed, with its output as the result', () => {
    const nodes = { a: effect, b: effect, c: effect, d: {}, l: forEach([0]), e: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> a', 't -> b', 't -> c', 'a -> d', 'd -> l'])));
    drive.end('c', waitUntil(90_000, {}));
    expect(inShort(drive.end('a', stop({ answer: 42 })))).toEqual([
      ...['abort b execution_ended', 'finish completed'],
    ]);
    const records = drive.journal();
    const statuses = recordsToShow([{ records }]).map(({ nodeId, status }) => `${nodeId} ${status}`);
    expect(statuses.sort()).toEqual([
      ...['a success', 'b cancelled', 'c cancelled', 'd skipped', 'e skipped', 'l skipped', 't success'],
    ]);
    expect(resultOf(drive.state.plan, records)).toEqual({ answer: 42 });
    expect(inShort(new Drive(drive.state.plan, {}, records).effects)).toEqual(['finish completed']);
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
    expect(inShort(drive.end('a 0 1', stop({ found: true })))).toEqual([
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

  it('E26: without it the result is what the last nodes put out', () => {
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

  it('E26 E16: an output that cannot be one is a failure', () => {
    const drive = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    drive.end('a', stop({ text: 'x'.repeat(10_001) }));
    expect(drive.outcome()).toMatchObject({ error: { code: 'output_too_large' } });
  });
});
