import { validateHeaderValue } from 'node:http';
import { type Plan, parseJson, renderAtEnd, startedBy, stringifyJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { PROBLEM_TYPE, toProblem } from '@millrace/http/problem';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { parseChunks } from '@millrace/runtime/chunks';
import type { ExecutionDetailRow } from '@millrace/service/executions/store';
import { readWebhookResponse, responseHeaderFault, type WebhookResponse } from '@millrace/triggers';
import type { FastifyReply, FastifyRequest } from 'fastify';

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
    return refuseUnusable(request, reply, failure.status, row.id, error);
  }
}

/** Sends the response of a node of an execution that may still be running. */
export function respondFromNode(
  request: FastifyRequest,
  reply: FastifyReply,
  response: WebhookResponse,
  failureStatus: number,
  executionId: number,
): FastifyReply {
  try {
    checkHeaders(response);
    return sendResponse(reply, response);
  } catch (error) {
    return refuseUnusable(request, reply, failureStatus, executionId, error);
  }
}

function refuseUnusable(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  executionId: number,
  error: unknown,
): FastifyReply {
  request.log.warn({ err: error, execution_id: executionId }, 'could not send the response of a webhook');
  const unusable = new ApiError('unusable_response', message('api.webhook_response_unusable'));
  return sendFailure(request, reply, status, executionId, unusable);
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
  const records = parseChunks(row.chunks).flatMap((chunk) => chunk.records);
  const config = renderAtEnd(plan, startedBy(plan, records), {
    executionId: row.id,
    triggerData: parseJson(row.input),
    records,
    maxBytes,
  });
  const response = readWebhookResponse(config.response ?? {});
  if (response === null) throw new Error('status, headers and body of the response do not fit');
  checkHeaders(response);
  return response;
}

/** @throws Error if one of them can't be sent */
function checkHeaders({ headers }: WebhookResponse): void {
  for (const [name, value] of Object.entries(headers)) {
    const fault = responseHeaderFault(name);
    if (fault !== null) throw new Error(`the header ${JSON.stringify(name)} ${inEnglish(fault)}`);
    validateHeaderValue(name, value);
  }
}

/** Statuses that are sent without a body (RFC 9110, 15). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whatever a workflow or a caller put into a response, a page rendered from it runs nothing and belongs to no origin. */
export function sandbox(reply: FastifyReply): void {
  reply.header('content-security-policy', `${String(reply.getHeader('content-security-policy'))};sandbox`);
}

/** A page's own style and pictures are shown; scripts, forms and frames are not. */
const PAGE_POLICY =
  "default-src 'none';style-src 'unsafe-inline';img-src https: data:;font-src https: data:;base-uri 'none';form-action 'none';frame-ancestors 'none'";

/** Sends what a workflow has made. A string body is sent as it is. */
export function sendResponse(reply: FastifyReply, { status, headers, body }: WebhookResponse): FastifyReply {
  const isText = typeof body === 'string';
  reply.code(status).header('content-type', `${isText ? 'text/plain' : 'application/json'}; charset=utf-8`);
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
  if (/^\s*text\/html\b/i.test(String(reply.getHeader('content-type'))))
    reply.header('content-security-policy', PAGE_POLICY);
  sandbox(reply);
  if (body === null || WITHOUT_BODY.has(status)) return reply.removeHeader('content-type').send();
  return reply.send(Buffer.from(isText ? body : stringifyJson(body)));
}
