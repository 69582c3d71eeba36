import { coalesce } from '@millrace/database/coalesce';
import type { Database, Queryable } from '@millrace/database/database';
import type { Executor } from '@millrace/runtime/executor';
import { maxConcurrencyOf, type StartOrder, toStartRow } from '@millrace/runtime/start-row';
import { insertExecutions, type StartRow } from '@millrace/runtime/statements';
import { createSureStarts, startTogether } from '@millrace/runtime/sure-writes';
import { createAdmission } from '../admission/admission.ts';
import type { IdempotencyKey } from '../idempotency/store.ts';
import type { AdmissionSettings } from '../settings.ts';
import type { Turns } from '../turns.ts';
import { lookUpStarts, lookUpWebhooks, type StartLookup } from './store.ts';

/** Accepts starts: once it has returned true, the start is stored durably. Concurrent calls share statements. */
export interface Starter {
  lookUp(
    organisationId: number,
    workflowId: number,
    idempotencyKey: IdempotencyKey | null,
  ): Promise<StartLookup>;
  /** The same for all items of a batch, in order and by one statement. */
  lookUpAll(
    organisationId: number,
    workflowId: number,
    idempotencyKeys: readonly (IdempotencyKey | null)[],
  ): Promise<readonly StartLookup[]>;
  lookUpWebhook(hash: string): Promise<StartLookup>;
  /**
   * Stores the execution and has it run, by this process if it has a free slot.
   * @returns false if a concurrent request with the same Idempotency-Key came first; nothing is stored then
   * @throws ApiError `queue_full`, `overloaded` if it would have to wait and too much is waiting already
   * @throws DatabaseUnavailableError if it can't be stored now, or if that is unknown
   */
  start(order: StartOrder): Promise<boolean>;
  /**
   * Stores starts of one organisation in the caller's transaction, to be run by any worker. All or none are admitted.
   * @throws ApiError `queue_full`, `overloaded` if too much is waiting already
   */
  storeQueued(tx: Queryable, organisationId: number, orders: readonly StartOrder[]): Promise<void>;
  /**
   * Stores all of them, queued, or none. They are of one organisation.
   * @param within is part of the transaction; false stores nothing
   * @returns false if nothing is stored: `within` said so, or a concurrent request has used one of the keys
   * @throws ApiError `queue_full`, `overloaded` if too much is waiting already
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
/** How long an accepted request may wait for an unavailable database before it gets a 503. */
const PATIENCE_MS = 4_000;

export interface StarterDeps {
  readonly db: Database;
  /** The worker of this process. */
  readonly executor: Executor;
  readonly config: { readonly admission: AdmissionSettings };
}

export function createStarter({ db, executor, config }: StarterDeps): Starter {
  const store = createSureStarts(db);
  const admission = createAdmission(db, config.admission);
  const lookUpStart = coalesce({
    run: (requests: Parameters<typeof lookUpStarts>[1]) => lookUpStarts(db, requests),
    maxItems: MAX_LOOKUPS,
  });
  const lookUpWebhook = coalesce({
    run: (hashes: readonly string[]) => lookUpWebhooks(db, hashes),
    maxItems: MAX_LOOKUPS,
  });

  return {
    lookUp: (organisationId, workflowId, idempotencyKey) =>
      lookUpStart({ organisationId, workflowId, idempotencyKey }),
    lookUpAll: async (organisationId, workflowId, keys) => {
      const requests = keys.map((idempotencyKey) => ({ organisationId, workflowId, idempotencyKey }));
      const lookups = await lookUpStarts(db, requests);
      // The statement reserves ids in the order in which its plan reads the rows.
      const ids = lookups.map(({ executionId }) => executionId).sort((a, b) => a - b);
      return lookups.map((found, index) => ({ ...found, executionId: ids[index] ?? found.executionId }));
    },
    lookUpWebhook,
    async storeQueued(tx, organisationId, orders) {
      const settle = await admission.enterQueue(organisationId, orders.length);
      const rows = orders.map((order) => toStartRow(order, null));
      await insertExecutions(tx, rows).finally(settle);
    },
    async startTogether(organisationId, orders, turns, within) {
      const rows: StartRow[] = [];
      await turns.forEach(organisationId, orders, (order) => void rows.push(toStartRow(order, null)));
      const settle = await admission.enterQueue(organisationId, rows.length);
      return startTogether(db, organisationId, { rows, within, keepTrying: untilImpatient() }).finally(
        settle,
      );
    },
    async start(order) {
      const { executionId, workflow } = order;
      // An execution of a workflow with a concurrency limit always has to be claimed.
      const isLimited = maxConcurrencyOf(order.compiled) !== null;
      const leaseTo = isLimited ? null : executor.reserve(executionId, workflow.organisationId);
      const settle = leaseTo === null ? await admission.enterQueue(workflow.organisationId) : null;
      let isHandedOver = false;
      try {
        const row = toStartRow(order, leaseTo);
        const { stored, lease } = await store({ row, keepTrying: untilImpatient() });
        if (lease !== null) {
          const startedAtMs = order.acceptedAt.getTime();
          isHandedOver = true;
          executor.run({
            lease,
            organisationId: row.organisationId,
            workflowId: row.workflowId,
            workflowVersion: row.workflowVersion,
            isTestMode: row.isTestMode,
            input: order.input,
            startedAtMs,
            deadlineAtMs: row.timeoutMs === null ? null : startedAtMs + row.timeoutMs,
            records: order.records ?? [],
            signals: [],
          });
        }
        return stored;
      } finally {
        settle?.();
        if (leaseTo !== null && !isHandedOver) executor.release(executionId);
      }
    },
  };
}

function untilImpatient(): () => boolean {
  const patientUntil = performance.now() + PATIENCE_MS;
  return () => performance.now() < patientUntil;
}
