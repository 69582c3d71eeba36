import type { ResponseRoom } from '@millrace/engine';

export interface DataBudgetSettings {
  /** Bytes of JSON. */
  readonly totalBytes: number;
  /** Executions that may run at the same time. */
  readonly slots: number;
  /** Percentage of the budget one organisation may hold. */
  readonly organisationPercent: number;
}

/** What a process holds, for monitoring. */
export interface DataBudgetState {
  /** Inputs, outputs and responses of all running executions, as JSON. */
  readonly heldBytes: number;
  readonly budgetBytes: number;
  /** Responses that wait for room. */
  readonly waiting: number;
}

/** What a claim may take; see {@link DataBudget.claimRoom}. */
export interface ClaimRoom {
  /** Executions with no more than this need no room. */
  readonly smallBytes: number;
  readonly freeBytes: number;
  /** Limit of what one organisation may hold. */
  readonly organisationBytes: number;
  /** What the organisations hold of the budget. */
  readonly held: ReadonlyMap<number, number>;
  /** Nothing that holds a part of the budget is making progress: one execution of any size may be claimed. */
  readonly isIdle: boolean;
}

/** Data up to this size never waits. */
const MAX_SMALL_BYTES = 64 * 1024;
/** Share of the budget for the small data of all slots together. */
const SMALL_SHARE = 0.25;

/**
 * The memory for the data of all executions of a process: inputs, outputs and responses. An execution that needs more waits for room; one that
 * already holds some can always continue, one at a time if necessary. See docs/adr/0039-bytes-one-worker-holds.md.
 */
export class DataBudget {
  readonly #settings: DataBudgetSettings;
  /** What each execution may hold without being counted, so that small ones never wait. */
  readonly #smallBytes: number;
  readonly #heldByOrganisation = new Map<number, number>();
  readonly #activeByOrganisation = new Map<number, number>();
  /** By organisation, in the order of their turns; each with its oldest execution first. */
  readonly #queues = new Map<number, Waiter[]>();
  readonly #listeners = new Set<() => void>();
  #allBytes = 0;
  #counted = 0;
  /** Executions that hold a part of the budget and don't wait for more. */
  #active = 0;
  #waiting = 0;
  #lastNumber = 0;
  #isGranting = false;

  constructor(settings: DataBudgetSettings) {
    this.#settings = settings;
    const perSlot = Math.floor((settings.totalBytes * SMALL_SHARE) / settings.slots);
    this.#smallBytes = Math.min(MAX_SMALL_BYTES, perSlot);
  }

