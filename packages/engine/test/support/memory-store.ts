import { verbatim } from '@millrace/messages';
import {
  CANCELLED_BY_CONCURRENCY,
  type ChildKey,
  type ClaimedExecution,
  countSlots,
  DEFAULT_SHARE,
  isFinalStatus,
  isTurnOfOldest,
  type Lease,
  mayHoldAnother,
  type NodeRecord,
  type Outcome,
  type ParentLink,
  PRIORITIES,
  type SlotShares,
  type StoredSignal,
  stringifyJson,
  USUAL_PRIORITY,
  type WriteInfo,
} from '../../src/index.ts';
import {
  appendTo,
  haveSameKey,
  isLimited,
  keyOf,
  move,
  newRow,
  type Row,
  recordsIn,
  signalsIn,
  toClaimed,
} from './memory-row.ts';
import type { CompleteStore, StartRequest, StoredChild, StoredExecution } from './store-harness.ts';

export interface MemoryStoreOptions {
  /** The store's clock, in epoch milliseconds. */
  now(): number;
  readonly leaseMs: number;
  readonly maxCrashedAttempts: number;
}

/** {@link CompleteStore} in memory, with the clock as an input. Passes the same contract as the real one. */
export class MemoryStore implements CompleteStore {
  readonly #options: MemoryStoreOptions;
  readonly #rows = new Map<number, Row>();
  #claims = 0;
  #lastOrganisation = 0;
  /** How many executions it was given of a turn that isn't over; 0 if it is. */
  #takenOfTurn = 0;
  readonly #leases = new Map<string, number>();
  /** By parent, node, iteration and call key. */
  readonly #children = new Map<string, Row>();
  #lastId = 0;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
  }

  async registerWorker(workerId: string): Promise<void> {
    this.#leases.set(workerId, this.#options.now() + this.#options.leaseMs);
  }

  async heartbeat(workerId: string): Promise<boolean> {
    if (!this.#isAlive(workerId)) return false;
    this.#leases.set(workerId, this.#options.now() + this.#options.leaseMs);
    return true;
  }

  async retireWorker(workerId: string): Promise<void> {
    this.#leases.delete(workerId);
  }

  async reserveIds(count: number): Promise<number[]> {
    return Array.from({ length: count }, () => {
      this.#lastId += 1;
      return this.#lastId;
    });
  }

  async start(requests: readonly StartRequest[]): Promise<(Lease | null)[]> {
    const ids = requests.map((request) => request.executionId);
    const isTwice = new Set(ids).size < ids.length || ids.some((id) => this.#rows.has(id));
    if (isTwice) throw new Error('an execution with this id is stored already');
    return requests.map((request) => {
      if (request.parent !== undefined && !this.#mayHaveChild(request.parent)) return null;
      const row = newRow(request);
      this.#rows.set(request.executionId, row);
      if (request.parent !== undefined) this.#children.set(keyOf(request.parent), row);
      const { leaseTo, ahead } = request;
      if (ahead !== undefined && ahead.outcome !== null) {
        this.#lease(row, '');
        appendTo(row, ahead.records, ahead);
        this.#end(row, ahead.outcome);
        return null;
      }
      if (leaseTo === null || isLimited(request)) return null;
      if (ahead !== undefined) appendTo(row, ahead.records, ahead);
      return this.#lease(row, leaseTo);
    });
  }

  async findChild(key: ChildKey): Promise<StoredChild | null> {
    const row = this.#children.get(keyOf(key));
    if (row === undefined) return null;
    return { executionId: row.request.executionId, workflowVersion: row.request.workflowVersion };
  }

  async decideStarts(): Promise<void> {
    for (const row of this.#rows.values()) if (row.isUndecided) this.#decide(row);
  }

  #decide(row: Row): void {
    row.isUndecided = false;
    const { concurrency, executionId } = row.request;
    if (isFinalStatus(row.status) || concurrency === undefined) return;
    const unfinished = [...this.#rows.values()].filter(
      (other) =>
        other !== row &&
        !other.isUndecided &&
        other.request.concurrency !== undefined &&
        !isFinalStatus(other.status) &&
        haveSameKey(other.request, row.request),
    );
    const cancelled = unfinished.slice(0, Math.max(0, unfinished.length + 1 - concurrency.limit));
    if (cancelled.length === 0) return;
    const code = CANCELLED_BY_CONCURRENCY[concurrency.onLimit === 'skip' ? 'skip' : 'cancel_running'];
    const [oldest] = unfinished;
    if (concurrency.onLimit === 'skip') {
      row.cancellation = { code, executionId: oldest?.request.executionId ?? 0 };
      this.#end(row, { status: 'cancelled' });
      return;
    }
    for (const other of cancelled) {
      other.cancellation = { code, executionId };
      this.#end(other, { status: 'cancelled' });
    }
  }

  async claim(workerId: string, limit: number, shares?: SlotShares): Promise<ClaimedExecution[]> {
    await this.decideStarts();
    const claimed: ClaimedExecution[] = [];
    this.#claims += 1;
    const held = new Map(shares?.held);
    const all = countSlots({ free: shares?.free ?? limit, held });
    for (const { row, takenOfTurn } of this.#inTurn(shares)) {
      if (claimed.length === limit) break;
      if (!this.#isClaimable(row) || (row.status !== 'running' && this.#isFull(row))) continue;
      const { organisationId } = row.request;
      const slots = held.get(organisationId) ?? 0;
      const counts = { held: slots, free: (shares?.free ?? limit) - claimed.length, all };
      const mayTake = mayHoldAnother(counts, shares?.largestPercent ?? 100, shares?.own?.get(organisationId));
      if (row.status !== 'running' && !mayTake) continue;
      held.set(organisationId, slots + 1);
      this.#lastOrganisation = organisationId;
      this.#takenOfTurn = takenOfTurn;
      if (row.status === 'running') row.crashedAttempts += 1;
      if (row.crashedAttempts >= this.#options.maxCrashedAttempts) {
        const message = verbatim(
          `the worker was lost ${row.crashedAttempts} times while it ran this execution`,
        );
        this.#end(row, { status: 'failed', error: { code: 'worker_crashed', message, nodeId: null } });
      } else {
        const lease = this.#lease(row, workerId);
        claimed.push(toClaimed(row, lease));
      }
    }
    return claimed;
  }

  /** Executions under a limit keep their order, with the priority of the first. */
  #urgencyOf({ request }: Row): number {
    if (isTurnOfOldest(this.#claims)) return 0;
    const own = PRIORITIES.indexOf(request.priority ?? USUAL_PRIORITY);
    if (!isLimited(request)) return own;
    // Rows are kept in the order of their ids.
    const first = [...this.#rows.values()].find(
      (row) => haveSameKey(row.request, request) && isLimited(row.request) && this.#isClaimable(row),
    );
    return PRIORITIES.indexOf(first?.request.priority ?? USUAL_PRIORITY);
  }

  /** What may be claimed, by priority and then oldest first; every organisation's first turn, then every one's second, and so on. */
  #inTurn(shares?: SlotShares): { readonly row: Row; readonly takenOfTurn: number }[] {
    const rows = [...this.#rows.values()]
      .filter((row) => this.#isClaimable(row))
      .sort(
        (a, b) => this.#urgencyOf(b) - this.#urgencyOf(a) || a.request.executionId - b.request.executionId,
      );
    const queues = [...Map.groupBy(rows, (row) => row.request.organisationId)].sort(([a], [b]) => a - b);
    const isContinued = this.#takenOfTurn > 0;
    const isNext = ([id]: (typeof queues)[number]): boolean =>
      id > this.#lastOrganisation || (isContinued && id === this.#lastOrganisation);
    return [...queues.filter(isNext), ...queues.filter((queue) => !isNext(queue))]
      .flatMap(([id, queue]) => {
        const { weight } = shares?.own?.get(id) ?? DEFAULT_SHARE;
        const before = isContinued && id === this.#lastOrganisation ? this.#takenOfTurn : 0;
        return queue.map((row, index) => {
          const taken = before + index;
          return { row, turn: Math.floor(taken / weight), takenOfTurn: (taken + 1) % weight };
        });
      })
      .sort((a, b) => a.turn - b.turn);
  }

  async checkpoint(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean> {
    return this.#write(lease, records, info) !== null;
  }

  async park(
    lease: Lease,
    records: readonly NodeRecord[],
    wakeAtMs: number | null,
    info?: WriteInfo,
  ): Promise<boolean> {
    const row = this.#write(lease, records, info);
    if (row === null) return false;
    move(row, 'park');
    row.workerId = null;
    row.wakeAtMs = wakeAtMs;
    row.signalsSeen = info?.signalsSeen ?? 0;
    return true;
  }

  async handBack(lease: Lease, records: readonly NodeRecord[], info?: WriteInfo): Promise<boolean> {
    const row = this.#write(lease, records, info);
    if (row === null) return false;
    move(row, 'hand_back');
    row.workerId = null;
    return true;
  }

  async finish(
    lease: Lease,
    records: readonly NodeRecord[],
    outcome: Outcome,
    info?: WriteInfo,
  ): Promise<boolean> {
    const row = this.#write(lease, records, info);
    if (row === null) return false;
    this.#end(row, outcome);
    return true;
  }

  async cancel(organisationId: number, executionId: number): Promise<boolean> {
    const row = this.#rows.get(executionId);
    if (row === undefined || row.request.organisationId !== organisationId || isFinalStatus(row.status))
      return false;
    this.#end(row, { status: 'cancelled' });
    return true;
  }

  async readSignals(executionId: number, afterSeq: number): Promise<StoredSignal[]> {
    return signalsIn(this.#rows.get(executionId)).slice(afterSeq);
  }

  async sendSignal(executionId: number, signal: Omit<StoredSignal, 'seq'>): Promise<boolean> {
    const row = this.#rows.get(executionId);
    if (row === undefined || isFinalStatus(row.status)) return false;
    const { nodeId, iteration, payload } = signal;
    const seq = row.signals.length + 1;
    row.signals.push(stringifyJson({ seq, nodeId, iteration, payload }));
    return true;
  }

  /** For tests: expires the worker's lease now. */
  expireLease(workerId: string): void {
    this.#leases.set(workerId, this.#options.now());
  }

  /** For tests: a copy of a stored execution. */
  read(executionId: number): StoredExecution | null {
    const row = this.#rows.get(executionId);
    if (row === undefined) return null;
    const {
      status,
      workerId,
      claim,
      error,
      cancellation,
      startedAtMs,
      completedAtMs,
      wakeAtMs,
      consumedAiTokens,
    } = row;
    const records = recordsIn(row.chunks);
    return {
      ...{ status, workerId, claim, records, error, cancellation },
      ...{ startedAtMs, completedAtMs, wakeAtMs, consumedAiTokens },
    };
  }

  /** For tests: every execution, including children. */
  overview(): readonly Pick<Row, 'request' | 'status'>[] {
    return [...this.#rows.values()].map(({ request, status }) => ({ request, status }));
  }

  #isAlive(workerId: string): boolean {
    return (this.#leases.get(workerId) ?? 0) > this.#options.now();
  }

  #isClaimable(row: Row): boolean {
    if (row.status === 'queued') return true;
    if (row.status === 'waiting_async') {
      return (row.wakeAtMs ?? Infinity) <= this.#options.now() || row.signals.length > row.signalsSeen;
    }
    return row.status === 'running' && !this.#isAlive(row.workerId ?? '');
  }

  #isFull({ request }: Row): boolean {
    const { workflowId, maxConcurrency, concurrency } = request;
    if (!isLimited(request)) return false;
    const leased = [...this.#rows.values()].filter(
      (row) => row.request.workflowId === workflowId && row.status === 'running' && isLimited(row.request),
    );
    const withKey = leased.filter((row) => haveSameKey(row.request, request));
    return (
      leased.length >= (maxConcurrency ?? Infinity) || withKey.length >= (concurrency?.limit ?? Infinity)
    );
  }

  #mayHaveChild(parent: ParentLink): boolean {
    const row = this.#rows.get(parent.executionId);
    return row !== undefined && !isFinalStatus(row.status) && !this.#children.has(keyOf(parent));
  }

  #lease(row: Row, workerId: string): Lease {
    move(row, 'claim');
    row.workerId = workerId;
    row.claim += 1;
    row.wakeAtMs = null;
    row.startedAtMs ??= this.#options.now();
    return { executionId: row.request.executionId, workerId, claim: row.claim };
  }

  #write(lease: Lease, records: readonly NodeRecord[], info: WriteInfo | undefined): Row | null {
    const row = this.#rows.get(lease.executionId);
    const isHeld = row?.status === 'running' && row.workerId === lease.workerId && row.claim === lease.claim;
    if (row === undefined || !isHeld) return null;
    appendTo(row, records, info);
    return row;
  }

  #end(row: Row, outcome: Outcome): void {
    move(row, outcome.status === 'completed' ? 'complete' : outcome.status === 'failed' ? 'fail' : 'cancel');
    row.workerId = null;
    row.wakeAtMs = null;
    row.completedAtMs = Math.max(this.#options.now(), row.startedAtMs ?? 0);
    if (outcome.status === 'failed') row.error = outcome.error;
    this.#tellParent(row);
    for (const child of this.#children.values()) {
      const { parent } = child.request;
      const isOurs = parent?.executionId === row.request.executionId && parent.waits;
      if (isOurs && !isFinalStatus(child.status)) this.#end(child, { status: 'cancelled' });
    }
  }

  #tellParent({ request: { executionId, parent }, status }: Row): void {
    if (parent?.waits !== true) return;
    const { nodeId, iteration } = parent;
    const payload = { execution_id: executionId, status };
    void this.sendSignal(parent.executionId, { nodeId, iteration, payload });
  }
}
