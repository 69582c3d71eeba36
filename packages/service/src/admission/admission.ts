import type { Queryable } from '@millrace/database/database';
import { ApiError, unavailable } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { AdmissionSettings, StorageSettings } from '../settings.ts';
import { createStorageQuota } from '../storage/quota.ts';
import { createOwnQueueLimits } from './own-limits.ts';
import { QueueGauge } from './queue-gauge.ts';
import { countQueues, countServiceQueue, readLastExecutionId } from './store.ts';

/** A count this recent is used as it is. */
const FRESH_MS = 1_000;
/** A count older than this isn't used: callers wait for the next one. */
const STALE_MS = 5_000;
/** Counting takes at most one part in this many of the time. */
const PAUSES_PER_COUNT = 20;
/** Organisations that nothing was started for are forgotten after this. */
const FORGET_MS = 60_000;
const UNLIMITED = Number.MAX_SAFE_INTEGER;

export interface AdmissionLimits {
  readonly admission: AdmissionSettings;
  readonly storage: StorageSettings;
}

/**
 * Decides whether a start may be accepted: the only place that refuses starts because too much is queued or stored. Each process counts
 * separately, at most once a second, and only while starts have to wait.
 */
export function createAdmission(db: Queryable, { admission, storage }: AdmissionLimits) {
  const checkStorage = createStorageQuota(db, storage);
  const queues = new QueueLimits(db, admission);
  return {
    /** For starts that don't have to wait. @throws ApiError 429 `storage_full` if the organisation has used up its storage */
    checkStorage,
    /**
     * Reserves places in the queue for starts that have to wait for a worker. Call the result once they are stored, or known not to be.
     * @throws ApiError 429 `storage_full`; 429 `queue_full` if the organisation has too much queued, 503 `overloaded` if the service has
     */
    async enterQueue(organisationId: number, count = 1): Promise<() => void> {
      await checkStorage(organisationId);
      return await queues.enter(organisationId, count);
    },
  };
}

interface OrganisationQueue {
  readonly gauge: QueueGauge;
  /** Maximum that may wait. */
  limit: number;
  usedAtMs: number;
  /** The last execution id when it was counted. */
  sinceId: number | null;
}

class QueueLimits {
  readonly #db: Queryable;
  readonly #perOrganisation: number;
  readonly #inService: number;
  readonly #ownLimit: ReturnType<typeof createOwnQueueLimits>;
  readonly #organisations = new Map<number, OrganisationQueue>();
  readonly #service: OrganisationQueue;
  #counting: Promise<void> | null = null;
  #nextCountAtMs = 0;

  constructor(db: Queryable, { queuedPerOrganisation, queuedInService }: AdmissionSettings) {
    this.#db = db;
    this.#perOrganisation = queuedPerOrganisation || UNLIMITED;
    this.#inService = queuedInService || UNLIMITED;
    this.#ownLimit = createOwnQueueLimits(db);
    this.#service = { gauge: new QueueGauge(), limit: this.#inService, usedAtMs: 0, sinceId: null };
  }

  async enter(organisationId: number, count: number): Promise<() => void> {
    const own = await this.#ownLimit(organisationId);
    const limit = own === null ? this.#perOrganisation : own || UNLIMITED;
    if (limit === UNLIMITED && this.#inService === UNLIMITED) return () => {};
    const queue = this.#queueOf(organisationId, limit);
    queue.usedAtMs = performance.now();
    await this.#bringUpToDate(queue);
    this.#refuseFull(queue, count);
    const gauges = [queue.gauge, this.#service.gauge];
    for (const gauge of gauges) gauge.enter(count);
    return () => {
      for (const gauge of gauges) gauge.settle(count);
    };
  }

  #refuseFull({ gauge, limit }: OrganisationQueue, count: number): void {
    const now = performance.now();
    if (gauge.estimate + count > limit) {
      const retryAfter = String(gauge.refuse(count, limit, now));
      throw new ApiError('queue_full', message('service.queue_full', { max: limit }), {
        headers: { 'retry-after': retryAfter },
      });
    }
    // An organisation with nothing queued isn't refused because of others.
    if (gauge.estimate === 0 || this.#service.gauge.estimate + count <= this.#inService) return;
    const retryAfterSeconds = this.#service.gauge.refuse(count, this.#inService, now);
    throw unavailable('overloaded', message('service.service_queue_full', { max: this.#inService }), {
      retryAfterSeconds,
    });
  }

  #queueOf(organisationId: number, limit: number): OrganisationQueue {
    const known = this.#organisations.get(organisationId);
    if (known !== undefined) {
      known.limit = limit;
      return known;
    }
    const queue = { gauge: new QueueGauge(), limit, usedAtMs: 0, sinceId: null };
    this.#organisations.set(organisationId, queue);
    return queue;
  }

  /** Waits for a count only if the last one is too old. */
  async #bringUpToDate({ gauge }: OrganisationQueue): Promise<void> {
    const ageMs = gauge.isCounted ? performance.now() - gauge.countedAtMs : Number.POSITIVE_INFINITY;
    if (ageMs <= FRESH_MS) return;
    if (ageMs <= STALE_MS) {
      if (performance.now() >= this.#nextCountAtMs) void this.#count();
      return;
    }
    // The current count may have started before this organisation was in use.
    await this.#counting;
    if (!gauge.isCounted || performance.now() - gauge.countedAtMs > STALE_MS) await this.#count();
  }

  #count(): Promise<void> {
    this.#counting ??= this.#countNow()
      // The start itself will find the database unavailable; until it is back, the last count is used.
      .catch(() => {})
      .finally(() => {
        this.#counting = null;
      });
    return this.#counting;
  }

  async #countNow(): Promise<void> {
    const startedAt = performance.now();
    this.#forgetUnused(startedAt);
    const inUse = [...this.#organisations].filter(([, queue]) => isDue(queue));
    const queues = [this.#service, ...inUse.map(([, queue]) => queue)];
    for (const { gauge } of queues) gauge.countRequested();
    // Read first, so that nothing is missed between two counts.
    const lastId = await readLastExecutionId(this.#db);
    const [ofService, ofOrganisations] = await Promise.all([
      countServiceQueue(this.#db, this.#service.sinceId, beyond(this.#inService)),
      countQueues(
        this.#db,
        inUse.map(([id, { sinceId }]) => ({ id, sinceId })),
        Math.max(...inUse.map(([, { limit }]) => beyond(limit)), 1),
      ),
    ]);
    const now = performance.now();
    for (const [index, queue] of queues.entries()) {
      const counted = index === 0 ? ofService : ofOrganisations[index - 1];
      if (counted === undefined) throw new Error('fewer queues were counted than requested');
      queue.gauge.setCount(counted, now);
      queue.sinceId = lastId;
    }
    this.#nextCountAtMs = now + Math.max(FRESH_MS, (now - startedAt) * PAUSES_PER_COUNT);
  }

  #forgetUnused(nowMs: number): void {
    for (const [id, { gauge, usedAtMs }] of this.#organisations) {
      if (!gauge.isInUse && nowMs - usedAtMs > FORGET_MS) this.#organisations.delete(id);
    }
  }
}

/** Used since its last count. */
function isDue({ gauge, usedAtMs }: OrganisationQueue): boolean {
  return !gauge.isCounted || gauge.isInUse || usedAtMs >= gauge.countedAtMs;
}

/** Counts stop one above the limit: more makes no difference. Without a limit, only whether anything waits does. */
function beyond(limit: number): number {
  return limit === UNLIMITED ? 1 : limit + 1;
}
