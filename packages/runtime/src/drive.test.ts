import { performance } from 'node:perf_hooks';
import type { Work } from '@millrace/engine';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AbortedWorkError, drive, TooExpensiveError } from './drive.ts';

/** Work of so many pieces, each of which takes `ms` by the replaced clock. */
function* pieces(count: number, ms: number, onPiece: () => void = () => {}): Work<string> {
  for (let piece = 0; piece < count; piece += 1) {
    nowMs += ms;
    onPiece();
    yield 1_000;
  }
  return 'done';
}

let nowMs = 0;
vi.spyOn(performance, 'now').mockImplementation(() => nowMs);

const options = { holder: { executionId: 1, nodeId: 'n' }, maxSteps: 1_000_000, isAborted: () => false };

/** A turn of the event loop begins. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

afterEach(nextTurn);

describe('drive', () => {
  it('ends at once what fits into the turn', async () => {
    await nextTurn();
    expect(drive(pieces(5, 0.1), options)).toBe('done');
  });

  it('lets everything else run after a turn of work', async () => {
    await nextTurn();
    let turns = 0;
    const done: number[] = [];
    let isDone = false;
    const beat = (): void => {
      turns += 1;
      if (!isDone) setImmediate(beat);
    };
    setImmediate(beat);
    const result = await drive(
      pieces(100, 4, () => done.push(turns)),
      options,
    );
    isDone = true;
    expect(result).toBe('done');
    for (const turn of new Set(done))
      expect(done.filter((each) => each === turn).length).toBeLessThanOrEqual(3);
  });

  it('lets all that is long take turns', async () => {
    await nextTurn();
    const order: string[] = [];
    const long = (name: string) =>
      drive(
        pieces(20, 20, () => order.push(name)),
        options,
      );
    await Promise.all([long('a'), long('b'), long('c')]);
    // All three wait from their first turn on; the last turns belong to those that are left.
    const middle = order.slice(6, 48).join('');
    expect(middle).toMatch(/^(?:(?:abc)+|(?:bca)+|(?:cab)+|(?:acb)+|(?:bac)+|(?:cba)+)$/);
  });

  it('ends work that takes too many steps, after the same piece each time', async () => {
    for (const ms of [0, 7, 40]) {
      await nextTurn();
      let count = 0;
      const onPiece = (): void => {
        count += 1;
      };
      const run = async (): Promise<unknown> => drive(pieces(10_000, ms, onPiece), options);
      await expect(run()).rejects.toThrow(TooExpensiveError);
      expect(count).toBe(1_001);
    }
  });

  it('gives up work that was aborted, between two turns', async () => {
    await nextTurn();
    let isAborted = false;
    const aborting = pieces(100, 20, () => {
      isAborted = true;
    });
    await expect(drive(aborting, { ...options, isAborted: () => isAborted })).rejects.toThrow(
      AbortedWorkError,
    );
    expect(aborting.next().done).toBe(true);
  });
});
