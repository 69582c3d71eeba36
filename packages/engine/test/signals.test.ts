import { verbatim } from '@millrace/messages';
import { describe, expect, it } from 'vitest';
import {
  awaitSignal,
  failure,
  type JsonValue,
  type NodeResult,
  type StoredSignal,
  success,
  waitUntil,
} from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, type NodeSketch, planOf } from './support/index.ts';

const effect = { type: 'test.effect', timeout_ms: 60_000 };
const ok = success({ text: 'ok' });
const forEver = awaitSignal(null, { shown: 1 });

function single(data: NodeSketch = {}): Drive {
  return new Drive(planOf(flowOf({ a: { ...effect, ...data }, b: {} }, ['t -> a', 'a -> b'])));
}

function sent(seq: number, payload: JsonValue, nodeId = 'a', iteration: number[] = []): StoredSignal {
  return { seq, nodeId, iteration, payload };
}

describe('waiting for signals', () => {
  it('W1 W5: parks without a time, and is resumed by the first signal', () => {
    const drive = single();
    expect(abbreviate(drive.end('a', forEver))).toEqual(['park null']);
    expect(drive.state.phase).toEqual({ kind: 'parked', wakeAtMs: null });
    expect(drive.stored().get('a')).toMatchObject({
      ...{ status: 'waiting', reason: 'signal', wakeAtMs: null, output: { shown: 1 }, attempts: 1 },
    });
    const signals = [sent(1, { yes: true }), sent(2, 'late')];
    const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, signals);
    expect(abbreviate(later.effects)).toEqual(['resume a', 'wait 69000']);
    expect(later.lastStart('a')).toMatchObject({
      attempt: 1,
      resumed: { signal: { kind: 'signal', payload: { yes: true } }, waiting: { shown: 1 } },
    });
    expect(abbreviate(later.end('a', success({ done: 1 })))).toEqual([
      ...['checkpoint a:success b:running', 'start b'],
    ]);
    expect(later.stored().get('a')).toMatchObject({
      attempts: 1,
      startedAtMs: START_MS,
      output: { done: 1 },
    });
    expect(later.effects.find(({ kind }) => kind === 'checkpoint')).toMatchObject({ signalsSeen: 2 });
  });

  it('W1: the end of its time resumes it, too', () => {
    const drive = single();
    expect(abbreviate(drive.end('a', awaitSignal(90_000, { shown: 1 })))).toEqual(['park 90000']);
    const later = new Drive(drive.state.plan, {}, drive.journal(), 90_000);
    expect(later.lastStart('a')).toMatchObject({
      resumed: { signal: { kind: 'timeout' }, waiting: { shown: 1 } },
    });
    // A signal that arrives while it is being resumed is too late.
    expect(later.signal('a', 1, 1)).toEqual([]);
    expect(abbreviate(later.end('a', ok))).toEqual(['checkpoint a:success b:running', 'start b']);
  });

  it('W1 W5: short waits are waited out, and a signal then is used at once', () => {
    const drive = single();
    expect(abbreviate(drive.end('a', awaitSignal(START_MS + 3_000, {})))).toEqual([
      ...['checkpoint a:waiting', 'wait 4000'],
    ]);
    drive.nowMs = 2_000;
    expect(abbreviate(drive.signal('a', 'x', 1))).toEqual(['resume a']);
    expect(drive.time(4_000)).toMatchObject([{ kind: 'wait_until', atMs: 62_000 }]);
    expect(abbreviate(drive.end('a', ok))).toEqual(['checkpoint a:success b:running', 'start b']);
  });

  it('W1: a time that is over at once resumes it, unless there is a signal', () => {
    const drive = single();
    expect(abbreviate(drive.end('a', awaitSignal(START_MS, {})))).toEqual([
      'checkpoint a:waiting',
      'resume a',
    ]);
    expect(drive.lastStart('a')?.resumed?.signal).toEqual({ kind: 'timeout' });
    const other = single();
    other.signal('a', 5, 1);
    other.end('a', awaitSignal(START_MS, {}));
    expect(other.lastStart('a')?.resumed?.signal).toEqual({ kind: 'signal', payload: 5 });
  });

  it('W2: a signal that arrives while the node runs is kept until it waits', () => {
    const drive = single();
    expect(drive.signal('a', 'early', 1)).toEqual([]);
    expect(abbreviate(drive.end('a', forEver))).toEqual(['checkpoint a:waiting', 'resume a']);
    expect(drive.lastStart('a')?.resumed?.signal).toEqual({ kind: 'signal', payload: 'early' });
  });

  it('W2: signals already delivered, or for nobody, change nothing', () => {
    const drive = single();
    drive.end('a', awaitSignal(START_MS + 3_000, {}));
    expect(drive.signal('nobody', 1, 1)).toEqual([]);
    expect(drive.signal('b', 1, 2)).toEqual([]);
    expect(drive.signal('a 0', 1, 3)).toEqual([]);
    expect(drive.signal('a', 1, 3)).toEqual([]);
    expect(abbreviate(drive.signal('a', 1, 4))).toEqual(['resume a']);
    drive.end('a', ok);
    expect(drive.signal('a', 1, 5)).toEqual([]);
    drive.end('b', ok);
    expect(drive.effects.at(-1)).toMatchObject({ kind: 'finish', signalsSeen: 5 });
  });

  it('W3: a crash while resuming resumes it again, with the same signal', () => {
    const drive = single();
    drive.end('a', forEver);
    const signals = [sent(1, 'x'), sent(2, 'y')];
    for (let life = 0; life < 3; life++) {
      const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, signals);
      expect(later.lastStart('a')?.resumed?.signal).toEqual({ kind: 'signal', payload: 'x' });
      expect(later.journal()).toEqual([]);
    }
  });

  it('W3: records stored in the meantime say that it waits', () => {
    const plan = planOf(flowOf({ a: effect, c: effect, d: effect }, ['t -> a', 't -> c', 'c -> d']));
    const drive = new Drive(plan);
    drive.end('a', forEver);
    drive.signal('a', 1, 1);
    expect(abbreviate(drive.end('c', ok))).toEqual(['checkpoint c:success d:running', 'start d']);
    expect(abbreviate(drive.send({ kind: 'stop', reason: 'shutdown', atMs: 2_000 }))).toEqual([
      ...['abort a shutdown', 'abort d shutdown', 'hand_back '],
    ]);
    expect(drive.stored().get('a')).toMatchObject({ status: 'waiting' });
    const later = new Drive(plan, {}, drive.journal(), 9_000, [sent(1, 1)]);
    expect(abbreviate(later.effects)).toEqual(['checkpoint d:running', 'resume a', 'start d', 'wait 69000']);
  });

  it('W4: it may await the next signal; each is used once and in order, also after a crash', () => {
    const drive = single();
    drive.end('a', forEver);
    const signals = [sent(1, 'one'), sent(2, 'two')];
    const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, signals);
    expect(abbreviate(later.end('a', awaitSignal(null, { shown: 2 })))).toEqual([
      ...['checkpoint a:waiting', 'resume a'],
    ]);
    expect(later.lastStart('a')?.resumed).toEqual({
      ...{ signal: { kind: 'signal', payload: 'two' }, waiting: { shown: 2 } },
    });
    const third = new Drive(
      drive.state.plan,
      {},
      later.journal().length === 0 ? [] : [...drive.journal(), ...later.journal()],
      9_500,
      signals,
    );
    expect(third.lastStart('a')?.resumed?.signal).toEqual({ kind: 'signal', payload: 'two' });
    expect(abbreviate(third.end('a', forEver))).toEqual(['park null']);
    expect(third.effects.at(-1)).toMatchObject({ signalsSeen: 2 });
  });

  it('W4 R1: a resumed node that fails is retried from its beginning', () => {
    const drive = single({ retry: { max_attempts: 2, backoff_ms: 0 } });
    drive.end('a', awaitSignal(START_MS + 3_000, {}));
    drive.signal('a', 'bad', 1);
    const flaky = failure('flaky', verbatim('x'), { retryable: true });
    expect(abbreviate(drive.end('a', flaky))).toEqual(['checkpoint a:running', 'start a']);
    expect(drive.lastStart('a')).toMatchObject({ attempt: 2 });
    expect(drive.lastStart('a')).not.toHaveProperty('resumed');
    // The signal was used by the previous attempt.
    expect(abbreviate(drive.end('a', awaitSignal(START_MS + 3_000, {})))).toEqual(['checkpoint a:waiting']);
    expect(abbreviate(drive.signal('a', 'good', 2))).toEqual(['resume a']);
  });

  it('W4 E15: resuming has a time limit, too', () => {
    const drive = single();
    drive.end('a', awaitSignal(START_MS + 3_000, {}));
    drive.nowMs = 2_000;
    drive.signal('a', 1, 1);
    expect(abbreviate(drive.time(62_000))).toEqual(['abort a node_timeout', 'finish failed']);
  });

  it('E6 E18: a waiting or resumed node is cancelled with the rest', () => {
    const plan = planOf(flowOf({ a: effect, b: effect, c: effect }, ['t -> a', 't -> b', 't -> c']));
    const drive = new Drive(plan);
    drive.end('a', forEver);
    drive.end('b', forEver);
    drive.signal('b', 1, 1);
    expect(abbreviate(drive.end('c', failure('broken', verbatim('x'))))).toEqual([
      ...['abort b execution_ended', 'finish failed'],
    ]);
    expect(drive.stored().get('a')).toMatchObject({ status: 'cancelled' });
    expect(drive.stored().get('b')).toMatchObject({ status: 'cancelled' });
  });

  it('E14: an endless wait is parked until the deadline', () => {
    const plan = planOf(flowOf({ a: effect }, ['t -> a']));
    const drive = new Drive(plan, { deadlineAtMs: 30_000 });
    expect(abbreviate(drive.end('a', forEver))).toEqual(['park 30000']);
  });

  it('W1 L4: each iteration gets its own signals', () => {
    const loop = { type: 'core.for_each', config: { items: [0, 1], concurrency: 2 } };
    const drive = new Drive(planOf(flowOf({ l: loop, a: { ...effect, in: 'l' } }, ['t -> l'])));
    drive.send(drive.ended('a 0', forEver));
    expect(abbreviate(drive.end('a 1', forEver))).toEqual(['park null']);
    const signals = [sent(1, 'one', 'a', [1])];
    const later = new Drive(drive.state.plan, {}, drive.journal(), 9_000, signals);
    expect(abbreviate(later.effects)).toEqual(['resume a 1', 'wait 69000']);
    expect(abbreviate(later.end('a 1', ok))).toEqual(['park null']);
    const last = new Drive(drive.state.plan, {}, [...drive.journal(), ...later.journal()], 9_000, [
      ...signals,
      sent(2, 'zero', 'a', [0]),
    ]);
    expect(abbreviate(last.effects)).toEqual(['resume a 0', 'wait 69000']);
    expect(abbreviate(last.end('a 0', ok))).toEqual(['finish completed']);
  });

  it('W2 L5: another attempt of the loop around it gets the same signals', () => {
    const loop = { type: 'core.for_each', config: { items: [0] }, retry: { max_attempts: 2, backoff_ms: 0 } };
    const inside = { ...effect, in: 'l' };
    const drive = new Drive(planOf(flowOf({ l: loop, a: inside, b: inside }, ['t -> l', 'a -> b'])));
    drive.signal('a 0', 'yes', 1);
    drive.end('a 0', forEver);
    drive.end('a 0', ok);
    expect(abbreviate(drive.end('b 0', failure('flaky', verbatim('x'), { retryable: true })))).toContain(
      'start a 0',
    );
    drive.end('a 0', forEver);
    expect(drive.lastStart('a 0')).toMatchObject({ attempt: 1, resumed: { signal: { payload: 'yes' } } });
  });

  it.each<[string, NodeResult, string]>([
    ['too large', awaitSignal(null, { text: 'x'.repeat(10_001) }), 'output_too_large'],
    ['until no time', awaitSignal(Number.NaN, {}), 'invalid_output'],
  ])('E16: a wait that is %s is a failure', (_, result, code) => {
    const drive = single();
    drive.end('a', result);
    expect(drive.outcome()).toMatchObject({ error: { code } });
  });

  it("W1: a node whose type can't resume may not wait", () => {
    const drive = new Drive(planOf(flowOf({ a: { type: 'test.echo', config: { value: 1 } } }, ['t -> a'])));
    drive.end('a', forEver);
    expect(drive.outcome()).toMatchObject({ error: { code: 'invalid_output', nodeId: 'a' } });
  });
});

