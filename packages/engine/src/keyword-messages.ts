/** What a broken JSON Schema keyword means to whoever sent the value. */
export interface KeywordMessage {
  /** Stable, snake_case. */
  readonly code: string;
  /** Goes behind the value's name: lower case, no full stop. */
  readonly message: string;
}

type Params = { readonly [name: string]: unknown };

/** What is said of a member that is missing. */
export const REQUIRED: KeywordMessage = { code: 'required', message: 'is required' };
/** What is said of a member that may not be there. */
export const UNKNOWN_FIELD: KeywordMessage = {
  code: 'unknown_field',
  message: 'is not known here; remove it or check how it is spelled',
};

/**
 * The words for a keyword, the same for every schema in the service.
 * @param params as Ajv and TypeBox give them: `limit`, `type`, `allowedValues` and the like
 * @param otherwise the validator's own words, for keywords without any here
 */
export function describeKeyword(keyword: string, params: Params, otherwise: string): KeywordMessage {
  const describe = Object.hasOwn(MESSAGES, keyword) ? MESSAGES[keyword] : undefined;
  return describe?.(params) ?? { code: 'invalid_value', message: otherwise };
}

const MESSAGES: { readonly [keyword: string]: (params: Params) => KeywordMessage } = {
  type: ({ type }) => ({ code: 'invalid_type', message: `must be ${typeNames(type)}` }),
  enum: ({ allowedValues }) => ({
    code: 'invalid_value',
    message: `must be one of ${listed(allowedValues)}`,
  }),
  const: ({ allowedValue }) => ({ code: 'invalid_value', message: `must be ${quoted(allowedValue)}` }),
  minLength: ({ limit }) => ({
    code: 'too_short',
    message: `must have at least ${plural(limit, 'character')}`,
  }),
  maxLength: ({ limit }) => ({
    code: 'too_long',
    message: `must have at most ${plural(limit, 'character')}`,
  }),
  minItems: ({ limit }) => ({
    code: 'too_few_items',
    message: `must have at least ${plural(limit, 'item')}`,
  }),
  maxItems: ({ limit }) => ({
    code: 'too_many_items',
    message: `must have at most ${plural(limit, 'item')}`,
  }),
  minProperties: ({ limit }) => ({
    code: 'too_few_members',
    message: `must have at least ${plural(limit, 'member')}`,
  }),
  maxProperties: ({ limit }) => ({
    code: 'too_many_members',
    message: `must have at most ${plural(limit, 'member')}`,
  }),
  minimum: ({ limit }) => ({ code: 'out_of_range', message: `must be ${String(limit)} or more` }),
  maximum: ({ limit }) => ({ code: 'out_of_range', message: `must be ${String(limit)} or less` }),
  exclusiveMinimum: ({ limit }) => ({ code: 'out_of_range', message: `must be more than ${String(limit)}` }),
  exclusiveMaximum: ({ limit }) => ({ code: 'out_of_range', message: `must be less than ${String(limit)}` }),
  multipleOf: ({ multipleOf }) => ({
    code: 'invalid_value',
    message: `must be a multiple of ${String(multipleOf)}`,
  }),
  pattern: ({ pattern }) => ({
    code: 'invalid_format',
    message: `must match the pattern ${sourceOf(pattern)}`,
  }),
  format: ({ format }) => ({ code: 'invalid_format', message: formatMessage(format) }),
};

const TYPE_NAMES: { readonly [type: string]: string } = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function typeNames(types: unknown): string {
  const names = Array.isArray(types) ? types : [types];
  return names.map((type) => TYPE_NAMES[String(type)] ?? String(type)).join(' or ');
}

function formatMessage(format: unknown): string {
  return format === 'date-time'
    ? 'must be an ISO 8601 time with an offset, such as 2026-11-20T09:30:00Z'
    : `must have the format ${String(format)}`;
}

function sourceOf(pattern: unknown): string {
  return pattern instanceof RegExp ? pattern.source : String(pattern);
}

/** Texts without quotes when they are plain words, so that a list of names reads like one. */
function quoted(value: unknown): string {
  return typeof value === 'string' && /^[\w.:-]+$/.test(value) ? value : JSON.stringify(value);
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(quoted).join(', ') : quoted(values);
}

function plural(count: unknown, noun: string): string {
  return `${String(count)} ${noun}${count === 1 ? '' : 's'}`;
}
