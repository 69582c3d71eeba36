import { expect, test } from 'vitest';
import { countFailure, type EndedExecution, groupOccurrences, type JudgedRule, judge } from './judge.ts';

const START = Date.parse('2026-11-23T09:00:00Z');
const after = (seconds: number) => new Date(START + seconds * 1000);

function rule(fields: Partial<JudgedRule>): JudgedRule {
  return {
    ...{ id: 1, organisation_id: 1, kind: 'failure', workflow_id: null, threshold: null },
    ...{ seconds: null, since: new Date(START), recent_failures: '[]' },
    ...fields,
  };
}

function ended(id: number, seconds: number, fields: Partial<EndedExecution> = {}): EndedExecution {
  return {
    ...{ id, organisation_id: 1, workflow_id: 7, workflow_name: 'import', has_failed: true, error: '{}' },
    ...{ completed_at: after(seconds), duration_ms: 10 },
    ...fields,
  };
}

test('a rule tells about its workflow, its organisation and what ended since it exists', () => {
  const executions = [
    ended(1, 1),
    ended(2, 2, { workflow_id: 8 }),
    ended(3, 3, { organisation_id: 2 }),
    ended(4, -1),
    ended(5, 5, { has_failed: false }),
  ];
  const { occurrences } = judge(executions, [rule({ workflow_id: 7 })]);
  expect(occurrences.map(({ executionId }) => executionId)).toEqual([1]);
});

test('occurrences of a subject are one incident with the last execution', () => {
  const { occurrences } = judge([ended(2, 5), ended(1, 1), ended(3, 9)], [rule({})]);
  expect(groupOccurrences(occurrences)).toMatchObject([
    { subject: 'workflow:7', occurrences: 3, executionId: 3, firstAt: after(1), at: after(9) },
  ]);
});

test('n failures within a time: exactly n, within exactly that time, and then anew', () => {
  const three = rule({ kind: 'failures', threshold: 3, seconds: 60 });
  const firedBy = (seconds: readonly number[], from = '[]') =>
    judge(
      seconds.map((second, index) => ended(index + 1, second)),
      [{ ...three, recent_failures: from }],
    ).occurrences.map(({ executionId }) => executionId);
  expect(firedBy([0, 30, 59.999])).toEqual([3]);
  expect(firedBy([0, 30, 60])).toEqual([]);
  expect(firedBy([0, 1, 2, 3, 4])).toEqual([3]);
  expect(firedBy([0, 1, 2, 3, 4, 5])).toEqual([3, 6]);
  expect(firedBy([10], JSON.stringify([START, START + 5000]))).toEqual([1]);
});

test('counted times are no more than the threshold', () => {
  let times: readonly number[] = [];
  for (let n = 0; n < 50; n += 1) {
    ({ times } = countFailure(times, START + n, { threshold: 5, seconds: 60 }));
    expect(times.length).toBeLessThan(5);
  }
});

test('slow is longer than the limit, whatever the outcome', () => {
  const slow = rule({ kind: 'slow', seconds: 2 });
  const executions = [
    ended(1, 1, { duration_ms: 2000 }),
    ended(2, 2, { duration_ms: 2001, has_failed: false }),
    ended(3, 3, { duration_ms: null }),
  ];
  expect(judge(executions, [slow]).occurrences.map(({ executionId }) => executionId)).toEqual([2]);
});

test('a recovery is awaited from the last failure on', () => {
  const { failing, occurrences } = judge([ended(2, 5), ended(1, 1)], [rule({ kind: 'recovered' })]);
  expect(failing).toMatchObject([{ workflowId: 7, executionId: 2 }]);
  expect(occurrences).toEqual([]);
});
