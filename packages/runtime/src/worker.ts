import type { ClaimedExecution, CompileResult } from '@millrace/engine';
import type { Logger } from 'pino';
import { claimPause } from './claim-pause.ts';
import { DatabaseClock } from './clock.ts';
import { DataBudget } from './data-budget.ts';
import { endsWithin } from './ends-within.ts';
import { createErrorWorkflows } from './error-workflows.ts';
import { ExecutionSlot } from './execution-slot.ts';
import type { Executor } from './executor.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { MAX_CLAIMED } from './lease-statements.ts';
import { onStall } from './main-thread.ts';
import { Meters } from './meters/meters.ts';
import type { PeriodicTask } from './periodic-task.ts';
import { PgExecutionStore } from './pg-store.ts';
import { type AheadRun, runAhead } from './run-ahead.ts';
import type { RunDeps } from './run-deps.ts';
import { runExecution } from './run-execution.ts';
import { RunningExecution } from './running-execution.ts';
import type { WorkerSettings } from './settings.ts';
import { Slots } from './slots.ts';
import { stallReporter } from './stall-report.ts';
import { Wakeup } from './wakeup.ts';
import { toRunDeps, type WorkerDeps } from './worker-deps.ts';

const RETRY_PAUSE_MS = 250;
/** Payload of a queue notification when an organisation's share of the slots was changed. */
const SHARES_CHANGED = 'shares';
/** Payload when a start may be skipped or cancel older executions. */
const UNDECIDED = 'undecided';
/** How long a stopping worker waits for the executions it hands back to be stored. */
const HAND_BACK_MS = 5_000;

/** Runs executions in this process until it is stopped. */
export class Worker implements Executor {
  readonly #deps: WorkerDeps;
  readonly #config: WorkerSettings;
  readonly #log: Logger;
  readonly #meters: Meters;
  readonly #store: PgExecutionStore;
  readonly #runDeps: RunDeps;
  readonly #clock: DatabaseClock;
  readonly #lease: LeaseKeeper;
  readonly #slots: Slots;
  readonly #data: DataBudget;
  readonly #running = new Map<number, RunningExecution>();
  /** Organisations by the execution that a slot is reserved for. */
  readonly #reserved = new Map<number, number>();
  readonly #wakeup = new Wakeup();
  readonly #heartbeatWakeup = new Wakeup();
  readonly #errorWorkflows: PeriodicTask;
  /** Executions that were sent signals while it was claiming; the claimed ones may be among them. */
  readonly #signalledMeanwhile = new Set<number>();
  #claiming = 0;
  /** Starts may wait for a decision: whether they are skipped, or what they cancel. */
  #mayHaveUndecided = true;
  /** What is leased to this worker has to be compared with what it is running. */
  #isAdoptionDue = false;
  /** The queue may hold more than could be claimed: free slots go to the queue first. */
  #hasBacklog = false;
  /** The claim loop pauses for longer than usual. */
  #isQuiet = false;
  /** Organisations that hold their share of the slots: the queue may hold more of theirs, which goes first. */
  #atShare = new Set<number>();
  #stopWatching: () => void = () => {};
  #claims: Promise<void> = Promise.resolve();
  #heartbeats: Promise<void> = Promise.resolve();
  #isStopping = false;
  #stopped: Promise<void> | null = null;

