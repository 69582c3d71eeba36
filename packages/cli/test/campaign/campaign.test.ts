import { describe, expect, inject, it } from 'vitest';
import { UsageError } from '../run-options.ts';
import { runCampaign } from './campaign.ts';
import { planStarts } from './mix.ts';
import { type CampaignOptions, parseOptions } from './options.ts';
import { type Fault, planFaults } from './plan.ts';
import { Random } from './random.ts';
import { formatReport } from './report.ts';
import { calm } from './testing.ts';
import { type Category, judge } from './verdict.ts';

/** Ends tests that hang, also on a busy machine. */
const TIMEOUT_MS = 900_000;

const MEMBERS = { apis: ['api 1', 'api 2'], workers: ['worker 1', 'worker 2', 'worker 3'] };

async function run(options: CampaignOptions) {
  const report = await runCampaign(options, {
    preparedDataDir: inject('preparedDataDir'),
    progress: () => {},
  });
  expect(report.findings, `${formatReport(report)}\n${report.folder}`).toEqual([]);
  return report;
}

describe('a campaign', () => {
  it(
    'finds nothing lost, doubled, stuck or changed under random faults',
    async () => {
      const report = await run({ executions: 150, faults: 12, seed: 5, apis: 2, workers: 3 });
      expect(report.starts.sent).toBe(150);
      expect(Object.keys(report.faults).length).toBeGreaterThan(5);
      expect(report.calls.received).toBeGreaterThan(100);
    },
    TIMEOUT_MS,
  );

  it(
    'finds nothing without faults either: the control',
    async () => {
      const report = await run({ executions: 40, faults: 0, seed: 5, apis: 1, workers: 2 });
      expect(report.starts).toMatchObject({ sent: 40, accepted: 40, refused: 0, cut: 0 });
    },
    TIMEOUT_MS,
  );
});

