import { type Message, message, verbatim } from '@millrace/messages';
import { own } from '@millrace/values/json';

/** What a violated JSON Schema keyword means to the sender of the value. */
export interface KeywordMessage {
  /** Stable, snake_case. */
  readonly code: string;
  /** Follows the value's name: lower case, no full stop. */
  readonly message: Message;
}

type Params = { readonly [name: string]: unknown };

/** For a missing member. */
export const REQUIRED: KeywordMessage = { code: 'required', message: message('flow.required') };
/** For a member that isn't allowed. */
export const UNKNOWN_FIELD: KeywordMessage = {
  code: 'unknown_field',
  message: message('flow.unknown_field'),
};

/** For a list with equal items. */
export const NOT_UNIQUE: KeywordMessage = { code: 'invalid_value', message: message('flow.not_unique') };

/**
 * The message for a keyword, the same for every schema in the service.
 * @param params from Ajv or TypeBox: `limit`, `type`, `allowedValues` and so on
 * @param otherwise the validator's own message, for keywords without one here
 */
export function describeKeyword(keyword: string, params: Params, otherwise: string): KeywordMessage {
  const rule = own(MESSAGES, keyword);
  if (rule === undefined) return { code: 'invalid_value', message: verbatim(otherwise) };
  const [code, describe] = rule;
  return { code, message: describe(params) };
}

type Rule = readonly [code: string, describe: (params: Params) => Message];

const MESSAGES: { readonly [keyword: string]: Rule } = {
  type: ['invalid_type', ({ type }) => message('flow.wrong_type', { types: typeNames(type) })],
  enum: [
    'invalid_value',
    ({ allowedValues }) => message('flow.not_one_of', { values: listed(allowedValues) }),
  ],
  const: ['invalid_value', ({ allowedValue }) => message('flow.not_equal', { value: quoted(allowedValue) })],
  minLength: ['too_short', ({ limit }) => message('flow.too_short', { count: Number(limit) })],
  maxLength: ['too_long', ({ limit }) => message('flow.too_long', { count: Number(limit) })],
  minItems: ['too_few_items', ({ limit }) => message('flow.too_few_items', { count: Number(limit) })],
  maxItems: ['too_many_items', ({ limit }) => message('flow.too_many_items', { count: Number(limit) })],
  minProperties: [
    'too_few_members',
    ({ limit }) => message('flow.too_few_members', { count: Number(limit) }),
  ],
  maxProperties: [
    'too_many_members',
    ({ limit }) => message('flow.too_many_members', { count: Number(limit) }),
  ],
  minimum: ['out_of_range', ({ limit }) => message('flow.below_minimum', { limit: String(limit) })],
  maximum: ['out_of_range', ({ limit }) => message('flow.above_maximum', { limit: String(limit) })],
  exclusiveMinimum: ['out_of_range', ({ limit }) => message('flow.not_above', { limit: String(limit) })],
  exclusiveMaximum: ['out_of_range', ({ limit }) => message('flow.not_below', { limit: String(limit) })],
  multipleOf: [
    'invalid_value',
    ({ multipleOf }) => message('flow.not_a_multiple', { factor: String(multipleOf) }),
  ],
  pattern: [
    'invalid_format',
    ({ pattern }) => message('flow.pattern_mismatch', { pattern: sourceOf(pattern) }),
  ],
  format: [
    'invalid_format',
    ({ format }) =>
      format === 'date-time'
        ? message('flow.not_a_time')
        : message('flow.wrong_format', { format: String(format) }),
  ],
};

const TYPE_NAMES: { readonly [type: string]: Message } = {
  string: message('flow.type_string'),
  integer: message('flow.type_integer'),
  number: message('flow.type_number'),
  boolean: message('flow.type_boolean'),
  object: message('flow.type_object'),
  array: message('flow.type_array'),
};

function typeNames(types: unknown): readonly Message[] {
  const names = Array.isArray(types) ? types : [types];
  return names.map((type) => TYPE_NAMES[String(type)] ?? verbatim(String(type)));
}

function sourceOf(pattern: unknown): string {
  return pattern instanceof RegExp ? pattern.source : String(pattern);
}

/** Strings without quotes when they are plain words, so that a list of names reads naturally. */
function quoted(value: unknown): string {
  return typeof value === 'string' && /^[\w.:-]+$/.test(value) ? value : JSON.stringify(value);
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(quoted).join(', ') : quoted(values);
}
