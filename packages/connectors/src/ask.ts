import { type Failure, HttpClientError, type HttpErrorCode, type NodeContext } from '@millrace/engine';
import { openFileBody } from '@millrace/node-kit/http/file-body';
import { buildRequest } from '@millrace/node-kit/http/request';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { type Accepted, mayRepeat, readAnswer } from './answer.ts';
import { prepareSigned } from './path-token.ts';
import { type Call, type PageRequest, requestOf } from './request.ts';

/** The request may have arrived. */
const UNKNOWN_OUTCOMES: readonly HttpErrorCode[] = ['timeout', 'connection_failed'];

/** What a request needs of a node's context, or of a poll's. */
export type Asking = Pick<
  NodeContext,
  'http' | 'credentials' | 'files' | 'documents' | 'signal' | 'inTurns' | 'now'
>;

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
  const { send } = await prepareSigned(call.connector, call.operation, sent, config, context);
  try {
    return await readAnswer(await send(), call, context);
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error;
    const failed = serviceFailure(error);
    const isLost = UNKNOWN_OUTCOMES.includes(error.code) && !mayRepeat(call.operation);
    return isLost ? { ...failed, retryable: false } : failed;
  }
}
