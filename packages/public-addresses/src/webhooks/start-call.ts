import type { Database } from '@millrace/database/database';
import type { StartOrder } from '@millrace/runtime/start-row';
import type { Starter } from '@millrace/service/executions/accept';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { capture } from './capture.ts';
import { eventOf, type StartedCall, startEvent } from './deliver.ts';
import type { Guard } from './guard.ts';

export const WebhookReceipt = Type.Object(
  {
    success: Type.Literal(true),
    execution_id: Type.Integer({ minimum: 1 }),
    message: Type.String(),
    captured: Type.Boolean({
      description: 'Whether a listening editor took this call as its sample.',
    }),
  },
  { $id: 'WebhookReceipt', additionalProperties: false },
);

/** A call's result, and whether an editor stored it as the sample. */
export interface ReceivedCall extends StartedCall {
  readonly captured: boolean;
}

/** Starts the workflow, or finds the execution that the same event has started; an editor that listens gets the call. */
export async function startCall(
  { db, starter }: { readonly db: Database; readonly starter: Starter },
  request: FastifyRequest,
  guard: Guard,
  order: StartOrder,
  isListening: boolean,
): Promise<ReceivedCall> {
  const started = await startOnce({ db, starter }, request, guard, order);
  const call = { executionId: started.executionId, data: order.input, isRepeat: !started.isFirst };
  const captured = isListening && (await capture(db, request, order.workflow, call));
  return { ...started, captured };
}

async function startOnce(
  { db, starter }: { readonly db: Database; readonly starter: Starter },
  request: FastifyRequest,
  guard: Guard,
  order: StartOrder,
): Promise<StartedCall> {
  const event = guard.deduplicate === null ? null : eventOf(guard, guard.deduplicate, request, order.input);
  if (event !== null) return startEvent(db, starter, event, order);
  await starter.start(order);
  return { executionId: order.executionId, isFirst: true };
}

const STARTED = 'The workflow was started.';
const REPEATED =
  'This event was already received and started the execution named here. Nothing was started now.';

export function sendReceipt(
  reply: FastifyReply,
  { executionId, isFirst, captured }: ReceivedCall,
  message = isFirst ? STARTED : REPEATED,
): FastifyReply {
  return reply.code(202).send({ success: true, execution_id: executionId, message, captured });
}
