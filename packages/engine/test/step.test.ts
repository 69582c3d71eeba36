import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { describe, expect, it } from 'vitest';
import { failure, success, waitUntil } from '../src/index.ts';
import { abbreviate, Drive, START_MS } from './support/drive.ts';
import { flowOf, planOf } from './support/index.ts';

const effect = { type: 'test.effect', timeout_ms: 60_000 };
const ok = success({ text: 'ok' });

describe('execution', () => {
  it('E1 E5: a lone trigger ends with its data, and so does the execution', () => {
    const drive = new Drive(planOf(flowOf({}, [])), { triggerData: [1, 'x'] });
    expect(abbreviate(drive.effects)).toEqual(['finish completed']);
    expect(drive.stored().get('t')).toMatchObject({
      status: 'success',
      output: { data: [1, 'x'] },
      handles: ['out'],
    });
    expect(drive.state.phase).toEqual({ kind: 'completed' });
  });

  it('E2 E3: parallel nodes start together, with rendered config and the outputs before them', () => {
    const see = '{{trigger.data.name}} {{nodes.a.output.text}}';
    const plan = planOf(
      flowOf({ a: {}, b: {}, c: { config: { see } } }, ['t -> a', 't -> b', 'b -> c', 'a -> c']),
    );
    const drive = new Drive(plan);
    expect(abbreviate(drive.effects)).toEqual(['start a', 'start b']);
    expect(drive.end('a', success({ text: 'A' }))).toEqual([]);
    const [start] = drive.end('b', success({ text: 'B' }));
    expect(start).toMatchObject({ kind: 'start_node', attempt: 1, config: { see: 'Ada A' } });
    const inputs = start?.kind === 'start_node' ? Object.entries(start.inputs) : [];
    expect(inputs).toEqual([
      ['b', { text: 'B' }],
      ['a', { text: 'A' }],
    ]);
    expect(abbreviate(drive.end('c', ok))).toEqual(['finish completed']);
  });

  it('E3: ids that look like numbers keep the order of the edges, each once', () => {
    const edges = ['t -> 10', 't -> 2', '10 -> c', '2 -> c', '10:out -> c'];
    const drive = new Drive(planOf(flowOf({ '10': {}, '2': {}, c: {} }, edges)));
    drive.end('10', success({ text: 'ten' }));
    expect(drive.end('2', success({ text: 'two' }))).toMatchObject([
      {
        kind: 'start_node',
        inputOrder: ['10', '2'],
        inputs: { '10': { text: 'ten' }, '2': { text: 'two' } },
      },
    ]);
  });

  it('E3: a node id that every object inherits is an input like any other', () => {
    const plan = planOf(
      flowOf({ ['__proto__']: {}, constructor: {}, b: {} }, [
        't -> __proto__',
        't -> constructor',
        '__proto__ -> b',
        'constructor -> b',
      ]),
    );
    const drive = new Drive(plan);
    drive.end('__proto__', success({ text: 'P' }));
    const [start] = drive.end('constructor', success({ text: 'C' }));
    const inputs = start?.kind === 'start_node' ? Object.entries(start.inputs) : [];
    expect(inputs.map(([id]) => id)).toEqual(['__proto__', 'constructor']);
  });

  it("E4: a rendered config that doesn't match fails the node", () => {
    const config = { value: 1, count: '{{trigger.data.count}}' };
    const plan = planOf(flowOf({ a: { type: 'test.echo', config, retry: { max_attempts: 5 } } }, ['t -> a']));
    const bad = new Drive(plan, { triggerData: { count: 'many' } });
    expect(abbreviate(bad.effects)).toEqual(['finish failed']);
    expect(bad.outcome()).toEqual({
      status: 'failed',
      error: { code: 'invalid_config', message: saying('"count" must be a whole number'), nodeId: 'a' },
    });
    const good = new Drive(plan, { triggerData: { count: 3 } });
    expect(abbreviate(good.effects)).toEqual(['start a']);
  });

  it('E4 T10: a config that renders too large fails the node', () => {
    const config = { see: '{{trigger.data}}{{trigger.data}}' };
    const plan = planOf(flowOf({ a: { config, on_error: 'continue' } }, ['t -> a']));
    const drive = new Drive(plan, { triggerData: 'x'.repeat(9_000) });
    expect(abbreviate(drive.effects)).toEqual(['finish completed']);
    expect(drive.stored().get('a')).toMatchObject({
      status: 'failed',
      error: { code: 'template_too_large' },
    });
  });

  it('E6: the first failing node fails the execution, aborts the others and starts nothing', () => {
    const plan = planOf(
      flowOf({ a: {}, b: effect, c: effect, d: {}, e: {} }, [
        't -> a',
        't -> b',
        't -> c',
        'a -> d',
        'b -> e',
      ]),
    );
    const drive = new Drive(plan);
    drive.end('c', waitUntil(START_MS + 2_000, {}));
    expect(abbreviate(drive.end('a', failure('broken', verbatim('it broke'))))).toEqual([
      'abort b execution_ended',
      'finish failed',
    ]);
    expect(drive.outcome()).toEqual({
      status: 'failed',
      error: { code: 'broken', message: verbatim('it broke'), nodeId: 'a' },
    });
    const stored = drive.stored();
    expect(stored.get('a')).toMatchObject({
      status: 'failed',
      handles: [],
      error: { code: 'broken' },
      output: {},
    });
    expect(stored.get('b')).toMatchObject({ status: 'cancelled' });
    expect(stored.get('c')).toMatchObject({ status: 'cancelled' });
    expect(stored.has('d')).toBe(false);
  });

  it('E7: continue takes out, branch takes error, with the output of the failure', () => {
    const nodes = {
      a: { on_error: 'continue' as const },
      b: { on_error: 'branch' as const },
      c: {},
      d: {},
      e: {},
    };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> a', 't -> b', 'a -> c', 'b -> d', 'b:error -> e'])));
    const [startC] = drive.end('a', failure('broken', verbatim('it broke'), { output: { status: 500 } }));
    const output = { status: 500, error: { code: 'broken', message: 'it broke' } };
    expect(startC).toMatchObject({ kind: 'start_node', inputs: { a: output } });
    expect(abbreviate(drive.end('b', failure('worse', verbatim('no'))))).toEqual(['start e']);
    drive.end('c', ok);
    expect(abbreviate(drive.end('e', ok))).toEqual(['finish completed']);
    expect(drive.stored().get('a')).toMatchObject({ status: 'failed', handles: ['out'], output });
    expect(drive.stored().get('d')).toMatchObject({ status: 'skipped' });
  });

  it('E8: a fatal failure ignores on_error and retry', () => {
    const data = { on_error: 'continue' as const, retry: { max_attempts: 5 } };
    const drive = new Drive(planOf(flowOf({ a: data, b: {} }, ['t -> a', 'a -> b'])));
    expect(
      abbreviate(drive.end('a', failure('stop', verbatim('at once'), { fatal: true, retryable: true }))),
    ).toEqual(['finish failed']);
  });

  it('E9 E10: short waits and those beside running nodes stay, long ones park', () => {
    const plan = planOf(flowOf({ a: effect, b: effect, c: {} }, ['t -> a', 't -> b', 'a -> c']));
    const drive = new Drive(plan);
    const untilMs = START_MS + 10_000;
    expect(abbreviate(drive.end('a', waitUntil(untilMs, { text: 'late' })))).toEqual([
      'checkpoint a:waiting',
      `wait ${untilMs}`,
    ]);
    drive.nowMs += 1;
    expect(abbreviate(drive.end('b', ok))).toEqual([`park ${untilMs}`]);
    expect(drive.state.phase).toEqual({ kind: 'parked', wakeAtMs: untilMs });
    const later = new Drive(plan, {}, [...drive.stored().values()], untilMs);
    expect(abbreviate(later.effects)).toEqual(['checkpoint a:success c:running', 'start c']);
    expect(later.stored().get('a')).toMatchObject({
      status: 'success',
      output: { text: 'late' },
      completedAtMs: untilMs,
    });
    expect(abbreviate(later.end('c', ok))).toEqual(['finish completed']);
  });

  it('E9: a wait that is over at once is a success', () => {
    const drive = new Drive(planOf(flowOf({ a: effect }, ['t -> a'])));
    expect(abbreviate(drive.end('a', waitUntil(START_MS, { text: 'now' })))).toEqual(['finish completed']);
  });

  it('E10: a short wait stays, and is ended by time', () => {
    const drive = new Drive(planOf(flowOf({ a: { type: 'test.effect' } }, ['t -> a'])));
    expect(abbreviate(drive.end('a', waitUntil(START_MS + 5_000, {})))).toEqual([
      'checkpoint a:waiting',
      'wait 6000',
    ]);
    expect(abbreviate(drive.time(5_999))).toEqual(['wait 6000']);
    expect(abbreviate(drive.time(6_000))).toEqual(['finish completed']);
  });

  it('E10: woken too early, it parks again until the same time', () => {
    const plan = planOf(flowOf({ a: effect }, ['t -> a']));
    const drive = new Drive(plan);
    expect(abbreviate(drive.end('a', waitUntil(60_000, {})))).toEqual(['park 60000']);
    const early = new Drive(plan, {}, [...drive.stored().values()], 30_000);
    expect(abbreviate(early.effects)).toEqual(['park 60000']);
  });

  it('E11: effect nodes start after a checkpoint and are stored before what follows; pure ones need none', () => {
    const plan = planOf(flowOf({ a: {}, b: effect, c: {}, d: {} }, ['t -> a', 'a -> b', 'b -> c', 'c -> d']));
    const drive = new Drive(plan);
    expect(abbreviate(drive.effects)).toEqual(['start a']);
    expect(abbreviate(drive.end('a', ok))).toEqual([
      'checkpoint t:success a:success b:running',
      'start b',
      'wait 61000',
    ]);
    expect(abbreviate(drive.end('b', ok))).toEqual(['checkpoint b:success c:running', 'start c']);
    expect(abbreviate(drive.end('c', ok))).toEqual(['start d']);
    expect(abbreviate(drive.end('d', ok))).toEqual(['finish completed']);
    const last = drive.effects.at(-1);
    expect(last?.kind === 'finish' && last.records.map(({ nodeId }) => nodeId)).toEqual(['c', 'd']);
  });

  it('E11: several ends at once share a checkpoint', () => {
    const nodes = { a: effect, b: effect, c: effect, d: effect };
    const drive = new Drive(planOf(flowOf(nodes, ['t -> a', 't -> b', 'a -> c', 'b -> d'])));
    expect(abbreviate(drive.send(drive.ended('a', ok), drive.ended('b', ok)))).toEqual([
      'checkpoint a:success b:success c:running d:running',
      'start c',
      'start d',
    ]);
  });

  it('E11: a pure execution needs one write, its end', () => {
    const drive = new Drive(planOf(flowOf({ a: {}, b: {} }, ['t -> a', 'a -> b'])));
    drive.end('a', ok);
    drive.end('b', ok);
    expect(abbreviate(drive.effects)).toEqual(['start a', 'start b', 'finish completed']);
  });

  it('E12 E13: resuming restarts running nodes, and none that had ended', () => {
    const plan = planOf(
      flowOf({ a: effect, b: { ...effect, retry: { max_attempts: 2 } }, c: {} }, [
        't -> a',
        'a -> b',
        'b -> c',
      ]),
    );
    const drive = new Drive(plan);
    drive.end('a', ok);
    let lives = new Drive(plan, {}, [...drive.stored().values()], 2_000);
    for (let life = 2; life < 5; life++) {
      expect(abbreviate(lives.effects)).toEqual([
        'checkpoint b:running',
        'start b',
        `wait ${60_000 + lives.nowMs}`,
      ]);
      expect(lives.lastAttempt('b')).toBe(life);
      const records = [...new Map([...drive.stored(), ...lives.stored()]).values()];
      lives = new Drive(plan, {}, records, 2_000 * life);
    }
    // Four lost starts, but the first failure is still number one.
    expect(
      abbreviate(lives.end('b', failure('flaky', verbatim('x'), { retryable: true }), { jitter: 0 })),
    ).toEqual(['checkpoint b:running', 'start b']);
    expect(abbreviate(lives.end('b', failure('flaky', verbatim('x'), { retryable: true })))).toEqual([
      'finish failed',
    ]);
    expect(lives.stored().get('b')).toMatchObject({ attempts: 6, failures: 2, startedAtMs: START_MS });
  });

  it('E12 E13 T18: now stays when a node first started, for every attempt, also after a crash', () => {
    const config = { count: 1, at: '{{now}}', answer: '{{now}}' };
    const retry = { max_attempts: 3 };
    const plan = planOf(
      flowOf({ a: { type: 'test.effect', config, retry }, b: { config } }, ['t -> a', 'a -> b']),
    );
    const first = new Drive(plan);
    const now = new Date(START_MS).toISOString();
    expect(first.lastStart('a')?.config).toMatchObject({ at: now });
    const lives = new Drive(plan, {}, [...first.stored().values()], 60_000);
    expect(lives.lastStart('a')).toMatchObject({ attempt: 2, config: { at: now } });
    expect(lives.lastStart('a')?.render('{{now}} {{args.x}}', { x: 1 })).toBe(`${now} 1`);
    lives.end('a', failure('flaky', verbatim('x'), { retryable: true }), { jitter: 0 });
    expect(lives.lastStart('a')).toMatchObject({ attempt: 3, config: { at: now } });
    lives.end('a', ok);
    expect(lives.lastStart('b')?.config).toMatchObject({ at: new Date(lives.nowMs).toISOString() });
  });

  it('E12: inconsistent records are not trusted blindly', () => {
    const plan = planOf(flowOf({ a: {}, b: effect, c: {} }, ['t -> a', 'a -> b', 'b -> c']));
    const running = {
      nodeId: 'b',
      attempts: 1,
      startedAtMs: 1,
      consumedAiTokens: 0,
      status: 'running' as const,
    };
    expect(abbreviate(new Drive(plan, {}, [running]).effects)).toEqual(['start a']);
    const done = { ...running, status: 'success' as const, output: {}, handles: ['out'], completedAtMs: 2 };
    const drive = new Drive(plan, {}, [done, { ...running, nodeId: 'unknown' }]);
    expect(abbreviate(drive.effects)).toEqual(['start a', 'start c']);
    drive.end('a', ok);
    expect(abbreviate(drive.end('c', ok))).toEqual(['finish completed']);
    const failed = {
      ...done,
      status: 'failed' as const,
      error: { code: 'x', message: verbatim('y') },
      handles: [],
    };
    expect(abbreviate(new Drive(plan, {}, [failed]).effects)).toEqual(['finish failed']);
  });

  it('E18 E19: stop aborts running nodes; only a shutdown stores, and nothing happens afterwards', () => {
    const plan = planOf(flowOf({ a: effect, b: {}, c: {} }, ['t -> a', 't -> b', 'b -> c']));
    for (const reason of ['cancelled', 'lease_lost'] as const) {
      const drive = new Drive(plan);
      drive.end('b', ok);
      expect(abbreviate(drive.send({ kind: 'stop', reason, atMs: 2_000 }))).toEqual([
        `abort a ${reason}`,
        `abort c ${reason}`,
      ]);
      expect(drive.end('a', ok)).toEqual([]);
      expect(drive.time(99_999_999)).toEqual([]);
    }
    const drive = new Drive(plan);
    drive.end('b', ok);
    expect(abbreviate(drive.send({ kind: 'stop', reason: 'shutdown', atMs: 2_000 }))).toEqual([
      'abort a shutdown',
      'abort c shutdown',
      'hand_back b:success c:running',
    ]);
    const later = new Drive(plan, {}, [...drive.stored().values()]);
    expect(abbreviate(later.effects)).toEqual([
      'checkpoint a:running c:running',
      'start a',
      'start c',
      'wait 61000',
    ]);
  });

  it('E19: events after the end, of unknown nodes and of old attempts change nothing', () => {
    const drive = new Drive(planOf(flowOf({ a: {} }, ['t -> a'])));
    expect(drive.end('nobody', ok)).toEqual([]);
    expect(drive.end('t', ok)).toEqual([]);
    expect(drive.end('a', ok, { attempt: 2 })).toEqual([]);
    drive.end('a', ok);
    expect(drive.end('a', ok)).toEqual([]);
    expect(drive.send({ kind: 'stop', reason: 'shutdown', atMs: 2_000 })).toEqual([]);
    expect(drive.effects.filter(({ kind }) => kind === 'finish')).toHaveLength(1);
  });

  it.each([
    ['pure', {}],
    ['effect', effect],
  ])('E20: 2,000 %s nodes in a row, and 2,000 beside each other, take linear time', (_, data) => {
    const ids = Array.from({ length: 2_000 }, (__, n) => `n${n}`);
    const nodes = Object.fromEntries(ids.map((id) => [id, data]));
    const chain = new Drive(
      planOf(
        flowOf(
          nodes,
          ids.map((id, n) => `${n === 0 ? 't' : `n${n - 1}`} -> ${id}`),
        ),
      ),
    );
    for (const id of ids) chain.end(id, ok, { attempt: 1 });
    expect(chain.outcome()).toEqual({ status: 'completed' });
    const fan = new Drive(
      planOf(
        flowOf(
          nodes,
          ids.map((id) => `t -> ${id}`),
        ),
      ),
    );
    for (const id of ids) fan.end(id, waitUntil(1_500, {}), { attempt: 1 });
    fan.time(1_500);
    expect(fan.outcome()).toEqual({ status: 'completed' });
  });

  it('E22: a clock that goes back causes no negative times', () => {
    const plan = planOf(flowOf({ a: effect, b: effect }, ['t -> a', 'a -> b']));
    const drive = new Drive(plan, {}, undefined, 50_000);
    drive.nowMs = 10_000;
    drive.end('a', ok);
    expect(drive.stored().get('a')).toMatchObject({ startedAtMs: 50_000, completedAtMs: 50_000 });
    const behind = new Drive(plan, {}, [...drive.stored().values()], 20_000);
    behind.end('b', ok);
    expect(behind.stored().get('b')).toMatchObject({ startedAtMs: 50_000, completedAtMs: 50_000 });
  });
});
