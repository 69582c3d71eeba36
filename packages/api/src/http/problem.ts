import { randomUUID } from 'node:crypto';
import { DatabaseUnavailableError, sqlState } from '@millrace/database/errors';
import { type JsonValue, pointerToField, stringifyJson } from '@millrace/engine';
import {
  ApiError,
  ERROR_CATALOGUE,
  type ErrorCode,
  type FieldError,
  unavailable,
} from '@millrace/errors/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { redactUrl } from './redact.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** The body of every error answer (RFC 9457). */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Path of the request, without its query string and without secrets. */
  readonly instance: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly Required<FieldError>[];
  /** What only this kind of problem tells. */
  readonly [member: string]: JsonValue;
};

/** Makes an id for a request: unguessable, unique over processes. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

/** The URI that identifies a kind of problem. */
export function problemType(code: ErrorCode): string {
  return `urn:millrace:problem:${code}`;
}

/** Puts an error into its public form. */
export function toProblem(error: ApiError, url: string, requestId: string): Problem {
  return {
    ...error.members,
    type: problemType(error.code),
    title: ERROR_CATALOGUE[error.code].title,
    status: error.status,
    detail: error.detail,
    instance: redactUrl(url),
    code: error.code,
    request_id: requestId,
    ...(error.errors === undefined ? {} : { errors: error.errors.map(withField) }),
  };
}

function withField(error: FieldError): Required<FieldError> {
  const { pointer, code, message } = error;
  return { pointer, field: error.field ?? pointerToField(pointer), code, message };
}

/** Sends an error answer. */
export async function sendProblem(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return reply
    .code(error.status)
    .headers(error.headers)
    .header('content-type', PROBLEM_TYPE)
    .serializer((body: JsonValue) => stringifyJson(body))
    .send(toProblem(error, request.originalUrl, request.id));
}

/** Gives whatever was thrown its public form; what is not known becomes `internal_error` without internals. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseUnavailableError) {
    return unavailable(
      'database_unavailable',
      isDiskFull(error)
        ? 'The disk of the database is full. As soon as there is room the request can be sent again.'
        : 'The database cannot be reached at the moment. Send the request again after the time in Retry-After.',
      error,
    );
  }
  const known = error instanceof Error && 'code' in error ? FRAMEWORK_ERRORS[String(error.code)] : undefined;
  if (known !== undefined) return known(error, request);
  return new ApiError(
    'internal_error',
    'The service failed to handle the request. The log has the cause under the request_id.',
    { cause: error },
  );
}

/** PostgreSQL's disk_full. */
function isDiskFull({ cause }: DatabaseUnavailableError): boolean {
  return sqlState(cause) === '53100';
}

const overloaded = (cause: unknown): ApiError =>
  unavailable(
    'overloaded',
    'The service is overloaded. Send the request again after the time in Retry-After.',
    cause,
  );
const badLength = (cause: unknown): ApiError =>
  new ApiError('invalid_body', 'The body is not as long as Content-Length says. Send all of it.', { cause });

/** Errors that the framework throws by itself, before or beside a route's handler. */
const FRAMEWORK_ERRORS: { readonly [code: string]: (cause: unknown, request: FastifyRequest) => ApiError } = {
  FST_ERR_CTP_BODY_TOO_LARGE: (cause, { routeOptions }) =>
    new ApiError(
      'body_too_large',
      `The body is larger than the ${routeOptions.bodyLimit} bytes this endpoint accepts. Send less at once.`,
      { cause },
    ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (cause, { routeOptions }) => {
    const form = routeOptions.config.webhook === true ? ', or as application/x-www-form-urlencoded' : '';
    const detail = `Send the body as JSON with Content-Type: application/json${form}.`;
    return new ApiError('unsupported_media_type', detail, { cause });
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: badLength,
  ECONNRESET: badLength,
  ECONNABORTED: badLength,
  FST_ERR_BAD_URL: (cause) =>
    new ApiError('invalid_url', 'The path has a percent escape that stands for no character.', { cause }),
  FST_ERR_MAX_PARAM_LENGTH: (cause) =>
    new ApiError('uri_too_long', 'The URL is longer than the service accepts.', { cause }),
  FST_ERR_NOT_FOUND: (cause) => new ApiError('not_found', 'There is nothing at this path.', { cause }),
  FST_ERR_HANDLER_TIMEOUT: overloaded,
};
