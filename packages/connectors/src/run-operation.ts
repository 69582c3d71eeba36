import {
  type Failure,
  failure,
  HttpClientError,
  type HttpErrorCode,
  isJsonObject,
  type JsonObject,
  type NodeContext,
  type NodeResult,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { prepareExchange } from '@millrace/node-kit/http/exchange';
import { openFileBody } from '@millrace/node-kit/http/file-body';
import { buildRequest, describeRequest } from '@millrace/node-kit/http/request';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { type Accepted, mayRepeat, readAnswer } from './answer.ts';
import { fetchPages } from './pages.ts';
import { type Call, type PageRequest, requestOf } from './request.ts';
import { fillIn } from './templates.ts';

/** The request may have arrived. */
const UNKNOWN_OUTCOMES: readonly HttpErrorCode[] = ['timeout', 'connection_failed'];

/**
 * Runs an operation: one request, or one for each page.
 * @param limit the number of items that are wanted, of an operation with pages
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function runOperation(call: Call, limit: number, context: NodeContext): Promise<NodeResult> {
  const { operation } = call;
  const { pagination } = operation;
  if (operation.effect && context.execution.isTestMode) return describe(call, context);
  if (pagination !== undefined) {
    return fetchPages(call, pagination, limit, (page) => ask(call, context, page));
  }
  const answer = await ask(call, context);
  if (answer.kind === 'failure') return answer;
  const output = fillIn(operation.output ?? null, { ...call.args, response: answer.response });
  if (isJsonObject(output)) return success(output);
  const { title: service } = call.connector;
  return failure('invalid_response', message('nodes.connector_no_object', { service }), {
    output: { status: answer.response.status ?? null, body: answer.response.body ?? null },
  });
}

async function ask(call: Call, context: NodeContext, page?: PageRequest): Promise<Accepted | Failure> {
  const config = await requestOf(call, page);
  const wire = buildRequest(config, context.idempotencyKey, await openFileBody(config, context));
  const { send } = await prepareExchange(wire, config, context, 'credential_id');
  try {
    return await readAnswer(await send(), call, context);
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error;
    const failed = serviceFailure(error);
    const isLost = UNKNOWN_OUTCOMES.includes(error.code) && !mayRepeat(call.operation);
    return isLost ? { ...failed, retryable: false } : failed;
  }
}

/** What test mode shows instead of sending. */
async function describe(call: Call, context: NodeContext): Promise<NodeResult> {
  const config = await requestOf(call);
  const wire = buildRequest(config, context.idempotencyKey, await openFileBody(config, context));
  const { shown } = await prepareExchange(wire, config, context, 'credential_id');
  const request: JsonObject = describeRequest({ ...wire, ...shown }, config);
  return success({ dry_run: true, service: call.connector.id, request });
}