  get state(): DataBudgetState {
    return { heldBytes: this.#allBytes, budgetBytes: this.#settings.totalBytes, waiting: this.#waiting };
  }

  /** What a claim may take. While responses wait, larger executions stay in the queue: they hold nothing there. */
  get claimRoom(): ClaimRoom {
    const hasWaiting = this.#waiting > 0;
    return {
      smallBytes: this.#smallBytes,
      freeBytes: hasWaiting ? 0 : Math.max(0, this.#settings.totalBytes - this.#counted),
      organisationBytes: this.#organisationBytes,
      held: this.#heldByOrganisation,
      isIdle: !hasWaiting && this.#active === 0,
    };
  }

  /** Whether an execution with this much data may begin now. */
  hasRoom(organisationId: number, bytes: number): boolean {
    const { smallBytes, freeBytes, organisationBytes, held, isIdle } = this.claimRoom;
    if (bytes <= smallBytes || isIdle) return true;
    const own = held.get(organisationId) ?? 0;
    return bytes <= freeBytes && (own === 0 || own + bytes <= organisationBytes);
  }

  /** An execution starts; what it holds is set later. */
  begin(organisationId: number): DataHolding {
    this.#lastNumber += 1;
    return new DataHolding(this, organisationId, this.#lastNumber);
  }

  /** Calls back whenever there may be room for a claim again. */
  onFreed(listener: () => void): void {
    this.#listeners.add(listener);
  }

  get #organisationBytes(): number {
    return Math.floor((this.#settings.totalBytes * this.#settings.organisationPercent) / 100);
  }

  /** Updates the totals after a holding has changed; called by {@link DataHolding} only. */
  change(holding: DataHolding, before: Counted): void {
    const after = this.count(holding);
    if (after.bytes === before.bytes && after.isActive === before.isActive) return;
    const { organisationId } = holding;
    this.#counted += after.bytes - before.bytes;
    add(this.#heldByOrganisation, organisationId, after.bytes - before.bytes);
    const activated = Number(after.isActive) - Number(before.isActive);
    this.#active += activated;
    add(this.#activeByOrganisation, organisationId, activated);
    if (after.bytes < before.bytes || activated < 0) this.#grant();
  }

  /** Counts all bytes, small ones too. */
  changeAll(bytes: number): void {
    this.#allBytes += bytes;
  }

  /** The counted part of what an execution holds. */
  count(holding: DataHolding): Counted {
    const bytes = Math.max(0, holding.bytes - this.#smallBytes);
    return { bytes, isActive: bytes > 0 && !holding.isBlocked };
  }

  /** @returns undefined if the execution may hold that much more */
  enter(holding: DataHolding, bytes: number, signal: AbortSignal): Promise<void> | undefined {
    const more = this.#countedMore(holding, bytes);
    if (more === 0 || (this.#waiting === 0 && this.#fits(holding.organisationId, more))) {
      holding.add(bytes);
      return undefined;
    }
    return this.#wait(holding, bytes, signal);
  }

  async #wait(holding: DataHolding, bytes: number, signal: AbortSignal): Promise<void> {
    const waiter: Waiter = { holding, bytes, ...Promise.withResolvers<void>() };
    const giveUp = (): void => {
      this.#leave(waiter);
      waiter.reject(signal.reason);
      this.#grant();
    };
    const queue = this.#queues.get(holding.organisationId) ?? [];
    this.#queues.set(holding.organisationId, queue);
    // The oldest goes first, so that it ends and makes room.
    const place = queue.findIndex((other) => other.holding.number > holding.number);
    queue.splice(place === -1 ? queue.length : place, 0, waiter);
    this.#waiting += 1;
    holding.wait(1);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    else this.#grant();
    try {
      await waiter.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #leave(waiter: Waiter): void {
    const { holding } = waiter;
    const queue = this.#queues.get(holding.organisationId) ?? [];
    const place = queue.indexOf(waiter);
    if (place === -1) return;
    queue.splice(place, 1);
    if (queue.length === 0) this.#queues.delete(holding.organisationId);
    this.#waiting -= 1;
    holding.wait(-1);
  }

  #grant(): void {
    // Granting changes what is held, which would call this again.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      for (let next = this.#next(); next !== null; next = this.#next()) {
        const { holding, bytes } = next;
        this.#leave(next);
        this.#endTurn(holding.organisationId);
        holding.add(bytes);
        next.resolve();
      }
    } finally {
      this.#isGranting = false;
    }
    if (this.#waiting === 0) for (const listener of this.#listeners) listener();
  }

  /** Moves the organisation to the end of the line. */
  #endTurn(organisationId: number): void {
    const queue = this.#queues.get(organisationId);
    if (queue === undefined) return;
    this.#queues.delete(organisationId);
    this.#queues.set(organisationId, queue);
  }

  /** Who may continue: organisations in turns, or the oldest of all if nothing else can make room. */
  #next(): Waiter | null {
    let oldest: Waiter | null = null;
    let isBlocked = false;
    for (const [organisationId, [first]] of this.#queues) {
      if (first === undefined) continue;
      if (oldest === null || first.holding.number < oldest.holding.number) oldest = first;
      const more = this.#countedMore(first.holding, first.bytes);
      if (!this.#fitsOrganisation(organisationId, more)) continue;
      // Nobody overtakes one that waits for room, or it would wait forever.
      if (!isBlocked && this.#fitsTotal(more)) return first;
      isBlocked = true;
    }
    return this.#active === 0 ? oldest : null;
  }

  #countedMore(holding: DataHolding, bytes: number): number {
    const before = Math.max(0, holding.bytes - this.#smallBytes);
    return Math.max(0, holding.bytes + bytes - this.#smallBytes) - before;
  }

  #fits(organisationId: number, more: number): boolean {
    return this.#fitsTotal(more) && this.#fitsOrganisation(organisationId, more);
  }

  #fitsTotal(more: number): boolean {
    return this.#counted + more <= this.#settings.totalBytes;
  }

  #fitsOrganisation(organisationId: number, more: number): boolean {
    const held = this.#heldByOrganisation.get(organisationId) ?? 0;
    // If all that hold something wait for their own organisation, one of them continues.
    const isIdle = (this.#activeByOrganisation.get(organisationId) ?? 0) === 0;
    return isIdle || held + more <= this.#organisationBytes;
  }
}

interface Counted {
  readonly bytes: number;
  readonly isActive: boolean;
}

interface Waiter {
  readonly holding: DataHolding;
  readonly bytes: number;
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** What one running execution holds. */
export class DataHolding {
  readonly organisationId: number;
  /** Counts executions in the order in which they began. */
  readonly number: number;
  readonly #budget: DataBudget;
  #ownBytes = 0;
  /** Of responses that aren't part of an output yet. */
  #responseBytes = 0;
  /** Responses being read, and those of them that wait for room. */
  #reading = 0;
  #waiting = 0;
  /** Nodes that wait for another execution. */
  #paused = 0;
  #hasEnded = false;

  constructor(budget: DataBudget, organisationId: number, number: number) {
    this.#budget = budget;
    this.organisationId = organisationId;
    this.number = number;
  }

  get bytes(): number {
    return this.#ownBytes + this.#responseBytes;
  }

  /** It can't continue until there is room, or another execution has ended. */
  get isBlocked(): boolean {
    return this.#paused > 0 || (this.#waiting > 0 && this.#waiting === this.#reading);
  }

  /** Its input and outputs. It may always hold more of these: they exist already. */
  set(bytes: number): void {
    if (!this.#hasEnded && bytes !== this.#ownBytes) this.#update(() => (this.#ownBytes = bytes));
  }

  /** A node waits for another execution, which may need the room that this one holds. @returns a function to call when it no longer waits */
  pause(): () => void {
    let isPaused = true;
    this.#update(() => (this.#paused += 1));
    return () => {
      if (isPaused) this.#update(() => (this.#paused -= 1));
      isPaused = false;
    };
  }

  /** Room for one response. */
  beginResponse(): ResponseHolding {
    return new ResponseHolding(this.#budget, this, (bytes, reading) => {
      if (!this.#hasEnded) {
        this.#update(() => {
          this.#responseBytes += bytes;
          this.#reading += reading;
        });
      }
    });
  }

  /** The execution has ended here and holds nothing any more. */
  end(): void {
    if (this.#hasEnded) return;
    this.#update(() => {
      this.#ownBytes = 0;
      this.#responseBytes = 0;
      this.#reading = 0;
    });
    this.#hasEnded = true;
  }

  /** Called by {@link DataBudget} only: a response was granted more. */
  add(bytes: number): void {
    if (!this.#hasEnded) this.#update(() => (this.#responseBytes += bytes));
  }

  /** Called by {@link DataBudget} only. */
  wait(more: 1 | -1): void {
    this.#update(() => (this.#waiting += more));
  }

  #update(change: () => void): void {
    const bytes = this.bytes;
    const before = this.#budget.count(this);
    change();
    this.#budget.changeAll(this.bytes - bytes);
    this.#budget.change(this, before);
  }
}

/** The memory of one response, from its first byte until its result is part of an output. */
export class ResponseHolding implements ResponseRoom {
  readonly #budget: DataBudget;
  readonly #holding: DataHolding;
  readonly #change: (bytes: number, reading: number) => void;
  #bytes = 0;
  #isReading = true;
  #isReleased = false;

  constructor(budget: DataBudget, holding: DataHolding, change: (bytes: number, reading: number) => void) {
    this.#budget = budget;
    this.#holding = holding;
    this.#change = change;
    change(0, 1);
  }

  take(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    const waiting = this.#budget.enter(this.#holding, bytes, signal);
    if (waiting === undefined) {
      this.#bytes += bytes;
      return undefined;
    }
    return waiting.then(() => this.#taken(bytes));
  }

  /** It has arrived; its memory is still needed. */
  arrived(): void {
    if (this.#isReading) this.#change(0, -1);
    this.#isReading = false;
  }

  /** Safe to call twice. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.arrived();
    this.#change(-this.#bytes, 0);
    this.#bytes = 0;
  }

  #taken(bytes: number): void {
    // Granted just before its call ended.
    if (this.#isReleased) this.#change(-bytes, 0);
    else this.#bytes += bytes;
  }
}

function add(counts: Map<number, number>, key: number, by: number): void {
  if (by === 0) return;
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
