import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  listPaths,
  parseTemplates,
} from '@millrace/engine';
import type { Connector, Operation } from '../packages/connectors/src/format.ts';
import {
  type DescribedOperation,
  type DescribedSchema,
  listOf,
  objectOf,
  type ServiceDescription,
} from './service-description.ts';

/** Where a connector says something else than the service. */
export interface Difference {
  /** The operation. */
  readonly operation: string;
  /** A JSON Pointer into it. */
  readonly at: string;
  readonly message: string;
}

const BODY_TYPES: { readonly [type: string]: RegExp } = {
  json: /json/,
  form: /x-www-form-urlencoded/,
  multipart: /multipart/,
};

/** Compares the operations that a description has with it. */
export function compareConnector(
  connector: Connector,
  description: ServiceDescription,
): { readonly compared: readonly string[]; readonly differences: readonly Difference[] } {
  const pairs = connector.operations.flatMap((operation): [Operation, DescribedOperation][] => {
    const described = findDescribed(connector, operation, description.operations);
    return described === undefined ? [] : [[operation, described]];
  });
  return {
    compared: pairs.map(([{ id }]) => id),
    differences: pairs.flatMap(([operation, described]) =>
      compareOperation(operation, described, description),
    ),
  };
}

/** The described operation of the same method and path. */
export function findDescribed(
  { base_url: base }: Pick<Connector, 'base_url'>,
  { request: { method, path } }: Pick<Operation, 'request'>,
  operations: readonly DescribedOperation[],
): DescribedOperation | undefined {
  const before = new URL(base.replace(/\{\{.*?\}\}/g, 'x')).pathname.replace(/\/$/, '');
  const wanted = shapeOf(before + path);
  const same = operations.filter((each) => each.method === method);
  const exact = same.find((each) => shapeOf(each.path) === wanted);
  if (exact !== undefined) return exact;
  // One of the two may name what the other leaves open, such as `me` for an account.
  const [ours, theirs] = [patternOf(wanted), same.map((each) => patternOf(shapeOf(each.path)))];
  return same.find((each, index) => ours.test(each.path) || theirs[index]?.test(wanted) === true);
}

function patternOf(shape: string): RegExp {
  return new RegExp(`^${shape.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll('{}', '[^/]+')}$`);
}

function shapeOf(path: string): string {
  return path.replace(/\{\{.*?\}\}|\{[^}]*\}/g, '{}');
}

function compareOperation(
  operation: Operation,
  described: DescribedOperation,
  description: ServiceDescription,
): Difference[] {
  const { id, request, settings, pagination, key } = operation;
  const found: Difference[] = [];
  const add: Add = (at, message) => void found.push({ operation: id, at, message });
  if (described.isDeprecated) add('/request', 'is deprecated by the service.');
  const paged = [pagination?.size, pagination?.into].flatMap((place) => (place === undefined ? [] : [place]));
  const inQuery: JsonObject = {
    ...request.query,
    ...Object.fromEntries(paged.filter((each) => each.in === 'query').map(({ name }) => [name, ''])),
  };
  const query = described.parameters.filter((each) => each.in === 'query');
  for (const [name, value] of Object.entries(inQuery)) {
    const parameter = query.find((each) => bare(each.name) === bare(name));
    if (parameter === undefined) add(`/request/query/${name}`, 'is no parameter of the service.');
    else compareValue(value, parameter.schema, `/request/query/${name}`, { settings, description, add });
  }
  for (const { name } of query.filter((each) => each.isRequired)) {
    if (!Object.keys(inQuery).some((each) => bare(each) === bare(name)))
      add('/request/query', `lacks ${name}, which the service requires.`);
  }
  compareBody(
    operation,
    described,
    paged.filter((each) => each.in === 'body').map(({ name }) => name),
    {
      settings,
      description,
      add,
    },
  );
  if (key?.in === 'body' && !described.body) add('/key', 'goes into a body that the service does not take.');
  compareReading(operation, described, description, add);
  return found;
}

type Add = (at: string, message: string) => void;

/** What comparing a value needs. */
interface Comparison {
  readonly settings: Operation['settings'];
  readonly description: ServiceDescription;
  readonly add: Add;
}

