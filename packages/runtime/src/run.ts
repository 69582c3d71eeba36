import { DatabaseUnavailableError } from '@millrace/database/errors';
import {
  type ClaimedExecution,
  type Effect,
  type ExecutionError,
  type ExecutionLimits,
  type ExecutionStore,
  type NodeResult,
  outcomeOfProblem,
  type Plan,
  resume,
  type StepEvent,
  type StopReason,
  type StoredSignal,
  stepAll,
  type WriteInfo,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import type { Logger } from 'pino';
import { type Holder, hold } from './main-thread.ts';
import { NodeRun, type NodeRunDeps } from './node-run.ts';
import type { PlanCache } from './plans.ts';
import { WriteTimeoutError } from './sure-writes.ts';
import { yieldTurn } from './turns.ts';

/** What a run needs from its process. */
export interface RunDeps extends NodeRunDeps {
  readonly store: ExecutionStore;
  readonly plans: PlanCache;
  readonly limits: ExecutionLimits;
  readonly log: Logger;
  /** Random number in [0, 1), for the jitter of retries. */
  readonly random: () => number;
}

/** The worker's control over one run. */
export interface RunControl {
  /** Null while the run may continue. */
  stopReason(): StopReason | null;
  /** Calls back when it must stop. */
  onStop(callback: () => void): void;
  /** Calls back when the execution may have been sent signals that the run hasn't seen. */
  onSignal(callback: () => void): void;
  /** The run has seen all signals up to this one. */
  sawSignal(seq: number): void;
  /** Whether the execution is certainly still leased to this worker; otherwise no side effect starts. */
  isLeaseValid(): boolean;
}

/** Longest single timer; a later time is waited for in steps. */
const MAX_TIMER_MS = 3_600_000;
const PLAN_RETRY_MS = 250;

/**
 * Runs one claimed execution until it has ended, is parked or handed back, or is no longer this worker's. Never throws: if
 * the store refuses a write, the execution already belongs to another worker.
 */
export async function runExecution(
  claimed: ClaimedExecution,
  deps: RunDeps,
  control: RunControl,
): Promise<void> {
  const { executionId } = claimed.lease;
  try {
    const compiled = await loadPlan(claimed, deps, control);
    if (compiled === null) return;
    if (compiled.kind === 'plan') {
      await new Run(claimed, compiled.plan, deps, control).drive();
    } else {
      await endAsFailed(claimed, deps, outcomeOfProblem(compiled.problem).error);
    }
  } catch (error) {
    if (error instanceof DatabaseUnavailableError) {
      deps.log.warn(
        { execution_id: executionId, err: error },
        'could not store execution; it resumes when the database is back',
      );
      return;
    }
    deps.log.error({ execution_id: executionId, err: error }, 'could not run or store execution');
    await endAsFailed(claimed, deps, explain(error)).catch((cause: unknown) => {
      deps.log.error({ execution_id: executionId, err: cause }, 'could not end execution');
    });
  }
}

/** Why an execution that could not be run or stored has failed. */
function explain(error: unknown): ExecutionError {
  if (error instanceof WriteTimeoutError) {
    const said = message('run.storage_timeout', { bytes: error.bytes });
    return { code: 'storage_timeout', message: said, nodeId: null };
  }
  return { code: 'internal_error', message: message('run.internal_error'), nodeId: null };
}

async function loadPlan(claimed: ClaimedExecution, deps: RunDeps, control: RunControl) {
  for (;;) {
    try {
      return await deps.plans.get(claimed.workflowId, claimed.workflowVersion);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) throw error;
      const stopReason = control.stopReason();
      if (stopReason === 'shutdown') await deps.store.handBack(claimed.lease, []);
      if (stopReason !== null || !control.isLeaseValid()) return null;
      await new Promise((resolve) => setTimeout(resolve, PLAN_RETRY_MS));
    }
  }
}

async function endAsFailed(claimed: ClaimedExecution, deps: RunDeps, error: ExecutionError): Promise<void> {
  await deps.store.finish(claimed.lease, [], { status: 'failed', error });
  logEnd(deps.log, claimed.lease.executionId, error);
}

function logEnd(log: Logger, executionId: number, error: ExecutionError | null): void {
  if (error === null) log.debug({ execution_id: executionId }, 'execution completed');
  else log.info({ execution_id: executionId, node_id: error.nodeId, code: error.code }, 'execution failed');
}

