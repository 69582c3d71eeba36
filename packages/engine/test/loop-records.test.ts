import { describe, expect, it } from 'vitest';
import { foldRecords, type NodeRecord, recordsToKeep, recordsToShow, success } from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { broken, effect, forEach, looped, ok, outputOf, playOn, repeat } from './support/loops.ts';

describe('records of loops', () => {
  it('L7 L8: of an iteration with effects the end is stored, of pure nodes only the last record', () => {
    const nodes = { l: forEach([5, 6]), a: { in: 'l' }, b: { ...effect, in: 'l' }, c: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b', 'b -> c'])));
    expect(drive.effects.map(({ kind }) => kind)).toEqual(['start_node']);
    expect(abbreviate(drive.end('a 0', ok))[0]).toBe(
      'checkpoint t:success l:running a.0:success b.0:running',
    );
    expect(abbreviate(drive.end('b 0', success({}, { consumedAiTokens: 4 })))[0]).toBe(
      'checkpoint b.0:success c.0:running',
    );
    // The rest of the first iteration is reported with what comes next.
    expect(abbreviate(drive.end('c 0', ok))).toEqual(['start a 1']);
    expect(abbreviate(drive.end('a 1', ok))[0]).toBe('checkpoint end.l.0 a.1:success b.1:running');
    drive.end('b 1', ok);
    drive.nowMs += 5;
    expect(abbreviate(drive.end('c 1', success({ c: 1 })))).toEqual(['finish completed']);
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

  it('L8: after a take-over anywhere, an ended iteration is not run again', () => {
    const drive = looped(forEach([0, 1, 2], { concurrency: 2 }), effect);
    drive.end('a 1', ok);
    drive.end('b 1', success({ n: 1 }, { consumedAiTokens: 7 }));
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(abbreviate(later.effects)).toEqual([
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
    expect(abbreviate(later.effects)[1]).toBe('start a 1');
    playOn(later);
    expect(outputOf(later, 'l')).toMatchObject({
      errors: [{ index: 0, code: 'broken', message: 'it broke', node_id: 'a' }],
    });
  });

  it('L8: if the last iteration was stored before the loop ended, its records still represent all', () => {
    const nodes = { l: forEach([0, 1], { concurrency: 2 }), a: { ...effect, in: 'l' }, b: { in: 'l' } };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'a -> b'])));
    drive.end('a 1', success({ a: 1 }));
    drive.end('b 1', success({ b: 1 }));
    drive.end('a 0', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(abbreviate(later.effects)).toEqual(['start b 0']);
    later.end('b 0', success({ b: 0 }));
    expect(later.stored().get('a')).toMatchObject({ output: { a: 1 }, iterations: 2 });
    expect(later.stored().get('b')).toMatchObject({ output: { b: 1 }, iterations: 2 });
  });

  it('L7: the last iteration represents all, although one before it fails later, on another worker', () => {
    const drive = looped(forEach([0, 1], { concurrency: 2, on_item_error: 'collect' }), effect);
    drive.end('a 1', ok);
    drive.end('b 1', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    later.end('a 0', broken);
    expect(later.stored().get('l')).toMatchObject({ output: { errors: [{ index: 0 }] } });
    expect(later.stored().get('a')).toMatchObject({ status: 'success', output: { text: 'ok' } });
    expect(later.stored().get('b')).toMatchObject({ status: 'success', iterations: 2 });
  });

  it('L7 L8 E29: what a loop inside shows when it exceeds the total is shown by the loop around it, and only there', () => {
    const nodes = { outer: forEach([0]), inner: { ...forEach([]), in: 'outer' }, a: { in: 'inner' } };
    const plan = planOf(flowOf(nodes, ['t -> outer']));
    const limits = { maxOutputBytes: 10_000, maxExecutionBytes: 30, inlineWaitMs: 5_000 };
    const drive = new Drive(plan, { limits });
    expect(drive.outcome()).toMatchObject({ error: { code: 'execution_too_large', nodeId: 'inner' } });
    const stored = drive.journal().map(({ nodeId, status, iteration }) => [nodeId, status, iteration]);
    expect(stored).toEqual([
      ['t', 'success', undefined],
      ['outer', 'cancelled', undefined],
      ['a', 'skipped', undefined],
      ['inner', 'failed', undefined],
    ]);
  });

  it('L8: records without the end they follow from are not trusted: without items, the previous iteration is run again', () => {
    const drive = looped(repeat({ until: false, result: '{{nodes.b.output.n}}' }), effect);
    drive.end('a 0', ok);
    drive.end('b 0', success({ n: 1 }));
    drive.end('a 1', ok);
    const known = drive.journal().filter(({ status }) => status !== 'iteration_ended');
    const later = new Drive(drive.state.plan, {}, known);
    // Both of its nodes had ended; its result is recomputed, and the next one starts from its beginning.
    expect(abbreviate(later.effects)).toContain('start a 1');
    expect(abbreviate(later.effects)).not.toContain('start b 1');
    expect(new Drive(drive.state.plan, {}, drive.journal()).lastStart('b 1')?.attempt).toBe(2);
  });

  it('L8 L4: an iteration whose end was not stored fails with the same failure', () => {
    const inside = { ...effect, in: 'l' };
    const nodes = { l: forEach([0, 1], { on_item_error: 'collect' }), a: inside, b: inside };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])));
    drive.end('a 0', broken);
    const known = drive.journal().filter(({ status }) => status !== 'iteration_ended');
    const later = new Drive(drive.state.plan, {}, known);
    expect(['a 0', 'b 0', 'a 1'].map((name) => later.lastStart(name) !== undefined)).toEqual([
      ...[false, false, true],
    ]);
    playOn(later);
    expect(outputOf(later, 'l')).toMatchObject({ errors: [{ index: 0, code: 'broken', node_id: 'a' }] });
  });

  it('L9: folding keeps what resuming needs, and can be repeated', () => {
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

  it('L9 L11: a loop that was skipped in one iteration is found inside another', () => {
    const nodes = {
      outer: forEach([0, 1], { concurrency: 2 }),
      a: { in: 'outer', ...effect },
      mid: { ...forEach([0]), in: 'outer' },
      inner: { ...forEach([0]), in: 'mid' },
      b: { in: 'inner', ...effect },
      c: { in: 'inner', ...effect },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> outer', 'a:out -> mid', 'b -> c'])));
    drive.end('a 0', ok);
    drive.end('a 1', success({}, { handles: [] }));
    drive.end('b 0 0 0', ok);
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(abbreviate(later.effects)).toContain('start c 0 0 0');
    expect(later.lastStart('b 0 0 0')).toBeUndefined();
  });

  it('L9: inconsistent records are not trusted blindly', () => {
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
    expect(abbreviate(new Drive(plan, {}, odd).effects).slice(0, 2)).toEqual([
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
    expect(abbreviate(new Drive(plan, {}, [done, running, ...odd]).effects)).toContain('start a 0');
  });

  it('L7: while it runs, the latest record and the number of iterations are shown', () => {
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

  it('E24: a loop that succeeded is kept with its body, another one is run again as a whole', () => {
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
    expect(abbreviate(new Drive(drive.state.plan, {}, kept).effects).slice(0, 2)).toEqual([
      ...['checkpoint m:running b.0:running', 'start b 0'],
    ]);
  });
});
