import { verbatim } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { describe, expect, it } from 'vitest';
import {
  failure,
  type JsonObject,
  type JsonValue,
  type NodeResult,
  success,
  waitUntil,
} from '../src/index.ts';
import { abbreviate, Drive } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';
import { forEach, playOn } from './support/loops.ts';

const effect = { type: 'test.effect', timeout_ms: 60_000 };
const ok = success({ text: 'ok' });

describe('limits of an execution', () => {
  it('E14: past the deadline the execution fails, whatever event arrives then', () => {
    const plan = planOf(flowOf({ a: effect, b: {} }, ['t -> a', 't -> b']));
    const drive = new Drive(plan, { deadlineAtMs: 3_000 });
    expect(abbreviate(drive.effects)).toEqual([
      'checkpoint t:success a:running b:running',
      'start a',
      'start b',
      'wait 3000',
    ]);
    drive.nowMs = 3_000;
    expect(abbreviate(drive.end('b', failure('broken', verbatim('x'))))).toEqual([
      'abort a execution_ended',
      'abort b execution_ended',
      'finish failed',
    ]);
    expect(drive.outcome()).toMatchObject({ error: { code: 'execution_timeout', nodeId: null } });
    const late = new Drive(plan, { deadlineAtMs: 500 });
    expect(abbreviate(late.effects)).toEqual(['finish failed']);
  });

  it('E31: nodes with expensive configs are started over several steps, in order, before time passes', () => {
    const items = Array.from({ length: 5_000 }, (_, n) => n);
    const busy = { ...effect, config: { sorted: '{{trigger.data | sort | length}}' } };
    const nodes = { a: busy, b: busy, c: busy, d: busy, e: effect };
    const plan = planOf(flowOf(nodes, ['t -> a', 't -> b', 't -> c', 't -> d', 't -> e']));
    const drive = new Drive(plan, { triggerData: items });
    expect(abbreviate(drive.effects)).toEqual([
      'checkpoint t:success a:running b:running',
      'start a',
      'start b',
      'wait 1000',
    ]);
    expect(drive.lastStart('a')?.config).toEqual({ sorted: 5_000 });
    expect(abbreviate(drive.time(1_000))).toEqual([
      'checkpoint c:running d:running',
      'start c',
      'start d',
      'wait 1000',
    ]);
    expect(abbreviate(drive.time(1_000))).toEqual(['checkpoint e:running', 'start e', 'wait 61000']);
  });

  it('E31: a failure that ends the execution starts nothing more, and a crash in between starts everything', () => {
    const items = Array.from({ length: 10_000 }, (_, n) => n);
    const busy = { ...effect, config: { sorted: '{{trigger.data | sort | length}}' } };
    const plan = planOf(flowOf({ a: busy, b: busy, c: effect }, ['t -> a', 't -> b', 't -> c']));
    const drive = new Drive(plan, { triggerData: items });
    expect(drive.lastStart('b')).toBeUndefined();
    expect(abbreviate(drive.end('a', failure('broken', verbatim('x'))))).toEqual(['finish failed']);
    expect(drive.lastStart('b')).toBeUndefined();
    const records = new Drive(plan, { triggerData: items }).stored().values();
    const again = new Drive(plan, { triggerData: items }, [...records]);
    again.time(1_000);
    again.time(1_000);
    expect(['a', 'b', 'c'].map((node) => again.lastStart(node)?.attempt)).toEqual([2, 1, 1]);
  });

  it('E29: the output with which the execution would exceed its limit is not stored, and fails it', () => {
    const lenient = { ...effect, on_error: 'continue', retry: { max_attempts: 3 } } as const;
    const plan = planOf(flowOf({ a: effect, b: lenient, c: effect }, ['t -> a', 'a -> b', 'b -> c']));
    const limits = { maxOutputBytes: 10_000, maxExecutionBytes: 10_000, inlineWaitMs: 5_000 };
    const drive = new Drive(plan, { limits });
    drive.end('a', success({ text: 'x'.repeat(5_000) }));
    drive.end('b', success({ text: 'x'.repeat(5_000) }, { consumedAiTokens: 3 }));
    expect(drive.outcome()).toMatchObject({
      status: 'failed',
      error: {
        code: 'execution_too_large',
        nodeId: 'b',
        message: { params: { node: 'b', stored: 5_034, bytes: 5_011, max: 10_000 } },
      },
    });
    expect(drive.stored().get('b')).toMatchObject({ status: 'failed', output: {}, consumedAiTokens: 3 });
    // Another worker counts on from what was stored.
    const again = new Drive(plan, { limits, storedBytes: 9_990 }, [...drive.journal()].slice(0, 3));
    again.end('b', success({ text: 'xxx' }));
    expect(again.outcome()).toMatchObject({ error: { code: 'execution_too_large', nodeId: 'b' } });
  });

  it('E29: a handled failure has to fit with its error, and a delay twice', () => {
    const limits = { maxOutputBytes: 10_000, maxExecutionBytes: 10_000, inlineWaitMs: 5_000 };
    const handled = planOf(flowOf({ a: { ...effect, on_error: 'continue' } }, ['t -> a']));
    const ends = (length: number) => {
      const drive = new Drive(handled, { limits });
      drive.end('a', failure('broken', verbatim('y'.repeat(500)), { output: { text: 'x'.repeat(length) } }));
      return drive.outcome();
    };
    expect(ends(9_000)).toEqual({ status: 'completed' });
    expect(ends(9_800)).toMatchObject({ error: { code: 'execution_too_large', nodeId: 'a' } });
    const waits = (length: number) => {
      const drive = new Drive(planOf(flowOf({ a: effect }, ['t -> a'])), { limits });
      return abbreviate(drive.end('a', waitUntil(90_000, { text: 'x'.repeat(length) })));
    };
    expect(waits(4_900)).toEqual(['park 90000']);
    expect(waits(5_100)).toEqual(['finish failed']);
  });

  it("E29: a loop's results count when it ends, its pure iterations don't", () => {
    const items = Array.from({ length: 30 }, () => 0);
    const limits = { maxOutputBytes: 10_000, maxExecutionBytes: 4_000, inlineWaitMs: 5_000 };
    const run = (text: string, result: string) => {
      const nodes = { l: forEach(items, { result }), p: { in: 'l' }, e: effect };
      const drive = new Drive(planOf(flowOf(nodes, ['t -> l', 'l -> e'])), { limits });
      playOn(drive, (id) => (id === 'p' ? success({ text }) : ok));
      return drive.outcome();
    };
    expect(run('x'.repeat(1_000), 'done')).toEqual({ status: 'completed' });
    expect(run('x'.repeat(200), '{{nodes.p.output.text}}')).toMatchObject({
      error: { code: 'execution_too_large', nodeId: 'l' },
    });
  });

  it('E14 E10: a parked execution wakes for its deadline', () => {
    const plan = planOf(flowOf({ a: effect }, ['t -> a']));
    const drive = new Drive(plan, { deadlineAtMs: 20_000 });
    expect(abbreviate(drive.end('a', waitUntil(90_000, {})))).toEqual(['park 20000']);
    const woken = new Drive(plan, { deadlineAtMs: 20_000 }, [...drive.stored().values()], 20_000);
    expect(abbreviate(woken.effects)).toEqual(['finish failed']);
    expect(woken.stored().get('a')).toMatchObject({ status: 'cancelled' });
  });

  it('E15: an attempt that takes too long is aborted and may be retried; its late end is ignored', () => {
    const data = { type: 'test.effect', timeout_ms: 500, retry: { max_attempts: 2, backoff_ms: 100 } };
    const drive = new Drive(planOf(flowOf({ a: data }, ['t -> a'])));
    expect(abbreviate(drive.effects.slice(-1))).toEqual(['wait 1500']);
    expect(abbreviate(drive.time(1_500))).toEqual([
      'abort a node_timeout',
      'checkpoint a:waiting',
      'wait 1550',
    ]);
    expect(drive.end('a', ok)).toEqual([]);
    expect(abbreviate(drive.time(1_550))).toEqual(['checkpoint a:running', 'start a', 'wait 2050']);
    expect(drive.end('a', ok, { attempt: 1 })).toEqual([]);
    expect(abbreviate(drive.time(2_050))).toEqual(['abort a node_timeout', 'finish failed']);
    expect(drive.outcome()).toMatchObject({ error: { code: 'node_timeout', nodeId: 'a' } });
  });

  it('E15: a result that has arrived counts even if its time is up', () => {
    const drive = new Drive(planOf(flowOf({ a: { type: 'test.effect', timeout_ms: 500 } }, ['t -> a'])));
    drive.nowMs = 9_000;
    expect(abbreviate(drive.end('a', ok))).toEqual(['finish completed']);
  });

  it.each<[string, unknown, string]>([
    ['is too large', success({ text: 'x'.repeat(10_001) }), 'output_too_large'],
    ['is a list', success([] as unknown as JsonObject), 'invalid_output'],
    ['is missing', success(undefined as unknown as JsonObject), 'invalid_output'],
    ['is nested too deeply', success(deep(2_000) as JsonObject), 'output_too_deep'],
    ['never ends', success(endless()), 'output_too_deep'],
    ['waits for no time', waitUntil(Number.NaN, {}), 'invalid_output'],
    ['waits with too much', waitUntil(5_000, { text: 'x'.repeat(10_001) }), 'output_too_large'],
    ['is no result at all', undefined, 'invalid_output'],
    ['is of no known kind', { kind: 'odd' }, 'invalid_output'],
  ])('E16: an output that %s is a failure', (_, result, code) => {
    const drive = new Drive(planOf(flowOf({ a: { retry: { max_attempts: 3 } } }, ['t -> a'])));
    expect(abbreviate(drive.end('a', result as NodeResult))).toEqual(['finish failed']);
    expect(drive.outcome()).toMatchObject({ error: { code, nodeId: 'a' } });
  });

  it('E16: the output of a failed node is kept only as far as it can be stored', () => {
    const drive = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    drive.end('a', failure('big', verbatim('m'.repeat(50_000)), { output: { text: 'x'.repeat(10_001) } }));
    const record = drive.stored().get('a');
    expect(record).toMatchObject({ status: 'failed', output: {}, error: { code: 'big' } });
    expect(record?.status === 'failed' && inEnglish(record.error.message).length).toBe(10_000);
  });

  it("E28: a node's log is part of its record, within limits", () => {
    const drive = new Drive(planOf(flowOf({ a: {}, b: { on_error: 'continue' } }, ['t -> a', 'a -> b'])));
    const line = { level: 'info' as const, text: 'hello' };
    const odd = [{ level: 'loud', text: 'x' }, { level: 'warn' }] as unknown as (typeof line)[];
    const many = Array.from({ length: 2_000 }, () => line);
    drive.end('a', success({}, { log: [line, ...odd, { ...line, text: 'x'.repeat(200_000) }, line] }));
    drive.end('b', failure('broken', verbatim('x'), { log: many }));
    expect(drive.stored().get('a')).toMatchObject({ log: [line] });
    expect(drive.stored().get('b')).toMatchObject({ status: 'failed', log: many.slice(0, 1_000) });
    const full = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    full.end('a', success({ text: 'x'.repeat(10_001) }, { log: [line] }));
    expect(full.stored().get('a')).toMatchObject({ error: { code: 'output_too_large' }, log: [line] });
  });

  it('E17: tokens are summed over nodes and attempts', () => {
    const drive = new Drive(
      planOf(flowOf({ a: { ...effect, retry: { max_attempts: 3 } }, b: {} }, ['t -> a', 'a -> b'])),
    );
    drive.end('a', failure('flaky', verbatim('x'), { retryable: true, consumedAiTokens: 5 }), { jitter: 0 });
    drive.time(1_000);
    drive.end('a', success({}, { consumedAiTokens: 7 }));
    drive.end('b', success({}, { consumedAiTokens: -3 }));
    expect(drive.effects.at(-1)).toMatchObject({ kind: 'finish', consumedAiTokens: 12 });
    expect(drive.stored().get('a')).toMatchObject({ consumedAiTokens: 12, attempts: 2, failures: 1 });
    expect(drive.stored().get('b')).toMatchObject({ consumedAiTokens: 0 });
  });

  it('E17: tokens of stored records count after resuming', () => {
    const plan = planOf(flowOf({ a: effect, b: effect }, ['t -> a', 'a -> b']));
    const drive = new Drive(plan);
    drive.end('a', success({}, { consumedAiTokens: 5 }));
    const later = new Drive(plan, {}, [...drive.stored().values()]);
    later.end('b', success({}, { consumedAiTokens: 2 }));
    expect(later.effects.at(-1)).toMatchObject({ consumedAiTokens: 7 });
  });
});

function deep(levels: number): JsonValue {
  let value: JsonValue = {};
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

function endless(): JsonObject {
  const value: { [name: string]: JsonValue } = {};
  value.self = value;
  return value;
}
