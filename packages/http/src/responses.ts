import type { JsonObject } from '@millrace/engine';
import { ApiError, ERROR_CATALOGUE, type ErrorCode } from '@millrace/errors/errors';
import { message, verbatim } from '@millrace/messages';
import { type TSchema, Type } from 'typebox';
import { PROBLEM_TYPE, toProblem } from './problem.ts';

/** Response headers in a route's schema, by name. */
export type HeaderSchemas = {
  readonly [name: string]: { readonly description: string; readonly type: string };
};

export interface ResponseOptions {
  readonly headers?: HeaderSchemas;
  readonly example?: unknown;
  /** `application/json` if absent. */
  readonly mediaType?: string;
}

/** One success response of a route, for `schema.response`. */
export function response(description: string, schema: TSchema, options: ResponseOptions = {}) {
  const media = { schema, ...(options.example === undefined ? {} : { example: options.example }) };
  return {
    description,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
    content: { [options.mediaType ?? 'application/json']: media },
  };
}

/** Headers shared by several responses. */
export const HEADERS = {
  location: { type: 'string', description: 'Absolute URL of the resource.' },
  etag: { type: 'string', description: 'Version and update time of the workflow; send it back in If-Match.' },
  idempotentReplayed: {
    type: 'string',
    description: '`true` if this is the stored response to an earlier request with the same Idempotency-Key.',
  },
} as const;

/** The envelope of a page of a list. */
export function pageOf(item: TSchema): TSchema {
  return Type.Object({
    data: Type.Array(item),
    pagination: Type.Object({
      next_cursor: Type.Union([Type.String(), Type.Null()], {
        description: 'Pass it as `cursor` to get the next page; null if there is none.',
      }),
      has_more: Type.Boolean(),
      limit: Type.Integer({ description: 'The page size applied.' }),
    }),
  });
}

/** Query parameters of every list. */
export const PAGE_PARAMETERS = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Page size.' })),
  cursor: Type.Optional(
    Type.String({
      description: '`pagination.next_cursor` of the previous page; valid only with the same filters.',
    }),
  ),
} as const;

/** An object with arbitrary members. Allowing them is explicit: without it, generated clients assume an object with none. */
export function freeObject(about: { readonly description?: string; readonly examples?: unknown[] } = {}) {
  return Type.Unsafe<JsonObject>({
    type: 'object',
    additionalProperties: true,
    ...about,
  });
}

/** A moment in UTC with milliseconds. */
export const TIMESTAMP = Type.String({ format: 'date-time', examples: ['2026-11-20T09:30:00.000Z'] });

/** One invalid value of a request. */
export const FieldErrorSchema = Type.Object({
  pointer: Type.String({ description: 'JSON Pointer to the value.' }),
  field: Type.String({ description: 'The same path in dot notation.' }),
  code: Type.String(),
  message: Type.String(),
});

const problemMembers = {
  type: Type.String({ format: 'uri' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'What is wrong and how to fix it.' }),
  instance: Type.String({ description: 'Path of the request, without secrets.' }),
  code: Type.String({ description: 'Stable name of the error.' }),
  request_id: Type.String({ description: 'ID of the request in the log.' }),
};

/** Schemas of error responses, by their name in the OpenAPI document. */
export const PROBLEM_SCHEMAS = {
  Problem: Type.Object(problemMembers, { description: 'An error (RFC 9457).' }),
  ValidationProblem: Type.Object(
    { ...problemMembers, errors: Type.Array(FieldErrorSchema, { minItems: 1 }) },
    { description: 'An error with one entry for each invalid value.' },
  ),
};

const RETRY_AFTER = { schema: { type: 'integer' }, description: 'Seconds to wait before the next attempt.' };
const PRESENT_STATE = { schema: { type: 'string' }, description: 'ETag of the current state.' };
const CHALLENGE = { schema: { type: 'string' }, description: 'The challenge (RFC 6750).' };

/** The OpenAPI responses for error codes, one per status. */
export function problemResponses(codes: readonly ErrorCode[]): { [status: string]: object } {
  const byStatus = Map.groupBy([...new Set(codes)], (code) => ERROR_CATALOGUE[code].status);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, group]) => [String(status), problemResponse(status, group)]),
  );
}

function problemResponse(status: number, codes: readonly ErrorCode[]): object {
  const schema = status === 422 ? 'ValidationProblem' : 'Problem';
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].title}.`).join(' '),
    headers: problemHeaders(status),
    content: {
      [PROBLEM_TYPE]: {
        schema: { $ref: `#/components/schemas/${schema}` },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** An example of every error, by its code. */
export function problemExamples(): { [code: string]: { summary: string; value: object } } {
  const codes = Object.keys(ERROR_CATALOGUE) as ErrorCode[];
  return Object.fromEntries(
    codes.map((code) => [code, { summary: ERROR_CATALOGUE[code].title, value: problemExample(code) }]),
  );
}

function problemExample(code: ErrorCode): object {
  const isValidation = code === 'validation_failed';
  const errors = isValidation
    ? { errors: [{ pointer: '/name', code: 'required', message: verbatim('is required') }] }
    : {};
  const detail = isValidation
    ? message('api.invalid_values', { count: 1 })
    : verbatim(`${ERROR_CATALOGUE[code].title}.`);
  const error = new ApiError(code, detail, errors);
  return toProblem(error, '/api/v1/workflows', 'req_0f8fad5bd9cb469fa16570867728950e');
}

function problemHeaders(status: number): object {
  const requestId = { 'X-Request-Id': { schema: { type: 'string' }, description: 'ID of the request.' } };
  if (status === 429 || status === 503) return { ...requestId, 'Retry-After': RETRY_AFTER };
  if (status === 401 || status === 403) return { ...requestId, 'WWW-Authenticate': CHALLENGE };
  if (status === 412) return { ...requestId, ETag: PRESENT_STATE };
  return requestId;
}
