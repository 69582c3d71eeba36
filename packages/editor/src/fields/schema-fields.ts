import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A member declared by an object schema. */
export interface SchemaField {
  readonly name: string;
  readonly type: FieldType;
  readonly description: string;
  readonly isRequired: boolean;
}

/** Keywords that the list of members preserves. */
const KEPT = new Set(['type', 'properties', 'required', 'additionalProperties', '$schema']);

/** The members declared by a JSON Schema; null if a list of members can't represent it. */
export function fieldsOfSchema(schema: JsonObject): readonly SchemaField[] | null {
  if (!Object.keys(schema).every((keyword) => KEPT.has(keyword))) return null;
  const { type = 'object', properties = {}, required = [], additionalProperties = true } = schema;
  if (type !== 'object' || !isJsonObject(properties) || !isJsonArray(required)) return null;
  if (typeof additionalProperties !== 'boolean') return null;
  const fields = Object.entries(properties).map(([name, each]) => fieldOf(name, each, required));
  const isComplete = fields.every((field) => field !== null);
  const areKnown = required.every((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  return isComplete && areKnown ? fields : null;
}

function fieldOf(name: string, schema: JsonValue, required: readonly JsonValue[]): SchemaField | null {
  if (!isJsonObject(schema)) return null;
  const { type, description = '', ...others } = schema;
  const known = FIELD_TYPES.find((each) => each === type);
  if (known === undefined || typeof description !== 'string' || Object.keys(others).length > 0) return null;
  return { name, type: known, description, isRequired: required.includes(name) };
}

/** The schema with its members replaced. */
export function withFields(schema: JsonObject, fields: readonly SchemaField[]): JsonObject {
  const { required: _required, properties: _properties, type: _type, ...kept } = schema;
  const properties = fields.map(({ name, type, description }): [string, JsonObject] => [
    name,
    { type, ...(description === '' ? {} : { description }) },
  ]);
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    ...kept,
  };
}
