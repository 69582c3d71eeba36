import { failure, type NodeResult, ServiceError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { serviceFailure } from '../service-failure.ts';

/**
 * What a failed call of a model comes to.
 * @param isCapped whether a budget made the answer shorter than the author allows
 * @throws what it was given when that is no error of a service
 */
export function callFailure(error: unknown, isCapped: boolean): NodeResult {
  // JSON that ends in the middle: cut off by the limit of tokens, which is the budget's here.
  const isCut = error instanceof ServiceError && error.code === 'ai_invalid_output' && !error.retryable;
  if (!isCapped || !isCut) return serviceFailure(error);
  return failure('token_budget_exceeded', message('nodes.budget_ended'), {
    consumedAiTokens: error.consumedAiTokens,
    ...(error.details === undefined ? {} : { output: error.details }),
  });
}
