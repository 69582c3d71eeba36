import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  own,
  stringifyJson,
} from '@millrace/engine';
import { type FormField, MAX_CHOICE, MAX_CHOICES } from './fields.ts';
import { withPlainBreaks } from './read-fields.ts';

/** One of several values, and what it is called. */
export interface Option {
  readonly label: string;
  readonly value: JsonValue;
}

/** A member of an input schema as a field can ask for it. */
export interface Described {
  readonly type: FormField['type'];
  /** Without what only says that it may be null, and without references. */
  readonly schema: JsonObject;
  /** Of choices; null for what isn't chosen. */
  readonly options: readonly Option[] | null;
  readonly multiple: boolean;
  readonly isNullable: boolean;
}

/** Why there is no field for a member: nothing asks for such a value, or its choices are too many or too long. */
export type Undescribed =
  | { readonly kind: 'no_field' }
  | { readonly kind: 'many_choices'; readonly count: number }
  | { readonly kind: 'long_choice' };

const NO_FIELD: Undescribed = { kind: 'no_field' };

/** What a field would ask for, or why none can. */
export function describedBy(member: JsonValue, root: JsonObject, isItem = false): Described | Undescribed {
  const { schema, isNullable } = resolve(member, root);
  if (schema === null) return NO_FIELD;
  const types = typesOf(schema);
  const common = { schema, options: null, multiple: false, isNullable: isNullable || types.includes('null') };
  const [only, ...others] = types.filter((type) => type !== 'null');
  if (only === 'boolean' && others.length === 0 && schema.const !== false)
    return { ...common, type: 'checkbox' };
  const options = optionsOf(schema);
  if (options !== null) {
    if ('kind' in options) return options;
    const takesNull = options.some(({ value }) => value === null);
    const chosen = options.filter(({ label, value }) => value !== null && label !== '');
    if (chosen.length > MAX_CHOICES) return { kind: 'many_choices', count: chosen.length };
    if (chosen.length === 0 || hasRepeats(chosen) || chosen.some(({ label }) => label.trim() === ''))
      return NO_FIELD;
    return {
      ...common,
      type: 'choice',
      options: chosen,
      isNullable: isNullable || (takesNull && (types.length === 0 || types.includes('null'))),
    };
  }
  if (only === undefined || others.length > 0) return NO_FIELD;
  switch (only) {
    case 'string':
      return { ...common, type: textType(schema) };
    case 'number':
    case 'integer':
      return { ...common, type: 'number' };
    case 'object':
      return isFile(schema) ? { ...common, type: 'file' } : NO_FIELD;
    case 'array':
      // A definition may be a list of itself.
      return isItem ? NO_FIELD : listOf(common, root);
    default:
      return NO_FIELD;
  }
}

/** A list of choices, or of files. */
function listOf(common: Omit<Described, 'type'>, root: JsonObject): Described | Undescribed {
  const { schema } = common;
  const item = schema.items === undefined ? NO_FIELD : describedBy(schema.items, root, true);
  if ('kind' in item) return item;
  if (item.isNullable) return NO_FIELD;
  if (item.type === 'choice') return { ...common, type: 'choices', options: item.options };
  if (item.type !== 'file') return NO_FIELD;
  const { contentMediaType = schema.contentMediaType ?? '' } = item.schema;
  return { ...common, type: 'file', multiple: true, schema: { ...schema, contentMediaType } };
}

function textType({ format, 'x-multiline': isLong }: JsonObject): 'text' | 'paragraph' | 'email' | 'date' {
  if (format === 'email' || format === 'idn-email') return 'email';
  if (format === 'date') return 'date';
  return isLong === true ? 'paragraph' : 'text';
}

/** Whether this is how a file is described: by the member that says which one it is. */
function isFile({ properties }: JsonObject): boolean {
  return properties !== undefined && isJsonObject(properties) && Object.hasOwn(properties, '$file');
}

/** More than there can be with null and an empty text, which aren't shown. */
const MAX_VALUES = MAX_CHOICES + 2;

