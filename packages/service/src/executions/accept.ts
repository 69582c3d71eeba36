import { coalesce } from '@millrace/database/coalesce';
import type { Database, Queryable } from '@millrace/database/database';
import { DatabaseUnavailableError } from '@millrace/database/errors';
import type { ClaimedExecution } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { createConfirmedStarts, startTogether } from '@millrace/runtime/confirmed-writes';
import type { Executor } from '@millrace/runtime/executor';
import { StartRefusedError, storeStarts } from '@millrace/runtime/held-starts';
import { Meters } from '@millrace/runtime/meters/meters';
import type { KeyGrant } from '@millrace/runtime/start-permits';
import { maxConcurrencyOf, type StartOrder, toStartRow } from '@millrace/runtime/start-row';
import type { StartRow } from '@millrace/runtime/start-statements';
import { createAdmission } from '../admission/admission.ts';
import type { IdempotencyKey } from '../idempotency/store.ts';
import type { AdmissionSettings, StartLimits, StorageSettings } from '../settings.ts';
import type { Turns } from '../turns.ts';
import { createRememberedStarts } from './remembered-starts.ts';
import { organisationPaused } from './startable.ts';
import { type AddressCall, lookUpAddresses, lookUpStarts, type StartLookup } from './store.ts';

/** Accepts starts: once it has returned true, the start is stored durably. Concurrent calls share statements. */
export interface Starter {
  lookUp(
    organisationId: number,
    workflowId: number,
    idempotencyKey: IdempotencyKey | null,
  ): Promise<StartLookup>;
  /**
   * The same from memory, for a key with this grant; null if the database has to be asked. Only storing the start shows whether it holds.
   */
  recall(organisationId: number, workflowId: number, grant: KeyGrant): Promise<StartLookup | null>;
  /** The same for all items of a batch, in order and by one statement. */
  lookUpAll(
    organisationId: number,
    workflowId: number,
    idempotencyKeys: readonly (IdempotencyKey | null)[],
  ): Promise<readonly StartLookup[]>;
  lookUpAddress(call: AddressCall): Promise<StartLookup>;
  /**
   * Stores the execution and has it run, by this process if it has a free slot.
   * @returns false if a concurrent request with the same Idempotency-Key came first, or if the order's permit doesn't hold; nothing is stored
   * then
   * @throws ApiError `queue_full`, `overloaded` if it would have to wait and too much is waiting already
   * @throws DatabaseUnavailableError if it can't be stored now, or if that is unknown
   * @throws ApiError `rate_queue_full`, `organisation_paused`
   */
  start(order: StartOrder): Promise<boolean>;
  /**
   * Stores starts of one organisation without Idempotency-Keys in the caller's transaction, to be run by any worker. All or none are
   * admitted. Report them by {@link stored} after the commit.
   * @throws ApiError `queue_full`, `overloaded` if too much is waiting already
   * @throws ApiError `rate_queue_full`, `organisation_paused`
   */
  storeQueued(tx: Queryable, organisationId: number, orders: readonly StartOrder[]): Promise<void>;
  /** Counts what {@link storeQueued} has stored: its transaction is committed. */
  stored(order: StartOrder): void;
  /**
   * Stores all of them, queued, or none. They are of one organisation.
   * @param within is part of the transaction; false stores nothing
   * @returns false if nothing is stored: `within` said so, or a concurrent request has used one of the keys
   * @throws ApiError `queue_full`, `overloaded` if too much is waiting already
   * @throws ApiError `rate_queue_full`
   * @throws DatabaseUnavailableError if they can't be stored now, or if that is unknown
   */
  startTogether(
    organisationId: number,
    orders: readonly StartOrder[],
    turns: Turns,
    within: (tx: Queryable) => Promise<boolean>,
  ): Promise<boolean>;
}

const MAX_LOOKUPS = 500;
/** How long starts are looked up after this process was busy: a mixture would cost more than either. */
const BUSY_MS = 1_000;
/** Of an execution that is run here although no worker has it. */
const NO_WORKER = '00000000-0000-0000-0000-000000000000';
/** How long an accepted request may wait for an unavailable database before it gets a 503. */
const MAX_WAIT_MS = 4_000;

export interface StarterDeps {
  readonly db: Database;
  /** What runs executions in this process. */
  readonly executor: Executor;
  readonly config: {
    readonly admission: AdmissionSettings;
    readonly storage: StorageSettings;
    readonly limits: StartLimits;
  };
  /** What this process counts; if absent, nobody reads it. */
  readonly meters?: Meters;
}

