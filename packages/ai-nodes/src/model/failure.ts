import { type Failure, failure, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { serviceFailure } from '@millrace/node-kit/service-failure';

/**
 * The result of a failed model call.
 * @param isCapped whether a budget made the response shorter than the author allows
 * @throws the given error when it isn't a service's error
 */
export function callFailure(error: unknown, isCapped: boolean): Failure {
  // JSON that ends in the middle: truncated by the token limit, which is the budget's here.
  const isCut = error instanceof ServiceError && error.code === 'ai_invalid_output' && !error.retryable;
  if (!isCapped || !isCut) return serviceFailure(error);
  return failure('token_budget_exceeded', message('nodes.budget_ended'), {
    consumedAiTokens: error.consumedAiTokens,
    ...(error.details === undefined ? {} : { output: error.details }),
  });
}