describe('the verdict', () => {
  const found = (evidence: Parameters<typeof judge>[0]): Category[] =>
    judge(evidence).findings.map(({ category }) => category);

  it('finds nothing where all is well', () => {
    expect(judge(calm()).findings).toEqual([]);
  });

  it('finds an accepted start without an execution, a missing call, callback, fire and final row', () => {
    const well = calm();
    expect(found({ ...well, executions: well.executions.filter(({ id }) => id !== 1) })).toContain('lost');
    expect(found({ ...well, calls: well.calls.filter(({ node }) => node !== 'second') })).toEqual(['lost']);
    expect(found({ ...well, fires: well.fires.filter((_, n) => n !== 1) })).toContain('lost');
    expect(found({ ...well, scheduled: well.scheduled.slice(0, -1) })).toEqual(['lost']);
    expect(found({ ...well, lastFinals: new Map() })).toEqual(well.executions.map(() => 'lost'));
    const callbacks = well.callbacks.map((each) => ({ ...each, value: 'another' }));
    expect(found({ ...well, callbacks })).toEqual(['lost']);
  });

  it('finds a second execution, delivery key, recorded end and accepted callback, and a call after the end', () => {
    const well = calm();
    const [row] = well.executions;
    const [call] = well.calls;
    const [end] = well.nodeEnds;
    const [callback] = well.callbacks;
    if (!row || !call || !end || !callback) throw new Error('the evidence is incomplete');
    expect(found({ ...well, executions: [...well.executions, { ...row, id: 9 }] })).toContain('doubled');
    const otherKey = { ...call, deliveryKey: 'another' };
    expect(found({ ...well, calls: [...well.calls, otherKey] })).toEqual(['doubled']);
    expect(found({ ...well, nodeEnds: [...well.nodeEnds, end] })).toEqual(['doubled']);
    const late = { ...call, atMs: call.atMs + 60_000 };
    expect(found({ ...well, calls: [...well.calls, late] })).toEqual(['doubled']);
    const again = { ...callback, value: `${callback.marker}#0` };
    expect(found({ ...well, callbacks: [...well.callbacks, again] })).toEqual(['doubled']);
  });

  it('finds an execution that does not end', () => {
    const well = calm();
    const executions = well.executions.map((row) => (row.id === 1 ? { ...row, completed_at: null } : row));
    expect(found({ ...well, executions })).toEqual(['stuck']);
  });

  it('finds a changed final row, status, result and replay', () => {
    const well = calm();
    const change = <T extends object>(map: ReadonlyMap<number, T>, changed: Partial<T>) =>
      new Map([...map].map(([id, value]) => [id, id === 1 ? { ...value, ...changed } : value]));
    expect(found({ ...well, lastFinals: change(well.lastFinals, { completedAtMs: 5 }) })).toEqual([
      'changed',
    ]);
    expect(found({ ...well, details: change(well.details, { status: 'failed' }) })).toEqual(['changed']);
    const outputs = { result: { status: 'success', output: { upper: 'SOMETHING ELSE' } } };
    expect(found({ ...well, details: change(well.details, { node_outputs: outputs }) })).toEqual(['changed']);
    const starts = well.starts.map((start) => ({
      ...start,
      answers: start.answers.map((answer, n) => (n === 1 ? { ...answer, body: 'another' } : answer)),
    }));
    expect(found({ ...well, starts })).toEqual(['changed']);
  });

  it('finds a cancellation that was confirmed and did not happen, and one that nobody asked for', () => {
    const well = calm();
    const cancelled = well.executions.map((row) => (row.id === 4 ? { ...row, status: 'cancelled' } : row));
    const confirmed = [{ executionId: 4, status: 200, code: null }];
    expect(found({ ...well, cancels: confirmed })).toEqual(['changed']);
    expect(found({ ...well, executions: cancelled })).toEqual(['changed']);
    expect(found({ ...well, executions: cancelled, cancels: confirmed })).toEqual([]);
  });

  it('finds a superseded execution whose place nobody took, and one that was cancelled for another reason', () => {
    const well = calm();
    const supersede = (change: object) => ({
      ...well,
      executions: well.executions.map((row) =>
        row.id === 6
          ? {
              ...row,
              status: 'cancelled',
              cancel_code: 'cancelled_by_newer_execution',
              cancelled_for: 7,
              ...change,
            }
          : row,
      ),
    });
    expect(found(supersede({}))).toEqual([]);
    expect(found(supersede({ cancelled_for: 99 }))).toEqual(['lost']);
    expect(found(supersede({ cancelled_for: 6 }))).toEqual(['lost']);
    expect(found(supersede({ cancelled_for: 1 }))).toEqual(['lost']);
    expect(found(supersede({ cancel_code: 'skipped_by_concurrency' }))).toEqual(['changed']);
    const starts = well.starts.map((start) => ({
      ...start,
      input: start.marker === 'newest-7' ? { key: 2 } : start.input,
    }));
    expect(found({ ...supersede({}), starts })).toEqual(['lost']);
  });

  it('finds a lost file, another content, and a rate that releases too early or too much', () => {
    const well = calm();
    expect(found({ ...well, files: new Map() })).toEqual(['lost']);
    expect(found({ ...well, files: new Map([[5, 'another']]) })).toEqual(['lost']);
    const early = { was_due: false, released: 1, intervals: 1 };
    const many = { was_due: true, released: 2, intervals: 1 };
    expect(found({ ...well, releases: [early, many] })).toEqual(['exceeded', 'exceeded']);
  });

  it('finds more concurrent executions with one key than allowed', () => {
    const well = calm();
    const start = (n: number, key: number) => ({
      ...(well.starts[0] ?? never()),
      marker: `keyed-${n}`,
      kind: 'keyed' as const,
      input: { key },
      hasKey: false,
      answers: [],
    });
    const call = (n: number) => ({
      ...(well.calls[0] ?? never()),
      marker: `keyed-${n}`,
      executionId: 100 + n,
      deliveryKey: `keyed-${n}`,
    });
    const calls = [...well.calls, call(1), call(2), call(3)];
    const withKeys = (...keys: number[]) => ({
      ...well,
      starts: [...well.starts, ...keys.map((key, n) => start(n + 1, key))],
      calls,
    });
    expect(found(withKeys(1, 1, 1))).toEqual(['exceeded']);
    expect(found(withKeys(1, 1, 2))).toEqual([]);
  });

  it('finds more concurrent executions than allowed, a wrong response, and a process that ended by itself', () => {
    const well = calm();
    const open = [1, 2, 3, 4].map((n) => ({
      ...(well.calls[0] ?? never()),
      marker: `limited-${n}`,
      executionId: 100 + n,
      deliveryKey: `limited-${n}`,
    }));
    expect(found({ ...well, calls: [...well.calls, ...open] })).toEqual(['exceeded']);
    expect(found({ ...well, calls: [...well.calls, ...open.slice(1)] })).toEqual([]);
    const refusal = { kind: 'refused', status: 500, code: 'internal', retryAfter: null, body: '' } as const;
    const [start] = well.starts;
    if (start === undefined) throw new Error('the evidence is incomplete');
    const starts = [{ ...start, answers: [refusal, ...start.answers] }, ...well.starts.slice(1)];
    expect(found({ ...well, starts })).toEqual(['unexpected']);
    const ended = { member: 'api 1', pid: 7, end: 'by itself', code: 1, endedAtMs: 0, output: '' } as const;
    expect(found({ ...well, processes: [ended] })).toEqual(['unexpected']);
  });

  it('accepts worker_crashed only after three crashes that were injected', () => {
    const well = calm();
    const executions = well.executions.map((row) =>
      row.id === 1 ? { ...row, status: 'failed', crashed_attempts: 3 } : row,
    );
    const details = new Map(well.details).set(1, {
      status: 'failed',
      error: { code: 'worker_crashed' },
      node_outputs: {},
    });
    const crashed = { ...well, executions, details };
    expect(found(crashed)).toEqual(['changed']);
    const times = [10_000, 20_000, 30_000];
    const takeOvers = times.map((atMs, n) => ({
      executionId: 1,
      fromPid: n,
      toPid: 9,
      isCrash: true,
      atMs: atMs + 4_100,
    }));
    const faults = times.map((startedAtMs, pid) => ({
      fault: { kind: 'kill', member: 'worker 1' } as const,
      startedAtMs,
      endedAtMs: startedAtMs,
      pid,
      hasHit: true,
    }));
    expect(found({ ...crashed, takeOvers, faults })).toEqual([]);
    expect(judge({ ...crashed, takeOvers, faults }).crashed).toEqual([1]);
    expect(found({ ...crashed, takeOvers, faults: faults.slice(1) })).toEqual(['changed']);
  });
});

