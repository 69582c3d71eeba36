import { validateHeaderValue } from 'node:http';
import { type Plan, parseJson, renderAtEnd, stringifyJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { readWebhookResponse, responseHeaderFault, type WebhookResponse } from '@millrace/nodes';
import { parseChunks } from '@millrace/runtime/chunks';
import type { ExecutionDetailRow } from '@millrace/service/executions/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEM_TYPE, toProblem } from '../../http/problem.ts';

/**
 * Renders the webhook's response from an execution that has ended. For one that failed or was cancelled it contains only the id: the
 * details are for the owner.
 */
export function respondWithResult(
  request: FastifyRequest,
  reply: FastifyReply,
  plan: Plan,
  row: ExecutionDetailRow,
  failure: { readonly status: number; readonly maxBytes: number },
): FastifyReply {
  if (row.status !== 'completed') {
    const explanation = message(
      row.status === 'cancelled' ? 'api.webhook_execution_cancelled' : 'api.webhook_execution_failed',
    );
    const error = new ApiError('execution_failed', explanation);
    return sendFailure(request, reply, failure.status, row.id, error);
  }
  try {
    return sendResponse(reply, renderResponse(plan, row, failure.maxBytes));
  } catch (error) {
    request.log.warn({ err: error, execution_id: row.id }, 'could not send the response of a webhook');
    const unusable = new ApiError('unusable_response', message('api.webhook_response_unusable'));
    return sendFailure(request, reply, failure.status, row.id, unusable);
  }
}

function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  executionId: number,
  error: ApiError,
): FastifyReply {
  const problem = { ...toProblem(error, request.originalUrl, request.id), status, execution_id: executionId };
  return reply
    .code(status)
    .header('content-type', PROBLEM_TYPE)
    .send(Buffer.from(stringifyJson(problem)));
}

/** @throws Error if the templates render something that can't be sent */
function renderResponse(plan: Plan, row: ExecutionDetailRow, maxBytes: number): WebhookResponse {
  const config = renderAtEnd(plan, plan.trigger, {
    executionId: row.id,
    triggerData: parseJson(row.input),
    records: parseChunks(row.chunks).flatMap(({ records }) => records),
    maxBytes,
  });
  const response = readWebhookResponse(config.response ?? {});
  if (response === null) throw new Error('status, headers and body of the response do not fit');
  for (const [name, value] of Object.entries(response.headers)) {
    const fault = responseHeaderFault(name);
    if (fault !== null) throw new Error(`the header ${JSON.stringify(name)} ${inEnglish(fault)}`);
    validateHeaderValue(name, value);
  }
  return response;
}

/** Statuses that are sent without a body (RFC 9110, 15). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function sendResponse(reply: FastifyReply, { status, headers, body }: WebhookResponse): FastifyReply {
  const isText = typeof body === 'string';
  reply.code(status).header('content-type', `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`);
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  // Whatever a workflow responds with, a page rendered from it runs nothing and belongs to no origin.
  reply.header('content-security-policy', `${String(reply.getHeader('content-security-policy'))};sandbox`);
  if (body === null || WITHOUT_BODY.has(status)) return reply.removeHeader('content-type').send();
  return reply.send(Buffer.from(isText ? body : stringifyJson(body)));
}
