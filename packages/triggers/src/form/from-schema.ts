import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  own,
  setOwn,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { isFieldName } from './field-names.ts';
import {
  completeFields,
  type FormField,
  MAX_ACCEPT,
  MAX_CHOICE,
  MAX_CHOICES,
  MAX_FIELDS,
  MAX_HELP,
  MAX_LABEL,
  MAX_NAME,
  MAX_TEXT,
} from './fields.ts';
import { type Described, describedBy, type Option, type Undescribed } from './schema-members.ts';

/** A form whose fields are those of the workflow's input schema, so that its executions get an input of that schema. */
export interface SchemaForm {
  readonly fields: readonly FormField[];
  readonly members: ReadonlyMap<string, SchemaMember>;
}

/** What the schema says of a field beyond what the page shows. */
export interface SchemaMember {
  /** The values of choices by what they are called; null: choices are texts that stand for themselves. */
  readonly values: ReadonlyMap<string, JsonValue> | null;
  /** What becomes of a field that stays empty. */
  readonly ifEmpty: 'null' | 'list' | 'left_out';
  /** What is entered beforehand. */
  readonly preset: readonly string[];
}

/** The form that an input schema describes; or why there is none, each following "fields" like any fault of a setting. */
export type FormOfSchema =
  | { readonly kind: 'form'; readonly form: SchemaForm }
  | { readonly kind: 'none'; readonly faults: readonly Message[] };

export function formOfSchema(schema: JsonObject | null): FormOfSchema {
  const properties = Object.entries(objectIn(schema?.properties)).map(
    ([name, member]) => [name, member ?? null] as const,
  );
  if (schema === null || properties.length === 0)
    return { kind: 'none', faults: [message('nodes.form_no_schema')] };
  const count = properties.length;
  if (count > MAX_FIELDS)
    return { kind: 'none', faults: [message('nodes.form_schema_too_many', { count, max: MAX_FIELDS })] };
  const required = new Set(isJsonArray(schema.required) ? schema.required : []);
  const faults: Message[] = [];
  const fields: FormField[] = [];
  const members = new Map<string, SchemaMember>();
  for (const [name, member] of properties) {
    const described = describeOrRefuse(name, member, schema);
    if ('fault' in described) {
      faults.push(described.fault);
      continue;
    }
    const isRequired = required.has(name);
    fields.push(fieldOf(name, described, isRequired));
    members.set(name, memberOf(described, isRequired));
  }
  const known = new Set<JsonValue>(properties.map(([name]) => name));
  for (const name of required)
    if (typeof name === 'string' && !known.has(name) && faults.length < MAX_FAULTS)
      faults.push(message('nodes.form_schema_unknown', { name: shortened(name) }));
  const size = sizeOf(fields, members);
  if (size > MAX_CHARACTERS) faults.push(message('nodes.form_schema_large', { size, max: MAX_CHARACTERS }));
  return faults.length > 0
    ? { kind: 'none', faults: faults.slice(0, MAX_FAULTS) }
    : { kind: 'form', form: { fields, members } };
}

/** More have one cause. */
const MAX_FAULTS = 10;
/** Of all fields, as many as a form with its own can have in its settings; definitions are counted for each value that refers to them. */
const MAX_CHARACTERS = 1024 * 1024;

function sizeOf(fields: readonly FormField[], members: SchemaForm['members']): number {
  return fields
    .flatMap(({ name, label, help, choices, accept }) => [name, label, help, accept, ...choices])
    .concat([...members.values()].flatMap(({ preset }) => preset))
    .reduce((size, text) => size + text.length, 0);
}

/** The input that a form's values are by its schema: choices as their values, and nothing for what stayed empty. */
export function inputOfValues({ members }: SchemaForm, values: JsonObject): JsonObject {
  const input: { [name: string]: JsonValue } = {};
  for (const [name, member] of members) {
    const value = own(values, name) ?? null;
    const isEmpty = value === null || (isJsonArray(value) && value.length === 0);
    if (!isEmpty) setOwn(input, name, meant(value, member));
    else if (member.ifEmpty !== 'left_out') setOwn(input, name, member.ifEmpty === 'list' ? [] : null);
  }
  return input;
}

