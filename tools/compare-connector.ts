import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  joinPointer,
  listPaths,
  parseTemplates,
} from '@millrace/engine';
import type {
  Connector,
  ConnectorTrigger,
  Exchange,
  Operation,
  Place,
  PollExchange,
} from '../packages/connectors/src/format.ts';
import { describedPages } from './described-pages.ts';
import {
  type DescribedMembers,
  type DescribedOperation,
  type DescribedSchema,
  listOf,
  objectOf,
  type ServiceDescription,
} from './service-description.ts';

/** Where a connector says something else than the service. */
export interface Difference {
  /** The operation, or `trigger` and the trigger. */
  readonly operation: string;
  /** A JSON Pointer into it. */
  readonly at: string;
  readonly message: string;
}

/** A request of a connector, and what is read from its response. */
export interface ComparedRequest extends Pick<Operation, 'settings' | 'request' | 'pagination' | 'key'> {
  readonly id: string;
  /** Names of headers that are sent, in small letters. */
  readonly headers: ReadonlySet<string>;
  readonly output?: JsonValue;
  /** Templates that read an item of the list, and where the list is. */
  readonly item?: { readonly list: string; readonly reads: JsonValue };
  /** Recorded responses. */
  readonly answers: readonly { readonly at: string; readonly body: JsonObject }[];
}

/** What a connector asks a service. */
export function requestsOf(connector: Connector): readonly ComparedRequest[] {
  const { operations, triggers = [] } = connector;
  const asked = [...operations.flatMap(requestsOfOperation), ...triggers.flatMap(requestsOfTrigger)];
  return asked.map((each) => ({ ...each, headers: headersSent(connector, each) }));
}

/** Besides those that every request has. */
function headersSent(
  { headers = {} }: Connector,
  { request, key }: Pick<ComparedRequest, 'request' | 'key'>,
): ReadonlySet<string> {
  const own = key?.in === 'header' ? [key.name] : [];
  const names = [...Object.keys(headers), ...Object.keys(request.headers ?? {}), ...own];
  return new Set(names.map((name) => name.toLowerCase()));
}

function requestsOfOperation(operation: Operation): Omit<ComparedRequest, 'headers'>[] {
  const { id, settings, exchanges, lookup, output = null } = operation;
  if (lookup === undefined) return [{ ...operation, answers: answersOf(exchanges) }];
  const { request, found = null, table = null, instead } = lookup;
  const read = [found, table] as JsonValue;
  // A recorded exchange has the responses of all of them, and not always the same ones.
  return [
    { ...operation, answers: [] },
    { id: `${id}/lookup`, settings, request, output: read, answers: [] },
    ...(instead === undefined
      ? []
      : [{ id: `${id}/instead`, settings, request: instead.request, output, answers: [] }]),
  ];
}

function requestsOfTrigger(trigger: ConnectorTrigger): Omit<ComparedRequest, 'headers'>[] {
  const { id, settings, request, items, more, pagination, cursor, when, id_of, data, detail, exchanges } =
    trigger;
  const list = items ?? pagination?.items ?? '';
  const listed: Omit<ComparedRequest, 'headers'> = {
    id: `trigger ${id}`,
    ...{ settings, request },
    ...(pagination === undefined ? {} : { pagination }),
    output: [items ?? '', more ?? ''],
    item: { list, reads: [when ?? '', id_of, data ?? null, cursor?.item_time ?? ''] },
    answers: detail === undefined ? answersOf(exchanges) : [],
  };
  if (detail === undefined) return [listed];
  return [listed, { id: `${listed.id}/detail`, settings, ...detail, answers: [] }];
}

function answersOf(exchanges: readonly (Exchange | PollExchange)[]): ComparedRequest['answers'] {
  return exchanges.flatMap(({ steps }, index) =>
    steps.flatMap(({ response: { status, body = null } }) =>
      status < 300 && isJsonObject(body) ? [{ at: `/exchanges/${index}`, body }] : [],
    ),
  );
}

const BODY_TYPES: { readonly [type: string]: RegExp } = {
  json: /json/,
  form: /x-www-form-urlencoded/,
  multipart: /multipart\/form-data/,
  related: /multipart\/related/,
};

/** Compares the requests that a description has with it. */
export function compareConnector(
  connector: Connector,
  description: ServiceDescription,
): { readonly compared: readonly string[]; readonly differences: readonly Difference[] } {
  const before = (base: string) => new URL(base.replace(/\{\{.*?\}\}/g, 'x')).pathname.replace(/\/$/, '');
  const pairs = requestsOf(connector).flatMap((asked): [ComparedRequest, DescribedOperation][] => {
    const { request } = asked;
    const described = description.find({
      ...request,
      path: before(request.base_url ?? connector.base_url) + request.path,
    });
    return described === undefined ? [] : [[asked, described]];
  });
  return {
    compared: pairs.map(([{ id }]) => id),
    differences: pairs.flatMap(([asked, described]) =>
      compareRequest(asked, described, connector, description),
    ),
  };
}

