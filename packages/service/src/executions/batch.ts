import type { Queryable } from '@millrace/database/database';
import { type CompileResult, inputSchemaOf, type JsonObject, type JsonValue } from '@millrace/engine';
import { ApiError, type FieldError, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { PlanCache } from '@millrace/runtime/plans';
import {
  recordsOfStart,
  type StartableWorkflow,
  type StartOrder,
  type StartOrigin,
} from '@millrace/runtime/start-row';
import { isTurnSpent, yieldTurn } from '@millrace/runtime/turns';
import { fingerprintOf } from '../idempotency/fingerprint.ts';
import type { IdempotencyKey, IdempotencyRecord, StoredResponse } from '../idempotency/store.ts';
import type { Turns } from '../turns.ts';
import type { Starter } from './accept.ts';
import { faultsOfInput, faultsOfTrigger, startable } from './startable.ts';
import type { StartLookup } from './store.ts';

/** Maximum items of one batch; part of the public API. */
export const MAX_BATCH_ITEMS = 1_000;

/** Time limit for checking the inputs of one batch, in a thread that all organisations share. */
const MAX_CHECK_MS = 20_000;

export interface BatchItem {
  /** The body a single start would have: `input_data` and `trigger`, both optional. */
  readonly body: JsonObject;
  /** Null for none. */
  readonly key: string | null;
}

/** The outcome of one item. */
export type BatchResult =
  | { readonly outcome: 'started' | 'replayed'; readonly receipt: StoredResponse }
  | { readonly outcome: 'refused'; readonly error: ApiError };

export interface BatchRequest {
  readonly organisationId: number;
  readonly workflowId: number;
  readonly items: readonly BatchItem[];
  /** `all`: nothing starts if one item is refused. */
  readonly mode: 'all' | 'each';
  /** The namespace of the items' keys. */
  readonly keys: Pick<IdempotencyKey, 'familyId' | 'route'>;
  readonly triggerType: string;
  /** Absent if the operator's command line starts it. */
  readonly origin?: StartOrigin;
  /** The response that a single start would get. */
  readonly receiptOf: (executionId: number, acceptedAt: Date) => StoredResponse;
  /**
   * Stores what belongs to the batch in the same transaction.
   * @returns false to store nothing
   */
  readonly within?: (tx: Queryable, results: readonly BatchResult[]) => Promise<boolean>;
}

/**
 * Starts the items of a batch as single starts would be, in one transaction.
 * @returns the outcome of each item, in order; null if `within` decided to store nothing
 * @throws ApiError 404, 409 `workflow_inactive` or `workflow_archived`; 422 with mode `all` if an item is refused
 * @throws DatabaseUnavailableError if it can't be stored now, or if that is unknown
 */
export type StartBatch = (request: BatchRequest) => Promise<readonly BatchResult[] | null>;

export interface BatchDeps {
  readonly plans: PlanCache;
  readonly starter: Starter;
  readonly turns: Turns;
}

export function createStartBatch({ plans, starter, turns }: BatchDeps): StartBatch {
  /** The key of each item; null for none. */
  async function keysOf({ organisationId, keys, items }: BatchRequest): Promise<(IdempotencyKey | null)[]> {
    const found: (IdempotencyKey | null)[] = [];
    await turns.forEach(organisationId, items, ({ key, body }) => {
      found.push(key === null ? null : { organisationId, ...keys, key, fingerprint: fingerprintOf(body) });
    });
    return found;
  }

  /** By item; none for replayed ones. */
  async function faultsOfItems(
    { organisationId, items }: BatchRequest,
    lookups: readonly StartLookup[],
    compiled: CompileResult | null,
  ): Promise<(readonly FieldError[])[]> {
    const found: (readonly FieldError[])[] = [];
    if (compiled === null || inputSchemaOf(compiled) === null) return found;
    const endsAt = performance.now() + MAX_CHECK_MS;
    for (const [index, { body }] of items.entries()) {
      if (lookups[index]?.record !== null) continue;
      const at = pointerTo(index, 'input_data');
      found[index] =
        performance.now() > endsAt
          ? [
              {
                pointer: at,
                code: 'invalid_value',
                message: message('service.batch_checks_too_long', { seconds: MAX_CHECK_MS / 1_000 }),
              },
            ]
          : await faultsOfInput(compiled, body.input_data ?? {}, organisationId, at);
      if (isTurnSpent()) await yieldTurn();
    }
    return found;
  }

  /** Decides about every item; refused and replayed ones have no order. */
  async function judge(request: BatchRequest, keys: readonly (IdempotencyKey | null)[]): Promise<Judged> {
    const { organisationId, workflowId, items } = request;
    const lookups = await starter.lookUpAll(organisationId, workflowId, keys);
    const isOpen = lookups.some(({ record }) => record === null);
    // A repeated item gets its receipt, even if the workflow can't be started any more.
    const workflow = isOpen ? startable(lookups[0] ?? { workflow: null, isPaused: false }) : null;
    const compiled = workflow === null ? null : await plans.get(workflow.id, workflow.version);
    const faultsOf = await faultsOfItems(request, lookups, compiled);
    const results: BatchResult[] = [];
    const orders: StartOrder[] = [];
    const firsts = new Map<string, IdempotencyRecord>();
    await turns.forEach(organisationId, lookups, (found, index) => {
      const key = keys[index] ?? null;
      const record = key === null ? null : (found.record ?? firsts.get(key.key) ?? null);
      if (key !== null && record !== null) {
        results.push(replay(key, record, index));
        return;
      }
      const input = items[index]?.body.input_data ?? {};
      const named = items[index]?.body.trigger ?? null;
      const faults = [
        ...(faultsOf[index] ?? []),
        ...(compiled === null ? [] : faultsOfTrigger(compiled, named, pointerTo(index, 'trigger'))),
      ];
      if (faults.length > 0 || workflow === null || compiled === null) {
        results.push({ outcome: 'refused', error: validationError(faults) });
        return;
      }
      const receipt = request.receiptOf(found.executionId, found.now);
      if (key !== null) firsts.set(key.key, { ...receipt, fingerprint: key.fingerprint });
      results.push({ outcome: 'started', receipt });
      orders.push(toOrder(request, { workflow, compiled, found, input, trigger: named, key, receipt }));
    });
    return { results, orders };
  }

  return async (request) => {
    const keys = await keysOf(request);
    for (;;) {
      const { results, orders } = await judge(request, keys);
      if (request.mode === 'all') refuseTogether(results);
      let isWanted = true;
      const isStored = await starter.startTogether(request.organisationId, orders, turns, async (tx) => {
        isWanted = (await request.within?.(tx, results)) ?? true;
        return isWanted;
      });
      if (isStored) return results;
      if (!isWanted) return null;
      // A concurrent request used one of the keys first: the next look-up finds its receipt.
    }
  };
}

interface Judged {
  readonly results: readonly BatchResult[];
  readonly orders: readonly StartOrder[];
}

interface OrderParts {
  readonly workflow: StartableWorkflow;
  readonly compiled: StartOrder['compiled'];
  readonly found: StartLookup;
  readonly input: JsonValue;
  /** Id of the trigger's node; null for the plan's own. */
  readonly trigger: JsonValue;
  readonly key: IdempotencyKey | null;
  readonly receipt: StoredResponse;
}

function toOrder({ triggerType, origin }: BatchRequest, parts: OrderParts): StartOrder {
  const { workflow, compiled, found, input, trigger, key, receipt } = parts;
  const nodeId = typeof trigger === 'string' ? trigger : null;
  return {
    executionId: found.executionId,
    acceptedAt: found.now,
    workflow,
    version: workflow.version,
    triggerType,
    input,
    compiled,
    records: recordsOfStart(compiled, nodeId, { data: input }, found.now),
    ...(origin === undefined ? {} : { origin }),
    ...(key === null
      ? {}
      : { response: { idempotencyKey: key, ...receipt, location: receipt.location ?? '' } }),
  };
}

function replay(key: IdempotencyKey, record: IdempotencyRecord, index: number): BatchResult {
  if (record.fingerprint.equals(key.fingerprint)) return { outcome: 'replayed', receipt: record };
  const fault: FieldError = {
    pointer: pointerTo(index, 'idempotency_key'),
    code: 'idempotency_key_reused',
    message: message('service.item_key_reused'),
  };
  const explanation = message('service.idempotency_key_reused');
  return {
    outcome: 'refused',
    error: new ApiError('idempotency_key_reused', explanation, { errors: [fault] }),
  };
}

function pointerTo(index: number, member: string): string {
  return `/items/${index}/${member}`;
}

/** @throws ApiError 422 with the errors of all refused items */
function refuseTogether(results: readonly BatchResult[]): void {
  const errors = results.flatMap((result) =>
    result.outcome === 'refused' ? (result.error.errors ?? []) : [],
  );
  if (errors.length > 0) throw validationError(errors);
}