function meant(value: JsonValue, { values }: SchemaMember): JsonValue {
  if (values === null) return value;
  const valueFor = (label: JsonValue) =>
    typeof label === 'string' && values.has(label) ? (values.get(label) ?? null) : label;
  return isJsonArray(value) ? value.map(valueFor) : valueFor(value);
}

function describeOrRefuse(
  name: string,
  member: JsonValue,
  root: JsonObject,
): Described | { readonly fault: Message } {
  if (name.length > MAX_NAME)
    return { fault: message('nodes.form_schema_name_long', { name: shortened(name), max: MAX_NAME }) };
  if (!isFieldName(name)) return { fault: message('nodes.form_schema_name', { name }) };
  const described = describedBy(member, root);
  if ('kind' in described) return { fault: faultOf(name, described) };
  for (const [keyword, max] of LIMITS) {
    const text = described.schema[keyword];
    if (text !== undefined && lengthOf(text) > max)
      return { fault: message('nodes.form_schema_long', { name, keyword, max }) };
  }
  return described;
}

/** Characters of what a form shows, as in fields of its own. */
const LIMITS = [
  ['title', MAX_LABEL],
  ['description', MAX_HELP],
  ['default', MAX_TEXT],
  ['contentMediaType', MAX_ACCEPT],
] as const;

function lengthOf(value: JsonValue): number {
  if (isRawNumber(value)) return value.rawJSON.length;
  // Of a list that is preset, each choice counts as one.
  return typeof value === 'string' || isJsonArray(value) ? value.length : 0;
}

function faultOf(name: string, undescribed: Undescribed): Message {
  switch (undescribed.kind) {
    case 'no_field':
      return message('nodes.form_schema_type', { name });
    case 'many_choices':
      return message('nodes.form_schema_choices', { name, count: undescribed.count, max: MAX_CHOICES });
    case 'long_choice':
      return message('nodes.form_schema_choice_long', { name, max: MAX_CHOICE });
  }
}

/** A name that is too long to be shown as a whole. */
function shortened(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
}

function fieldOf(name: string, described: Described, isRequired: boolean): FormField {
  const { type, schema, options, multiple } = described;
  const { title, description, contentMediaType: accept } = schema;
  const [field] = completeFields([
    {
      ...{ name, type, multiple },
      label: textIn(title) || name,
      help: textIn(description),
      required: mustBeFilled(described, isRequired),
      choices: (options ?? []).map(({ label }) => label),
      accept: type === 'file' ? textIn(accept) : '',
    },
  ]);
  // There is one for each that is given.
  return field as FormField;
}

function mustBeFilled({ type, schema, isNullable }: Described, isRequired: boolean): boolean {
  switch (type) {
    // It is true or false in any case.
    case 'checkbox':
      return schema.const === true;
    case 'choices':
      return isRequired && isPositive(schema.minItems);
    case 'file':
      return isRequired && !isNullable && (!isJsonObject(schema.items) || isPositive(schema.minItems));
    default:
      return isRequired && !isNullable;
  }
}

function memberOf(described: Described, isRequired: boolean): SchemaMember {
  const { type, schema, options, multiple, isNullable } = described;
  const isList = type === 'choices' || multiple;
  const mayBeEmptyList = isList && !isPositive(schema.minItems);
  const values = options?.some(({ label, value }) => label !== value)
    ? new Map(options.map(({ label, value }) => [label, value]))
    : null;
  const ifEmpty = mayBeEmptyList && isRequired ? 'list' : isNullable ? 'null' : 'left_out';
  return { values, ifEmpty, preset: presetOf(type, schema.default, options ?? []) };
}

function presetOf(
  type: FormField['type'],
  given: JsonValue | undefined,
  options: readonly Option[],
): readonly string[] {
  if (given === undefined || given === null || type === 'file') return [];
  if (type === 'checkbox') return given === true ? ['on'] : [];
  const labelOf = (value: JsonValue) => options.find((option) => option.value === value)?.label;
  if (type === 'choice') return [labelOf(given) ?? []].flat();
  if (type === 'choices') {
    const chosen = new Set(isJsonArray(given) ? given : []);
    return options.filter(({ value }) => chosen.has(value)).map(({ label }) => label);
  }
  if (isRawNumber(given)) return [given.rawJSON];
  return typeof given === 'string' || typeof given === 'number' ? [String(given)] : [];
}

function objectIn(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function textIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.trim() : '';
}

function isPositive(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value > 0;
}
