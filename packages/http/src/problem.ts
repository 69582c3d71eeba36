import { randomUUID } from 'node:crypto';
import { DatabaseUnavailableError, isDiskFull, isStatementTimeout } from '@millrace/database/errors';
import { type JsonValue, pointerToField, stringifyJson } from '@millrace/engine';
import {
  ApiError,
  ERROR_CATALOGUE,
  type ErrorCode,
  type FieldError,
  unavailable,
} from '@millrace/errors/errors';
import { AccountError, toApiError as ofAccountError } from '@millrace/identity/values/account-error';
import { type Message, message } from '@millrace/messages';
import { inEnglish, presentMessage } from '@millrace/messages/english';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { redactUrl } from './redact.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** The body of every error response (RFC 9457). */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Path of the request, without its query string and without secrets. */
  readonly instance: string;
  readonly code: ErrorCode;
  readonly request_id: string;
  readonly errors?: readonly FieldProblem[];
  /** Members specific to this kind of problem. */
  readonly [member: string]: JsonValue;
};

type FieldProblem = Required<Omit<FieldError, 'message'>> & { readonly message: string };

/** A request id: unguessable and unique across processes. */
export function newRequestId(): string {
  return `req_${randomUUID().replaceAll('-', '')}`;
}

/** The URI that identifies a kind of problem. */
export function problemType(code: ErrorCode): string {
  return `urn:millrace:problem:${code}`;
}

/**
 * Converts an error to its public form.
 * @param present renders a sentence; for the page it adds key and parameters to the English
 */
export function toProblem(
  error: ApiError,
  url: string,
  requestId: string,
  present: PresentMessage = presentEnglish,
): Problem {
  const { message: detail, ...explanation } = present(error.explanation);
  return {
    ...error.members,
    type: problemType(error.code),
    title: ERROR_CATALOGUE[error.code].title,
    status: error.status,
    detail,
    ...explanation,
    instance: redactUrl(url),
    code: error.code,
    request_id: requestId,
    ...(error.errors === undefined
      ? {}
      : { errors: error.errors.map((each) => presentField(each, present)) }),
  };
}

type PresentMessage = (said: Message) => { readonly message: string };

function presentEnglish(said: Message): { readonly message: string } {
  return { message: inEnglish(said) };
}

/** Invalid values as they appear in responses. */
export function presentFieldErrors(errors: readonly FieldError[]): FieldProblem[] {
  return errors.map((each) => presentField(each, presentEnglish));
}

function presentField({ pointer, code, message: said }: FieldError, present: PresentMessage) {
  return { pointer, field: pointerToField(pointer), code, ...present(said) };
}

/** Sends an error response. */
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
    .send(toProblem(error, request.originalUrl, request.id, isForPage(request) ? presentMessage : undefined));
}

function isForPage({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.admin !== undefined;
}

/** Converts anything thrown to its public form; unknown errors become `internal_error` without internals. */
export function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof AccountError) return ofAccountError(error);
  // Not an outage: repeating the same request may take as long.
  if (isStatementTimeout(error)) {
    return unavailable('statement_timeout', message('api.statement_timeout'), { cause: error });
  }
  if (error instanceof DatabaseUnavailableError) {
    return unavailable(
      'database_unavailable',
      message(isDiskFull(error) ? 'api.database_disk_full' : 'api.database_unavailable'),
      { cause: error },
    );
  }
  const known = error instanceof Error && 'code' in error ? FRAMEWORK_ERRORS[String(error.code)] : undefined;
  if (known !== undefined) return known(error, request);
  return new ApiError('internal_error', message('api.internal_error'), { cause: error });
}

const overloaded = (cause: unknown): ApiError =>
  unavailable('overloaded', message('api.overloaded'), { cause });
const badLength = (cause: unknown): ApiError =>
  new ApiError('invalid_body', message('api.body_length'), { cause });

/** Errors that the framework throws itself, outside a route's handler. */
const FRAMEWORK_ERRORS: { readonly [code: string]: (cause: unknown, request: FastifyRequest) => ApiError } = {
  FST_ERR_CTP_BODY_TOO_LARGE: (cause, { routeOptions }) =>
    new ApiError('body_too_large', message('api.body_too_large', { bytes: routeOptions.bodyLimit }), {
      cause,
    }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (cause, { routeOptions }) => {
    const explanation = message(
      routeOptions.config.webhook === true ? 'api.body_type_or_form' : 'api.body_type',
    );
    return new ApiError('unsupported_media_type', explanation, { cause });
  },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: badLength,
  ECONNRESET: badLength,
  ECONNABORTED: badLength,
  FST_ERR_BAD_URL: (cause) => new ApiError('invalid_url', message('api.url_malformed'), { cause }),
  FST_ERR_MAX_PARAM_LENGTH: (cause) => new ApiError('uri_too_long', message('api.url_too_long'), { cause }),
  FST_ERR_NOT_FOUND: (cause) => new ApiError('not_found', message('api.path_not_found'), { cause }),
  FST_ERR_HANDLER_TIMEOUT: overloaded,
};
