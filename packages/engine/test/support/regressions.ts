import type { Flow } from '../../src/index.ts';
import { flowOf } from './flows.ts';
import { forEach, repeat } from './loops.ts';
import type { Script } from './nodes.ts';
import type { Schedule } from './world-schedule.ts';

interface Regression {
  /** What was wrong. */
  readonly name: string;
  readonly flow: Flow;
  readonly schedule: Schedule;
}

const UNDISTURBED: Schedule = { choices: [0], crashesAt: new Set(), cancelAt: null };
const ONCE = { retry: { max_attempts: 1 }, timeout_ms: 86_400_000 };
const TWICE = { retry: { max_attempts: 2, backoff_ms: 100, max_backoff_ms: 30_000 } };

function scripted(script: Partial<Script>) {
  return { config: { script: script as { readonly [name: string]: never }, index: '{{index}}' }, ...ONCE };
}

/**
 * Flows and schedules that once broke a rule; they always run. Shorten fast-check's counterexample by hand, as long as it still fails, or
 * paste it unchanged.
 */
export const REGRESSIONS: readonly Regression[] = [
  {
    name: 'the comparison took a loop that is skipped in the last iteration for one that is skipped in all of them',
    flow: flowOf(
      {
        n1: forEach([0, 0]),
        n1_1: { in: 'n1', on_error: 'branch', ...scripted({ failsAt: [1] }) },
        n1_2: { in: 'n1', ...scripted({ end: 'signal' }) },
        n1_3: { in: 'n1', on_error: 'branch', ...ONCE, ...forEach([0]) },
        n1_3_1: { in: 'n1_3', ...scripted({ failures: 1 }) },
      },
      ['t -> n1', 'n1_1:out -> n1_2', 'n1_1:out -> n1_3'],
    ),
    schedule: UNDISTURBED,
  },
  {
    name: 'a loop inside a loop exceeded the total, and what it shows was stored after the loop around it had ended',
    flow: flowOf(
      {
        n1: { ...TWICE, ...forEach([0]) },
        n1_1: { in: 'n1', ...ONCE, ...forEach([]) },
        n1_1_1: { in: 'n1_1', ...scripted({}) },
        n1_2: { in: 'n1', type: 'test.effect', ...scripted({ end: 'hang' }), timeout_ms: 50 },
      },
      ['t -> n1', 'n1_1 -> n1_2'],
    ),
    schedule: { ...UNDISTURBED, maxBytes: 40 },
  },
  {
    name: 'a node ended the execution from an iteration before one that had ended on an earlier worker, and its result was lost',
    flow: flowOf(
      {
        n1: forEach([0, 0], { concurrency: 2 }),
        n1_1: { in: 'n1', on_error: 'branch', type: 'test.effect', ...scripted({ failsAt: [1] }) },
        n1_2: { in: 'n1', ...ONCE, ...forEach([0]) },
        n1_2_1: {
          in: 'n1_2',
          ...TWICE,
          config: { script: { failures: 1, end: 'stop' }, index: '{{index}}' },
        },
      },
      ['t -> n1', 'n1_1:out -> n1_2'],
    ),
    schedule: { ...UNDISTURBED, shutdownsAt: new Set([2]) },
  },
  {
    name: 'after a crash, what had happened in a loop in a loop in a loop was forgotten, because another iteration had skipped it',
    flow: flowOf(
      {
        n1: forEach([0, 1], { concurrency: 2 }),
        n1_1: { in: 'n1', on_error: 'branch', type: 'test.effect', ...scripted({ failsAt: [1] }) },
        n1_2: {
          in: 'n1',
          ...ONCE,
          ...repeat({ until: false, max_iterations: 1, on_limit: 'continue', result: '{{item}}.{{index}}' }),
        },
        n1_2_1: { in: 'n1_2', ...ONCE, ...forEach([0]) },
        n1_2_1_1: { in: 'n1_2_1', type: 'test.effect', ...scripted({}) },
        n1_2_1_2: { in: 'n1_2_1', type: 'test.effect', ...scripted({}) },
      },
      ['t -> n1', 'n1_1:out -> n1_2', 'n1_2_1_1:out -> n1_2_1_2'],
    ),
    schedule: { ...UNDISTURBED, choices: [0.3], crashesAt: new Set([8]) },
  },
];
