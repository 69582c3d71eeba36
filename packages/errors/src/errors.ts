import type { JsonObject } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { ExplainedError } from '@millrace/messages/explained-error';

/** How an error code maps to HTTP: one row per code, the only place where a code gets its status and title. */
interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
}

/** Every error code an API response can contain. Once released, a code keeps its meaning. */
export const ERROR_CATALOGUE = {
  invalid_request: { status: 400, title: 'Malformed HTTP request' },
  invalid_url: { status: 400, title: 'Malformed URL' },
  invalid_body: { status: 400, title: 'Unreadable body' },
  invalid_json: { status: 400, title: 'Invalid JSON' },
  json_too_deep: { status: 400, title: 'JSON nested too deeply' },
  invalid_idempotency_key: { status: 400, title: 'Malformed Idempotency-Key' },
  invalid_key: { status: 401, title: 'API key missing or invalid' },
  key_expired: { status: 401, title: 'API key expired' },
  key_revoked: { status: 401, title: 'API key revoked' },
  key_locked: { status: 401, title: 'API key locked' },
  invalid_signature: { status: 401, title: 'Signature missing or invalid' },
  stale_signature: { status: 401, title: 'Signature time out of range' },
  signed_out: { status: 401, title: 'Not signed in' },
  invalid_credentials: { status: 401, title: 'Wrong e-mail address or password' },
  second_factor_required: { status: 401, title: 'Two-factor code required' },
  invalid_second_factor: { status: 401, title: 'Wrong two-factor code' },
  insufficient_role: { status: 403, title: 'Insufficient role' },
  cross_site_request: { status: 403, title: 'Cross-site request refused' },
  insufficient_scope: { status: 403, title: 'Insufficient scope' },
  ip_not_allowed: { status: 403, title: 'IP address not allowed' },
  not_found: { status: 404, title: 'Not found' },
  link_not_valid: { status: 404, title: 'Link no longer valid' },
  no_webhook_trigger: { status: 404, title: 'Workflow has no webhook trigger' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'Not acceptable' },
  request_timeout: { status: 408, title: 'Request timeout' },
  idempotency_key_reused: { status: 409, title: 'Idempotency-Key used for a different request' },
  workflow_inactive: { status: 409, title: 'Workflow inactive' },
  workflow_archived: { status: 409, title: 'Workflow archived' },
  workflow_not_archived: { status: 409, title: 'Workflow not archived' },
  workflow_running: { status: 409, title: 'Workflow has unfinished executions' },
  draft_conflict: { status: 409, title: 'Draft changed elsewhere' },
  version_conflict: { status: 409, title: 'Workflow saved by someone else' },
  execution_final: { status: 409, title: 'Execution already ended' },
  execution_not_final: { status: 409, title: 'Execution still in progress' },
  no_failed_node: { status: 409, title: 'No failed node' },
  callback_used: { status: 409, title: 'Callback already used' },
  execution_ended: { status: 409, title: 'Waiting execution has ended' },
  callback_expired: { status: 410, title: 'Callback expired' },
  key_ended: { status: 409, title: 'API key expired or revoked' },
  key_rotated: { status: 409, title: 'API key already rotated' },
  credential_without_person: { status: 409, title: 'Credential needs no approval' },
  credential_in_use: { status: 409, title: 'Credential in use' },
  connector_in_use: { status: 409, title: 'Connector in use' },
  too_many_connectors: { status: 409, title: 'Too many connectors' },
  account_exists: { status: 409, title: 'Account already exists' },
  address_taken: { status: 409, title: 'E-mail address cannot be used with this invitation' },
  folder_exists: { status: 409, title: 'Folder name already taken' },
  too_many_folders: { status: 409, title: 'Too many folders' },
  too_many_favourites: { status: 409, title: 'Too many favourites' },
  too_many_views: { status: 409, title: 'Too many views' },
  too_many_alert_rules: { status: 409, title: 'Too many alert rules' },
  already_member: { status: 409, title: 'Already a member' },
  last_admin: { status: 409, title: 'Last administrator' },
  no_password: { status: 409, title: 'Account has no password' },
  second_factor_on: { status: 409, title: 'Two-factor authentication already on' },
  second_factor_off: { status: 409, title: 'Two-factor authentication off' },
  organisation_exists: { status: 409, title: 'Organisation name already taken' },
  precondition_failed: { status: 412, title: 'Resource has changed' },
  body_too_large: { status: 413, title: 'Body too large' },
  file_too_large: { status: 413, title: 'File too large' },
  uri_too_long: { status: 414, title: 'URL too long' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  range_not_satisfiable: { status: 416, title: 'Range beyond the end' },
  validation_failed: { status: 422, title: 'Validation failed' },
  invalid_connector: { status: 422, title: 'Connector file has faults' },
  rate_limited: { status: 429, title: 'Too many requests' },
  storage_full: { status: 429, title: 'No storage left' },
  queue_full: { status: 429, title: 'Too many executions waiting' },
  too_many_callers: { status: 429, title: 'Too many callers waiting' },
  rate_queue_full: { status: 429, title: "Too many starts for the workflow's rate" },
  too_many_failed_authentications: { status: 429, title: 'Too many failed authentication attempts' },
  headers_too_large: { status: 431, title: 'Request headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  execution_failed: { status: 500, title: 'Execution did not complete' },
  unusable_response: { status: 500, title: 'Unusable workflow response' },
  database_unavailable: { status: 503, title: 'Database unavailable' },
  statement_timeout: { status: 503, title: 'Database statement took too long' },
  keys_unreachable: { status: 503, title: 'Verification keys unreachable' },
  organisation_paused: { status: 503, title: 'Organisation paused' },
  overloaded: { status: 503, title: 'Service overloaded' },
  shutting_down: { status: 503, title: 'Service shutting down' },
  file_store_unavailable: { status: 503, title: 'Store for files unavailable' },
  not_ready: { status: 503, title: 'Service not ready' },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** One invalid value in the request, in a 422 response. */
export interface FieldError {
  /** JSON Pointer (RFC 6901) into the body; for a query parameter, into the parameters as one object. */
  readonly pointer: string;
  readonly code: string;
  /** What is wrong and what would be right. Follows the value's name: lower case, no full stop. */
  readonly message: Message;
}

export interface ApiErrorOptions {
  readonly errors?: readonly FieldError[];
  /** Additional response headers, such as Retry-After. */
  readonly headers?: { readonly [name: string]: string };
  /** Additional members of the response, besides those of every problem. */
  readonly members?: JsonObject;
  /** Only logged. */
  readonly cause?: unknown;
}

/** An error that is reported to the caller. `cause` is only logged. */
export class ApiError extends ExplainedError {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: { readonly [name: string]: string };
  readonly members: JsonObject;

  constructor(code: ErrorCode, explanation: Message, options: ApiErrorOptions = {}) {
    super(explanation, options);
    this.code = code;
    this.status = ERROR_CATALOGUE[code].status;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }
}

/** 422 with one or more field errors. */
export function validationError(errors: readonly FieldError[]): ApiError {
  const explanation = message('api.invalid_values', { count: errors.length });
  return new ApiError('validation_failed', explanation, { errors });
}

const NOT_FOUND = {
  account: message('api.account_not_found'),
  alert_rule: message('api.alert_rule_not_found'),
  api_key: message('api.api_key_not_found'),
  approval: message('api.approval_not_found'),
  callback: message('api.callback_not_found'),
  connector: message('api.connector_not_found'),
  credential: message('api.credential_not_found'),
  execution: message('api.execution_not_found'),
  file: message('api.file_not_found'),
  folder: message('api.folder_not_found'),
  invitation: message('api.invitation_not_found'),
  member: message('api.member_not_found'),
  memory: message('api.memory_not_found'),
  node_run: message('api.node_run_not_found'),
  organisation: message('api.organisation_not_found'),
  session: message('api.session_not_found'),
  vector_collection: message('api.vector_collection_not_found'),
  vector_item: message('api.vector_item_not_found'),
  version: message('api.version_not_found'),
  view: message('api.view_not_found'),
  webhook: message('api.webhook_not_found'),
  workflow: message('api.workflow_not_found'),
};

export type Resource = keyof typeof NOT_FOUND;

/**
 * The only 404 for what doesn't exist, belongs to another organisation or has an impossible id: the message contains no id, so that the
 * responses are indistinguishable.
 */
export function notFound(what: Resource): ApiError {
  return new ApiError('not_found', NOT_FOUND[what]);
}

/** Seconds after which a request refused with 503 may be retried. */
const RETRY_AFTER_SECONDS = 2;

/** Creates the error of an overloaded, unready or closing service. */
export function unavailable(
  code: 'database_unavailable' | 'statement_timeout' | 'overloaded' | 'shutting_down' | 'not_ready',
  explanation: Message,
  {
    retryAfterSeconds = RETRY_AFTER_SECONDS,
    cause,
  }: { readonly retryAfterSeconds?: number; readonly cause?: unknown } = {},
): ApiError {
  return new ApiError(code, explanation, { headers: { 'retry-after': String(retryAfterSeconds) }, cause });
}
