import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import { failure, foldRecords, success } from '../src/index.ts';
import { Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { effect, forEach, looped, ok, outputOf, playOn } from './support/loops.ts';

describe('long loops', () => {
  const items = Array.from({ length: 100_000 }, (_, n) => n);
  const limits = { maxOutputBytes: 16_000_000, maxExecutionBytes: 1_000_000_000, inlineWaitMs: 5_000 };

  it('L10 L8: 100,000 pure items need one write of a few records, and keep only the running frames', () => {
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
      most = Math.max(most, drive.state.dirtyRecords.size, drive.state.frames, open);
    }
    // A hundred iterations run; up to half of the entries of dirty records may be gaps.
    expect(most).toBeLessThan(250);
    expect(drive.effects.filter(({ kind }) => kind !== 'start_node').map(({ kind }) => kind)).toEqual([
      'finish',
    ]);
    expect(drive.journal().map(({ nodeId }) => nodeId)).toEqual(['t', 'l', 'a']);
    expect(outputOf(drive, 'l')).toEqual({ items, errors: [] });
  });

  it('L10: many items with effects are written one by one, and the state stays small', () => {
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
      most = Math.max(most, drive.state.dirtyRecords.size, drive.state.frames);
    }
    drive.end('p', ok);
    expect(most).toBeLessThan(10);
    // Each item: running, its end, and its result.
    expect(drive.journal().length).toBeLessThan(3 * some.length + 10);
    expect(foldRecords([{ records: drive.journal() }])).toHaveLength(4);
  });

  it('E29: what is in memory is what open iterations and the results of loops hold', () => {
    const text = 'x'.repeat(1_000);
    const nodes = {
      l: { ...forEach('{{trigger.data}}', { result: '{{index}}' }), retry: { max_attempts: 2 } },
      a: { ...effect, in: 'l' },
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> l'])), { triggerData: [1, 2, 3, 4, 5], limits });
    const before = drive.state.heldBytes;
    for (const at of [0, 1, 2]) drive.end(`a ${at}`, success({ text }), { attempt: 1 });
    // Each result is a digit and a comma.
    expect(drive.state.heldBytes - before).toBe(3 * 2);
    expect(drive.state.bytes - before).toBeGreaterThan(3 * text.length);
    const resumed = new Drive(drive.state.plan, { triggerData: [1, 2, 3, 4, 5], limits }, drive.journal());
    expect(resumed.state.heldBytes).toBe(drive.state.heldBytes);
    // The next attempt begins with nothing but the output of the last one.
    drive.end('a 3', failure('flaky', verbatim('x'), { retryable: true }), { attempt: 1 });
    expect(drive.state.heldBytes - before).toBe('{}'.length);
    drive.time(START_MS + 60_000);
    for (const at of [0, 1, 2, 3, 4]) drive.end(`a ${at}`, success({ text }), { attempt: 1 });
    const output = JSON.stringify({ items: [0, 1, 2, 3, 4], errors: [] });
    expect(drive.state.heldBytes - before).toBe(output.length);
  });

  it('L10: iterations that end without starting anything yield to others', () => {
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

  it("L10: nested loops together don't start everything at once", () => {
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

  it('L10 E16: fails as soon as its outputs together are too large', () => {
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
    playOn(failing, () => failure('broken', verbatim('x'.repeat(5_000))));
    expect(failing.outcome()).toMatchObject({ error: { code: 'output_too_large', nodeId: 'l' } });
  });
});
