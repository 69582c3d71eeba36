import { createHash } from 'node:crypto';
import type { Database } from '@millrace/database/database';
import type { JsonValue } from '@millrace/engine';
import { type ApiError, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import type { StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { findDelivery, insertDelivery } from '@millrace/service/webhooks/store';
import { type DeduplicateOptions, eventIdOf } from '@millrace/triggers';
import type { FastifyRequest } from 'fastify';
import type { Guard } from './guard.ts';

/** Identifies the event of a call. */
export interface EventKey {
  readonly hash: Buffer;
  readonly windowS: number;
}

/** The result of a call: its execution, and whether this call started it. */
export interface StartedCall {
  readonly executionId: number;
  readonly isFirst: boolean;
}

/**
 * The event of a call; null if it has none and may start anyway.
 * @throws ApiError 422 if the webhook requires an id
 */
export function eventOf(
  { nodeId, isFirst }: Pick<Guard, 'nodeId' | 'isFirst'>,
  options: DeduplicateOptions,
  request: FastifyRequest,
  body: JsonValue,
): EventKey | null {
  const query = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
  const id = eventIdOf(options, body, request.headers, query);
  if (id !== null) {
    // Events of other webhooks of the workflow are others, whatever their ids.
    const text = isFirst ? id : `${JSON.stringify(nodeId)} ${id}`;
    return { hash: createHash('sha256').update(text).digest(), windowS: options.window_s };
  }
  if (options.missing === 'refuse') throw missingId(options);
  return null;
}

function missingId({ by, name }: DeduplicateOptions): ApiError {
  const fault =
    by === 'path'
      ? { pointer: `/${name.replaceAll('.', '/')}`, message: message('api.event_id_in_body', { path: name }) }
      : {
          pointer: '',
          message:
            by === 'header'
              ? message('api.event_id_in_header', { header: name })
              : message('api.event_id_in_query', { name }),
        };
  return validationError([{ ...fault, code: 'required' }]);
}

/**
 * Starts the execution of an event in the same transaction as its record, so that any number of calls with one id start one execution. The
 * execution is queued. A repeated event gets its response however much is waiting.
 * @throws ApiError as {@link Starter.storeQueued} does
 */
export async function startEvent(
  db: Database,
  starter: Starter,
  event: EventKey,
  order: StartOrder,
): Promise<StartedCall> {
  const { id: workflowId, organisationId } = order.workflow;
  const { executionId } = order;
  const { hash: eventHash, windowS } = event;
  for (;;) {
    const found = await db.transaction(async (tx) => {
      if (await insertDelivery(tx, { workflowId, organisationId, eventHash, executionId, windowS })) {
        await starter.storeQueued(tx, organisationId, [order]);
        return executionId;
      }
      return findDelivery(tx, workflowId, eventHash);
    });
    // Undefined: its window ended and it was pruned in between.
    if (found === executionId) starter.stored(order);
    if (found !== undefined) return { executionId: found, isFirst: found === executionId };
  }
}