/** Lists are `name[]` or `name` in queries. */
function bare(name: string): string {
  return name.replace(/\[.*$/, '');
}

function compareBody(
  { request, key }: Operation,
  described: DescribedOperation,
  paged: readonly string[],
  comparison: Comparison,
): void {
  const { body, body_type: type = 'json' } = request;
  const isSent = body !== undefined || paged.length > 0;
  if (described.body === null) {
    if (isSent) comparison.add('/request/body', 'is sent, but the service describes none.');
    return;
  }
  const offered = BODY_TYPES[type];
  if (isSent && offered !== undefined && !described.body.types.some((each) => offered.test(each)))
    comparison.add('/request/body_type', `is ${type}; the service takes ${described.body.types.join(', ')}.`);
  const own = key?.in === 'body' ? [key.name] : [];
  const more = Object.fromEntries([...paged, ...own].map((name) => [name, '']));
  const whole: JsonValue =
    typeof body === 'object' && body !== null && isJsonObject(body) ? { ...body, ...more } : (body ?? more);
  compareValue(whole, described.body.schema, '/request/body', comparison);
}

function compareValue(
  value: JsonValue,
  given: DescribedSchema,
  at: string,
  { settings, description, add }: Comparison,
): void {
  const schema = description.resolve(given ?? undefined);
  if (schema === null) return;
  if (isJsonArray(value)) {
    for (const [index, item] of value.entries())
      compareValue(item, objectOf(schema.items), `${at}/${index}`, { settings, description, add });
  } else if (typeof value === 'object' && value !== null && isJsonObject(value)) {
    const { properties, required, isOpen } = description.membersOf(schema);
    for (const [name, member] of Object.entries(value)) {
      const known = properties.get(name);
      const where = joinPointer(at, name);
      if (known !== undefined) compareValue(member, known, where, { settings, description, add });
      else if (!isOpen) add(where, 'is no member that the service describes.');
    }
    for (const name of required)
      if (!Object.hasOwn(value, name)) add(at, `lacks ${name}, which the service requires.`);
  } else if (typeof value === 'string') {
    const name = /^\{\{args\.(\w+)( \|\| null)?\}\}$/.exec(value)?.[1];
    const setting = name === undefined ? undefined : settings[name];
    if (setting !== undefined) compareSetting(setting as JsonObject, schema, at, description, add);
    else if (!value.includes('{{') && value !== '') compareChoices([value], schema, at, description, add);
  }
}

function typesOf(schema: JsonObject, description: ServiceDescription): Set<string> {
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf), ...listOf(schema.allOf)];
  const own = typeof schema.type === 'string' ? [schema.type] : listOf(schema.type).map(String);
  const types = [
    ...own,
    ...alternatives.flatMap((each) => [...typesOf(description.resolve(each) ?? {}, description)]),
  ];
  return new Set(
    types.filter((type) => type !== 'null').map((type) => (type === 'integer' ? 'number' : type)),
  );
}

function choicesOf(schema: JsonObject, description: ServiceDescription): JsonValue[] {
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf), ...listOf(schema.allOf)].map(
    (each) => description.resolve(each) ?? {},
  );
  const lists = alternatives.map((each) => choicesOf(each, description));
  // Where one alternative is any text, there are no choices.
  if (
    lists.some(
      (each, index) => each.length === 0 && typesOf(alternatives[index] ?? {}, description).has('string'),
    )
  )
    return [];
  return [...listOf(schema.enum), ...lists.flat()];
}

function compareSetting(
  setting: JsonObject,
  schema: JsonObject,
  at: string,
  description: ServiceDescription,
  add: Add,
): void {
  const ours = typesOf(setting, description);
  const theirs = typesOf(schema, description);
  const fits = [...ours].some((type) => theirs.has(type));
  const isText = at.startsWith('/request/query') && theirs.has('string');
  if (ours.size > 0 && theirs.size > 0 && !fits && !isText)
    add(at, `takes ${[...ours].join(' or ')}; the service takes ${[...theirs].join(' or ')}.`);
  compareChoices(listOf(setting.enum), schema, at, description, add);
  for (const bound of ['minimum', 'maximum'] as const) {
    const [own, said] = [setting[bound], schema[bound]].map(Number);
    if (own === undefined || said === undefined || Number.isNaN(own) || Number.isNaN(said)) continue;
    if (bound === 'minimum' ? own < said : own > said)
      add(at, `has the ${bound} ${own}; that of the service is ${said}.`);
  }
}

function compareChoices(
  ours: readonly JsonValue[],
  schema: JsonObject,
  at: string,
  description: ServiceDescription,
  add: Add,
): void {
  const theirs = choicesOf(schema, description);
  const unknown = ours.filter((choice) => choice !== '' && choice !== null && !theirs.includes(choice));
  if (theirs.length > 0 && unknown.length > 0)
    add(
      at,
      `offers ${unknown.map((choice) => JSON.stringify(choice)).join(', ')}, which the service does not list.`,
    );
}

/** Whether what is read from an answer, and what the recorded answers have, is described. */
function compareReading(
  { output, pagination, exchanges }: Operation,
  { answer }: DescribedOperation,
  description: ServiceDescription,
  add: Add,
): void {
  if (answer === null) return;
  const read: JsonValue = [output ?? null, pagination?.items ?? '', pagination?.next ?? ''];
  for (const { names } of listPaths(parseTemplates(read, '').template)) {
    const [root, response, body, ...rest] = names;
    if (root !== 'args' || response !== 'response' || body !== 'body') continue;
    if (!isDescribed(answer, rest, description))
      add('/output', `reads ${rest.join('.')}, which no answer has.`);
  }
  for (const [index, { steps }] of exchanges.entries()) {
    for (const { response } of steps) {
      if (response.status >= 300 || !isJsonObject(response.body ?? null)) continue;
      for (const name of Object.keys(objectOf(response.body)))
        if (!isDescribed(answer, [name], description))
          add(`/exchanges/${index}`, `answers ${name}, which no answer has.`);
    }
  }
}

function isDescribed(
  given: DescribedSchema,
  [name, ...rest]: readonly string[],
  description: ServiceDescription,
): boolean {
  const schema = description.resolve(given ?? undefined);
  if (name === undefined || schema === null) return true;
  if (/^\d+$/.test(name)) return isDescribed(objectOf(schema.items), rest, description);
  const { properties, isOpen } = description.membersOf(schema);
  const member = properties.get(name);
  return member === undefined ? isOpen : isDescribed(member, rest, description);
}