  constructor(deps: WorkerDeps) {
    const { config, db, plans, notifier, log, meters = new Meters() } = deps;
    this.#deps = deps;
    this.#config = config.worker;
    this.#log = log;
    this.#meters = meters;
    meters.slots = () => this.#slots.count;
    meters.data = () => this.#data.state;
    this.#clock = new DatabaseClock(db);
    this.#slots = new Slots(config.worker, deps.slots);
    const { dataBytes: totalBytes, concurrency: slots, organisationPercent } = config.worker;
    this.#data = new DataBudget({ totalBytes, slots, organisationPercent });
    this.#errorWorkflows = createErrorWorkflows({ db, plans, log, meters });
    this.#store = new PgExecutionStore(db, {
      leaseMs: config.worker.leaseMs,
      maxCrashedAttempts: config.worker.maxCrashedAttempts,
      isLeaseValid: (workerId) => this.#lease.isHeldBy(workerId),
      onChanged: (ids) => notifier.changed(ids),
      onFailure: () => this.#errorWorkflows.kick(),
      meters,
      tracer: deps.tracer ?? null,
    });
    this.#runDeps = toRunDeps({ ...deps, meters }, this.#store, this.#clock);
    this.#lease = new LeaseKeeper({
      store: this.#store,
      leaseMs: config.worker.leaseMs,
      log,
      running: () => [...this.#running.values()].map(({ claimed }) => claimed.lease),
      onRegistered: () => this.#synchronise(),
      onLost: () => this.#leaseLost(),
    });
  }

  /** Registers and starts claiming. @throws DatabaseUnavailableError if the database is currently unavailable; it may be retried */
  async start(): Promise<void> {
    const { notifier, db } = this.#deps;
    await db.listen(
      'millrace_queue',
      (payload) => {
        if (payload === SHARES_CHANGED) this.#heartbeatWakeup.wake();
        if (payload === UNDECIDED) this.#mayHaveUndecided = true;
        this.#wakeup.wake();
      },
      () => this.#wakeup.wake(),
    );
    // The last step that may fail: a registered worker has to send heartbeats.
    await this.#lease.register();
    notifier.onCancelled((id) => this.#running.get(id)?.stop('cancelled'));
    notifier.onSignalled((id) => this.#signalled(id));
    this.#deps.slots?.onBorrowed((executionId) => {
      this.#wakeup.wake();
      return this.#running.get(executionId)?.data.pause() ?? (() => {});
    });
    // Large executions may have been left in the queue.
    this.#data.onFreed(() => this.#wakeup.wake());
    notifier.onGap(() => this.#heartbeatWakeup.wake());
    this.#errorWorkflows.start();
    const report = stallReporter(this.#log);
    this.#stopWatching = onStall((stall) => this.#running.has(stall.executionId) && report(stall));
    this.#claims = this.#claimLoop();
    this.#heartbeats = this.#heartbeatLoop();
  }

  /**
   * Takes nothing new, lets running executions finish for the configured time, then hands the rest back without using up an
   * attempt. Safe to call twice.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ids of the executions it is currently running. */
  runningIds(): number[] {
    return [...this.#running.keys()];
  }

  reserve(executionId: number, organisationId: number, bytes: number): string | null {
    const registration = this.#lease.valid;
    if (registration === null || this.#isStopping) return null;
    if (this.#hasBacklog || this.#atShare.has(organisationId)) return null;
    if (!this.#data.hasRoom(organisationId, bytes)) return null;
    if (!this.#slots.mayHoldAnother(organisationId, this.#claiming)) {
      this.#atShare.add(organisationId);
      return null;
    }
    this.#slots.acquire(organisationId);
    this.#reserved.set(executionId, organisationId);
    return registration.id;
  }

  isBusy(organisationId: number): boolean {
    const isHalfTaken = this.#running.size * 2 >= this.#config.concurrency;
    return isHalfTaken || this.#hasBacklog || this.#atShare.has(organisationId);
  }

  runAhead(execution: ClaimedExecution, compiled: CompileResult, inputBytes: number): AheadRun | null {
    const { runAhead: budget } = this.#config;
    if (budget.nodes === 0 || inputBytes > budget.bytes) return null;
    return runAhead(execution, compiled, this.#runDeps, budget);
  }

  /** Without a free slot, it waits for its turn like what is queued already. */
  completeAhead(): null {
    return null;
  }

  run(execution: ClaimedExecution, ahead: AheadRun | null): void {
    this.#endReservation(execution.lease.executionId);
    if (ahead !== null) this.#aheadStored(ahead, execution.lease.executionId);
    this.#startRun(execution, ahead);
  }

  release(executionId: number, ended: AheadRun | null): void {
    if (ended !== null) this.#aheadStored(ended, executionId);
    this.#endReservation(executionId);
    this.#slotFreed();
  }

  #aheadStored(run: AheadRun, executionId: number): void {
    run.stored();
    if (run.row.ahead === null) return;
    // Lists follow changes, not starts.
    this.#deps.notifier.changed([executionId]);
    if (run.row.ahead.status === 'failed') this.#errorWorkflows.kick();
  }

  #endReservation(executionId: number): void {
    const organisationId = this.#reserved.get(executionId);
    if (organisationId === undefined) return;
    this.#reserved.delete(executionId);
    this.#slots.release(organisationId);
  }

  #slotFreed(): void {
    if (this.#hasBacklog || this.#atShare.size > 0) this.#wakeup.wake();
  }

  #signalled(executionId: number): void {
    const execution = this.#running.get(executionId);
    if (execution !== undefined) execution.signal();
    else if (this.#claiming > 0) this.#signalledMeanwhile.add(executionId);
  }

  /** Reads the clock, and how slots and limits are shared, between organisations and with other workers. */
  async #synchronise(): Promise<void> {
    await this.#clock.synchronise();
    this.#slots.setOwnShares(await this.#store.readOwnShares());
    this.#deps.onWorkersCounted?.(await this.#store.countWorkers());
  }

  /** From here on all running executions may belong to another worker: nothing more is started or stored for them. */
  #leaseLost(): void {
    this.#meters.leaseLosses += 1;
    for (const execution of this.#running.values()) {
      execution.stop('lease_lost');
      execution.data.end();
      execution.slot.end();
    }
    this.#running.clear();
    this.#heartbeatWakeup.wake();
  }

  async #heartbeatLoop(): Promise<void> {
    while (!this.#isStopping) {
      await this.#heartbeatWakeup.wait(
        this.#lease.current === null ? RETRY_PAUSE_MS : this.#config.heartbeatMs,
      );
      await this.#beat().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'worker could not reach the database; retrying');
        // Sooner than the next heartbeat: few may be left before the lease expires.
        setTimeout(() => this.#heartbeatWakeup.wake(), RETRY_PAUSE_MS).unref();
      });
    }
  }

  async #beat(): Promise<void> {
    if (this.#lease.current === null) {
      if (this.#isStopping) return;
      await this.#lease.register();
    } else {
      if (!(await this.#lease.renew())) return;
      await this.#synchronise();
      // Notifications may have been lost.
      this.#mayHaveUndecided = true;
    }
    await this.#reconcile();
  }

  /** Reconciles running executions with the database: replies, cancellations and signals may have been lost. */
  async #reconcile(): Promise<void> {
    this.#isAdoptionDue = true;
    this.#wakeup.wake();
    const leases = [...this.#running.values()].map((execution) => execution.claimed.lease);
    for (const id of await this.#store.findLost(leases)) {
      const execution = this.#running.get(id);
      if (execution !== undefined && leases.includes(execution.claimed.lease)) execution.stop('cancelled');
    }
    const seen = [...this.#running].map(([executionId, { signalsSeen: seq }]) => ({ executionId, seq }));
    for (const id of await this.#store.findSignalled(seen)) this.#running.get(id)?.signal();
  }

  /**
   * Finds what is leased to this worker but not known to it. Between two claims: what a claim has leased is unknown until its reply is here.
   */
  async #adopt(): Promise<void> {
    const registration = this.#lease.current;
    if (!this.#isAdoptionDue || registration === null) return;
    this.#isAdoptionDue = false;
    const isKnown = (id: number) => this.#running.has(id) || this.#reserved.has(id);
    for (const claimed of await this.#store.adopt(registration.id, isKnown)) {
      this.#log.info({ execution_id: claimed.lease.executionId }, 'found an execution leased to this worker');
      this.#startRun(claimed);
    }
  }

  async #claimLoop(): Promise<void> {
    while (!this.#isStopping) {
      const claimedAll = await this.#adoptAndClaim().catch((error: unknown) => {
        this.#log.warn({ err: error }, 'worker could not claim executions; retrying');
        // It may have claimed some: they are found when running executions are compared with the database.
        this.#heartbeatWakeup.wake();
        return true;
      });
      if (claimedAll) await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const isIdle = this.#running.size === 0 && this.#reserved.size === 0;
    const pause = claimPause(this.#store, { ...this.#config, freeSlots: this.#slots.free, isIdle });
    this.#isQuiet = pause.isQuiet;
    await this.#wakeup.wait(pause.ms);
    this.#isQuiet = false;
  }

  /** True if nothing more can be claimed now. */
  async #adoptAndClaim(): Promise<boolean> {
    await this.#adopt();
    return await this.#claim();
  }

  async #claim(): Promise<boolean> {
    const registration = this.#lease.valid;
    const limit = Math.min(this.#slots.free, MAX_CLAIMED);
    if (registration === null) return true;
    if (limit <= 0) {
      await this.#decideStarts();
      // Not known for sure, but until the next check new arrivals must not starve the queue.
      this.#hasBacklog = true;
      return true;
    }
    this.#claiming = limit;
    try {
      const { shares } = this.#slots;
      const room = this.#data.claimRoom;
      const claimed = await this.#store.claim(registration.id, limit, shares, room);
      this.#hasBacklog = claimed.length === limit;
      const hasLarge = claimed.some((execution) => bytesOf(execution) > room.smallBytes);
      for (const execution of claimed) this.#startRun(execution);
      this.#atShare = this.#slots.atShare();
      // Large ones are claimed one at a time.
      return claimed.length < limit && !hasLarge;
    } finally {
      this.#claiming = 0;
      this.#signalledMeanwhile.clear();
    }
  }

  /** Needs no free slot: a start may cancel the very execution that holds the last one. */
  async #decideStarts(): Promise<void> {
    if (!this.#mayHaveUndecided) return;
    this.#mayHaveUndecided = false;
    await this.#store.decideStarts();
  }

  #startRun(claimed: ClaimedExecution, ahead: AheadRun | null = null): void {
    const { executionId, workerId, claim } = claimed.lease;
    const registration = this.#lease.current;
    const known = this.#running.get(executionId);
    // Claimed or inserted under a registration lost in the meantime: another worker takes it over. Replies to a claim, an insert
    // and an adoption of the same execution may arrive in any order; the highest claim counts.
    const isOthers = registration === null || registration.id !== workerId;
    if (isOthers || (known !== undefined && known.claimed.lease.claim >= claim)) {
      ahead?.drop();
      return;
    }
    known?.stop('lease_lost');
    known?.data.end();
    known?.slot.end();
    const data = this.#data.begin(claimed.organisationId);
    data.set(bytesOf(claimed));
    const slot = new ExecutionSlot(this.#slots, claimed.organisationId, () => this.#slotFreed());
    const execution = new RunningExecution(claimed, registration.watch, data, slot);
    this.#running.set(executionId, execution);
    // It may park for less than a quiet worker's pause.
    if (this.#isQuiet) this.#wakeup.wake();
    if (this.#isStopping) execution.stop('shutdown');
    const isSignalled = this.#signalledMeanwhile.delete(executionId);
    const rest = ahead?.rest ?? undefined;
    execution.ended = runExecution(claimed, this.#runDeps, execution, rest).then(() => {
      data.end();
      if (this.#running.get(executionId) === execution) {
        this.#running.delete(executionId);
        slot.end();
      }
      this.#slotFreed();
    });
    if (isSignalled) execution.signal();
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#wakeup.wake();
    const keepAlive = setInterval(() => void this.#beat().catch(() => {}), this.#config.heartbeatMs);
    try {
      await this.#allEnded(this.#config.shutdownGraceMs);
      for (const execution of this.#running.values()) execution.stop('shutdown');
      // What a claim in progress still brings is handed back, too, while the lease is valid: later, another worker would count a crash.
      await this.#claims;
      await this.#allEnded(HAND_BACK_MS);
    } finally {
      clearInterval(keepAlive);
      this.#lease.stopWatching();
      this.#heartbeatWakeup.wake();
    }
    this.#stopWatching();
    await Promise.all([this.#heartbeats, this.#errorWorkflows.stop()]);
    await this.#lease.retire();
  }

  async #allEnded(timeoutMs: number): Promise<void> {
    await endsWithin(Promise.all([...this.#running.values()].map(({ ended }) => ended)), timeoutMs);
  }
}

/** Size of its data as JSON. */
function bytesOf({ inputBytes = 0, storedBytes = 0 }: ClaimedExecution): number {
  return Math.max(inputBytes, storedBytes);
}
