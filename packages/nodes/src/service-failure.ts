import {
  failure,
  HttpClientError,
  type HttpErrorCode,
  type NodeResult,
  ServiceError,
} from '@millrace/engine';

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
 * The failure for an error of a service or the HTTP client.
 * @throws the given error when it is neither: a defect must not look like a failure of the remote side
 */
export function serviceFailure(error: unknown): NodeResult {
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
