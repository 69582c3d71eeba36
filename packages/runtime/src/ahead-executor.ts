import type { ClaimedExecution, CompileResult, HttpClient } from '@millrace/engine';
import { DatabaseClock } from './clock.ts';
import { type Executor, refuseToRun } from './executor.ts';
import { onStall } from './main-thread.ts';
import { SERVICE_NAMES, type Services } from './node-services.ts';
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts';
import { PgExecutionStore } from './pg-store.ts';
import { type AheadRun, completeAhead } from './run-ahead.ts';
import type { RunDeps } from './run-deps.ts';
import type { WorkerSettings } from './settings.ts';
import { stallReporter } from './stall-report.ts';
import { toRunDeps, type WorkerDeps } from './worker-deps.ts';

/** How often the database's time is read. */
const CLOCK_MS = 30_000;
/** What waits to be stored may take as much. While PostgreSQL is slow, everything else is queued. */
const MAX_UNSTORED_BYTES = 16 * 1024 * 1024;

export type AheadExecutorDeps = Pick<
  WorkerDeps,
  'config' | 'db' | 'plans' | 'notifier' | 'log' | 'meters' | 'tracer'
>;

/**
 * For a process without a worker: executions that complete before they are stored, within the budget, are run here. They need no slot and no
 * lease, because nobody else can know of them. All others are queued as if nothing had been run, also those that fail: what follows a failure is
 * a worker's work.
 */
export class AheadExecutor implements Executor {
  readonly run = refuseToRun;
  readonly #deps: AheadExecutorDeps;
  readonly #config: WorkerSettings;
  readonly #runDeps: RunDeps;
  readonly #clock: DatabaseClock;
  readonly #clockTask: PeriodicTask;
  readonly #maxUnstoredBytes: number;
  /** Bytes of input and records, as JSON, by execution. */
  readonly #unstored = new Map<number, number>();
  #unstoredBytes = 0;
  #stopWatching: () => void = () => {};
  /** A node asked for something that only workers have. */
  #hasReachedOut = false;

  constructor(deps: AheadExecutorDeps, maxUnstoredBytes = MAX_UNSTORED_BYTES) {
    this.#deps = deps;
    this.#maxUnstoredBytes = maxUnstoredBytes;
    this.#config = deps.config.worker;
    this.#clock = new DatabaseClock(deps.db);
    const store = new PgExecutionStore(deps.db, {
      leaseMs: this.#config.leaseMs,
      maxCrashedAttempts: this.#config.maxCrashedAttempts,
      // Nothing is stored through it: what ends ahead is part of the insert.
      isLeaseValid: () => false,
      onChanged: () => {},
      onFailure: () => {},
    });
    const reachOut = (): never => {
      this.#hasReachedOut = true;
      throw new Error('only a worker has what this node asks for');
    };
    const client: HttpClient = { send: async () => reachOut() };
    const services = withoutServices(reachOut);
    this.#runDeps = toRunDeps({ ...deps, http: () => client, services }, store, this.#clock);
    this.#clockTask = createPeriodicTask({
      work: () => this.#clock.synchronise(),
      pauseMs: () => CLOCK_MS,
      onFailure: (error) => deps.log.debug({ err: error }, "could not read the database's time; retrying"),
    });
  }

  /** @throws DatabaseUnavailableError if the database is currently unavailable; it may be retried */
  async start(): Promise<void> {
    await this.#clock.synchronise();
    this.#clockTask.start();
    this.#stopWatching = onStall(stallReporter(this.#deps.log));
  }

  async stop(): Promise<void> {
    this.#stopWatching();
    await this.#clockTask.stop();
  }

  isBusy(): boolean {
    return false;
  }

  reserve(): null {
    return null;
  }

  runAhead(): null {
    return null;
  }

  completeAhead(execution: ClaimedExecution, compiled: CompileResult, inputBytes: number): AheadRun | null {
    const { runAhead: budget } = this.#config;
    if (budget.nodes === 0 || inputBytes > budget.bytes) return null;
    if (this.#unstoredBytes >= this.#maxUnstoredBytes) return null;
    this.#hasReachedOut = false;
    const run = completeAhead(execution, compiled, this.#runDeps, budget);
    if (run === null) return null;
    if (this.#hasReachedOut) {
      run.drop();
      return null;
    }
    const bytes = inputBytes + (run.row.recordsJson?.length ?? 0);
    this.#unstored.set(execution.lease.executionId, bytes);
    this.#unstoredBytes += bytes;
    return run;
  }

  release(executionId: number, ended: AheadRun | null): void {
    this.#unstoredBytes -= this.#unstored.get(executionId) ?? 0;
    this.#unstored.delete(executionId);
    if (ended === null) return;
    ended.stored();
    this.#deps.notifier.changed([executionId]);
  }
}

function withoutServices(reachOut: () => never): Services {
  const all = SERVICE_NAMES.map((name) => [name, reachOut] as const);
  return { ...Object.fromEntries(all), close: async () => {} } as Services;
}
