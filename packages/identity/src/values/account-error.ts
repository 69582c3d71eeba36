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
  /** JSON Pointer of the value in a request's body; `invalid_value` only. */
  readonly pointer: string;

  constructor(code: AccountErrorCode, explanation: Message, pointer = '') {
    super(explanation);
    this.code = code;
    this.pointer = pointer;
  }
}

/** The API's response to an error of the account features. */
export function toApiError({ code, explanation, pointer }: AccountError): ApiError {
  switch (code) {
    case 'invalid_value':
      return validationError([{ pointer, code, message: explanation }]);
    case 'organisation_exists':
    case 'key_rotated':
      return new ApiError(code, explanation);
    case 'user_not_found':
      return notFound('account');
    case 'member_not_found':
      return notFound('member');
    case 'organisation_not_found':
      return notFound('organisation');
    case 'key_not_found':
      return notFound('api_key');
    case 'key_revoked':
    case 'key_expired':
      return new ApiError('key_ended', explanation);
  }
}