describe('a plan', () => {
  const plan = (seed: number): Fault[] => planFaults(new Random(seed), 63, MEMBERS, true);

  it('is the same for the same seed, and another one for another seed', () => {
    expect(plan(7)).toEqual(plan(7));
    expect(plan(7)).not.toEqual(plan(8));
    expect(planStarts(new Random(7), 200)).toEqual(planStarts(new Random(7), 200));
    expect(planStarts(new Random(7), 200)).not.toEqual(planStarts(new Random(8), 200));
  });

  it('has every kind of fault in each round, and no full disk where none can be filled', () => {
    const kinds = (faults: readonly Fault[]) => new Set(faults.map(({ kind }) => kind));
    expect(kinds(plan(1).slice(0, 22))).toEqual(kinds(plan(1)));
    expect(kinds(plan(1))).toContain('fill disk');
    expect(kinds(plan(1))).toContain('stop postgres');
    expect(kinds(planFaults(new Random(1), 60, MEMBERS, false))).not.toContain('fill disk');
  });
});

describe('the options', () => {
  it('have defaults, and are refused by name', () => {
    expect(parseOptions([])).toMatchObject({
      kind: 'run',
      executions: 1_000,
      faults: 50,
      seed: 1,
      json: false,
    });
    expect(parseOptions(['--executions', '5', '--faults', '0', '--seed', '9', '--json'])).toMatchObject({
      executions: 5,
      faults: 0,
      seed: 9,
      json: true,
    });
    expect(() => parseOptions(['--faults', 'many'])).toThrow(
      new UsageError('--faults must be a whole number from 0'),
    );
    expect(() => parseOptions(['--fault', '1'])).toThrow(UsageError);
  });
});

function never(): never {
  throw new Error('the evidence is incomplete');
}
