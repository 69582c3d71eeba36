import {
  type AttemptResult,
  type ClaimedExecution,
  type Effect,
  type ExecutionState,
  originalId,
  type Plan,
  resumeWork,
  type Step,
  type StepEvent,
  stepWork,
  type Work,
} from '@millrace/engine';
import { driveUnlimited } from './drive.ts';
import { EventQueue } from './event-queue.ts';
import { type Holder, hold } from './main-thread.ts';
import { NodeRun, type NodeRunControl } from './node-run.ts';
import { noteEnd } from './note-end.ts';
import type { AheadBudget, RunControl, RunDeps } from './run-deps.ts';
import { SignalReader } from './signal-reader.ts';
import { isStoreEffect, type StoreEffect, storeEffect } from './store-effects.ts';
import { type LogIds, logIdsOf, RunTrace } from './tracing/run-trace.ts';
import type { OpenSpan } from './tracing/tracer.ts';
import { yieldTurn } from './turns.ts';

/** Longest single timer; a later time is waited for in steps. */
const MAX_TIMER_MS = 3_600_000;

/** Drives the engine's reducer: performs its effects and reports the events. */
export class Run {
  readonly claimed: ClaimedExecution;
  readonly #plan: Plan;
  readonly #deps: RunDeps;
  /** Null until it is driven: nothing may be stored before, and no node with an effect may start. */
  #control: RunControl | null = null;
  /** The part of it that nodes get. */
  #nodeControl: NodeRunControl | null = null;
  readonly #holder: Holder;
  /** By node and iteration. */
  readonly #nodes = new Map<string, NodeRun>();
  /** Those that have ended since the last step. */
  readonly #ended: NodeRun[] = [];
  #state: ExecutionState | null = null;
  /** Effects that haven't been performed yet. */
  #open: Effect[] = [];
  /** A step of the engine that didn't finish before the execution was stored. */
  #unfinishedStep: Work<Step> | null = null;
  readonly #events = new EventQueue();
  readonly #signals: SignalReader;
  /** Nodes that wait until they may call a host. */
  #waitingForHosts = 0;
  #timer: NodeJS.Timeout | null = null;
  /** Counts of nodes that were run ahead, which only count once that is stored; null from then on. */
  #uncounted: (() => void)[] | null = null;
  /** Null if no spans are recorded. */
  readonly #trace: RunTrace | null;
  /** Its ids for log lines. */
  readonly #ids: LogIds;

  constructor(claimed: ClaimedExecution, plan: Plan, deps: RunDeps) {
    this.claimed = claimed;
    this.#plan = plan;
    this.#deps = deps;
    this.#holder = { executionId: claimed.lease.executionId, nodeId: null };
    const { tracer = null } = deps;
    this.#trace = tracer === null ? null : new RunTrace(tracer, claimed);
    this.#ids = logIdsOf(tracer, claimed);
    this.#signals = this.#createSignalReader();
  }

