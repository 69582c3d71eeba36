import type { ExecutionError, NodeRecord, Outcome } from '../../src/index.ts';

export interface Schedule {
  /** Selects the next of the possible events, as random numbers in [0, 1); starts over at the end. */
  readonly choices: readonly number[];
  /** Before which effects, counted over the whole run, the worker's memory is lost. */
  readonly crashesAt: ReadonlySet<number>;
  /** Before which events, counted over the whole run, the worker shuts down. */
  readonly shutdownsAt?: ReadonlySet<number>;
  /** Before which event, counted over the whole run, the execution is cancelled; null for never. */
  readonly cancelAt: number | null;
  /** Which attempts, counted over the whole run, are put off because they would have to wait for their host; absent for none. */
  readonly putOffsAt?: ReadonlySet<number>;
  /** Time limit of the execution; absent for none. */
  readonly timeoutMs?: number;
  /** Limit of everything stored; absent for none. */
  readonly maxBytes?: number;
}

export interface WorldEnd {
  readonly status: Outcome['status'];
  readonly error: ExecutionError | null;
  /** In storage order. */
  readonly records: readonly NodeRecord[];
  readonly consumedAiTokens: number;
  readonly storedBytes: number;
  /** How many effects were performed: the number of possible crash points. */
  readonly effects: number;
}

/** A node and its iteration: `n1_2 0 3`. */
export function nameOf(nodeId: string, iteration: readonly number[] = []): string {
  return [nodeId, ...iteration].join(' ');
}

export function isEnded(record: NodeRecord): boolean {
  return record.status === 'success' || record.status === 'failed' || record.status === 'skipped';
}