/** Drives the engine's reducer: performs its effects and reports the events. */
class Run {
  readonly #claimed: ClaimedExecution;
  readonly #plan: Plan;
  readonly #deps: RunDeps;
  readonly #control: RunControl;
  readonly #holder: Holder;
  /** By node and iteration. */
  readonly #nodes = new Map<string, NodeRun>();
  #events: StepEvent[] = [];
  #signalsSeen = 0;
  #isReading = false;
  #mustReadAgain = false;
  #wake: (() => void) | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(claimed: ClaimedExecution, plan: Plan, deps: RunDeps, control: RunControl) {
    this.#claimed = claimed;
    this.#plan = plan;
    this.#deps = deps;
    this.#control = control;
    this.#holder = { executionId: claimed.lease.executionId, nodeId: null };
  }

  async drive(): Promise<void> {
    const { lease, input, deadlineAtMs, records, signals } = this.#claimed;
    this.#noteSignals(signals);
    this.#control.onStop(() => this.notifyStop());
    this.#control.onSignal(() => this.#readSignals());
    if (this.#control.stopReason() !== null) this.notifyStop();
    const execution = {
      executionId: lease.executionId,
      triggerData: input,
      deadlineAtMs,
      limits: this.#deps.limits,
      storedBytes: this.#claimed.storedBytes ?? 0,
    };
    try {
      const now = this.#deps.clock.now();
      let { state, effects } = hold(this.#holder, () => resume(this.#plan, execution, records, now, signals));
      while ((await this.#perform(effects)) && state.phase.kind === 'running') {
        const events = await this.#nextEvents();
        ({ state, effects } = hold(this.#holder, () => stepAll(state, events)));
      }
    } finally {
      if (this.#timer !== null) clearTimeout(this.#timer);
      for (const node of this.#nodes.values()) node.abort('lease_lost');
    }
  }

  /** False if the store refused, so the execution belongs to another worker or has ended. */
  async #perform(effects: readonly Effect[]): Promise<boolean> {
    for (const effect of effects) {
      if (effect.kind === 'start_node') {
        // Not before effects: nothing may delay the start after the checkpoint.
        if (effect.node.kind === 'pure') await yieldTurn();
        this.#startNode(effect);
      } else if (effect.kind === 'abort_node') this.#abortNode(effect);
      else if (effect.kind === 'wait_until') this.#setTimer(effect.atMs);
      else if (!(await this.#store(effect))) return false;
    }
    return true;
  }

  async #store(
    effect: Extract<Effect, { kind: 'checkpoint' | 'park' | 'hand_back' | 'finish' }>,
  ): Promise<boolean> {
    const { store, log } = this.#deps;
    const { lease } = this.#claimed;
    const { consumedAiTokens, storedBytes, signalsSeen } = effect;
    const info = { consumedAiTokens, storedBytes, signalsSeen };
    // Writing the records as JSON takes place before the first wait.
    const isStored = await hold(this.#holder, () => storeEffect(store, lease, effect, info));
    if (!isStored) {
      log.info(
        { execution_id: lease.executionId },
        'execution dropped: cancelled, or taken over by another worker',
      );
    } else if (effect.kind === 'finish') {
      logEnd(log, lease.executionId, effect.outcome.status === 'failed' ? effect.outcome.error : null);
    } else if (effect.kind !== 'checkpoint') {
      log.debug(
        { execution_id: lease.executionId },
        effect.kind === 'park' ? 'execution parked' : 'execution handed back',
      );
    }
    return isStored;
  }

  #startNode(effect: Extract<Effect, { kind: 'start_node' }>): void {
    // A node stored as running that doesn't start after all is started by the next owner of the execution.
    if (this.#control.stopReason() !== null) return;
    if (effect.node.kind === 'effect' && !this.#control.isLeaseValid()) {
      this.#push({ kind: 'stop', reason: 'lease_lost', atMs: this.#deps.clock.now() });
      return;
    }
    this.#logNode('node started', effect);
    const run = new NodeRun(this.#claimed, effect, this.#deps);
    const outcome = run.begin();
    if (outcome instanceof Promise) {
      const key = keyOf(effect.node.id, effect.iteration);
      this.#nodes.set(key, run);
      // Never rejects: begin() turns anything a node throws into a failure.
      void outcome.then((result) => {
        if (this.#nodes.get(key) === run) this.#nodes.delete(key);
        this.#nodeEnded(effect, result);
      });
    } else {
      this.#nodeEnded(effect, outcome);
    }
  }

  #nodeEnded(effect: Extract<Effect, { kind: 'start_node' }>, result: NodeResult): void {
    this.#logNode('node ended', effect, result.kind);
    const { clock, random } = this.#deps;
    const { node, iteration, attempt } = effect;
    const ended = { kind: 'node_ended', nodeId: node.id, iteration, attempt, result } as const;
    this.#push({ ...ended, atMs: clock.now(), jitter: random() });
  }

  #abortNode(effect: Extract<Effect, { kind: 'abort_node' }>): void {
    const key = keyOf(effect.nodeId, effect.iteration);
    const run = this.#nodes.get(key);
    if (run === undefined || run.attempt !== effect.attempt) return;
    this.#nodes.delete(key);
    run.abort(effect.reason);
    const { nodeId, iteration, attempt, reason } = effect;
    this.#logNode('node aborted', { node: { id: nodeId }, iteration, attempt }, reason);
  }

  /** Reads the execution's signals and passes them to the engine; on failure it is retried later. */
  #readSignals(): void {
    this.#mustReadAgain = true;
    if (!this.#isReading) void this.#readNewSignals();
  }

  async #readNewSignals(): Promise<void> {
    const { store, clock, random, log } = this.#deps;
    const { executionId } = this.#claimed.lease;
    this.#isReading = true;
    while (this.#mustReadAgain) {
      this.#mustReadAgain = false;
      try {
        const signals = await store.readSignals(executionId, this.#signalsSeen);
        this.#noteSignals(signals);
        for (const signal of signals) {
          this.#push({ kind: 'signal', ...signal, atMs: clock.now(), jitter: random() });
        }
      } catch (error) {
        log.debug({ execution_id: executionId, err: error }, 'could not read signals; retrying later');
      }
    }
    this.#isReading = false;
  }

  #noteSignals(signals: readonly StoredSignal[]): void {
    const last = signals.at(-1);
    if (last === undefined) return;
    this.#signalsSeen = last.seq;
    this.#control.sawSignal(last.seq);
  }

  #setTimer(atMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { clock, random } = this.#deps;
    const delayMs = Math.min(Math.max(atMs - clock.now(), 1), MAX_TIMER_MS);
    this.#timer = setTimeout(
      () => this.#push({ kind: 'time', atMs: clock.now(), jitter: random() }),
      delayMs,
    );
  }

  notifyStop(): void {
    const reason = this.#control.stopReason();
    if (reason !== null) this.#push({ kind: 'stop', reason, atMs: this.#deps.clock.now() });
  }

  #push(event: StepEvent): void {
    this.#events.push(event);
    this.#wake?.();
  }

  async #nextEvents(): Promise<StepEvent[]> {
    if (this.#events.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    await yieldTurn();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #logNode(message: string, { node, iteration, attempt }: Attempt, result?: string): void {
    const { log } = this.#deps;
    if (!log.isLevelEnabled('debug')) return;
    const place = { node_id: node.id, ...(iteration.length === 0 ? {} : { iteration }) };
    log.debug({ execution_id: this.#claimed.lease.executionId, ...place, attempt, result }, message);
  }
}

interface Attempt {
  readonly node: { readonly id: string };
  readonly iteration: readonly number[];
  readonly attempt: number;
}

function keyOf(nodeId: string, iteration: readonly number[]): string {
  return `${iteration.join('.')}/${nodeId}`;
}

function storeEffect(
  store: ExecutionStore,
  lease: ClaimedExecution['lease'],
  effect: Extract<Effect, { kind: 'checkpoint' | 'park' | 'hand_back' | 'finish' }>,
  info: WriteInfo,
): Promise<boolean> {
  switch (effect.kind) {
    case 'checkpoint':
      return store.checkpoint(lease, effect.records, info);
    case 'park':
      return store.park(lease, effect.records, effect.wakeAtMs, info);
    case 'hand_back':
      return store.handBack(lease, effect.records, info);
    case 'finish':
      return store.finish(lease, effect.records, effect.outcome, info);
  }
}
