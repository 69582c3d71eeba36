import {
  describeKeyword,
  findUnsupportedCharacters,
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonValue,
  joinPointer,
  parseTimestamp,
  REQUIRED,
  UNKNOWN_FIELD,
} from '@millrace/engine';
import { type ApiError, type FieldError, validationError } from '@millrace/errors/errors';
import { findNameProblem } from '@millrace/identity/values/names';
import { message } from '@millrace/messages';
import { inEnglish } from '@millrace/messages/english';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';

/** A client that sends thousands of errors only gets the first ones. */
const MAX_ERRORS = 100;
/** Members or items per level above which a body is only checked up to its first error. */
const LARGE_LEVEL = 1_000;

// verbose: errors then include the keyword's value, which the length messages need. The schemas are ours: checking them by the schema of schemas
// would hold the main thread for 85 ms when a process reads its first request.
const OPTIONS = {
  strict: false,
  meta: false,
  validateSchema: false,
  ownProperties: true,
  messages: true,
  validateFormats: true,
  verbose: true,
} as const;

/** A name, with limits on its length after trimming: `{"x-name": [1, 255]}`. */
const NAME = 'x-name';

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ ...OPTIONS, allErrors });
  ajv.addFormat('date-time', (text: string) => parseTimestamp(text) !== null);
  ajv.addKeyword({
    keyword: NAME,
    type: 'string',
    schemaType: 'array',
    compile: (length: readonly [number, number]) => (text: string) => findNameProblem(text, length) === null,
  });
  return ajv;
}

/** Each schema is compiled once per process, for all services in it, and when it is first needed: compiling took most of a service's start. */
let validators: { readonly first: Ajv2020; readonly all: Ajv2020 } | undefined;

/**
 * The compiler for route schemas: every error is reported with its pointer, and nothing is converted or defaulted except query parameters,
 * which are strings by nature.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  validators ??= { first: createAjv(false), all: createAjv(true) };
  const { first, all } = validators;
  return ({ schema: declared, httpPart }) => {
    const schema = declared as JsonSchema;
    if (httpPart === 'querystring') {
      return (query: unknown) => checkQuery(schema, all.compile(schema), query);
    }
    return (body: unknown) => {
      const value = doubleView(body as JsonValue);
      const isValid = first.compile(schema);
      return isValid(value)
        ? true
        : { error: refusal(isLarge(value) ? isValid : all.compile(schema), value) };
    };
  };
}

type JsonSchema = {
  readonly properties?: { readonly [name: string]: { readonly type?: string | readonly string[] } };
};

function refusal(validate: ValidateFunction, value: unknown): ApiError {
  validate(value);
  return validationError(toFieldErrors(validate.errors ?? []));
}

function checkQuery(
  schema: JsonSchema,
  validate: ValidateFunction,
  query: unknown,
): { error: ApiError } | { value: unknown } {
  const value = Object.fromEntries(
    Object.entries(query as { [name: string]: unknown }).map(([name, text]) => [
      name,
      convertParameter(text, schema.properties?.[name]?.type),
    ]),
  );
  if (!validate(value)) return { error: validationError(toFieldErrors(validate.errors ?? [])) };
  const pointer = findUnsupportedCharacters(value as JsonValue);
  return pointer === null ? { value } : { error: unsupportedCharacter(pointer) };
}

/** The error for text that PostgreSQL can't store or compare. */
export function unsupportedCharacter(pointer: string): ApiError {
  const fault = message('api.unsupported_character');
  return validationError([{ pointer, code: 'unsupported_character', message: fault }]);
}

/** What can't be converted stays a string, so that the schema refuses it with its own message. */
function convertParameter(text: unknown, type: string | readonly string[] | undefined): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^(?:0|-?[1-9]\d*)$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function isLarge(value: JsonValue): boolean {
  if (isJsonArray(value)) return value.length > LARGE_LEVEL;
  if (!isJsonObject(value)) return false;
  const members = Object.values(value);
  return (
    members.length > LARGE_LEVEL ||
    members.some((member) => (isJsonArray(member) ? member.length : 0) > LARGE_LEVEL)
  );
}

/**
 * The value with exact numbers replaced by the nearest doubles, for validation only: a schema would take an exact number for an object.
 * Returns the same value if there are none.
 */
export function doubleView(value: JsonValue): JsonValue {
  return holdsExactNumber(value) ? withDoubles(value) : value;
}

/** Nearly always false, so nothing is allocated for it. */
function holdsExactNumber(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isRawNumber(value)) return true;
  if (isJsonArray(value)) return value.some(holdsExactNumber);
  for (const name in value) {
    const member = value[name];
    if (member !== undefined && holdsExactNumber(member)) return true;
  }
  return false;
}

function withDoubles(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (isJsonArray(value)) {
    return value.map(withDoubles);
  }
  // fromEntries defines members, so that `__proto__` remains one.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withDoubles(member)]));
}

/** Converts Ajv's errors to the API's format. */
function toFieldErrors(errors: readonly ErrorObject[]): FieldError[] {
  const found = errors
    // These repeat the errors of their branches.
    .filter(({ keyword }) => !['if', 'anyOf', 'oneOf', 'allOf'].includes(keyword) || errors.length === 1)
    .map(toFieldError);
  const distinct = new Map(
    found.map((error) => [`${error.pointer} ${error.code} ${inEnglish(error.message)}`, error]),
  );
  return [...distinct.values()].slice(0, MAX_ERRORS);
}

function toFieldError(error: ErrorObject): FieldError {
  const at = error.instancePath;
  const { params } = error;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return {
        pointer: joinPointer(at, String(params.missingProperty)),
        ...REQUIRED,
      };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        pointer: joinPointer(at, String(params.additionalProperty ?? params.unevaluatedProperty)),
        ...UNKNOWN_FIELD,
      };
    case 'uniqueItems':
      return {
        pointer: joinPointer(at, Math.max(Number(params.i), Number(params.j))),
        code: 'duplicate_item',
        message: message('api.duplicate_item'),
      };
    default:
      return { pointer: at, ...describe(error) };
  }
}

function describe({
  keyword,
  params,
  schema,
  data,
  message: reason,
}: ErrorObject): Omit<FieldError, 'pointer'> {
  const nameProblem =
    keyword === NAME ? findNameProblem(String(data), schema as readonly [number, number]) : null;
  if (nameProblem !== null) return nameProblem;
  return describeKeyword(keyword, params, `is not valid: ${reason ?? keyword}`);
}
