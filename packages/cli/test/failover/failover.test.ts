import { describe, expect, it } from 'vitest';
import { UsageError } from '../run-options.ts';
import { parseOptions } from './options.ts';
import { formatReport, isGood, type Report } from './report.ts';
import { type Evidence, judge } from './verdict.ts';

const accepted = (executionId: number) =>
  ({ kind: 'accepted', executionId, isReplay: false, body: '' }) as const;
const refused = (status: number, retryAfter: string | null) =>
  ({ kind: 'refused', status, code: 'some', retryAfter, body: '' }) as const;
const call = (execution: number, deliveryKey: string) => ({ deliveryKey, body: { execution } });

/** Two starts, one of which had to be sent again, and each call of theirs. */
const WELL: Evidence = {
  starts: [
    { marker: 'a', key: 'a', answer: accepted(1) },
    { marker: 'b', key: 'b', answer: refused(503, '1') },
    { marker: 'b', key: 'b', answer: accepted(2) },
    { marker: 'c', key: null, answer: { kind: 'cut' } },
  ],
  executions: [
    { id: 1, marker: 'a', status: 'completed' },
    { id: 2, marker: 'b', status: 'completed' },
  ],
  calls: [call(1, 'one'), call(2, 'two'), call(2, 'two')],
};

const REPORT: Report = {
  options: { kills: 1, servers: 2 },
  seconds: 60,
  postgres: 'PostgreSQL 15.18',
  takeovers: [
    {
      kind: 'machine',
      from: 'db1',
      to: 'db2',
      promotedMs: 12_000,
      standbyMs: 13_000,
      backMs: 2_500,
    },
  ],
  verdict: judge(WELL),
  ended: 0,
};

describe('the verdict of a failover', () => {
  it('counts answers and finds nothing where all is well', () => {
    expect(judge(WELL)).toEqual({
      accepted: 2,
      refused: 1,
      cut: 1,
      lost: [],
      doubled: [],
      unfinished: [],
      unexpected: [],
    });
    expect(isGood(REPORT)).toBe(true);
  });

  it.each<[string, Partial<Evidence>, object]>([
    ['an acknowledged start that is gone', { executions: WELL.executions.slice(1) }, { lost: [1] }],
    [
      'a second execution of a start',
      { executions: [...WELL.executions, { id: 3, marker: 'a', status: 'completed' }] },
      { doubled: ['a'] },
    ],
    ['a second key of a call', { calls: [...WELL.calls, call(1, 'another')] }, { doubled: ['1'] }],
    [
      'an execution that did not complete',
      { executions: [...WELL.executions, { id: 4, marker: 'd', status: 'failed' }] },
      { unfinished: [4] },
    ],
    [
      'a refusal that says nothing about a retry',
      { starts: [...WELL.starts, { marker: 'e', key: null, answer: refused(503, null) }] },
      { unexpected: ['503 some'] },
    ],
    [
      'a refusal for another reason',
      { starts: [...WELL.starts, { marker: 'e', key: null, answer: refused(500, '1') }] },
      { unexpected: ['500 some'] },
    ],
  ])('finds %s', (_, change, found) => {
    const verdict = judge({ ...WELL, ...change });
    expect(verdict).toMatchObject(found);
    expect(isGood({ ...REPORT, verdict })).toBe(false);
  });

  it('is not good if a process ended, or the service was back too late', () => {
    expect(isGood({ ...REPORT, ended: 1 })).toBe(false);
    const late = REPORT.takeovers.map((takeover) => ({ ...takeover, backMs: 10_900 }));
    expect(isGood({ ...REPORT, takeovers: late })).toBe(true);
    const three = { kills: 1, servers: 3 };
    expect(isGood({ ...REPORT, options: three, takeovers: late })).toBe(false);
    const later = REPORT.takeovers.map((takeover) => ({ ...takeover, backMs: 11_100 }));
    expect(isGood({ ...REPORT, takeovers: later })).toBe(false);
  });

  it('is printed with the time of each return', () => {
    const text = formatReport(REPORT);
    expect(text).toContain('machine          db1   db2       12.0     13.0      14.5');
    expect(text).toContain('lost: 0, doubled: 0, not completed: 0, unexpected: 0');
  });
});

describe('the options', () => {
  it('have defaults, and are refused by name', () => {
    expect(parseOptions([])).toEqual({ kind: 'run', kills: 10, servers: 2, json: false });
    expect(parseOptions(['--kills', '3', '--servers', '3', '--json'])).toEqual({
      kind: 'run',
      kills: 3,
      servers: 3,
      json: true,
    });
    expect(() => parseOptions(['--servers', '1'])).toThrow(
      new UsageError('--servers must be a whole number from 2'),
    );
    expect(() => parseOptions(['--kill', '1'])).toThrow(UsageError);
  });
});