describe('token budget', () => {
  const budget = (nodes: { [id: string]: NodeSketch }, edges: string[]): Drive =>
    new Drive(planOf({ ...flowOf(nodes, edges), settings: { token_budget: 10 } }));
  const spend = (consumedAiTokens: number): NodeResult => success({}, { consumedAiTokens });

  it("B1 B2: exceeding it fails the execution, using it up doesn't", () => {
    const drive = budget({ a: effect, b: effect, c: effect }, ['t -> a', 'a -> b', 'b -> c']);
    expect(drive.lastStart('a')).toMatchObject({ aiTokensLeft: 10 });
    drive.end('a', spend(4));
    expect(drive.lastStart('b')).toMatchObject({ aiTokensLeft: 6 });
    drive.end('b', spend(6));
    expect(drive.lastStart('c')).toMatchObject({ aiTokensLeft: 0 });
    expect(abbreviate(drive.end('c', spend(1)))).toEqual(['finish failed']);
    expect(drive.outcome()).toMatchObject({ error: { code: 'token_budget_exceeded', nodeId: 'c' } });
    expect(drive.stored().get('c')).toMatchObject({ status: 'success', consumedAiTokens: 1 });
    expect(drive.effects.at(-1)).toMatchObject({ consumedAiTokens: 11 });
  });

  it('B1: however the node ended, and wherever it is', () => {
    const failing = budget({ a: { ...effect, on_error: 'continue', retry: { max_attempts: 9 } } }, [
      't -> a',
    ]);
    failing.end(
      'a',
      failure('flaky', verbatim('x'), { retryable: true, consumedAiTokens: 11, output: { kept: 1 } }),
    );
    expect(failing.outcome()).toMatchObject({ error: { code: 'token_budget_exceeded', nodeId: 'a' } });
    expect(failing.stored().get('a')).toMatchObject({
      ...{ status: 'failed', failures: 1, output: { kept: 1 }, handles: [] },
    });
    const waiting = budget({ a: effect }, ['t -> a']);
    waiting.end('a', awaitSignal(null, {}, { consumedAiTokens: 11 }));
    expect(waiting.outcome()).toMatchObject({ error: { code: 'token_budget_exceeded' } });
    expect(waiting.stored().get('a')).toMatchObject({ status: 'cancelled', consumedAiTokens: 11 });
    const loop = {
      type: 'core.for_each',
      config: { items: [0, 1], concurrency: 2, on_item_error: 'collect' },
    };
    const inside = budget({ l: loop, a: { ...effect, in: 'l' } }, ['t -> l']);
    inside.end('a 0', spend(6));
    expect(abbreviate(inside.end('a 1', spend(6)))).toEqual(['finish failed']);
    expect(inside.outcome()).toMatchObject({ error: { code: 'token_budget_exceeded', nodeId: 'a' } });
    expect(inside.stored().get('l')).toMatchObject({ status: 'cancelled', consumedAiTokens: 12 });
  });

  it('B2: without a budget no number is passed, and stored tokens count after resuming', () => {
    const plan = planOf(flowOf({ a: effect }, ['t -> a']));
    expect(new Drive(plan).lastStart('a')).toMatchObject({ aiTokensLeft: null });
    const drive = budget({ a: effect, b: effect }, ['t -> a', 'a -> b']);
    drive.end('a', spend(4));
    const later = new Drive(drive.state.plan, {}, drive.journal());
    expect(later.lastStart('b')).toMatchObject({ aiTokensLeft: 6 });
    expect(abbreviate(later.end('b', waitUntil(90_000, {})))).toEqual(['park 90000']);
  });
});