function compareRequest(
  asked: ComparedRequest,
  described: DescribedOperation,
  connector: Connector,
  description: ServiceDescription,
): Difference[] {
  const { id, request, settings, pagination, key } = asked;
  const found: Difference[] = [];
  const add: Add = (at, message) => void found.push({ operation: id, at, message });
  for (const fault of described.faults ?? []) add('/request', fault);
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
    asked,
    described,
    paged.filter((each) => each.in === 'body').map(({ name }) => name),
    {
      settings,
      description,
      add,
    },
  );
  if (key?.in === 'body' && !described.body) add('/key', 'goes into a body that the service does not take.');
  compareHeaders(asked, described, connector, { settings, description, add });
  compareReading(asked, described, description, add);
  comparePages(asked, described, description, add);
  return found;
}

/** Those of every request, and those that carry a credential, whose name its owner chooses. */
const HEADERS_OF_ALL =
  /^(accept|content-type|content-length|host|authorization)$|(^|api[-_]?|access[-_]?|auth[-_]?)token$|api[-_]?key$/;

function compareHeaders(
  { headers, request }: ComparedRequest,
  { parameters }: DescribedOperation,
  connector: Connector,
  comparison: Comparison,
): void {
  const known = parameters.filter((each) => each.in === 'header');
  for (const { name } of known.filter((each) => each.isRequired)) {
    const small = name.toLowerCase();
    if (!headers.has(small) && !HEADERS_OF_ALL.test(small))
      comparison.add('/request/headers', `lacks ${name}, which the service requires.`);
  }
  for (const [name, value] of Object.entries({ ...connector.headers, ...request.headers })) {
    const parameter = known.find((each) => each.name.toLowerCase() === name);
    if (parameter !== undefined)
      compareValue(value, parameter.schema, `/request/headers/${name}`, comparison);
  }
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
  { request, key }: ComparedRequest,
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

function compareValue(value: JsonValue, given: DescribedSchema, at: string, comparison: Comparison): void {
  const { settings, description, add } = comparison;
  const schema = description.resolve(given ?? undefined);
  if (schema === null) return;
  if (isJsonArray(value) || isJsonObject(value)) {
    const kind = isJsonArray(value) ? 'array' : 'object';
    const variants = description.variantsOf(schema) ?? [];
    const ofKind = variants.filter((variant) => {
      const types = typesOf(variant, description);
      return types.size === 0 || types.has(kind);
    });
    if (ofKind.length === 0)
      add(at, `is an ${kind}; the service takes ${[...typesOf(schema, description)].join(' or ')}.`);
    const found = ofKind.map((variant) => {
      const differences: [string, string][] = [];
      const add: Add = (where, message) => void differences.push([where, message]);
      compareMembers(value, variant, at, { settings, description, add });
      return differences;
    });
    // It has to fit one of the alternatives: the nearest is the one that is meant.
    const [nearest = []] = found.sort((one, other) => one.length - other.length);
    for (const [where, message] of nearest) add(where, message);
  } else if (typeof value === 'number' || typeof value === 'boolean') {
    compareSetting({ type: typeof value, minimum: value, maximum: value }, schema, at, description, add);
  } else if (typeof value === 'string') {
    const name = /^\{\{args\.(\w+)( \|\| null)?\}\}$/.exec(value)?.[1];
    const setting = name === undefined ? undefined : settings[name];
    if (setting !== undefined) compareSetting(setting as JsonObject, schema, at, description, add);
    else if (!value.includes('{{') && value !== '') compareChoices([value], schema, at, description, add);
  }
}

/** Compares a list or an object with one alternative. */
function compareMembers(
  value: readonly JsonValue[] | JsonObject,
  variant: JsonObject,
  at: string,
  comparison: Comparison,
): void {
  const { description, add } = comparison;
  if (isJsonArray(value)) {
    for (const [index, item] of value.entries())
      compareValue(item, objectOf(variant.items), `${at}/${index}`, comparison);
  } else {
    const members = description.membersOf(variant);
    for (const [name, member] of Object.entries(value)) {
      const known = members.properties.get(name);
      const where = joinPointer(at, name);
      if (known !== undefined) compareValue(member, known, where, comparison);
      else if (!mayHave(members, name)) add(where, 'is no member that the service describes.');
    }
    for (const name of members.required)
      if (!Object.hasOwn(value, name)) add(at, `lacks ${name}, which the service requires.`);
  }
}

function mayHave({ isOpen, patterns }: DescribedMembers, name: string): boolean {
  return isOpen || patterns.some((each) => each.test(name));
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
  { output, pagination, item, answers }: ComparedRequest,
  { answer, headers, hasAllHeaders = false }: DescribedOperation,
  description: ServiceDescription,
  add: Add,
): void {
  for (const [name = ''] of !hasAllHeaders ? [] : namesRead(output ?? null, ['response', 'headers']))
    if (headers?.has(name) === false) add('/output', `reads the header ${name}, which no answer has.`);
  if (answer === null) return;
  const read: JsonValue = [output ?? null, pagination?.items ?? '', pagination?.next ?? ''];
  for (const names of namesRead(read, ['response', 'body'])) {
    if (!isDescribed(answer, names, description))
      add('/output', `reads ${names.join('.')}, which no answer has.`);
  }
  const [list] = namesRead(item?.list ?? '', ['response', 'body']);
  for (const names of list === undefined ? [] : namesRead(item?.reads ?? null, ['item'])) {
    if (!isDescribed(answer, [...(list ?? []), '0', ...names], description))
      add('/items', `reads ${names.join('.')}, which no item has.`);
  }
  for (const { at, body } of answers) {
    for (const name of Object.keys(body))
      if (!isDescribed(answer, [name], description)) add(at, `answers ${name}, which no answer has.`);
  }
}

/** What templates read below a value, such as `response.body`. */
function namesRead(templates: JsonValue, below: readonly string[]): readonly (readonly string[])[] {
  return [...listPaths(parseTemplates(templates, '').template)].flatMap(({ names: [root, ...names] }) =>
    root === 'args' && below.every((name, index) => names[index] === name) ? [names.slice(below.length)] : [],
  );
}

/** Whether one of the alternatives has it. */
function isDescribed(
  given: DescribedSchema,
  [name, ...rest]: readonly string[],
  description: ServiceDescription,
): boolean {
  const variants = description.variantsOf(given);
  if (name === undefined || variants === null) return true;
  return variants.some((variant) => {
    if (/^\d+$/.test(name)) return isDescribed(objectOf(variant.items), rest, description);
    const members = description.membersOf(variant);
    const member = members.properties.get(name);
    return member === undefined ? mayHave(members, name) : isDescribed(member, rest, description);
  });
}

/** Whether a list is followed the way the service says. That what is sent and read exists is compared elsewhere. */
function comparePages(
  { pagination, request }: ComparedRequest,
  described: DescribedOperation,
  description: ServiceDescription,
  add: Add,
): void {
  const said = describedPages(described, description);
  if (pagination === undefined) {
    // Who asks for a page by hand follows none.
    const sent = { ...request.query, ...objectOf(request.body) };
    const isAsked = said.some(
      ({ size, into }) => size.name in sent || (into !== undefined && into.name in sent),
    );
    // OData says it of every list.
    const isOfAll = said[0]?.next?.includes('@odata.nextLink') === true;
    if (said[0] !== undefined && !isAsked && !isOfAll)
      add('/pagination', `is missing; the service lists by ${said[0].type}.`);
    return;
  }
  const { type, into, size, items, first = 1 } = pagination;
  const ways = [...new Set(said.map((each) => each.type))];
  if (ways.length > 0 && !ways.includes(type))
    add('/pagination/type', `is ${type}; the service lists by ${ways.join(' or ')}.`);
  const schemaOf = ({ in: where, name }: Place): DescribedSchema =>
    where === 'body'
      ? (description.membersOf(described.body?.schema ?? null).properties.get(name) ?? null)
      : (described.parameters.find((each) => each.in === where && each.name === name)?.schema ?? null);
  const compareSent = (member: 'size' | 'into', to: Place, bounds: JsonObject) => {
    const schema = description.resolve(schemaOf(to) ?? undefined) ?? {};
    compareSetting({ type: 'integer', ...bounds }, schema, `/pagination/${member}`, description, add);
  };
  compareSent('size', size, { minimum: size.max, maximum: size.max });
  if (into !== undefined && (type === 'page' || type === 'offset'))
    compareSent('into', into, { minimum: type === 'page' ? first : 0 });
  const [list] = namesRead(items, ['response', 'body']);
  const types = list === undefined ? new Set<string>() : typesAt(described.answer, list, description);
  if (types.size > 0 && !types.has('array')) add('/pagination/items', 'is no list of the service.');
}

/** What a value of the answer may be; empty where nothing is known. */
function typesAt(
  given: DescribedSchema,
  [name, ...rest]: readonly string[],
  description: ServiceDescription,
): Set<string> {
  if (given === null) return new Set();
  if (name === undefined) return typesOf(description.resolve(given) ?? {}, description);
  const variants = description.variantsOf(given) ?? [];
  return new Set(
    variants.flatMap((each) => [
      ...typesAt(description.membersOf(each).properties.get(name) ?? null, rest, description),
    ]),
  );
}
