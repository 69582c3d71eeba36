import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@millrace/engine';
import { type NamedField, type Schema, shapeOf } from './field-shape.ts';

/**
 * What a closed section says: the labels of its choices; if there are none, whether anything in it is set. Null: there is nothing to say, because its
 * defaults are values that nobody needs to know.
 */
export function summaryOf(
  fields: readonly NamedField[],
  value: JsonObject,
): { readonly labels: readonly string[]; readonly isSet: boolean } | null {
  const set = fields.filter(({ name }) => value[name] !== undefined);
  const labels = set.flatMap(({ name, schema }) => labelOf(schema, value[name]) ?? []);
  if (set.length > 0) return { labels, isSet: true };
  const [first] = fields;
  const usual = first === undefined ? null : labelOf(first.schema, first.schema.default);
  if (usual !== null) return { labels: [usual], isSet: false };
  return fields.every(({ schema }) => isNothing(schema.default)) ? { labels: [], isSet: false } : null;
}

/** The label of a chosen value, also of one in an object; null for other values. */
function labelOf(schema: Schema, value: JsonValue | undefined): string | null {
  const shape = shapeOf(schema);
  if (shape.kind === 'choice') return shape.options.find((option) => option.value === value)?.label ?? null;
  if (shape.kind !== 'group' || value === undefined || !isJsonObject(value)) return null;
  for (const field of shape.fields) {
    const label = labelOf(field.schema, value[field.name]);
    if (label !== null) return label;
  }
  return null;
}

function isNothing(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return isJsonArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}
