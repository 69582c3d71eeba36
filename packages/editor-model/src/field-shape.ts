import { isJsonObject, isRawNumber, type JsonObject, type JsonValue } from '@millrace/engine';

/** A JSON Schema as declared by node types and settings. */
export type Schema = JsonObject;

/** How a form edits a value, derived from its schema alone, so that all nodes' forms are generated the same way. */
export type FieldShape =
  | {
      readonly kind: 'text';
      readonly isMultiline: boolean;
      readonly code: CodeLanguage | null;
      readonly helper: TextHelper | null;
    }
  | {
      readonly kind: 'number';
      readonly min: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  | { readonly kind: 'constant'; readonly value: JsonValue }
  /** Id of a credential of one of these types. */
  | {
      readonly kind: 'credential';
      readonly types: readonly string[];
      /** Kinds of databases; null: any. */
      readonly dialects: readonly string[] | null;
    }
  | { readonly kind: 'workflow' }
  /** An object with declared members. */
  | {
      readonly kind: 'group';
      readonly fields: readonly NamedField[];
      /** Null: all fields are shown, in the order of the schema. */
      readonly layout: FormLayout | null;
    }
  /** An object with arbitrary members, all of this shape. */
  | { readonly kind: 'record'; readonly member: Schema }
  | { readonly kind: 'list'; readonly item: Schema }
  /** One of several shapes; `key` is the discriminator, null if only their JSON type differs. */
  | { readonly kind: 'variants'; readonly key: string | null; readonly variants: readonly Variant[] }
  /** Any JSON value, as text or JSON. */
  | { readonly kind: 'any'; readonly isMultiline: boolean; readonly code: CodeLanguage | null };

export type CodeLanguage = 'javascript' | 'python' | 'sql' | 'json';

/** String formats with an input helper. */
export type TextHelper = 'cron' | 'time-zone' | 'moment';

export interface Option {
  readonly value: string;
  readonly label: string;
}

export interface NamedField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** How a node's form is arranged; sections can be closed. */
export type FormLayout = {
  readonly main: readonly string[];
  readonly sections: readonly FormSection[];
};

export type FormSection = {
  readonly title: string;
  readonly fields: readonly string[];
};

export interface Variant {
  /** The discriminator's value, or the JSON type. */
  readonly name: string;
  readonly title: string;
  readonly schema: Schema;
}

const LANGUAGES: readonly CodeLanguage[] = ['javascript', 'python', 'sql', 'json'];
const HELPERS: readonly TextHelper[] = ['cron', 'time-zone', 'moment'];

/** The shape of a schema's values, ignoring null: a form clears a value by omitting it. */
export function shapeOf(schema: Schema): FieldShape {
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 1) return shapeOfAlternatives(schema, alternatives);
  const [only = schema] = alternatives;
  return shapeOfOne(only === schema ? schema : { ...only, ...hintsOf(schema) });
}

export function isNullable(schema: Schema): boolean {
  if (schema.type === 'null' || (Array.isArray(schema.type) && schema.type.includes('null'))) return true;
  return schemasIn(schema.anyOf ?? schema.oneOf).some((each) => each.type === 'null');
}

function alternativesOf(schema: Schema): readonly Schema[] {
  return schemasIn(schema.anyOf ?? schema.oneOf).filter((each) => each.type !== 'null');
}

function schemasIn(value: JsonValue | undefined): readonly Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : [];
}

/** Keywords beside an `anyOf` apply to the only remaining alternative. */
function hintsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name.startsWith('x-')));
}

