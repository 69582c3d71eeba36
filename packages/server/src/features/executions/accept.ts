import {
  type CompileResult,
  displayNameOf,
  type JsonValue,
  type NodeRecord,
  stringifyJson,
} from '@millrace/engine';
import type { AppDeps } from '../../app.ts';
import type { IdempotencyClaim } from '../../http/idempotency.ts';
import { coalesce } from '../../worker/coalesce.ts';
import { PgExecutionStore } from '../../worker/pg-store.ts';
import type { StartRow } from '../../worker/statements.ts';
import { lookUpStarts, lookUpWebhooks, type StartableWorkflow, type StartLookup } from './store.ts';

/** Who started an execution, and from where; kept with it. */
export interface StartOrigin {
  /** `api_keys.id`; null when no key did. */
  readonly apiKeyId: number | null;
  readonly sourceIp: string;
}

/** What makes an execution. */
export interface StartOrder {
  /** Reserved by a look-up. */
  readonly executionId: number;
  /** When it was accepted, by the database's clock. */
  readonly acceptedAt: Date;
  readonly workflow: Pick<StartableWorkflow, 'id' | 'organisationId' | 'name' | 'isTestMode'>;
  readonly version: number;
  /** Whether it is in test mode; what the workflow says when absent. */
  readonly isTestMode?: boolean;
  /** What started it: `api`, `webhook`, `schedule`, `flow`, `error`; a rerun keeps what started the first one. */
  readonly triggerType: string;
  /** The trigger's data. */
  readonly input: JsonValue;
  readonly compiled: CompileResult;
  readonly rerunOf?: number;
  /** Absent when the service starts it by itself. */
  readonly origin?: StartOrigin;
  /** What a rerun takes over. */
  readonly records?: readonly NodeRecord[];
  /** Kept in the same statement. */
  readonly answer?: {
    readonly claim: IdempotencyClaim;
    readonly status: number;
    readonly location: string;
    readonly body: string;
  };
}

/** Accepts starts: what it has answered true for is stored durably. Concurrent calls share their statements. */
export interface Starter {
  lookUp(organisationId: number, workflowId: number, claim: IdempotencyClaim | null): Promise<StartLookup>;
  lookUpWebhook(hash: string): Promise<StartLookup>;
  /**
   * Stores the execution and has it run, by this process when it has a free place.
   * @returns false when a twin with the same Idempotency-Key came first; nothing is stored then
   * @throws DatabaseUnavailableError when it cannot be stored now, or whether it is cannot be told
   */
  start(order: StartOrder): Promise<boolean>;
}

const MAX_LOOKUPS = 500;
/** How long an accepted request may wait for a database that is away before it is answered 503. */
const PATIENCE_MS = 4_000;

export function createStarter({ db, config, executor }: AppDeps): Starter {
  const store = new PgExecutionStore(db, {
    leaseMs: config.worker.leaseMs,
    maxCrashedAttempts: config.worker.maxCrashedAttempts,
    host: '',
    pid: process.pid,
  });
  const lookUpStart = coalesce({
    run: (requests: Parameters<typeof lookUpStarts>[1]) => lookUpStarts(db, requests),
    maxItems: MAX_LOOKUPS,
  });
  const lookUpWebhook = coalesce({
    run: (hashes: readonly string[]) => lookUpWebhooks(db, hashes),
    maxItems: MAX_LOOKUPS,
  });

  return {
    lookUp: (organisationId, workflowId, use) => lookUpStart({ organisationId, workflowId, use }),
    lookUpWebhook,
    async start(order) {
      const { executionId } = order;
      // What may run beside few others of its workflow only has to be claimed.
      const isLimited = maxConcurrencyOf(order.compiled) !== null;
      const leaseTo = isLimited ? null : executor.reserve(executionId);
      let isHandedOver = false;
      try {
        const row = toStartRow(order, leaseTo);
        const patientUntil = performance.now() + PATIENCE_MS;
        const { stored, lease } = await store.startOne(row, () => performance.now() < patientUntil);
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
        if (leaseTo !== null && !isHandedOver) executor.release(executionId);
      }
    },
  };
}

function maxConcurrencyOf(compiled: CompileResult): number | null {
  return compiled.kind === 'plan' ? compiled.plan.maxConcurrency : null;
}

/** The row of an accepted start. @param leaseTo the worker that is to hold it; null: it is queued */
export function toStartRow(order: StartOrder, leaseTo: string | null): StartRow {
  const { workflow, compiled, records, answer, executionId } = order;
  const plan = compiled.kind === 'plan' ? compiled.plan : null;
  return {
    id: executionId,
    organisationId: workflow.organisationId,
    workflowId: workflow.id,
    workflowVersion: order.version,
    triggerType: order.triggerType,
    displayName: displayNameOf(plan, { executionId, workflowName: workflow.name, triggerData: order.input }),
    isTestMode: order.isTestMode ?? workflow.isTestMode,
    inputJson: stringifyJson(order.input),
    timeoutMs: plan?.timeoutMs ?? null,
    createdAt: order.acceptedAt,
    leaseTo,
    rerunOf: order.rerunOf ?? null,
    apiKeyId: order.origin?.apiKeyId ?? null,
    sourceIp: order.origin?.sourceIp ?? null,
    recordsJson:
      records === undefined || records.length === 0 ? null : stringifyJson(records as unknown as JsonValue),
    maxConcurrency: maxConcurrencyOf(compiled),
    errorWorkflowId: plan?.errorWorkflowId ?? null,
    idempotency:
      answer === undefined
        ? null
        : {
            keyFamilyId: answer.claim.familyId,
            route: answer.claim.route,
            key: answer.claim.key,
            fingerprint: answer.claim.fingerprint,
            status: answer.status,
            location: answer.location,
            body: answer.body,
          },
  };
}
