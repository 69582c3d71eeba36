import type { Database } from '@millrace/database/database';
import {
  type ChildKey,
  type Lease,
  PRIORITIES,
  type StoredSignal,
  stringifyJson,
  USUAL_PRIORITY,
} from '@millrace/engine';
import type { CompleteStore, StartRequest, StoredChild } from '@millrace/engine/testing';
import { findChildByKey, insertChild } from '../../src/child-statements.ts';
import { createFollowUps } from '../../src/follow-ups.ts';
import { PgExecutionStore, type PgStoreOptions } from '../../src/pg-store.ts';
import { insertSignal } from '../../src/signal-statements.ts';
import { hashOfKey, NO_WORKFLOW_LIMIT } from '../../src/start-row.ts';
import { insertExecutions, type StartRow } from '../../src/start-statements.ts';
import { cancelExecution, reserveExecutionIds } from '../../src/statements.ts';
import { toStarted, toTarget } from '../../src/store-rows.ts';

/** The store with the statements by which other parts of the service start, cancel and signal executions. */
export class PgCompleteStore extends PgExecutionStore implements CompleteStore {
  readonly #db: Database;

  constructor(db: Database, options: Partial<PgStoreOptions> = {}) {
    const callbacks = { isLeaseValid: () => true, onChanged: () => {}, onFailure: () => {} };
    super(db, { leaseMs: 30_000, maxCrashedAttempts: 3, ...callbacks, ...options });
    this.#db = db;
  }

  async reserveIds(count: number): Promise<number[]> {
    return (await reserveExecutionIds(this.#db, count)).map((row) => row.id);
  }

  start(requests: readonly StartRequest[]): Promise<(Lease | null)[]> {
    return this.#db.transaction(async (tx) => {
      const ordinary = requests.filter(({ parent }) => parent === undefined);
      const stored = ordinary.length === 0 ? [] : await insertExecutions(tx, ordinary.map(rowOf));
      for (const request of requests) {
        if (request.parent !== undefined)
          stored.push(...(await insertChild(tx, { ...rowOf(request), parent: request.parent })));
      }
      const states = new Map(stored.map((row) => [row.id, row]));
      return requests.map((request) => toStarted(rowOf(request), states.get(request.executionId)).lease);
    });
  }

  async findChild(key: ChildKey): Promise<StoredChild | null> {
    const [row] = await findChildByKey(this.#db, key);
    return row === undefined ? null : { executionId: row.id, workflowVersion: row.workflow_version };
  }

  async sendSignal(executionId: number, signal: Omit<StoredSignal, 'seq'>): Promise<boolean> {
    const { nodeId, iteration, payload } = signal;
    const stored = { nodeId, iteration, payloadJson: stringifyJson(payload) };
    return (await insertSignal(this.#db, executionId, stored)).length > 0;
  }

  async cancel(organisationId: number, executionId: number): Promise<boolean> {
    const rows = await cancelExecution(this.#db, organisationId, executionId);
    if (rows.length > 0) await createFollowUps(this.#db)();
    return rows.length > 0;
  }
}

/** The row of a start that has neither an idempotency key nor is a rerun. */
export function rowOf(request: StartRequest): StartRow {
  const { concurrency, ahead } = request;
  return {
    id: request.executionId,
    organisationId: request.organisationId,
    workflowId: request.workflowId,
    workflowVersion: request.workflowVersion,
    triggerType: request.triggerType,
    displayName: request.displayName,
    isTestMode: request.isTestMode,
    inputJson: stringifyJson(request.input),
    timeoutMs: request.timeoutMs,
    createdAt: null,
    leaseTo: request.leaseTo,
    rerunOf: null,
    apiKeyId: null,
    sourceIp: null,
    searchKeysJson: null,
    givenFilesJson: null,
    traceparent: null,
    recordsJson: ahead === undefined ? null : stringifyJson(ahead.records),
    ahead:
      ahead === undefined
        ? null
        : {
            status: ahead.outcome?.status ?? 'running',
            errorJson: ahead.outcome === null ? null : (toTarget(ahead.outcome).errorJson ?? null),
            consumedAiTokens: ahead.consumedAiTokens,
            storedBytes: 0,
          },
    maxConcurrency: request.maxConcurrency ?? (concurrency === undefined ? null : NO_WORKFLOW_LIMIT),
    concurrency: concurrency === undefined ? null : { ...concurrency, key: hashOfKey(concurrency.key) },
    priority: PRIORITIES.indexOf(request.priority ?? USUAL_PRIORITY),
    errorWorkflowId: null,
    hold: null,
    heldUntil: null,
    response: null,
    permit: null,
  };
}