function shapeOfAlternatives(schema: Schema, alternatives: readonly Schema[]): FieldShape {
  const constants = alternatives.map((each) => each.const);
  if (constants.every((each) => typeof each === 'string')) {
    const labels = (schema['x-labels'] ?? {}) as Schema;
    const options = constants.map(String).map((value) => optionOf(value, labels[value]));
    return { kind: 'choice', options };
  }
  const key = discriminatorOf(alternatives);
  if (key === null && alternatives.every((each) => each.type === undefined)) return anyShape(schema);
  const variants = alternatives.map((each) => {
    const name = key === null ? typeNameOf(each) : constantAt(each, key);
    return { name, title: titleOfVariant(schema, each, { key, name }), schema: each };
  });
  return { kind: 'variants', key, variants };
}

/** The variant's own title, else its label, else its discriminator's title. */
function titleOfVariant(
  schema: Schema,
  variant: Schema,
  { key, name }: { readonly key: string | null; readonly name: string },
): string {
  const member = key === null ? undefined : memberAt(variant, key);
  const titles = [
    variant.title,
    ((schema['x-labels'] ?? {}) as Schema)[name],
    ((member?.['x-labels'] ?? {}) as Schema)[name],
    member?.const === undefined ? undefined : member.title,
  ];
  return titles.find((title) => typeof title === 'string') ?? name;
}

/** The member that has a distinct constant in each alternative. */
function discriminatorOf(alternatives: readonly Schema[]): string | null {
  const [first] = alternatives;
  const names = Object.keys((first?.properties ?? {}) as Schema);
  const isTelling = (name: string) => {
    const values = alternatives.map((each) => constantAt(each, name));
    return values.every((value) => value !== '') && new Set(values).size === values.length;
  };
  return names.find(isTelling) ?? null;
}

/** An enum of one value is a constant too. */
function constantAt(schema: Schema, name: string): string {
  const member = memberAt(schema, name);
  const [only, ...others] = Array.isArray(member?.enum) ? member.enum : [member?.const];
  return typeof only === 'string' && others.length === 0 ? only : '';
}

function memberAt(schema: Schema, name: string): Schema | undefined {
  return (schema.properties as Schema | undefined)?.[name] as Schema | undefined;
}

/** Without a label, the value itself is turned into words. */
function optionOf(value: string, label: JsonValue | undefined): Option {
  return { value, label: typeof label === 'string' ? label : value.replaceAll('_', ' ') };
}

/** The texts in a list of a schema. */
export function textsIn(list: JsonValue | undefined): readonly string[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

function typeNameOf({ type, enum: options }: Schema): string {
  if (typeof type === 'string') return type;
  return options === undefined ? 'any' : 'string';
}

function shapeOfOne(schema: Schema): FieldShape {
  if (schema.const !== undefined) return { kind: 'constant', value: schema.const };
  const types = schema['x-credential'];
  if (Array.isArray(types)) {
    const dialects = schema['x-dialects'];
    return {
      kind: 'credential',
      types: textsIn(types),
      dialects: Array.isArray(dialects) ? textsIn(dialects) : null,
    };
  }
  if (schema['x-workflow'] === true) return { kind: 'workflow' };
  if (Array.isArray(schema.enum)) return shapeOfEnum(schema, schema.enum);
  switch (schema.type) {
    case 'string':
      return {
        kind: 'text',
        isMultiline: schema['x-multiline'] === true,
        code: codeOf(schema),
        helper: HELPERS.find((helper) => schema[`x-${helper}`] === true) ?? null,
      };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        min: numberOf(schema.minimum),
        max: numberOf(schema.maximum),
      };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return { kind: 'list', item: (schema.items as Schema | undefined) ?? {} };
    case 'object':
      return shapeOfObject(schema);
    default:
      return anyShape(schema);
  }
}

function shapeOfEnum(schema: Schema, values: readonly JsonValue[]): FieldShape {
  const [only, ...others] = values;
  if (only !== undefined && others.length === 0) return { kind: 'constant', value: only };
  const labels = (schema['x-labels'] ?? {}) as Schema;
  return { kind: 'choice', options: values.map(String).map((value) => optionOf(value, labels[value])) };
}

