import { formatTimestamp, stringifyJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { sendStoredResponse } from '@millrace/http/idempotency';
import type { StartableWorkflow, StartOrigin } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import { type StartContent, startable } from '@millrace/service/executions/startable';
import type { StartLookup } from '@millrace/service/executions/store';
import type { IdempotencyKey, StoredResponse } from '@millrace/service/idempotency/store';
import type { FastifyReply } from 'fastify';
import type { AppDeps } from '../../app-deps.ts';
import { createStartOnce } from './start-once.ts';

export interface StartRequest {
  readonly idempotencyKey: IdempotencyKey | null;
  readonly origin: StartOrigin;
  readonly found: StartLookup;
  /** Repeats the look-up, with a fresh id; of the key, too, unless it has been looked up. */
  readonly lookUp: () => Promise<StartLookup>;
  /** @throws ApiError if this can't be started */
  readonly prepare: (workflow: StartableWorkflow, acceptedAt: Date) => Promise<StartContent>;
}

/** Starts an execution and responds with its receipt, once per Idempotency-Key. */
export type RespondToStart = (request: StartRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The response to an accepted start. */
export function receiptOf(publicUrl: string, executionId: number, acceptedAt: Date) {
  const pollingUrl = `${publicUrl}/api/v1/executions/${executionId}`;
  // The contract's receipt reports `running` even while no worker has the execution yet.
  const receipt = {
    execution_id: executionId,
    status: 'running',
    polling_url: pollingUrl,
    started_at: formatTimestamp(acceptedAt),
  };
  return { status: 202, location: pollingUrl, body: stringifyJson(receipt) };
}

/** @throws (by the returned function) ApiError 404, 409 `workflow_inactive` or `workflow_archived`, 503 `organisation_paused` */
export function createRespondToStart({ config }: AppDeps, starter: Starter): RespondToStart {
  const startOnce = createStartOnce();

  async function start(found: StartLookup, request: StartRequest): Promise<StoredResponse | null> {
    const workflow = startable(found);
    const content = await request.prepare(workflow, found.now);
    const { executionId, now: acceptedAt, permit } = found;
    const response = receiptOf(config.publicUrl, executionId, acceptedAt);
    const { idempotencyKey, origin } = request;
    const isStored = await starter.start({
      ...{ executionId, acceptedAt, workflow, origin, ...content },
      ...(permit === null ? {} : { permit }),
      ...(idempotencyKey === null ? {} : { response: { idempotencyKey, ...response } }),
    });
    return isStored ? response : null;
  }

  /** Null: a concurrent request came first, or what was found has to be looked up. */
  async function tryToStart(found: StartLookup, request: StartRequest): Promise<StoredResponse | null> {
    try {
      return await start(found, request);
    } catch (error) {
      // The present workflow may accept what the remembered one refuses.
      if (found.permit !== null && error instanceof ApiError) return null;
      throw error;
    }
  }

  return async (request, reply) => {
    const { idempotencyKey, found, lookUp } = request;
    if (idempotencyKey !== null) {
      const result = await startOnce(idempotencyKey, found, lookUp, (latest) => tryToStart(latest, request));
      return sendStoredResponse(reply, result);
    }
    let response = await tryToStart(found, request);
    if (response === null && found.permit !== null) response = await start(await lookUp(), request);
    if (response === null) throw new Error(`the reserved id ${found.executionId} was taken`);
    return sendStoredResponse(reply, { response, replayed: false });
  };
}
