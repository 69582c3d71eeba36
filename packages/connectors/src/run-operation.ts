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
import { openFileBody } from '@millrace/node-kit/http/file-body';
import { buildRequest, describeRequest } from '@millrace/node-kit/http/request';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { type Accepted, mayRepeat, readAnswer } from './answer.ts';
import type { Operation } from './format.ts';
import { fetchPages } from './pages.ts';
import { prepareSigned } from './path-token.ts';
import { type Call, type PageRequest, requestOf } from './request.ts';
import { fillIn } from './templates.ts';

/** What is the same for every request of a run of an operation. */
export interface OperationCall extends Call {
  readonly operation: Operation;
}

/** The request may have arrived. */
const UNKNOWN_OUTCOMES: readonly HttpErrorCode[] = ['timeout', 'connection_failed'];

/**
 * Runs an operation: one request, or one for each page.
 * @param limit the number of items that are wanted, of an operation with pages
 * @throws NodeProblem, ServiceError, RenderLimitError
 */
export async function runOperation(
  call: OperationCall,
  limit: number,
  context: NodeContext,
): Promise<NodeResult> {
  const { operation } = call;
  const { pagination } = operation;
  if (operation.effect && context.execution.isTestMode) return describe(call, context);
  if (pagination !== undefined) {
    return fetchPages(call, pagination, limit, (page) => ask(call, context, page));
  }
  const answer = await ask(call, context);
  if (answer.kind === 'failure') return answer;
  const output = fillIn(operation.output ?? null, { ...call.args, response: answer.response }, call.budget);
  if (isJsonObject(output)) return success(output);
  const { title: service } = call.connector;
  return failure('invalid_response', message('nodes.connector_no_object', { service }), {
    output: { status: answer.response.status ?? null, body: answer.response.body ?? null },
  });
}

/** What a request needs of a node's context, or of a poll's. */
type Asking = Pick<NodeContext, 'http' | 'credentials' | 'files' | 'signal' | 'inTurns' | 'now'>;

/** Sends one request and reads the response. @throws NodeProblem, ServiceError, RenderLimitError */
export async function ask(call: Call, context: Asking, page?: PageRequest): Promise<Accepted | Failure> {
  const config = await requestOf(call, page);
  const { idempotencyKey } = call;
  // Members of a context are read by name: a copy would have none of those that it makes on first use.
  const forBody = {
    get files() {
      return context.files;
    },
    idempotencyKey,
  };
  const wire = buildRequest(config, idempotencyKey, await openFileBody(config, forBody));
  const { 'idempotency-key': _unused, ...withoutKey } = wire.headers;
  const sent = idempotencyKey === '' ? { ...wire, headers: withoutKey } : wire;
  const { send } = await prepareSigned(call.connector, sent, config, context);
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
  const { shown } = await prepareSigned(call.connector, wire, config, context);
  const request: JsonObject = describeRequest({ ...wire, ...shown }, config);
  return success({ dry_run: true, service: call.connector.id, request });
}
