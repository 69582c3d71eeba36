import { type Message, message } from '@millrace/messages';
import { isJsonArray, isJsonObject, isRawNumber, type JsonValue } from '@millrace/values/json';

/** The allowed values of a JSON Schema keyword. */
export interface KeywordRule {
  /** Follows the keyword's name. */
  readonly message: Message;
  fits(value: JsonValue): boolean;
  /** Set when the value is a schema or contains schemas. */
  readonly parts?: PartKind;
}

/** One schema, a list of them, an object whose members are schemas, or one whose members may also be lists of names. */
export type PartKind = 'one' | 'list' | 'members' | 'dependencies';

/** The schemas in a keyword's value, with their names or indexes; null for the value itself. */
export function partsOf(value: JsonValue, kind: PartKind): readonly (readonly [string | null, JsonValue])[] {
  if (kind === 'one') return [[null, value]];
  if (kind === 'list') return isJsonArray(value) ? value.map((part, index) => [String(index), part]) : [];
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return kind === 'members' ? members : members.filter(([, part]) => !isJsonArray(part));
}

const isCount = (value: JsonValue): boolean => {
  const number = numberOf(value);
  return number !== null && Number.isInteger(number) && number >= 0;
};
const isText = (value: JsonValue): boolean => typeof value === 'string';
const isFlag = (value: JsonValue): boolean => typeof value === 'boolean';
const isTextList = (value: JsonValue): boolean =>
  isJsonArray(value) && value.every(isText) && new Set(value).size === value.length;

const TYPES: ReadonlySet<JsonValue> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

function isTypes(value: JsonValue): boolean {
  if (!isJsonArray(value)) return TYPES.has(value);
  return value.length > 0 && isTextList(value) && value.every((type) => TYPES.has(type));
}

function numberOf(value: JsonValue): number | null {
  if (typeof value === 'number') return value;
  return isRawNumber(value) ? Number(value.rawJSON) : null;
}

const SCHEMA: KeywordRule = {
  // Invalid schemas are reported where the schema itself is checked.
  fits: (value) => !isJsonArray(value),
  message: message('flow.not_a_schema'),
  parts: 'one',
};
const ITEMS: KeywordRule = {
  ...SCHEMA,
  message: message('flow.schema_not_list'),
};
const SCHEMAS: KeywordRule = {
  fits: (value) => isJsonArray(value) && value.length > 0,
  message: message('flow.not_schemas'),
  parts: 'list',
};
const NAMED_SCHEMAS: KeywordRule = {
  fits: isJsonObject,
  message: message('flow.not_named_schemas'),
  parts: 'members',
};
const DEPENDENCIES: KeywordRule = {
  fits: (value) =>
    isJsonObject(value) && Object.values(value).every((part) => !isJsonArray(part) || isTextList(part)),
  message: message('flow.not_dependencies'),
  parts: 'dependencies',
};
const TYPE: KeywordRule = {
  fits: isTypes,
  message: message('flow.not_a_type'),
};
const COUNT: KeywordRule = { fits: isCount, message: message('flow.not_a_count') };
const NUMBER: KeywordRule = {
  fits: (value) => numberOf(value) !== null,
  message: message('flow.not_a_number'),
};
const POSITIVE: KeywordRule = {
  fits: (value) => (numberOf(value) ?? 0) > 0,
  message: message('flow.not_positive'),
};
const TEXT: KeywordRule = { fits: isText, message: message('flow.not_a_string') };
const FLAG: KeywordRule = { fits: isFlag, message: message('flow.not_a_boolean') };
const LIST: KeywordRule = { fits: isJsonArray, message: message('flow.not_a_list') };
const TEXTS: KeywordRule = { fits: isTextList, message: message('flow.not_strings') };
const NAMED_TEXTS: KeywordRule = {
  fits: (value) => isJsonObject(value) && Object.values(value).every(isTextList),
  message: message('flow.not_named_strings'),
};
const VOCABULARY: KeywordRule = {
  fits: (value) => isJsonObject(value) && Object.values(value).every(isFlag),
  message: message('flow.not_a_vocabulary'),
};
const ID: KeywordRule = {
  fits: (value) => typeof value === 'string' && /^[^#]*#?$/.test(value),
  message: message('flow.not_an_id'),
};
const ANCHOR: KeywordRule = {
  fits: (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  message: message('flow.not_an_anchor'),
};

/**
 * The keywords of JSON Schema 2020-12 with the constraints of its meta-schema, and those of earlier drafts that it still describes. A test
 * compares this with the meta-schema itself.
 */
export const RULES: { readonly [keyword: string]: KeywordRule } = {
  $id: ID,
  $schema: TEXT,
  $ref: TEXT,
  $anchor: ANCHOR,
  $dynamicRef: TEXT,
  $dynamicAnchor: ANCHOR,
  $recursiveRef: TEXT,
  $recursiveAnchor: ANCHOR,
  $vocabulary: VOCABULARY,
  $comment: TEXT,
  $defs: NAMED_SCHEMAS,
  definitions: NAMED_SCHEMAS,
  dependencies: DEPENDENCIES,
  prefixItems: SCHEMAS,
  items: ITEMS,
  contains: SCHEMA,
  additionalProperties: SCHEMA,
  properties: NAMED_SCHEMAS,
  patternProperties: NAMED_SCHEMAS,
  dependentSchemas: NAMED_SCHEMAS,
  propertyNames: SCHEMA,
  if: SCHEMA,
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called that, and nobody awaits this table.
  then: SCHEMA, // oxlint-disable-line unicorn/no-thenable
  else: SCHEMA,
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  not: SCHEMA,
  unevaluatedItems: SCHEMA,
  unevaluatedProperties: SCHEMA,
  type: TYPE,
  enum: LIST,
  multipleOf: POSITIVE,
  maximum: NUMBER,
  exclusiveMaximum: NUMBER,
  minimum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: COUNT,
  minLength: COUNT,
  pattern: TEXT,
  maxItems: COUNT,
  minItems: COUNT,
  uniqueItems: FLAG,
  maxContains: COUNT,
  minContains: COUNT,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: TEXTS,
  dependentRequired: NAMED_TEXTS,
  title: TEXT,
  description: TEXT,
  deprecated: FLAG,
  readOnly: FLAG,
  writeOnly: FLAG,
  examples: LIST,
  format: TEXT,
  contentEncoding: TEXT,
  contentMediaType: TEXT,
  contentSchema: SCHEMA,
};

const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
]);

/** Whether the schemas in a keyword apply to the same value as the schema around them, not to a part of it. */
export function isInPlace(keyword: string): boolean {
  return IN_PLACE.has(keyword);
}
