import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { foldRecords, type JsonObject, success } from '../src/index.ts';
import { abbreviate, Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { broken, effect, forEach, outputOf, playOn } from './support/loops.ts';

describe('loops inside loops', () => {
  const nodes = {
    outer: forEach([[1, 2], [3], []], { concurrency: 2 }),
    inner: { ...forEach('{{item}}', { concurrency: 2 }), in: 'outer' },
    a: { ...effect, in: 'inner' },
  };
  const plan = planOf(flowOf(nodes, ['t -> outer']));

  it('L11 L7: run, and are summarised at each level', () => {
    const drive = new Drive(plan);
    expect(abbreviate(drive.effects).slice(1, 4)).toEqual(['start a 0 0', 'start a 0 1', 'start a 1 0']);
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

  it('L11 L8: continue where they were after a take-over', () => {
    const drive = new Drive(plan);
    drive.end('a 0 1', success({ at: 'kept' }));
    drive.end('a 1 0', success({ at: 'kept too' }));
    const later = new Drive(plan, {}, drive.journal());
    expect(abbreviate(later.effects).slice(0, 2)).toEqual(['checkpoint a.0.0:running', 'start a 0 0']);
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

  it('L11 L4: a failure propagates from loop to loop', () => {
    const drive = new Drive(plan);
    drive.end('a 0 1', broken);
    expect(drive.outcome()).toMatchObject({
      error: {
        code: 'broken',
        nodeId: 'outer',
        message: verbatim('it broke'),
        origin: { iteration: [0, 1], nodeId: 'a', label: 'a' },
      },
    });
  });

  it('E18 L11: stop aborts the running nodes inside', () => {
    const drive = new Drive(plan);
    expect(abbreviate(drive.send({ kind: 'stop', reason: 'shutdown', atMs: 2_000 }))).toEqual([
      ...['abort a 0 0 shutdown', 'abort a 0 1 shutdown', 'abort a 1 0 shutdown', 'hand_back '],
    ]);
  });
});
