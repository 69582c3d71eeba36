import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '@millrace/engine';
import type { FormField } from './fields.ts';

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

/** What a field would ask for; null if there is none for this. */
export function describedBy(member: JsonValue, root: JsonObject): Described | null {
  const { schema, isNullable } = resolve(member, root);
  if (schema === null) return null;
  const types = typesOf(schema);
  const common = { schema, options: null, multiple: false, isNullable: isNullable || types.includes('null') };
  const [only, ...others] = types.filter((type) => type !== 'null');
  if (only === 'boolean' && others.length === 0 && schema.const !== false)
    return { ...common, type: 'checkbox' };
  const options = optionsOf(schema);
  if (options !== null) {
    const takesNull = options.some(({ value }) => value === null);
    const chosen = options.filter(({ label, value }) => value !== null && label !== '');
    if (chosen.length === 0 || hasRepeats(chosen)) return null;
    return {
      ...common,
      type: 'choice',
      options: chosen,
      isNullable: isNullable || (takesNull && (types.length === 0 || types.includes('null'))),
    };
  }
  if (only === undefined || others.length > 0) return null;
  switch (only) {
    case 'string':
      return { ...common, type: textType(schema) };
    case 'number':
    case 'integer':
      return { ...common, type: 'number' };
    case 'object':
      return isFile(schema) ? { ...common, type: 'file' } : null;
    case 'array':
      return listOf(common, root);
    default:
      return null;
  }
}

/** A list of choices, or of files. */
function listOf(common: Omit<Described, 'type'>, root: JsonObject): Described | null {
  const { schema } = common;
  const item = schema.items === undefined ? null : describedBy(schema.items, root);
  if (item === null || item.isNullable) return null;
  if (item.type === 'choice') return { ...common, type: 'choices', options: item.options };
  if (item.type !== 'file') return null;
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

/** The values that are allowed, in their order; null if it isn't one of a few. */
function optionsOf(schema: JsonObject): readonly Option[] | null {
  const { enum: values, const: only, oneOf, anyOf } = schema;
  if (only !== undefined) return toOptions([[only, schema.title]]);
  if (values !== undefined && isJsonArray(values))
    return toOptions(values.map((value) => [value, undefined]));
  const named = oneOf ?? anyOf;
  if (named === undefined || !isJsonArray(named)) return null;
  const each = named.map((option): Named | null =>
    isJsonObject(option) && option.const !== undefined ? [option.const, option.title] : null,
  );
  return each.includes(null) ? null : toOptions(each as readonly Named[]);
}

type Named = readonly [value: JsonValue, title: JsonValue | undefined];

function toOptions(named: readonly Named[]): readonly Option[] | null {
  const options = named.map(([value, title]): Option | null => {
    const text = textOf(value);
    if (text === null) return null;
    return { value, label: typeof title === 'string' && title.trim() !== '' ? title : text };
  });
  return options.includes(null) ? null : (options as readonly Option[]);
}

function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  return value === null || typeof value !== 'object' || isRawNumber(value) ? stringifyJson(value) : null;
}

function hasRepeats(options: readonly Option[]): boolean {
  return new Set(options.map(({ label }) => label)).size < options.length;
}

function typesOf({ type }: JsonObject): readonly JsonValue[] {
  if (type === undefined) return [];
  return isJsonArray(type) ? type : [type];
}

/** References and alternatives that are followed for one member. */
const MAX_STEPS = 10;

/** The schema behind references to definitions, and behind `anyOf` with null: generators write optional values like that. */
function resolve(
  member: JsonValue,
  root: JsonObject,
): { readonly schema: JsonObject | null; readonly isNullable: boolean } {
  let schema: JsonValue = member;
  let isNullable = false;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    if (!isJsonObject(schema)) return { schema: null, isNullable };
    const { $ref: reference, anyOf, oneOf, ...others } = schema as JsonObject;
    const parts: JsonValue | undefined = anyOf ?? oneOf;
    let inner: JsonValue | undefined;
    if (typeof reference === 'string') inner = definitionOf(reference, root);
    else if (parts !== undefined && isJsonArray(parts) && parts.some(isNull)) {
      const rest = parts.filter((part) => !isNull(part));
      isNullable = true;
      inner = rest.length === 1 ? (rest[0] ?? null) : { anyOf: rest };
    } else return { schema, isNullable };
    if (inner === undefined || !isJsonObject(inner)) return { schema: null, isNullable };
    schema = { ...inner, ...others };
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
  const definitions = Object.hasOwn(root, place) ? root[place] : undefined;
  if (definitions === undefined || !isJsonObject(definitions)) return undefined;
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}
