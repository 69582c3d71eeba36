import { ApiError, notFound, validationError } from '@millrace/errors/errors';
import type { Message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

/** Why an organisation, member or key couldn't be created, found or changed. */
export type AccountErrorCode =
  | 'invalid_value'
  | 'organisation_exists'
  | 'organisation_not_found'
  | 'member_not_found'
  | 'user_not_found'
  | 'key_not_found'
  | 'key_revoked'
  | 'key_expired'
  | 'key_rotated';

/** Thrown by the account features. */
export class AccountError extends ExplainedError {
  override readonly name = 'AccountError';
  readonly code: AccountErrorCode;

  constructor(code: AccountErrorCode, explanation: Message) {
    super(explanation);
    this.code = code;
  }
}

/**
 * The admin API's response to an error of the account features; any other error unchanged.
 * @param pointer of the value that `invalid_value` is about
 */
export function toAdminError(error: unknown, pointer: string): unknown {
  if (!(error instanceof AccountError)) return error;
  switch (error.code) {
    case 'invalid_value':
      return validationError([{ pointer, code: error.code, message: error.explanation }]);
    case 'organisation_exists':
      return new ApiError('organisation_exists', error.explanation);
    case 'member_not_found':
      return notFound('member');
    case 'organisation_not_found':
      return notFound('organisation');
    case 'key_not_found':
      return notFound('api_key');
    case 'key_revoked':
    case 'key_expired':
      return new ApiError('key_ended', error.explanation);
    case 'key_rotated':
      return new ApiError('key_rotated', error.explanation);
    default:
      return error;
  }
}