  /**
   * Runs it before it is stored: until something has to be stored or waited for, or the budget is used up. Then either
   * {@link drive} continues it, or {@link drop} ends it.
   */
  runAhead(budget: AheadBudget): void {
    this.#uncounted = [];
    let work = this.#begin();
    for (;;) {
      const state = this.#stepAhead(work);
      if (state === null) return;
      for (let effect = this.#open[0]; effect !== undefined; effect = this.#open[0]) {
        if (!this.#performAhead(effect, budget)) return;
        this.#open.shift();
      }
      if (this.#events.isEmpty || state.phase.kind !== 'running') return;
      const events = this.#events.take();
      for (const event of events) if (event.kind === 'node_ended') budget.sawResult(event.result);
      work = stepWork(state, events);
    }
  }

  /** Null if the step takes too long: it is finished when the execution is driven. */
  #stepAhead(work: Work<Step>): ExecutionState | null {
    const { done, value } = hold(this.#holder, () => work.next());
    if (done === true) return this.#apply(value);
    this.#unfinishedStep = work;
    return null;
  }

  /** What has to be stored before anything else is done; null for nothing. */
  get nextWrite(): StoreEffect | null {
    const [effect] = this.#open;
    return effect !== undefined && isStoreEffect(effect) ? effect : null;
  }

  /** {@link nextWrite} was stored. */
  wrote(): void {
    const effect = this.#open.shift();
    this.#trace?.stored();
    this.#countAll();
    if (effect !== undefined && isStoreEffect(effect)) this.#logStored(effect);
  }

  /** Ends a run that isn't driven. */
  drop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const node of this.#nodes.values()) node.abort('lease_lost');
  }

  async drive(control: RunControl): Promise<void> {
    this.#control = control;
    this.#trace?.stored();
    this.#countAll();
    this.#nodeControl = this.#controlForNodes(control);
    if (this.#state !== null) control.data.set(this.#state.heldBytes);
    this.#signals.saw(this.claimed.signals);
    control.onStop(() => this.notifyStop());
    control.onSignal(() => this.#signals.look());
    if (control.stopReason() !== null) this.notifyStop();
    try {
      let state = await this.#start();
      while ((await this.#performOpen()) && state.phase.kind === 'running') {
        state = await this.#step(await this.#events.next());
      }
    } finally {
      if (control.stopReason() === 'cancelled') this.#trace?.cancelled(this.#deps.clock.now());
      this.drop();
    }
  }

  /** Starts, or continues where it was when it was stored. */
  async #start(): Promise<ExecutionState> {
    if (this.#unfinishedStep === null && this.#state !== null) return this.#state;
    const work = this.#unfinishedStep ?? this.#begin();
    this.#unfinishedStep = null;
    return this.#apply(await driveUnlimited(work, this.#holder));
  }

  #begin(): Work<Step> {
    const { input, deadlineAtMs, records, signals } = this.claimed;
    const { limits, clock } = this.#deps;
    const execution = {
      executionId: originalId(this.claimed),
      triggerData: input,
      deadlineAtMs,
      limits,
      storedBytes: this.claimed.storedBytes ?? 0,
    };
    const now = clock.now();
    return resumeWork(this.#plan, execution, records, now, signals);
  }

  async #step(events: readonly StepEvent[]): Promise<ExecutionState> {
    // Others may end meanwhile; they belong to the next step.
    const ended = this.#ended.splice(0);
    const work = stepWork(this.#state as ExecutionState, events);
    const state = this.#apply(await driveUnlimited(work, this.#holder));
    for (const node of ended) node.releaseResponses();
    return state;
  }

  #apply({ state, effects }: Step): ExecutionState {
    this.#state = state;
    this.#open.push(...effects);
    // Outputs are counted before the responses they were made from are released.
    this.#control?.data.set(state.heldBytes);
    return state;
  }

  /** False if the store refused, so the execution belongs to another worker or has ended. */
  async #performOpen(): Promise<boolean> {
    for (let effect = this.#open.shift(); effect !== undefined; effect = this.#open.shift()) {
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

  /** False if it can't be done before the execution is stored. */
  #performAhead(effect: Effect, budget: AheadBudget): boolean {
    if (effect.kind === 'start_node') {
      if (effect.node.kind !== 'pure' || !budget.takeNode()) return false;
      this.#startNode(effect);
    } else if (effect.kind === 'abort_node') this.#abortNode(effect);
    else if (effect.kind === 'wait_until') this.#setTimer(effect.atMs);
    else return false;
    return true;
  }

  async #store(effect: StoreEffect): Promise<boolean> {
    const { store, log } = this.#deps;
    const { lease } = this.claimed;
    const { consumedAiTokens, storedBytes, signalsSeen } = effect;
    const info = { consumedAiTokens, storedBytes, signalsSeen };
    // Writing the records as JSON takes place before the first wait.
    const isStored = await hold(this.#holder, () => storeEffect(store, lease, effect, info));
    if (isStored) this.#logStored(effect);
    else {
      log.info(this.#ids, 'execution dropped: cancelled, or taken over by another worker');
    }
    return isStored;
  }

  #logStored(effect: StoreEffect): void {
    const { log } = this.#deps;
    if (effect.kind === 'finish') {
      noteEnd(this.#deps, this.claimed, effect.outcome.status === 'failed' ? effect.outcome.error : null);
    } else if (effect.kind !== 'checkpoint') {
      log.debug(this.#ids, effect.kind === 'park' ? 'execution parked' : 'execution handed back');
    }
  }

  #startNode(effect: Extract<Effect, { kind: 'start_node' }>): void {
    // A node stored as running that doesn't start after all is started by the next owner of the execution.
    if (this.#control !== null && this.#control.stopReason() !== null) return;
    if (effect.node.kind === 'effect' && this.#control?.isLeaseValid() !== true) {
      this.#events.push({ kind: 'stop', reason: 'lease_lost', atMs: this.#deps.clock.now() });
      return;
    }
    this.#logNode('node started', effect);
    const span = this.#trace?.beginNode() ?? null;
    const trace = span === null ? null : (this.#trace?.contextOf(span) ?? null);
    const run = new NodeRun(this.claimed, effect, this.#deps, this.#nodeControl, trace);
    const startedAt = performance.now();
    const outcome = run.begin();
    if (outcome instanceof Promise) {
      const key = keyOf(effect.node.id, effect.iteration);
      this.#nodes.set(key, run);
      this.#noteIdle();
      // Never rejects: begin() turns anything a node throws into a failure.
      void outcome.then((result) => {
        if (this.#nodes.get(key) === run) this.#nodes.delete(key);
        this.#noteIdle();
        this.#ended.push(run);
        this.#nodeEnded(effect, result, startedAt, span);
      });
    } else {
      this.#nodeEnded(effect, outcome, startedAt, span);
    }
  }

  #controlForNodes(control: RunControl): NodeRunControl {
    return {
      data: control.data,
      mayStillCall: () => {
        if (control.isLeaseValid()) return true;
        // Before the node's end, which no longer counts.
        this.#events.push({ kind: 'stop', reason: 'lease_lost', atMs: this.#deps.clock.now() });
        return false;
      },
      waitForHost: () => {
        const goOn = control.data.pause();
        this.#waitingForHosts += 1;
        this.#noteIdle();
        return () => {
          goOn();
          this.#waitingForHosts -= 1;
          this.#noteIdle();
        };
      },
    };
  }

  #noteIdle(): void {
    this.#control?.setIdle(this.#waitingForHosts > 0 && this.#waitingForHosts >= this.#nodes.size);
  }

  #nodeEnded(
    effect: Extract<Effect, { kind: 'start_node' }>,
    result: AttemptResult,
    startedAt: number,
    span: OpenSpan | null,
  ): void {
    this.#logNode('node ended', effect, result.kind);
    const { clock, random, meters } = this.#deps;
    const { node, iteration, attempt } = effect;
    const seconds = (performance.now() - startedAt) / 1000;
    const { organisationId } = this.claimed;
    const count = () => meters.nodeEnded(node.type, organisationId, result, seconds);
    if (this.#uncounted === null) count();
    else this.#uncounted.push(count);
    if (span !== null) this.#trace?.endNode(span, effect, result, { endMs: clock.now(), ms: seconds * 1000 });
    const ended = { kind: 'node_ended', nodeId: node.id, iteration, attempt, result } as const;
    this.#events.push({ ...ended, atMs: clock.now(), jitter: random() });
  }

  #countAll(): void {
    for (const count of this.#uncounted ?? []) count();
    this.#uncounted = null;
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

  #createSignalReader(): SignalReader {
    const { store, clock, random, log } = this.#deps;
    const { executionId } = this.claimed.lease;
    return new SignalReader({
      read: (afterSeq) => store.readSignals(executionId, afterSeq),
      onSignal: (signal) =>
        this.#events.push({ kind: 'signal', ...signal, atMs: clock.now(), jitter: random() }),
      onSeen: (seq) => this.#control?.sawSignal(seq),
      onFailure: (error) =>
        log.debug({ execution_id: executionId, err: error }, 'could not read signals; retrying later'),
    });
  }

  #setTimer(atMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const { clock, random } = this.#deps;
    const delayMs = Math.min(Math.max(atMs - clock.now(), 1), MAX_TIMER_MS);
    this.#timer = setTimeout(
      () => this.#events.push({ kind: 'time', atMs: clock.now(), jitter: random() }),
      delayMs,
    );
  }

  notifyStop(): void {
    const reason = this.#control?.stopReason() ?? null;
    if (reason !== null) this.#events.push({ kind: 'stop', reason, atMs: this.#deps.clock.now() });
  }

  #logNode(message: string, { node, iteration, attempt }: Attempt, result?: string): void {
    const { log } = this.#deps;
    if (!log.isLevelEnabled('debug')) return;
    const place = { node_id: node.id, ...(iteration.length === 0 ? {} : { iteration }) };
    log.debug({ ...this.#ids, ...place, attempt, result }, message);
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
