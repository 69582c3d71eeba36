import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, own } from '@millrace/engine';
import type { KnownType } from './editor-state.ts';
import type { FlowPart } from './flow-scope.ts';

/** What a node's output will look like, before it has run: its names, with null for each value. Undefined: unknown. */
export type NamesOf = (nodeId: string) => JsonObject | undefined;

/**
 * The names in the outputs of a flow's nodes, from their settings, or else from the example of their type. Values of examples would be
 * mistaken for real ones.
 * @param outputs known outputs, whose names a node passes on that joins branches
 */
export function namesIn(
  flow: FlowPart,
  types: ReadonlyMap<string, KnownType>,
  outputs: { readonly [nodeId: string]: JsonObject | undefined },
): NamesOf {
  const found = new Map<string, JsonObject | undefined>();
  const nodes = new Map(flow.nodes.map((node) => [node.id, node]));
  const schema = namesOfSchema(flow.settings?.input_schema);
  const namesOf: NamesOf = (id) => {
    if (found.has(id)) return found.get(id);
    // A draft may contain a cycle.
    found.set(id, undefined);
    const { type = '', data } = nodes.get(id) ?? {};
    const names = ofNode(id, type, data?.config ?? {});
    found.set(id, names);
    return names;
  };
  const ofNode = (id: string, type: string, config: JsonObject): JsonObject | undefined => {
    const example = types.get(type)?.output_example ?? undefined;
    if (type.startsWith('trigger.')) {
      const data = { ...ofTrigger(type, config, example), ...(isJsonObject(schema) ? schema : {}) };
      return Object.keys(data).length === 0 ? undefined : { data };
    }
    if (type === 'core.merge') return merged(id, config);
    const own = BY_SETTINGS[type]?.(config, example);
    if (own !== undefined || ONLY_BY_SETTINGS.has(type)) return own;
    return example && (type.startsWith('connector.') ? namesWithin(example) : topNames(example));
  };
  const merged = (id: string, config: JsonObject): JsonObject | undefined => {
    const before = new Set(flow.edges.flatMap(({ source, target }) => (target === id ? [source] : [])));
    const inputs = [...before].map((each): [string, JsonObject | undefined] => {
      const output = own(outputs, each);
      return [each, output === undefined ? namesOf(each) : namesWithin(output)];
    });
    if (config.mode === undefined || config.mode === 'all')
      return Object.fromEntries(inputs.map(([each, names]) => [each, names ?? null]));
    // Only one of them counts in the mode `first`, but any may be it.
    return nonEmpty(Object.fromEntries(inputs.flatMap(([, names = {}]) => Object.entries(names))));
  };
  return namesOf;
}

/** Triggers whose data is whatever somebody sends, or has the columns of somebody's table. */
const DATA_OF_SENDER = new Set([
  'trigger.manual',
  'trigger.webhook',
  'trigger.poll',
  'trigger.google_sheets.new_row',
  'trigger.supabase.new_row',
]);

function ofTrigger(type: string, config: JsonObject, example: JsonObject | undefined): JsonObject {
  if (type === 'trigger.form') return namesOfFields(config.fields);
  const data = example?.data;
  if (DATA_OF_SENDER.has(type) || !isJsonObject(data)) return {};
  if (type === 'trigger.schedule')
    return { ...topNames(data), input: isJsonObject(config.input) ? namesWithin(config.input) : null };
  // trigger.<service>.<event>
  return type.split('.').length > 2 ? namesWithin(data) : topNames(data);
}

/** Types whose output has the names that their settings give it; undefined as long as they give none. */
const BY_SETTINGS: {
  readonly [type: string]:
    | ((config: JsonObject, example: JsonObject | undefined) => JsonObject | undefined)
    | undefined;
} = {
  'core.set': ({ values }) => (isJsonObject(values) ? nonEmpty(namesWithin(values)) : undefined),
  'wait.approval': ({ fields }) => {
    const values = namesOfFields(fields);
    const asked = Object.keys(values).length === 0 ? {} : { values };
    return { decision: null, comment: null, decided_by: null, decided_at: null, ...asked };
  },
  'ai.extract': ({ define, fields, schema }, example) => ({
    ...topNames(example ?? {}),
    json: define === 'schema' ? namesOfSchema(schema) : namesOfFields(fields),
  }),
  'ai.generate': answerNames,
  'ai.agent': answerNames,
};

/** Types about which their example says nothing. */
const ONLY_BY_SETTINGS = new Set(['core.set', 'core.stop']);

/** A model's answer is text, or JSON by a schema. */
function answerNames({ output, schema }: JsonObject, example: JsonObject = {}): JsonObject {
  const { text, ...others } = topNames(example);
  return output === 'json' ? { json: namesOfSchema(schema), ...others } : { text: null, ...others };
}

/** By the names of fields that somebody or a model fills in. */
function namesOfFields(fields: JsonValue | undefined): JsonObject {
  const listed = isJsonArray(fields) ? fields.filter(isJsonObject) : [];
  return Object.fromEntries(
    listed.flatMap(({ name, type, multiple, list }): [string, JsonValue][] => {
      if (typeof name !== 'string' || name === '' || type === 'page') return [];
      const one = type === 'file' ? { name: null, type: null, size: null } : null;
      return [[name, multiple === true || list === true ? [one] : one]];
    }),
  );
}

const MAX_DEPTH = 6;

/** The names that a JSON Schema declares. */
function namesOfSchema(schema: JsonValue | undefined, depth = 0): JsonValue {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return null;
  const { properties, items } = schema;
  if (isJsonObject(properties))
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, namesOfSchema(each, depth + 1)]),
    );
  return isJsonObject(items) ? [namesOfSchema(items, depth + 1)] : null;
}

/** Members that have the same members in each output of the nodes that are built in; what else they have in them is up to data and settings. */
const SAME_WITHIN = new Set([
  'usage',
  'file',
  'files',
  'feed',
  'from',
  'to',
  'cc',
  'reply_to',
  'attachments',
]);

function topNames(example: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, SAME_WITHIN.has(name) ? blank(value) : null]),
  );
}

function namesWithin(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, blank(each)]));
}

/** A value without what it says: of a list, the first item. */
function blank(value: JsonValue, depth = 1): JsonValue {
  if (depth > MAX_DEPTH) return null;
  if (isJsonArray(value)) return value.slice(0, 1).map((item) => blank(item, depth + 1));
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, blank(each, depth + 1)]));
}

function nonEmpty(names: JsonObject): JsonObject | undefined {
  return Object.keys(names).length === 0 ? undefined : names;
}
