import { expect, test } from 'vitest';
import { DURATION_CLASSES, RunTallies } from './run-tallies.ts';

const run = { workflowId: 7, isTestMode: false, workflowVersion: 1 };

test('counts ends and durations by workflow, except in test mode and of drafts', () => {
  const tallies = new RunTallies();
  tallies.ended(run, false, 0.01);
  tallies.ended(run, true, 0.02);
  tallies.ended({ ...run, workflowId: 8 }, false, 1e9);
  tallies.ended({ ...run, isTestMode: true }, false, 1);
  tallies.ended({ ...run, workflowVersion: -1 }, false, 1);
  const [first, second] = tallies.take();
  expect(first).toMatchObject({ workflowId: 7, completed: 1, failed: 1 });
  expect(first?.durations.slice(0, 3)).toEqual([1, 1, 0]);
  expect(second?.durations.at(-1)).toBe(1);
  expect(second?.durations).toHaveLength(DURATION_CLASSES.length + 1);
  expect(tallies.take()).toEqual([]);
});

test('keeps what could not be stored, and adds to it', () => {
  const tallies = new RunTallies();
  tallies.ended(run, false, 0.01);
  const taken = tallies.take();
  tallies.ended(run, true, 0.01);
  tallies.restore(taken);
  expect(tallies.take()).toMatchObject([{ workflowId: 7, completed: 1, failed: 1 }]);
});