function shapeOfObject(schema: Schema): FieldShape {
  if (codeOf(schema) !== null) return anyShape(schema);
  const properties = (schema.properties ?? {}) as { readonly [name: string]: Schema };
  const names = Object.keys(properties);
  if (names.length === 0) {
    const member = schema.additionalProperties;
    return { kind: 'record', member: typeof member === 'object' ? (member as Schema) : {} };
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = names.map((name) => ({
    name,
    schema: properties[name] ?? {},
    isRequired: required.includes(name),
  }));
  return { kind: 'group', fields, layout: layoutOf(schema['x-form']) };
}

function layoutOf(form: JsonValue | undefined): FormLayout | null {
  if (form === undefined || !isJsonObject(form)) return null;
  const { main, sections = [] } = form as Partial<FormLayout>;
  return main === undefined ? null : { main, sections };
}

function anyShape(schema: Schema): FieldShape {
  return { kind: 'any', isMultiline: schema['x-multiline'] === true, code: codeOf(schema) };
}

function codeOf(schema: Schema): CodeLanguage | null {
  return LANGUAGES.find((language) => language === schema['x-code']) ?? null;
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Whether this variant is text, which can be typed without choosing it first. */
export function isTextVariant({ name, schema }: Variant): boolean {
  return name === 'string' && shapeOf(schema).kind === 'text';
}

/** The variant a value matches; the first if none does. */
export function variantOf(
  shape: Extract<FieldShape, { kind: 'variants' }>,
  value: JsonValue | undefined,
): Variant {
  const { key, variants } = shape;
  const discriminator = key === null ? jsonTypeOf(value) : (value as JsonObject | undefined | null)?.[key];
  const wanted = typeof discriminator === 'string' ? discriminator : '';
  const isNumeric = (name: string) => wanted === 'number' && name === 'integer';
  const found = variants.find(({ name }) => name === wanted || isNumeric(name));
  const [first] = variants;
  if (first === undefined) throw new Error('a schema with alternatives has at least one');
  return found ?? first;
}

/** The JSON Schema name of a value's type. */
export function jsonTypeOf(value: JsonValue | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (isRawNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The initial value for a schema: its default, else that of its shape. */
export function initialOf(schema: Schema): JsonValue {
  if (schema.default !== undefined) return schema.default;
  const shape = shapeOf(schema);
  switch (shape.kind) {
    case 'constant':
      return shape.value;
    case 'choice':
      return shape.options[0]?.value ?? '';
    case 'boolean':
      return false;
    case 'number':
      return shape.min ?? 0;
    case 'list':
      return [];
    case 'record':
      return {};
    case 'group':
      return Object.fromEntries(
        shape.fields
          .filter(({ isRequired, schema: field }) => isRequired && shapeOf(field).kind !== 'credential')
          .map(({ name, schema: field }) => [name, initialOf(field)]),
      );
    case 'variants':
      return shape.variants[0] === undefined ? null : initialOf(shape.variants[0].schema);
    default:
      return '';
  }
}

/** Whether a value is a template in place of a non-string. */
export function isTemplate(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.includes('{{');
}

/** The schema of a field whose language another member names (`x-code-by`). */
export function withLanguage(schema: Schema, value: JsonObject): Schema {
  const language = typeof schema['x-code-by'] === 'string' ? value[schema['x-code-by']] : undefined;
  return typeof language === 'string' ? { ...schema, 'x-code': language } : schema;
}

/**
 * Whether a field is relevant given the other members: `x-when` lists the values with which it is. Fields that are set
 * are always shown.
 */
export function applies(field: NamedField, value: JsonObject, fields: readonly NamedField[]): boolean {
  if (value[field.name] !== undefined) return true;
  return Object.entries((field.schema['x-when'] ?? {}) as Schema).every(([name, allowed]) => {
    const other = value[name] ?? fields.find((each) => each.name === name)?.schema.default ?? null;
    return isTemplate(other) || (allowed as readonly JsonValue[]).includes(other);
  });
}
