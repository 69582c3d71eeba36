import type { ClaimedPoll } from '@millrace/polling/store';
import { Meters } from '@millrace/runtime/meters/meters';
import { createTriggerLoop, type TriggerLoop } from '@millrace/runtime/trigger-loop';
import { listen, type SessionDeps } from './session.ts';
import { claimListener, keyOf, listWaiting, readUntilClaimable, renewListeners } from './store.ts';

export interface ListenerDeps extends Omit<SessionDeps, 'onStarted'> {
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
  readonly limits?: Partial<ListenerLimits>;
}

export interface ListenerLimits {
  /** Connections of this process: each takes a socket and some 100 KB. */
  readonly connections: number;
  /** Connections of one organisation in this process. */
  readonly ofOrganisation: number;
  /** After this, a connection may be closed in favour of one that waits. */
  readonly turnMs: number;
}

const LIMITS: ListenerLimits = { connections: 200, ofOrganisation: 25, turnMs: 60_000 };

/** Another process takes over from a dead one after this. */
const LEASE_MS = 30_000;
const RENEW_MS = 5_000;
/** Longest sleep of a process without connections, in case a notification is lost. */
const IDLE_MS = 60_000;
/** Connections are closed once their leases couldn't be renewed for this long: another process is about to take over. */
const LOST_MS = 25_000;
/** Minimum pause between two rounds. */
const ROUND_MS = 250;

interface OpenConnection {
  readonly claimed: ClaimedPoll;
  readonly controller: AbortController;
  readonly openedAt: number;
  readonly closed: Promise<void>;
}

/** Keeps the connections of listening triggers open. Any number of processes may share a database: each connection belongs to one of them. */
export class Listener {
  readonly #deps: ListenerDeps;
  readonly #limits: ListenerLimits;
  readonly #meters: Meters;
  readonly #loop: TriggerLoop;
  /** By trigger. */
  readonly #connections = new Map<string, OpenConnection>();
  #renewedAt = 0;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#limits = { ...LIMITS, ...deps.limits };
    this.#meters = deps.meters ?? new Meters();
    this.#loop = createTriggerLoop({
      db: deps.db,
      round: async () => Math.max(await this.#round(), ROUND_MS),
      onFailure: (error) => {
        deps.log.warn({ err: error }, 'could not check listening triggers; retrying');
        this.#endLost();
      },
    });
  }

  /** Starts listening. @throws DatabaseUnavailableError if the database is currently unavailable */
  start(): Promise<void> {
    return this.#loop.start();
  }

  /** Closes all connections and releases their claims. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const connections = [...this.#connections.values()];
    for (const { controller } of connections) controller.abort();
    await Promise.all(connections.map(({ closed }) => closed));
  }

  /** @returns the milliseconds until the next one */
  async #round(): Promise<number> {
    await this.#renew();
    await this.#connectDue();
    await this.#makeRoom();
    const longestMs = this.#connections.size > 0 ? RENEW_MS : IDLE_MS;
    const untilDueMs = (await readUntilClaimable(this.#deps.db)) ?? longestMs;
    // What is due but can't be claimed waits for a free connection.
    return untilDueMs <= 0 ? RENEW_MS : Math.ceil(Math.min(untilDueMs, longestMs));
  }

  /** Also closes the connections whose workflow was changed or deactivated, or whose claim was lost. */
  async #renew(): Promise<void> {
    const connections = [...this.#connections.values()];
    const startedAt = performance.now();
    if (connections.length > 0) {
      const kept = await renewListeners(
        this.#deps.db,
        connections.map(({ claimed }) => claimed),
        LEASE_MS,
      );
      for (const { claimed, controller } of connections) if (!kept.has(keyOf(claimed))) controller.abort();
    }
    this.#renewedAt = startedAt;
  }

  #endLost(): void {
    if (performance.now() - this.#renewedAt < LOST_MS) return;
    for (const { controller } of this.#connections.values()) controller.abort();
  }

  async #connectDue(): Promise<void> {
    while (this.#connections.size < this.#limits.connections && !this.#loop.stopping.aborted) {
      const counts = this.#counts();
      const full = [...counts].filter(([, count]) => count >= this.#limits.ofOrganisation).map(([id]) => id);
      const claimed = await claimListener(this.#deps.db, counts, full, LEASE_MS);
      if (claimed === undefined) return;
      this.#connect(claimed);
    }
  }

  /** Closes the oldest connection of an organisation at its limit, or of the one with the most, if another trigger waits for it. */
  async #makeRoom(): Promise<void> {
    const { connections, ofOrganisation, turnMs } = this.#limits;
    const counts = this.#counts();
    if (this.#connections.size < connections && Math.max(0, ...counts.values()) < ofOrganisation) return;
    const now = performance.now();
    const closeOldestOf = (id: number): void => {
      const [oldest] = [...this.#connections.values()]
        .filter(({ claimed, controller }) => claimed.organisation_id === id && !controller.signal.aborted)
        .toSorted((a, b) => a.openedAt - b.openedAt);
      if (oldest !== undefined && now - oldest.openedAt >= turnMs) oldest.controller.abort();
    };
    for (const waiting of await listWaiting(this.#deps.db)) {
      const own = counts.get(waiting) ?? 0;
      const [busiest] = [...counts].toSorted(([, a], [, b]) => b - a);
      if (own >= ofOrganisation) closeOldestOf(waiting);
      else if (this.#connections.size >= connections && busiest !== undefined) {
        return closeOldestOf(busiest[1] > own ? busiest[0] : waiting);
      }
    }
  }

  #counts(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { claimed } of this.#connections.values()) {
      counts.set(claimed.organisation_id, (counts.get(claimed.organisation_id) ?? 0) + 1);
    }
    return counts;
  }

  #connect(claimed: ClaimedPoll): void {
    const controller = new AbortController();
    const key = keyOf(claimed);
    const closed = this.#listen(claimed, controller.signal).finally(() => {
      this.#connections.delete(key);
      this.#loop.kick();
    });
    this.#connections.set(key, { claimed, controller, openedAt: performance.now(), closed });
  }

  async #listen(claimed: ClaimedPoll, signal: AbortSignal): Promise<void> {
    const onStarted = (organisationId: number, count: number): void =>
      this.#meters.startsAccepted('poll', organisationId, count);
    // If the database is unavailable, the claim expires.
    await listen({ ...this.#deps, onStarted }, claimed, signal).catch((error: unknown) =>
      this.#deps.log.warn(
        { err: error, workflow_id: claimed.workflow_id },
        'could not close a connection cleanly',
      ),
    );
  }
}
