import { type Failure, failure, HttpClientError, type HttpErrorCode, ServiceError } from '@millrace/engine';
import { NodeProblem } from './node-problem.ts';

const RETRYABLE: Record<HttpErrorCode, boolean> = {
  invalid_url: false,
  target_not_allowed: false,
  too_many_redirects: false,
  response_too_large: false,
  timeout: true,
  connection_failed: true,
  aborted: true,
};

/**
 * The failure for a problem of the node's own, or an error of a service or the HTTP client.
 * @throws the given error when it is none of them: a defect must not look like a failure of the remote side
 */
export function serviceFailure(error: unknown): Failure {
  if (error instanceof NodeProblem) return failure(error.code, error.explanation);
  if (error instanceof HttpClientError) {
    return failure(error.code, error.explanation, { retryable: RETRYABLE[error.code] });
  }
  if (!(error instanceof ServiceError)) throw error;
  const { code, explanation, retryable, retryAfterMs, consumedAiTokens, details } = error;
  return failure(code, explanation, {
    retryable,
    consumedAiTokens,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(details === undefined ? {} : { output: details }),
  });
}
