import type { Effect, ExecutionState, Lease, Plan, StepEvent } from '../../src/index.ts';
import type { StoredExecution } from './store-harness.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Each is started once. */
  readonly plans: readonly Plan[];
  /** Workflows that nodes of these call, by the number in their config. */
  readonly children: readonly Plan[];
  readonly workers: number;
  /** Probability that a turn is a crash, a long sleep or a cancellation. */
  readonly trouble: { readonly crash: number; readonly sleep: number; readonly cancel: number };
}

export interface SimulationEnd {
  /** By index of its plan. */
  readonly executions: readonly StoredExecution[];
  readonly children: readonly SimulatedChild[];
  readonly turns: number;
}

export interface SimulatedChild {
  readonly execution: StoredExecution;
  /** Index of its plan. */
  readonly workflow: number;
  /** Whether the parent waits for it. */
  readonly waits: boolean;
  /** Number of its ancestors. */
  readonly depth: number;
}

export type Start = Extract<Effect, { kind: 'start_node' }>;

/** One execution in the memory of a worker. */
export interface Run {
  readonly lease: Lease;
  readonly state: ExecutionState;
  readonly running: Map<string, () => Promise<StepEvent>>;
  todo: Effect[];
  timerAtMs: number | null;
}

export interface Worker {
  readonly id: string;
  readonly runs: Map<number, Run>;
  /** When it last knew its lease to be valid, by its own clock. */
  renewedAtMs: number;
  asleepUntilMs: number;
}

export const FIRST_CHILD = 1_000;

/** Id of a called workflow. */
export function childId(workflow: number): number {
  return FIRST_CHILD + workflow;
}
