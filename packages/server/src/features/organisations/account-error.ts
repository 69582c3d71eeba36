/** Why an organisation, member or key could not be made, found or changed. */
export type AccountErrorCode =
  | 'invalid_value'
  | 'organisation_exists'
  | 'organisation_not_found'
  | 'member_not_found'
  | 'key_not_found'
  | 'key_revoked'
  | 'key_expired';

/** Thrown by the account features; `message` says what, where and how to mend it. */
export class AccountError extends Error {
  readonly code: AccountErrorCode;
  constructor(code: AccountErrorCode, message: string) {
    super(message);
    this.name = 'AccountError';
    this.code = code;
  }
}
