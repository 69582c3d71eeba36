import { randomUUID } from 'node:crypto';
import type { Lease } from '@millrace/engine';
import type { Logger } from 'pino';
import { CpuUsage, LeaseWatch } from './lease-watch.ts';
import { stalledSince } from './main-thread.ts';
import type { PgExecutionStore } from './pg-store.ts';

/**
 * An execution that stalled a worker for this share of its lease counts as the cause of losing it. It has to be the same share of the longest stall,
 * too: in a process that gets little of the processor, anything may take long.
 */
const STALL_SHARE = 0.25;

/** What a worker claims under: one that lost its lease continues under another one. */
export interface Registration {
  readonly id: string;
  readonly watch: LeaseWatch;
  /** Since the lease was last requested. */
  cpuUsage: CpuUsage;
}

export interface LeaseKeeperDeps {
  readonly store: Pick<
    PgExecutionStore,
    'registerWorker' | 'heartbeat' | 'inherit' | 'uncountCrashes' | 'retireWorker'
  >;
  readonly leaseMs: number;
  readonly log: Logger;
  /** Leases of the executions that are running. */
  running(): readonly Lease[];
  /** After the worker was stored, before anything is claimed under its new id. */
  onRegistered(): Promise<void>;
  /** The lease is lost, and so is every execution that was running under it. */
  onLost(): void;
}

/** Registers a worker and watches its lease. After a loss, its next registration takes over the executions that weren't to blame. */
export class LeaseKeeper {
  readonly #deps: LeaseKeeperDeps;
  #current: Registration | null = null;
  /** Lost registrations whose executions this process moves to its next one. */
  #formerIds: string[] = [];
  /** Executions that cost this process a registration, and the leases of the innocent ones. */
  readonly #suspects = new Set<number>();
  #bystanders: Lease[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: LeaseKeeperDeps) {
    this.#deps = deps;
  }

  /** Null before the first registration and after a loss. Its lease may have expired a moment ago. */
  get current(): Registration | null {
    return this.#current;
  }

  /** The current registration if its lease is certainly still this worker's. */
  get valid(): Registration | null {
    return this.#current?.watch.isValid === true ? this.#current : null;
  }

  isHeldBy(workerId: string): boolean {
    return this.valid?.id === workerId;
  }

  /** @throws DatabaseUnavailableError if the database is currently unavailable; it may be retried */
  async register(): Promise<void> {
    const { store, leaseMs, log } = this.#deps;
    const id = randomUUID();
    const watch = new LeaseWatch(leaseMs, performance.now());
    const cpuUsage = new CpuUsage();
    await store.registerWorker(id);
    await this.#deps.onRegistered();
    await this.#takeBack(id, watch);
    const registration = { id, watch, cpuUsage };
    this.#current = registration;
    this.#watch(registration);
    log.info({ worker_id: id }, 'worker registered');
  }

  /** Before the first claim under the new id, which would count the executions of lost registrations as crashed. */
  async #takeBack(id: string, watch: LeaseWatch): Promise<void> {
    const { store } = this.#deps;
    const formerIds = [...this.#formerIds];
    if (formerIds.length > 0) {
      // If this fails, it may have inherited some nevertheless.
      this.#formerIds.push(id);
      await store.inherit(id, formerIds, [...this.#suspects]);
    }
    // Without a valid lease nothing was inherited, and others may still take over what is to be; the next registration does it.
    if (!watch.isValid) return;
    // Those that others took over first. Afterwards, as they might have taken over more in the meantime.
    await store.uncountCrashes(id, this.#bystanders);
    this.#bystanders = [];
    this.#formerIds = [];
    this.#suspects.clear();
  }

  /** Sends a heartbeat. @returns false if the lease is lost */
  async renew(): Promise<boolean> {
    const registration = this.#current;
    if (registration === null) return false;
    const sentAt = performance.now();
    const cpuUsage = new CpuUsage();
    if (!(await this.#deps.store.heartbeat(registration.id))) {
      this.#lose(registration);
      return false;
    }
    if (this.#current !== registration) return false;
    registration.watch.renewed(sentAt);
    registration.cpuUsage = cpuUsage;
    this.#watch(registration);
    return true;
  }

  stopWatching(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Gives the lease up. Nothing may be running any more. */
  async retire(): Promise<void> {
    const { store, log } = this.#deps;
    const registration = this.#current;
    this.#current = null;
    if (registration === null) return;
    await store.retireWorker(registration.id).catch((error: unknown) => {
      log.warn(
        { err: error, worker_id: registration.id },
        'worker could not release its lease; it will expire',
      );
    });
    log.info({ worker_id: registration.id }, 'worker stopped');
  }

  #watch(registration: Registration): void {
    this.stopWatching();
    this.#timer = setTimeout(() => {
      if (registration.watch.isValid) this.#watch(registration);
      else this.#lose(registration);
    }, registration.watch.remainingMs + 1);
    this.#timer.unref();
  }

  #lose(registration: Registration): void {
    if (this.#current !== registration) return;
    const { wasBusy } = registration.cpuUsage;
    const running = this.#deps.running();
    const suspects = this.#suspectsAmong(running, registration);
    this.#deps.log.warn(
      { worker_id: registration.id, running: running.length, was_busy: wasBusy, stalled_by: suspects },
      'worker lost its lease; registering again',
    );
    for (const id of suspects) this.#suspects.add(id);
    // If its own work kept it from its heartbeat and the cause is unknown, it counts as crashed: one of its executions would do it again.
    if (!wasBusy || suspects.length > 0) {
      this.#formerIds.push(registration.id);
      this.#bystanders.push(...running.filter(({ executionId }) => !suspects.includes(executionId)));
    }
    this.#current = null;
    this.#deps.onLost();
  }

  /** The executions that have stalled the main thread for long enough to cost the worker its lease; none if it was held up itself. */
  #suspectsAmong(running: readonly Lease[], { cpuUsage }: Registration): number[] {
    const { leaseMs } = this.#deps;
    if (cpuUsage.spentMs < leaseMs * STALL_SHARE) return [];
    const held = stalledSince(cpuUsage.since);
    const heldMs = (id: number): number => held.get(id) ?? 0;
    const ids = running.map(({ executionId }) => executionId);
    const enoughMs = Math.max(leaseMs, ...ids.map(heldMs)) * STALL_SHARE;
    return ids.filter((id) => heldMs(id) >= enoughMs);
  }
}
