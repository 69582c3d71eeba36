import { describe, expect, it } from 'vitest';
import { awaitSignal, type JsonValue, runAgain, type StoredSignal, success } from '../src/index.ts';
import { abbreviate, Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';

const forEver = awaitSignal(null, { shown: 1 });

function asking(): Drive {
  const flow = flowOf({ a: { type: 'test.effect', timeout_ms: 60_000 }, b: {} }, ['t -> a', 'a -> b']);
  return new Drive(planOf(flow));
}

function sent(seq: number, payload: JsonValue): StoredSignal {
  return { seq, nodeId: 'a', iteration: [], payload };
}

describe('a node that goes on after its wait', () => {
  it('W1: runs again with what its resume gave, which is stored before', () => {
    const drive = asking();
    drive.end('a', forEver);
    drive.signal('a', 'yes', 1);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, [sent(1, 'yes')]);
    expect(abbreviate(later.end('a', runAgain({ decided: 'yes' })))).toEqual([
      'checkpoint a:running',
      'start a',
    ]);
    const start = later.lastStart('a');
    expect(start).toMatchObject({ attempt: 1, previousOutput: { decided: 'yes' } });
    expect(start?.resumed).toBeUndefined();
    expect(later.stored().get('a')).toMatchObject({
      ...{ status: 'running', attempts: 1, signalSeq: 1, previousOutput: { decided: 'yes' } },
    });
    expect(abbreviate(later.end('a', success({})))).toEqual(['checkpoint a:success b:running', 'start b']);
  });

  it('W5: is not asked a second time after a crash, and the next wait gets the next signal', () => {
    const drive = asking();
    drive.end('a', forEver);
    const signals = [sent(1, 'yes')];
    const before = new Drive(drive.state.plan, {}, drive.journal(), 9_000, signals);
    before.end('a', runAgain({ decided: 'yes' }));
    const journal = [...drive.journal(), ...before.journal()];
    const after = new Drive(drive.state.plan, {}, journal, 10_000, [...signals, sent(2, 'no')]);
    expect(after.lastStart('a')).toMatchObject({ attempt: 2, previousOutput: { decided: 'yes' } });
    expect(abbreviate(after.end('a', forEver))).toEqual(['checkpoint a:waiting', 'resume a']);
    expect(after.lastStart('a')?.resumed?.signal).toEqual({ kind: 'signal', payload: 'no' });
  });

  it('may keep waiting for another signal than the one it got', () => {
    const drive = asking();
    drive.end('a', forEver);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, [sent(1, 'of another question')]);
    expect(abbreviate(later.end('a', forEver))).toEqual(['park null']);
    expect(later.stored().get('a')).toMatchObject({ status: 'waiting', reason: 'signal', signalSeq: 1 });
  });

  it("can't run again without having waited", () => {
    const drive = asking();
    drive.end('a', runAgain({}));
    expect(drive.state.phase).toMatchObject({ kind: 'failed', error: { code: 'invalid_output' } });
  });
});
