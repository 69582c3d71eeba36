import type { JsonObject } from '@millrace/engine';

/** What an error code means to HTTP: one row per code, the only place where a code gets its status and title. */
interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
}

/** Every error code an answer of the API can carry. A code, once released, keeps its meaning. */
export const ERROR_CATALOGUE = {
  invalid_request: { status: 400, title: 'The request is not valid HTTP' },
  invalid_url: { status: 400, title: 'The URL is malformed' },
  invalid_body: { status: 400, title: 'The body could not be read' },
  invalid_json: { status: 400, title: 'The body is not valid JSON' },
  json_too_deep: { status: 400, title: 'The JSON is nested too deeply' },
  invalid_idempotency_key: { status: 400, title: 'The Idempotency-Key is malformed' },
  invalid_key: { status: 401, title: 'The API key is missing or not valid' },
  key_expired: { status: 401, title: 'The API key has expired' },
  key_revoked: { status: 401, title: 'The API key was revoked' },
  key_locked: { status: 401, title: 'The API key is locked' },
  invalid_signature: { status: 401, title: 'The signature of the call is missing or not valid' },
  stale_signature: { status: 401, title: 'The signature of the call is too old or too new' },
  signed_out: { status: 401, title: 'Not signed in' },
  invalid_credentials: { status: 401, title: 'The e-mail address or the password is wrong' },
  second_factor_required: { status: 401, title: 'A code of the second factor is needed' },
  invalid_second_factor: { status: 401, title: 'The code of the second factor is wrong' },
  insufficient_role: { status: 403, title: 'The role does not allow it' },
  cross_site_request: { status: 403, title: 'The request comes from another site' },
  insufficient_scope: { status: 403, title: 'The API key lacks the scope' },
  ip_not_allowed: { status: 403, title: 'Calls from this address are not allowed' },
  not_found: { status: 404, title: 'Not found' },
  link_not_valid: { status: 404, title: 'The link is not valid, or not any more' },
  no_webhook_trigger: { status: 404, title: 'The workflow has no webhook trigger' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  not_acceptable: { status: 406, title: 'No acceptable answer can be given' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  idempotency_key_reused: { status: 409, title: 'The Idempotency-Key was used for another request' },
  workflow_inactive: { status: 409, title: 'The workflow is inactive' },
  workflow_archived: { status: 409, title: 'The workflow is archived' },
  workflow_not_archived: { status: 409, title: 'The workflow is not archived' },
  workflow_running: { status: 409, title: 'Executions of the workflow have not ended' },
  draft_conflict: { status: 409, title: 'The draft was changed elsewhere' },
  version_conflict: { status: 409, title: 'The workflow was saved by somebody else' },
  execution_final: { status: 409, title: 'The execution has already ended' },
  execution_not_final: { status: 409, title: 'The execution has not ended yet' },
  no_failed_node: { status: 409, title: 'The execution has no failed node' },
  callback_used: { status: 409, title: 'The callback was used before' },
  execution_ended: { status: 409, title: 'The execution that waited has ended' },
  callback_expired: { status: 410, title: 'The callback came too late' },
  key_ended: { status: 409, title: 'The API key has ended' },
  key_rotated: { status: 409, title: 'The API key was rotated before' },
  credential_in_use: { status: 409, title: 'The credential is used by workflows' },
  account_exists: { status: 409, title: 'There is an account with this e-mail address already' },
  address_taken: { status: 409, title: 'The e-mail address cannot be used with this invitation' },
  already_member: { status: 409, title: 'Already a member of the organisation' },
  last_admin: { status: 409, title: 'Nobody else would be left to administer it' },
  no_password: { status: 409, title: 'The account has no password' },
  second_factor_on: { status: 409, title: 'The second factor is on already' },
  second_factor_off: { status: 409, title: 'The second factor is off' },
  organisation_exists: { status: 409, title: 'There is an organisation of this name already' },
  precondition_failed: { status: 412, title: 'The resource has changed' },
  body_too_large: { status: 413, title: 'The body is too large' },
  uri_too_long: { status: 414, title: 'The URL is too long' },
  unsupported_media_type: { status: 415, title: 'The body has an unsupported format' },
  validation_failed: { status: 422, title: 'The request is not valid' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_failed_authentications: { status: 429, title: 'Too many failed authentications' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  internal_error: { status: 500, title: 'Internal error' },
  execution_failed: { status: 500, title: 'The execution did not complete' },
  unusable_response: { status: 500, title: 'The workflow gave no valid answer' },
  database_unavailable: { status: 503, title: 'The database is unavailable' },
  overloaded: { status: 503, title: 'The service is overloaded' },
  shutting_down: { status: 503, title: 'The service is shutting down' },
  not_ready: { status: 503, title: 'The service is not ready' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One thing wrong with the request, in a 422 answer. */
export type FieldError = {
  /** JSON Pointer (RFC 6901) into the body; for a query parameter, of the parameters seen as one object. */
  readonly pointer: string;
  /** The same path in dots; made from the pointer when absent. */
  readonly field?: string;
  readonly code: string;
  /** Plain words: what is wrong and what would be right. */
  readonly message: string;
};

export interface ApiErrorOptions {
  readonly errors?: readonly FieldError[];
  /** Additional response headers, such as Retry-After. */
  readonly headers?: { readonly [name: string]: string };
  /** Further members of the answer, beside those of every problem. */
  readonly members?: JsonObject;
  /** Goes to the log only. */
  readonly cause?: unknown;
}

/** An error with a public text. `detail` is shown to the caller; `cause` never is. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: { readonly [name: string]: string };
  readonly members: JsonObject;

  constructor(code: ErrorCode, detail: string, options: ApiErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERROR_CATALOGUE[code].status;
    this.detail = detail;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }
}

/** 422 with one or more field errors. */
export function validationError(errors: readonly FieldError[]): ApiError {
  const detail =
    errors.length === 1
      ? 'One value of the request is not valid; errors says which and why.'
      : `${errors.length} values of the request are not valid; errors says which and why.`;
  return new ApiError('validation_failed', detail, { errors });
}

/**
 * The one 404 for what does not exist, belongs to another organisation or has an impossible id: the text names no id,
 * so that the answers cannot be told apart.
 */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `There is no such ${what}.`);
}

/** Seconds after which a request refused with 503 may be sent again. */
const RETRY_AFTER_SECONDS = '2';

/** Makes the error of an overloaded, unready or closing service. */
export function unavailable(
  code: 'database_unavailable' | 'overloaded' | 'shutting_down' | 'not_ready',
  detail: string,
  cause?: unknown,
): ApiError {
  return new ApiError(code, detail, { headers: { 'retry-after': RETRY_AFTER_SECONDS }, cause });
}
