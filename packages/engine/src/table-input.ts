import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  setOwn,
  tryParseJson,
} from '@millrace/values/json';

/** A member of a workflow's input, as its schema declares it. */
export interface InputProperty {
  readonly name: string;
  /** Null: the schema doesn't say. */
  readonly title: string | null;
  /** JSON Schema types; empty: the schema doesn't say. */
  readonly types: readonly string[];
  readonly isRequired: boolean;
}

/** The members that a schema declares directly, in its order. */
export function inputPropertiesOf(schema: JsonSchema | null): readonly InputProperty[] {
  if (schema === null || !isJsonObject(schema.properties)) return [];
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { title, type } = isJsonObject(property) ? property : {};
    const types = isJsonArray(type) ? type : [type];
    return {
      name,
      title: typeof title === 'string' ? title : null,
      types: types.filter((each) => typeof each === 'string'),
      isRequired: required.has(name),
    };
  });
}

/** A member that the schema doesn't declare: its cells are strings. */
export function undeclaredProperty(name: string): InputProperty {
  return { name, title: null, types: [], isRequired: false };
}

/**
 * The input that a row of a table describes. Empty cells are left out. A cell that can't be converted to its type stays a string, so that the
 * schema's check says what is wrong.
 * @param columns the member for each cell; null ignores the cell
 */
export function inputOfRow(cells: readonly string[], columns: readonly (InputProperty | null)[]): JsonObject {
  const input: Record<string, JsonValue> = {};
  for (const [index, property] of columns.entries()) {
    const text = cells[index] ?? '';
    if (property !== null && text.trim() !== '')
      setOwn(input, property.name, valueOfCell(text, property.types));
  }
  return input;
}

function valueOfCell(text: string, types: readonly string[]): JsonValue {
  for (const type of types) {
    const value = CONVERSIONS[type]?.(text.trim());
    if (value !== undefined) return value;
  }
  return text;
}

const NUMBER = /^-?\d+(\.\d+)?([eE][-+]?\d+)?$/;
const numberOf = (text: string) => (NUMBER.test(text) ? tryParseJson(text) : undefined);

/** By type; undefined: the text isn't one. */
const CONVERSIONS: { readonly [type: string]: (text: string) => JsonValue | undefined } = {
  integer: numberOf,
  number: numberOf,
  boolean: (text) => BOOLEANS.get(text.toLowerCase()),
  array: (text) => ofKind(text, isJsonArray),
  object: (text) => ofKind(text, isJsonObject),
};
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);

function ofKind(text: string, isKind: (value: JsonValue) => boolean): JsonValue | undefined {
  const value = tryParseJson(text);
  return value !== undefined && isKind(value) ? value : undefined;
}