/** The values that are allowed, in their order; null if it isn't one of a few. */
function optionsOf(schema: JsonObject): readonly Option[] | Undescribed | null {
  const { enum: values, const: only, oneOf, anyOf } = schema;
  if (only !== undefined) return toOptions([[only, schema.title]]);
  const all = values !== undefined && isJsonArray(values) ? values : (oneOf ?? anyOf);
  if (all === undefined || !isJsonArray(all)) return null;
  // Before they are looked at: many members can refer to one definition.
  if (all.length > MAX_VALUES) return { kind: 'many_choices', count: all.length };
  if (all === values) return toOptions(all.map((value) => [value, undefined]));
  const each = all.map((option): Named | null =>
    isJsonObject(option) && option.const !== undefined ? [option.const, option.title] : null,
  );
  return each.includes(null) ? null : toOptions(each as readonly Named[]);
}

type Named = readonly [value: JsonValue, title: JsonValue | undefined];

function toOptions(named: readonly Named[]): readonly Option[] | Undescribed | null {
  const options: Option[] = [];
  for (const [value, title] of named) {
    const text = textOf(value);
    if (text === null) return null;
    const name = typeof title === 'string' ? title : '';
    if (name.length > MAX_CHOICE) return { kind: 'long_choice' };
    const label = name.trim() || text;
    if (label.length > MAX_CHOICE) return { kind: 'long_choice' };
    options.push({ value, label });
  }
  return options;
}

function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return value === null || typeof value !== 'object' || isRawNumber(value) ? stringifyJson(value) : null;
}

function hasRepeats(options: readonly Option[]): boolean {
  return new Set(options.map(({ label }) => withPlainBreaks(label))).size < options.length;
}

function typesOf({ type }: JsonObject): readonly JsonValue[] {
  if (type === undefined) return [];
  return isJsonArray(type) ? type : [type];
}

/** References and alternatives that are followed for one member. */
const MAX_STEPS = 10;

/** What a form reads of a member: a definition may have any number of others, and be referred to by each value. */
const READ = [
  ...['type', 'enum', 'const', 'oneOf', 'anyOf', '$ref', 'items', 'properties', 'minItems'],
  ...['title', 'description', 'default', 'format', 'contentMediaType', 'x-multiline'],
];

function readOf(schema: JsonObject): JsonObject {
  const present = READ.filter((keyword) => Object.hasOwn(schema, keyword));
  return Object.fromEntries(present.map((keyword) => [keyword, schema[keyword] ?? null]));
}

/** The schema behind references to definitions, and behind `anyOf` with null: generators write optional values like that. */
function resolve(
  member: JsonValue,
  root: JsonObject,
): { readonly schema: JsonObject | null; readonly isNullable: boolean } {
  if (!isJsonObject(member)) return { schema: null, isNullable: false };
  let schema = readOf(member);
  let isNullable = false;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const { $ref: reference, anyOf, oneOf, ...others } = schema;
    const parts: JsonValue | undefined = anyOf ?? oneOf;
    let inner: JsonValue | undefined;
    if (typeof reference === 'string') inner = definitionOf(reference, root);
    else if (parts !== undefined && isJsonArray(parts) && parts.length <= MAX_VALUES && parts.some(isNull)) {
      const rest = parts.filter((part) => !isNull(part));
      isNullable = true;
      inner = rest.length === 1 ? (rest[0] ?? null) : { anyOf: rest };
    } else return { schema, isNullable };
    if (inner === undefined || !isJsonObject(inner)) return { schema: null, isNullable };
    schema = { ...readOf(inner), ...others };
  }
  return { schema: null, isNullable };
}

function isNull(part: JsonValue): boolean {
  return isJsonObject(part) && part.type === 'null';
}

/** As generators write references: to a definition by its name. */
const REFERENCE = /^#\/(\$defs|definitions)\/([^/~%]+)$/;

function definitionOf(reference: string, root: JsonObject): JsonValue | undefined {
  const [, place = '', name = ''] = REFERENCE.exec(reference) ?? [];
  const definitions = own(root, place);
  if (definitions === undefined || !isJsonObject(definitions)) return undefined;
  return own(definitions, name);
}