export function createStarter({ db, executor, config, meters = new Meters() }: StarterDeps): Starter {
  const { maxRateWaitMs } = config.limits;
  const store = createConfirmedStarts(db, maxRateWaitMs);
  const admission = createAdmission(db, config);
  const lookUpStart = coalesce({
    run: (requests: Parameters<typeof lookUpStarts>[1]) => lookUpStarts(db, requests),
    maxItems: MAX_LOOKUPS,
  });
  const remembered = createRememberedStarts(db);
  let busyUntil = Number.NEGATIVE_INFINITY;
  const lookUpAddress = coalesce({
    run: (calls: readonly AddressCall[]) => lookUpAddresses(db, calls),
    maxItems: MAX_LOOKUPS,
  });

  return {
    lookUp: (organisationId, workflowId, idempotencyKey) =>
      remembered.lookUp(() => lookUpStart({ organisationId, workflowId, idempotencyKey })),
    async recall(organisationId, workflowId, grant) {
      // Accepting faster would take processor time from what runs, until more is accepted than can be run.
      const now = performance.now();
      if (executor.isBusy(organisationId)) busyUntil = now + BUSY_MS;
      if (now < busyUntil) return null;
      return remembered.recall(organisationId, workflowId, grant);
    },
    lookUpAll: async (organisationId, workflowId, keys) => {
      const requests = keys.map((idempotencyKey) => ({ organisationId, workflowId, idempotencyKey }));
      const lookups = await remembered.lookUpAll(() => lookUpStarts(db, requests));
      // The statement reserves ids in the order in which its plan reads the rows.
      const ids = lookups.map(({ executionId }) => executionId).sort((a, b) => a - b);
      return lookups.map((found, index) => ({ ...found, executionId: ids[index] ?? found.executionId }));
    },
    lookUpAddress: (call) => remembered.lookUp(() => lookUpAddress(call)),
    async storeQueued(tx, organisationId, orders) {
      const settle = await admission.enterQueue(organisationId, orders.length);
      const rows = orders.map((order) => toStartRow(order));
      const { stored, refusedForMs } = await storeStarts(tx, rows, maxRateWaitMs).finally(settle);
      if (refusedForMs.size > 0) throw rateQueueFull(Math.max(...refusedForMs.values()));
      // It was paused after it had been looked up.
      if (stored.length < rows.length) throw organisationPaused();
    },
    stored: ({ triggerType, workflow }) => meters.startsAccepted(triggerType, workflow.organisationId),
    async startTogether(organisationId, orders, turns, within) {
      const rows: StartRow[] = [];
      await turns.forEach(organisationId, orders, (order) => void rows.push(toStartRow(order)));
      // Repeated items get their receipts however much is queued.
      const settle = rows.length === 0 ? null : await admission.enterQueue(organisationId, rows.length);
      const starts = { rows, maxRateWaitMs, within, keepTrying: beforeDeadline() };
      const isStored = await startTogether(db, organisationId, starts)
        .catch((error: unknown) => {
          throw error instanceof StartRefusedError ? rateQueueFull(error.waitMs) : error;
        })
        .finally(settle);
      const trigger = orders[0]?.triggerType ?? '';
      if (isStored) meters.startsAccepted(trigger, organisationId, orders.length);
      return isStored;
    },
    async start(order) {
      const { executionId, workflow } = order;
      await admission.checkStorage(workflow.organisationId);
      // An execution of a workflow with a concurrency limit always has to be claimed.
      const mayRunHere = maxConcurrencyOf(order.compiled) === null && !isDebounced(order);
      const queued = toStartRow(order);
      const { length: inputBytes } = queued.inputJson;
      const bytes = inputBytes + (queued.recordsJson?.length ?? 0);
      const leaseTo = mayRunHere ? executor.reserve(executionId, workflow.organisationId, bytes) : null;
      // A rerun starts with records of its own, and a start that may be held must not have run.
      const mayRunAhead = mayRunHere && queued.recordsJson === null && queued.hold === null;
      let ahead =
        leaseTo === null && mayRunAhead
          ? executor.completeAhead(toLeased(order, queued, NO_WORKER), order.compiled, inputBytes)
          : null;
      const isQueued = leaseTo === null && ahead === null;
      const settle = isQueued ? await admission.enterQueue(workflow.organisationId) : null;
      let hasEnded = false;
      let isHandedOver = false;
      try {
        const row = leaseTo === null ? queued : { ...queued, leaseTo };
        const leased = leaseTo === null ? null : toLeased(order, row, leaseTo);
        if (leased !== null && mayRunAhead) ahead = executor.runAhead(leased, order.compiled, inputBytes);
        const { stored, lease, refusedForMs } = await store({
          row: ahead === null ? row : { ...row, ...ahead.row },
          keepTrying: beforeDeadline(),
        }).catch((error: unknown) => {
          if (error instanceof DatabaseUnavailableError) remembered.noteUnavailable();
          throw error;
        });
        if (refusedForMs !== null) throw rateQueueFull(refusedForMs);
        // Without a key that another request may have used, or a permit, there is no other reason for not being stored.
        if (!stored && order.response === undefined && order.permit === undefined) throw organisationPaused();
        if (stored) meters.startsAccepted(order.triggerType, workflow.organisationId);
        if (leased !== null && lease !== null) {
          isHandedOver = true;
          executor.run(leased, ahead);
        } else {
          hasEnded = stored && ahead !== null && ahead.rest === null;
        }
        return stored;
      } finally {
        settle?.();
        if (!isQueued && !isHandedOver) {
          if (!hasEnded) ahead?.drop();
          executor.release(executionId, hasEnded ? ahead : null);
        }
      }
    },
  };
}

function beforeDeadline(): () => boolean {
  const deadline = performance.now() + MAX_WAIT_MS;
  return () => performance.now() < deadline;
}

/** Such a start is always held first. */
function isDebounced({ compiled }: StartOrder): boolean {
  return compiled.kind === 'plan' && compiled.plan.debounce !== null;
}

function rateQueueFull(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  return new ApiError('rate_queue_full', message('service.rate_queue_full', { seconds }), {
    headers: { 'retry-after': String(seconds) },
  });
}

/** The execution as it is once its row is stored with the lease. */
function toLeased(order: StartOrder, row: StartRow, workerId: string): ClaimedExecution {
  const startedAtMs = order.acceptedAt.getTime();
  return {
    lease: { executionId: order.executionId, workerId, claim: 1 },
    organisationId: row.organisationId,
    workflowId: row.workflowId,
    workflowVersion: row.workflowVersion,
    isTestMode: row.isTestMode,
    input: order.input,
    inputBytes: row.inputJson.length,
    startedAtMs,
    traceparent: row.traceparent,
    deadlineAtMs: row.timeoutMs === null ? null : startedAtMs + row.timeoutMs,
    records: order.records ?? [],
    signals: [],
  };
}
