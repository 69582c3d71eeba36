import type { NodeType, NodeTypeOutline } from '@millrace/admin-api';
import type { JsonObject, JsonValue } from '@millrace/engine';
import type { ServiceTexts, Table } from './texts.ts';

/** Keywords whose value is data, whatever the names of its members. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'x-labels']);
/** Keywords whose members have names chosen by the schema's author. */
const NAMING: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs']);

/** A node type with all texts it has, including those of fields and choices, in the reader's language. */
export function translateNodeType(
  type: NodeType | NodeTypeOutline,
  texts: ServiceTexts,
): NodeType | NodeTypeOutline {
  const say = (text: string): string => look(texts.nodes, text) ?? text;
  const outline = {
    title: look(texts.nodes, `${type.type}/title`) ?? say(type.title),
    // The name of a service; other groups are named by the palette.
    group: say(type.group),
    ...(type.description === undefined ? {} : { description: say(type.description) }),
  };
  if (!('config_schema' in type)) return { ...type, ...outline };
  return {
    ...type,
    ...outline,
    synonyms: [...type.synonyms, ...(texts.synonyms[type.type] ?? [])],
    examples: type.examples.map(({ title, config }) => ({ title: say(title), config })),
    config_schema: translateSchema(type.config_schema, type.type, '', texts) as JsonObject,
  };
}

/** A schema within a type's config; `x-labels` are the labels of its values, by value. */
function translateSchema(part: JsonValue, type: string, at: string, texts: ServiceTexts): JsonValue {
  if (Array.isArray(part)) {
    return part.map((each: JsonValue, index) => translateSchema(each, type, `${at}/${index}`, texts));
  }
  if (typeof part !== 'object' || part === null) return part;
  const schema = part as JsonObject;
  const translated: Record<string, JsonValue> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const here = `${at}/${keyword}`;
    if (typeof value === 'string' && (keyword === 'title' || keyword === 'description')) {
      translated[keyword] = look(texts.nodes, `${type}${here}`) ?? look(texts.nodes, value) ?? value;
    } else if (DATA.has(keyword)) {
      translated[keyword] = value;
    } else if (NAMING.has(keyword)) {
      const members = Object.entries(value as JsonObject);
      translated[keyword] = Object.fromEntries(
        members.map(([name, each]) => [name, translateSchema(each, type, `${here}/${name}`, texts)]),
      );
    } else {
      translated[keyword] = translateSchema(value, type, here, texts);
    }
  }
  const labels = labelsOf(schema, type, texts);
  // Names, such as GitHub, are the same in every language.
  if (labels !== null) translated['x-labels'] = { ...((schema['x-labels'] ?? {}) as JsonObject), ...labels };
  return withTitlesOfTypes(translated, texts);
}

/** Labels of a choice's values, each including the value itself, which templates and JSON need. */
function labelsOf(schema: JsonObject, type: string, texts: ServiceTexts): JsonObject | null {
  const values = valuesOf(schema);
  if (values.length === 0) return null;
  const word = (value: string) => look(texts.choices, `${type}/${value}`) ?? look(texts.choices, value);
  return Object.fromEntries(
    values.flatMap((value) => {
      const known = word(value);
      if (known === null) return [];
      const isValue = known.toLowerCase() === value;
      return [[value, isValue ? known : texts.withValue(known, value)]];
    }),
  );
}

export function valuesOf(schema: JsonObject): readonly string[] {
  return ((schema.enum ?? []) as readonly JsonValue[]).filter((value) => typeof value === 'string');
}

/** Titles alternatives by their type where only that differs. */
function withTitlesOfTypes(schema: { [keyword: string]: JsonValue }, texts: ServiceTexts): JsonObject {
  const alternatives = schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length < 2) return schema;
  const named = (alternatives as readonly JsonObject[]).map((each) => {
    const word = typeof each.type === 'string' ? look(texts.choices, each.type) : null;
    return word === null ||
      each.title !== undefined ||
      each.const !== undefined ||
      each.properties !== undefined
      ? each
      : { ...each, title: word };
  });
  return { ...schema, anyOf: named };
}

function look(table: Table, text: string): string | null {
  return Object.hasOwn(table, text) ? (table[text] ?? null) : null;
}
