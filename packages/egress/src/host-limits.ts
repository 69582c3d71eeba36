import { type HostWait, HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';

export interface HostLimitSettings {
  /** Calls of this process to one host at the same time; 0: no limit. */
  readonly processCalls: number;
  /** Of one organisation, in all processes together; 0: no limit. */
  readonly organisationCalls: number;
  /** Calls of one organisation to one host that begin within a second, in all processes together; 0: no limit. */
  readonly organisationRate: number;
  /** The longest pause a host can ask for. */
  readonly maxPauseMs: number;
}

/** A call to be made. */
export interface HostCall {
  readonly organisationId: number;
  /** With its port. */
  readonly host: string;
  /** Tells apart what the host counts separately, such as credentials. */
  readonly quota: () => string;
  /** Absent: it waits for as long as it takes. */
  readonly wait?: HostWait | undefined;
}

/** A call under way. */
export interface HostPass {
  /** @param retryAfterMs for how long the host doesn't want to be called; undefined if it doesn't say */
  responded(status: number, retryAfterMs: number | undefined): void;
  /** It is over. Safe to call twice. */
  leave(): void;
}

/** What a process does at the moment, and has put off since its start. */
export interface HostCallsState {
  readonly calls: number;
  readonly waiting: number;
  readonly putOff: number;
  /** Responses by which a host has asked for a pause. */
  readonly pauses: number;
}

/** Soonest and latest time at which a call that was put off is tried again. */
const MIN_PUT_OFF_MS = 1_000;
const MAX_PUT_OFF_MS = 300_000;
/** Of one organisation for one host; further ones aren't noted. */
const MAX_PAUSES = 100;
/** Of the last call, in the mean of how long they take. */
const WEIGHT_OF_LAST = 0.2;
/** With fewer lanes than this, those out of use don't matter. */
const MANY_LANES = 1_000;
const EVERYTHING = '';

/** Calls to one host. */
interface Host {
  calls: number;
  waiting: number;
  /** By organisation, in the order of their turns. */
  readonly lanes: Map<number, Lane>;
  timer: NodeJS.Timeout | undefined;
}

/** An organisation's calls to one host. */
interface Lane {
  calls: number;
  /** By quota, in the order of their turns. */
  readonly waiting: Map<string, Set<Waiter>>;
  waitingCount: number;
  /** Calls that may begin now, as of `tokensAtMs`. */
  tokens: number;
  tokensAtMs: number;
  /** How long calls take; 0 while unknown. */
  meanMs: number;
  /** When the last call that was put off is tried again. */
  putOffUntilMs: number;
  /** Ends of pauses by quota. */
  readonly pauses: Map<string, number>;
}

interface Waiter {
  readonly quota: string;
  readonly grant: (pass: HostPass) => void;
}

/** Who may call which host now; see docs/adr/0038-calls-by-host.md. One instance per process. */
export class HostLimits {
  readonly #settings: HostLimitSettings;
  readonly #hosts = new Map<string, Host>();
  #lanes = 0;
  #sweepAt = MANY_LANES;
  #processes = 1;
  #calls = 0;
  #waiting = 0;
  #putOff = 0;
  #pauses = 0;

  constructor(settings: HostLimitSettings) {
    this.#settings = settings;
  }

  get state(): HostCallsState {
    return { calls: this.#calls, waiting: this.#waiting, putOff: this.#putOff, pauses: this.#pauses };
  }

  /** Organisations by host that are remembered. */
  get known(): number {
    return this.#lanes;
  }

  /** @param count processes that make calls, this one included: they share an organisation's limits */
  setProcesses(count: number): void {
    if (count === this.#processes) return;
    this.#processes = Math.max(1, count);
    for (const host of this.#hosts.values()) this.#grantNext(host);
  }

  /**
   * Waits for the call's turn.
   * @throws HttpClientError `aborted` if it was put off, or is no longer wanted
   */
  async enter(call: HostCall, signal: AbortSignal): Promise<HostPass> {
    if (signal.aborted) throw abortedBy(signal);
    const host = this.#hostOf(call.host);
    const lane = this.#laneOf(host, call.organisationId);
    // What waits may begin by now: its timer comes late.
    if (host.waiting > 0) this.#grantNext(host);
    if (this.#readyInMs(host, lane, call.quota) === 0) return this.#begin(host, lane, call.quota);
    const maxWaitMs = call.wait?.maxWaitMs ?? null;
    if (maxWaitMs !== null) {
      const expectedMs = this.#expectedMs(host, lane, call.quota);
      if (expectedMs > maxWaitMs) throw this.#refuse(lane, call, expectedMs);
    }
    const endWait = call.wait?.begin();
    try {
      return await this.#wait(host, lane, call, maxWaitMs, signal);
    } finally {
      endWait?.();
    }
  }

  async #wait(
    host: Host,
    lane: Lane,
    call: HostCall,
    maxWaitMs: number | null,
    signal: AbortSignal,
  ): Promise<HostPass> {
    const { promise, resolve, reject } = Promise.withResolvers<HostPass>();
    const waiter: Waiter = { quota: call.quota(), grant: resolve };
    this.#enqueue(host, lane, waiter);
    const giveUp = (): void => {
      this.#dequeue(host, lane, waiter);
      reject(abortedBy(signal));
    };
    const putOff = (): void => {
      this.#dequeue(host, lane, waiter);
      // Whatever is under way takes at least as long as this one has waited for it.
      const isFull = lane.calls >= this.#organisationCalls || host.calls >= this.#processCalls;
      if (isFull) lane.meanMs = Math.max(lane.meanMs, maxWaitMs ?? 0);
      reject(this.#refuse(lane, call, this.#expectedMs(host, lane, call.quota)));
    };
    const timer = maxWaitMs === null ? undefined : setTimeout(putOff, maxWaitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#grantNext(host);
    try {
      const pass = await promise;
      try {
        // Its turn may have come together with the end of what it is for.
        if (signal.aborted) throw abortedBy(signal);
        call.wait?.checkLease();
        return pass;
      } catch (error) {
        pass.leave();
        throw error;
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  get #processCalls(): number {
    return this.#settings.processCalls === 0 ? Number.POSITIVE_INFINITY : this.#settings.processCalls;
  }

  /** This process's part of what an organisation may do. */
  get #organisationCalls(): number {
    const { organisationCalls } = this.#settings;
    return organisationCalls === 0
      ? Number.POSITIVE_INFINITY
      : Math.ceil(organisationCalls / this.#processes);
  }

  /** Milliseconds between two calls of an organisation, in the long run. */
  get #spacingMs(): number {
    const { organisationRate } = this.#settings;
    return organisationRate === 0 ? 0 : (1_000 * this.#processes) / organisationRate;
  }

  /** 0 if a call may begin; infinite if another one has to end first. */
  #readyInMs(host: Host, lane: Lane, quota: () => string): number {
    const pausedMs = pausedForMs(lane, quota);
    if (pausedMs > 0) return pausedMs;
    if (host.calls >= this.#processCalls || lane.calls >= this.#organisationCalls)
      return Number.POSITIVE_INFINITY;
    return this.#tokenInMs(lane);
  }

  #tokenInMs(lane: Lane): number {
    const spacingMs = this.#spacingMs;
    if (spacingMs === 0) return 0;
    const now = performance.now();
    const most = Math.max(1, 1_000 / spacingMs);
    lane.tokens = Math.min(most, lane.tokens + (now - lane.tokensAtMs) / spacingMs);
    lane.tokensAtMs = now;
    return lane.tokens >= 1 ? 0 : Math.ceil((1 - lane.tokens) * spacingMs);
  }

  /** How long a call will probably wait; as much as is known. */
  #expectedMs(host: Host, lane: Lane, quota: () => string): number {
    const atATime = Math.min(this.#organisationCalls, this.#processCalls);
    const isFull = lane.calls >= this.#organisationCalls || host.calls >= this.#processCalls;
    const byCallsMs = isFull ? ((lane.waitingCount + 1) * lane.meanMs) / atATime : 0;
    const byRateMs = this.#tokenInMs(lane) + lane.waitingCount * this.#spacingMs;
    return Math.max(pausedForMs(lane, quota), byCallsMs, byRateMs);
  }

  /** One after the other: what is put off now comes after what was put off before. */
  #refuse(lane: Lane, { host, wait }: HostCall, expectedMs: number): HttpClientError {
    const now = performance.now();
    const atATime = Math.min(this.#organisationCalls, this.#processCalls);
    const spacingMs = Math.max(this.#spacingMs, lane.meanMs / atATime);
    const soonest = now + Math.max(expectedMs, MIN_PUT_OFF_MS);
    const untilMs = Math.max(lane.putOffUntilMs + spacingMs, soonest);
    lane.putOffUntilMs = Math.min(untilMs, now + MAX_PUT_OFF_MS);
    this.#putOff += 1;
    wait?.putOff(host, Math.ceil(lane.putOffUntilMs - now));
    return new HttpClientError('aborted', message('egress.put_off', { host }));
  }

  #begin(host: Host, lane: Lane, quota: () => string): HostPass {
    const startedAt = performance.now();
    host.calls += 1;
    lane.calls += 1;
    lane.tokens -= 1;
    this.#calls += 1;
    let isOver = false;
    return {
      responded: (status, retryAfterMs) => this.#note(lane, quota, status, retryAfterMs),
      leave: () => {
        if (isOver) return;
        isOver = true;
        const ms = performance.now() - startedAt;
        lane.meanMs = lane.meanMs === 0 ? ms : lane.meanMs + WEIGHT_OF_LAST * (ms - lane.meanMs);
        host.calls -= 1;
        lane.calls -= 1;
        this.#calls -= 1;
        if (host.waiting > 0) this.#grantNext(host);
      },
    };
  }

  #note(lane: Lane, quota: () => string, status: number, retryAfterMs = 0): void {
    if ((status !== 429 && status !== 503) || retryAfterMs <= 0) return;
    // 429 is about whoever called, 503 about the host.
    const name = status === 503 ? EVERYTHING : quota();
    const now = performance.now();
    for (const [other, untilMs] of lane.pauses) if (untilMs <= now) lane.pauses.delete(other);
    if (lane.pauses.size >= MAX_PAUSES && !lane.pauses.has(name)) return;
    const untilMs = now + Math.min(retryAfterMs, this.#settings.maxPauseMs);
    lane.pauses.set(name, Math.max(lane.pauses.get(name) ?? 0, untilMs));
    this.#pauses += 1;
  }

  #enqueue(host: Host, lane: Lane, waiter: Waiter): void {
    const group = lane.waiting.get(waiter.quota) ?? new Set();
    lane.waiting.set(waiter.quota, group.add(waiter));
    this.#countWaiting(host, lane, 1);
  }

  #dequeue(host: Host, lane: Lane, waiter: Waiter): void {
    const group = lane.waiting.get(waiter.quota);
    if (group?.delete(waiter) !== true) return;
    if (group.size === 0) lane.waiting.delete(waiter.quota);
    this.#countWaiting(host, lane, -1);
  }

  #countWaiting(host: Host, lane: Lane, by: 1 | -1): void {
    host.waiting += by;
    lane.waitingCount += by;
    this.#waiting += by;
  }

  /** Begins all calls that may, and comes back when the next one may. */
  #grantNext(host: Host): void {
    clearTimeout(host.timer);
    host.timer = undefined;
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const [organisationId, lane] of host.lanes) {
      if (lane.waitingCount === 0) continue;
      const { waiter, inMs } = this.#nextOf(host, lane);
      soonestMs = Math.min(soonestMs, inMs);
      if (waiter === null) continue;
      this.#dequeue(host, lane, waiter);
      endTurn(lane.waiting, waiter.quota);
      // Visited again after all others that wait.
      endTurn(host.lanes, organisationId);
      waiter.grant(this.#begin(host, lane, () => waiter.quota));
    }
    if (host.waiting > 0 && Number.isFinite(soonestMs)) {
      host.timer = setTimeout(() => this.#grantNext(host), Math.max(1, soonestMs));
      host.timer.unref();
    }
  }

  /** An organisation's call that may begin now, or when one may. */
  #nextOf(host: Host, lane: Lane): { waiter: Waiter | null; inMs: number } {
    let inMs = Number.POSITIVE_INFINITY;
    for (const [quota, group] of lane.waiting) {
      const readyInMs = this.#readyInMs(host, lane, () => quota);
      const [first = null] = group;
      if (readyInMs === 0) return { waiter: first, inMs };
      inMs = Math.min(inMs, readyInMs);
      // Not this quota's pause: nothing of this organisation may begin.
      if ((lane.pauses.get(quota) ?? 0) <= performance.now()) break;
    }
    return { waiter: null, inMs };
  }

  #hostOf(name: string): Host {
    let host = this.#hosts.get(name);
    if (host === undefined) {
      if (this.#lanes >= this.#sweepAt) this.#sweep();
      host = { calls: 0, waiting: 0, lanes: new Map(), timer: undefined };
      this.#hosts.set(name, host);
    }
    return host;
  }

  #laneOf(host: Host, organisationId: number): Lane {
    let lane = host.lanes.get(organisationId);
    if (lane === undefined) {
      lane = {
        calls: 0,
        waiting: new Map(),
        waitingCount: 0,
        tokens: Number.POSITIVE_INFINITY,
        tokensAtMs: performance.now(),
        meanMs: 0,
        putOffUntilMs: 0,
        pauses: new Map(),
      };
      host.lanes.set(organisationId, lane);
      this.#lanes += 1;
    }
    return lane;
  }

  /** Forgets what is out of use. What is known of hosts that aren't called at the moment is lost, but not what limits them. */
  #sweep(): void {
    const now = performance.now();
    for (const [name, host] of this.#hosts) {
      for (const [organisationId, lane] of host.lanes) {
        const isIdle = lane.calls === 0 && lane.waitingCount === 0 && lane.putOffUntilMs <= now;
        const isPaused = [...lane.pauses.values()].some((untilMs) => untilMs > now);
        if (!isIdle || isPaused || now - lane.tokensAtMs < 1_000 + this.#spacingMs) continue;
        host.lanes.delete(organisationId);
        this.#lanes -= 1;
      }
      if (host.lanes.size === 0) this.#hosts.delete(name);
    }
    this.#sweepAt = Math.max(MANY_LANES, 2 * this.#lanes);
  }
}

/** For how long the host doesn't want such a call; 0 if it may be made. */
function pausedForMs({ pauses }: Lane, quota: () => string): number {
  if (pauses.size === 0) return 0;
  const untilMs = Math.max(pauses.get(EVERYTHING) ?? 0, pauses.get(quota()) ?? 0);
  return Math.max(0, Math.ceil(untilMs - performance.now()));
}

/** The member comes last from now on. */
function endTurn<Key, Value>(all: Map<Key, Value>, key: Key): void {
  const value = all.get(key);
  if (value === undefined) return;
  all.delete(key);
  all.set(key, value);
}

function abortedBy(signal: AbortSignal): HttpClientError {
  const { reason } = signal as { reason: unknown };
  return reason instanceof HttpClientError
    ? reason
    : new HttpClientError('aborted', message('egress.request_aborted'));
}
