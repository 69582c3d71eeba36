import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import {
  failure,
  foldRecords,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  success,
  waitUntil,
} from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { broken, effect, forEach, looped, ok, outputOf, playOn, repeat } from './support/loops.ts';

describe('loops with items', () => {
  it('L1 L2 L3: runs its body for each item, one after another', () => {
    const drive = looped(forEach(['x', 'y']));
    expect(abbreviate(drive.effects)).toEqual(['start a 0']);
    expect(abbreviate(drive.end('a 0', ok))).toEqual(['start b 0']);
    expect(abbreviate(drive.end('b 0', success({ n: 0 })))).toEqual(['start a 1']);
    drive.end('a 1', ok);
    expect(abbreviate(drive.end('b 1', success({ n: 1 })))).toEqual(['start z']);
    expect(outputOf(drive, 'l')).toEqual({ items: [{ n: 0 }, { n: 1 }], errors: [] });
    expect(drive.lastStart('z')?.inputs).toEqual({ l: { items: [{ n: 0 }, { n: 1 }], errors: [] } });
    expect(abbreviate(drive.end('z', ok))).toEqual(['finish completed']);
  });

  it('L1: item and index are those of the innermost loop, and everything before the loops can be read', () => {
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

  it('L2: the result of an iteration', () => {
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

  it('L2: a result that renders too much text fails the iteration', () => {
    const drive = looped(forEach([1], { result: '{{nodes.b.output.text}}{{nodes.b.output.text}}' }));
    drive.end('a 0', ok);
    drive.end('b 0', success({ text: 'x'.repeat(9_000) }));
    expect(drive.outcome()).toMatchObject({ error: { code: 'template_too_large', nodeId: 'l' } });
  });

  it('L3: at most concurrency iterations run at once, started in order, with the output in order', () => {
    const drive = looped(forEach([0, 1, 2, 3, 4], { concurrency: 3 }));
    expect(abbreviate(drive.effects)).toEqual(['start a 0', 'start a 1', 'start a 2']);
    drive.end('a 1', ok);
    expect(abbreviate(drive.end('b 1', success({ n: 1 })))).toEqual(['start a 3']);
    drive.end('a 3', ok);
    drive.end('b 3', success({ n: 3 }));
    playOn(drive, (_, [n = -1]) => success({ n }));
    const items = [0, 1, 2, 3, 4].map((n) => ({ n }));
    expect(outputOf(drive, 'l')).toEqual({ items, errors: [] });
  });

  it('L3 L7: without items it ends at once, and its body is skipped', () => {
    const drive = looped(forEach([]));
    expect(abbreviate(drive.effects)).toEqual(['start z']);
    expect(outputOf(drive, 'l')).toEqual({ items: [], errors: [] });
    drive.end('z', ok);
    expect(drive.stored().get('b')).toEqual({
      ...{ nodeId: 'b', status: 'skipped', iterations: 0, completedAtMs: START_MS },
    });
  });

  it('L3: items that are not a list fail the loop', () => {
    const drive = looped(forEach('{{trigger.data}}'));
    expect(drive.outcome()).toMatchObject({ error: { code: 'invalid_config', nodeId: 'l' } });
  });

  it('J3 L7: a skipped loop skips its body', () => {
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
    expect(abbreviate(drive.end('a 0', broken))).toEqual(['abort b 1 iteration_ended', 'finish failed']);
    expect(drive.outcome()).toEqual({
      status: 'failed',
      error: {
        ...{ code: 'broken', message: verbatim('it broke'), nodeId: 'l' },
        origin: { iteration: [0], nodeId: 'a', label: 'a' },
      },
    });
    const stored = drive.stored();
    expect(stored.get('a 0')).toMatchObject({ status: 'failed', error: { code: 'broken' }, handles: [] });
    expect(stored.get('b 1')).toMatchObject({ status: 'cancelled' });
    expect(stored.get('a 2')).toMatchObject({ status: 'cancelled' });
    expect(stored.get('a')).toMatchObject({
      status: 'failed',
      iterations: 3,
      error: { message: verbatim('it broke') },
    });
    expect(stored.get('l')).toMatchObject({ status: 'failed', error: { code: 'broken' } });
  });

  it('L4: collect continues, and reports which items failed', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 2, on_item_error: 'collect' }));
    drive.end('a 1', ok);
    expect(abbreviate(drive.end('b 1', failure('second', verbatim('later'))))).toEqual(['start a 2']);
    expect(abbreviate(drive.end('a 0', broken))).toEqual([]);
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

  it('L4: a node beside the failed one is aborted, and its late end has no effect', () => {
    const nodes = { l: forEach([0, 1], { on_item_error: 'collect' }), a: { in: 'l' }, b: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])));
    expect(abbreviate(drive.end('a 0', broken))).toEqual([
      'abort b 0 iteration_ended',
      'start a 1',
      'start b 1',
    ]);
    expect(drive.end('b 0', ok)).toEqual([]);
    expect(abbreviate(drive.send(drive.ended('b 1', broken), drive.ended('a 1', ok)))).toEqual([
      ...['abort a 1 iteration_ended', 'finish completed'],
    ]);
  });

  it('L4 E4: a failure before the start starts nothing beside it', () => {
    const bad = { in: 'l', type: 'test.echo', config: { value: 1, count: '{{item}}' } };
    const nodes = { l: forEach(['x', 2], { on_item_error: 'collect' }), a: { in: 'l' }, b: bad };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])));
    expect(abbreviate(drive.effects)).toEqual(['abort a 0 iteration_ended', 'start a 1', 'start b 1']);
  });

  it('L4 E7: on_error of a node inside saves the iteration', () => {
    const drive = looped(forEach([0]), { on_error: 'continue' });
    expect(abbreviate(drive.end('a 0', broken))).toEqual(['start b 0']);
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
    expect(abbreviate(drive.end('a 1', failure('stop', verbatim('now'), { fatal: true })))).toEqual([
      ...['abort a 0 execution_ended', 'finish failed'],
    ]);
    expect(drive.outcome()).toMatchObject({ error: { code: 'stop', message: verbatim('now'), nodeId: 'a' } });
    expect(drive.stored().get('a')).toMatchObject({ status: 'failed', iterations: 2 });
    expect(drive.stored().get('l')).toMatchObject({ status: 'cancelled' });
  });

  it('L5: retry runs all iterations again', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0, 1], {}, { retry }), effect);
    const flaky = failure('flaky', verbatim('not yet'), { retryable: true, consumedAiTokens: 3 });
    drive.end('a 0', success({}, { consumedAiTokens: 2 }));
    drive.end('b 0', ok);
    expect(abbreviate(drive.end('a 1', flaky))).toEqual([
      'checkpoint a.1:failed end.l.1 l:waiting',
      'wait 1500',
    ]);
    expect(foldRecords([{ records: drive.journal() }]).map(({ nodeId }) => nodeId)).toEqual(['t', 'l']);
    expect(abbreviate(drive.time(1_500))).toEqual([
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

  it('E17 B1: tokens of executions that nodes waited for are kept separate, over attempts, loops and workers', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0, 1], {}, { retry }), effect);
    const shared = { consumedAiTokens: 7, childAiTokens: 5 };
    const flaky = failure('flaky', verbatim('not yet'), { retryable: true, ...shared });
    drive.end('a 0', success({}, shared));
    drive.end('b 0', ok);
    expect(drive.stored().get('a 0')).toMatchObject(shared);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    later.end('a 1', flaky);
    later.time(1_500);
    playOn(later, () => success({}, { consumedAiTokens: 1, childAiTokens: 9 }));
    // A share can't exceed the total.
    expect(later.stored().get('l')).toMatchObject({ consumedAiTokens: 18, childAiTokens: 14 });
    expect(later.effects.at(-1)).toMatchObject({ kind: 'finish', consumedAiTokens: 4 });
  });

  it('L5: nodes get the attempt of the loops around them if it is higher than the first', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0], {}, { retry }), effect);
    expect(drive.lastStart('a 0')).not.toHaveProperty('loopAttempts');
    drive.end('a 0', failure('flaky', verbatim('not yet'), { retryable: true }));
    drive.time(1_500);
    expect(drive.lastStart('a 0')).toMatchObject({ loopAttempts: [2] });
  });

  it('L5: what may not be retried inside is not retried outside', () => {
    const drive = looped(forEach([0], {}, { retry: { max_attempts: 5 } }));
    expect(abbreviate(drive.end('a 0', broken))).toEqual(['finish failed']);
  });

  it('L5 E15: timeout_ms applies to the whole loop, also after a take-over', () => {
    const drive = looped(forEach([0, 1], {}, { timeout_ms: 5_000, on_error: 'branch' }), effect);
    expect(abbreviate(drive.effects)).toContain('wait 6000');
    drive.nowMs = 3_000;
    drive.end('a 0', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 4_000);
    expect(abbreviate(later.effects)).toEqual(['checkpoint b.0:running', 'start b 0', 'wait 6000']);
    expect(abbreviate(later.time(6_000))).toEqual(['abort b 0 iteration_ended', 'finish completed']);
    expect(later.stored().get('l')).toMatchObject({
      ...{ status: 'failed', error: { code: 'node_timeout' }, handles: ['error'] },
    });
  });

  it('R1 E10: retries and waits of nodes inside work, and park', () => {
    const retry = { max_attempts: 2, backoff_ms: 1_000 };
    const drive = looped(forEach([0, 1], { concurrency: 2 }), { ...effect, retry });
    const flaky = failure('flaky', verbatim('not yet'), { retryable: true, output: { at: 7 } });
    expect(abbreviate(drive.end('a 0', flaky))).toEqual(['checkpoint a.0:waiting', 'wait 1500']);
    drive.end('a 1', waitUntil(90_000, { text: 'late' }));
    expect(abbreviate(drive.time(1_500)).slice(0, 2)).toEqual(['checkpoint a.0:running', 'start a 0']);
    expect(drive.lastStart('a 0')).toMatchObject({ attempt: 2, previousOutput: { at: 7 } });
    drive.end('a 0', ok);
    expect(abbreviate(drive.end('b 0', ok))).toEqual(['park 90000']);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 90_000);
    expect(abbreviate(later.effects).slice(0, 2)).toEqual([
      'checkpoint a.1:success b.1:running',
      'start b 1',
    ]);
    playOn(later);
    expect(outputOf(later, 'l')).toEqual({ items: [{ text: 'ok' }, { text: 'ok' }], errors: [] });
    expect(later.stored().get('a')).toMatchObject({ output: { text: 'late' }, iterations: 2 });
  });
});

describe('loops without items', () => {
  it('L6 L1: repeats until it is done, each iteration seeing the result of the previous one', () => {
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

  it('L6: its limit makes it fail or end', () => {
    const never = { until: false, max_iterations: 3 };
    const failing = looped(repeat(never));
    playOn(failing);
    expect(failing.outcome()).toMatchObject({ error: { code: 'max_iterations_reached', nodeId: 'l' } });
    const going = looped(repeat({ ...never, on_limit: 'continue' }));
    playOn(going, (_, [n = 0]) => success({ n }));
    expect(outputOf(going, 'l')).toEqual({ iterations: 3, last: { n: 2 }, done: false });
  });

  it('L6 L4: a failing iteration and an invalid condition make it fail', () => {
    const failing = looped(repeat({ until: false }));
    failing.end('a 0', broken);
    expect(failing.outcome()).toMatchObject({ error: { code: 'broken', nodeId: 'l' } });
    const odd = looped(repeat({ until: '{{nodes.b.output.text}}' }));
    playOn(odd);
    expect(odd.outcome()).toMatchObject({
      error: { code: 'invalid_config', origin: { iteration: [0] } },
    });
  });

  it('L8: after a take-over it continues from the last stored iteration', () => {
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
