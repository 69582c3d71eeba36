import type { ClaimedPoll } from '@millrace/polling/store';
import { Meters } from '@millrace/runtime/meters/meters';
import { createTriggerRounds, type TriggerRounds } from '@millrace/runtime/trigger-loop';
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
  /** A connection that has lasted for so long gives way to one that waits. */
  readonly turnMs: number;
}

const LIMITS: ListenerLimits = { connections: 200, ofOrganisation: 25, turnMs: 60_000 };

/** A dead process is replaced after this. */
const LEASE_MS = 30_000;
const RENEW_MS = 5_000;
/** Longest sleep of a process that keeps no connection, in case a notification is lost. */
const IDLE_MS = 60_000;
/** Connections end when their leases couldn't be renewed for so long: another process is about to take over. */
const LOST_MS = 25_000;
/** Between two rounds, however often this is woken. */
const ROUND_MS = 250;

/** Keeps the connections of listening triggers. Any number of processes may do so on one database: each connection is kept by one of them. */
export interface Listener {
  /** Starts to listen. @throws DatabaseUnavailableError if the database is currently unavailable */
  start(): Promise<void>;
  /** Closes all connections, whose claims are given back. Safe to call twice. */
  stop(): Promise<void>;
}

export function createListener(deps: ListenerDeps): Listener {
  return new PgListener(deps);
}

interface Held {
  readonly claimed: ClaimedPoll;
  readonly ending: AbortController;
  readonly since: number;
  readonly ended: Promise<void>;
}

class PgListener implements Listener {
  readonly #deps: ListenerDeps;
  readonly #limits: ListenerLimits;
  readonly #meters: Meters;
  readonly #rounds: TriggerRounds;
  /** By trigger. */
  readonly #held = new Map<string, Held>();
  #renewedAt = 0;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#limits = { ...LIMITS, ...deps.limits };
    this.#meters = deps.meters ?? new Meters();
    this.#rounds = createTriggerRounds({
      db: deps.db,
      round: async () => Math.max(await this.#round(), ROUND_MS),
      onFailure: (error) => {
        deps.log.warn({ err: error }, 'could not look after listening triggers; retrying');
        this.#endLost();
      },
    });
  }

  start(): Promise<void> {
    return this.#rounds.start();
  }

  async stop(): Promise<void> {
    await this.#rounds.stop();
    for (const { ending } of this.#held.values()) ending.abort();
    await Promise.all([...this.#held.values()].map(({ ended }) => ended));
  }

  /** @returns the milliseconds until the next one */
  async #round(): Promise<number> {
    await this.#renew();
    await this.#connectDue();
    await this.#giveTurns();
    const longestMs = this.#held.size > 0 ? RENEW_MS : IDLE_MS;
    const untilDueMs = (await readUntilClaimable(this.#deps.db)) ?? longestMs;
    // What can't be claimed now waits for its turn.
    return untilDueMs <= 0 ? RENEW_MS : Math.ceil(Math.min(untilDueMs, longestMs));
  }

  /** Also finds the connections that have to end: of workflows that were changed or deactivated, or whose claim was lost. */
  async #renew(): Promise<void> {
    const held = [...this.#held.values()];
    const startedAt = performance.now();
    if (held.length > 0) {
      const kept = await renewListeners(
        this.#deps.db,
        held.map(({ claimed }) => claimed),
        LEASE_MS,
      );
      for (const { claimed, ending } of held) if (!kept.has(keyOf(claimed))) ending.abort();
    }
    this.#renewedAt = startedAt;
  }

  #endLost(): void {
    if (performance.now() - this.#renewedAt < LOST_MS) return;
    for (const { ending } of this.#held.values()) ending.abort();
  }

  async #connectDue(): Promise<void> {
    while (this.#held.size < this.#limits.connections && !this.#rounds.stopping.aborted) {
      const counts = this.#counts();
      const full = [...counts].filter(([, count]) => count >= this.#limits.ofOrganisation).map(([id]) => id);
      const claimed = await claimListener(this.#deps.db, counts, full, LEASE_MS);
      if (claimed === undefined) return;
      this.#connect(claimed);
    }
  }

  /** Ends the oldest connection that another one waits for: of an organisation that has its share, or of the one that has the most. */
  async #giveTurns(): Promise<void> {
    const { connections, ofOrganisation, turnMs } = this.#limits;
    const counts = this.#counts();
    if (this.#held.size < connections && Math.max(0, ...counts.values()) < ofOrganisation) return;
    const now = performance.now();
    const endOldestOf = (id: number): void => {
      const [oldest] = [...this.#held.values()]
        .filter(({ claimed, ending }) => claimed.organisation_id === id && !ending.signal.aborted)
        .toSorted((a, b) => a.since - b.since);
      if (oldest !== undefined && now - oldest.since >= turnMs) oldest.ending.abort();
    };
    for (const waiting of await listWaiting(this.#deps.db)) {
      const own = counts.get(waiting) ?? 0;
      const [busiest] = [...counts].toSorted(([, a], [, b]) => b - a);
      if (own >= ofOrganisation) endOldestOf(waiting);
      else if (this.#held.size >= connections && busiest !== undefined) {
        return endOldestOf(busiest[1] > own ? busiest[0] : waiting);
      }
    }
  }

  #counts(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const { claimed } of this.#held.values()) {
      counts.set(claimed.organisation_id, (counts.get(claimed.organisation_id) ?? 0) + 1);
    }
    return counts;
  }

  #connect(claimed: ClaimedPoll): void {
    const ending = new AbortController();
    const key = keyOf(claimed);
    const ended = this.#listen(claimed, ending.signal).finally(() => {
      this.#held.delete(key);
      this.#rounds.kick();
    });
    this.#held.set(key, { claimed, ending, since: performance.now(), ended });
  }

  async #listen(claimed: ClaimedPoll, signal: AbortSignal): Promise<void> {
    const onStarted = (organisationId: number, count: number): void =>
      this.#meters.startsAccepted('poll', organisationId, count);
    // If the database is away, the claim ends by itself.
    await listen({ ...this.#deps, onStarted }, claimed, signal).catch((error: unknown) =>
      this.#deps.log.warn(
        { err: error, workflow_id: claimed.workflow_id },
        'could not end a connection in order',
      ),
    );
  }
}
