import type { JsonObject, JsonValue } from '@millrace/engine';
import { describedPages } from './described-pages.ts';
import {
  type DescribedOperation,
  type DescribedSchema,
  listOf,
  objectOf,
  type ServiceDescription,
  textOf,
} from './service-description.ts';

/** What a setting takes over from the description. */
const TAKEN = ['type', 'enum', 'minimum', 'maximum', 'default'] as const;

/**
 * Completes a choice of operations to a connector's file. An operation of the choice names the one of the service as `from`, such as `POST /v1/messages`;
 * a setting names its parameter, or its member of the body, as `from`, if that isn't its own name. In GraphQL the choice has the query as well. Lists get
 * their pages where the description tells them. Whatever the choice says itself stays.
 * @throws Error for something that the description hasn't
 */
export function makeConnector(choice: JsonObject, description: ServiceDescription): JsonObject {
  const operations = listOf(choice.operations).map((each) => completeOperation(objectOf(each), description));
  return { ...choice, operations };
}

function completeOperation(chosen: JsonObject, description: ServiceDescription): JsonObject {
  const { from, settings, ...rest } = chosen;
  if (typeof from !== 'string') return chosen;
  const [method = '', path = ''] = from.split(' ');
  const { body = null } = objectOf(rest.request);
  const described =
    description.operations.find((each) => each.method === method && each.path === path) ??
    description.find({ method, path, body });
  if (described === undefined) throw new Error(`${textOf(chosen.id)}: the description has no ${from}`);
  const places = Object.entries(objectOf(settings)).map(([name, setting]) =>
    placeOf(name, objectOf(setting), described, description),
  );
  const required = [
    ...new Set([
      ...listOf(rest.required).map(String),
      ...places.filter((each) => each.isRequired).map((each) => each.setting),
    ]),
  ];
  return {
    ...rest,
    settings: Object.fromEntries(places.map(({ setting, schema }) => [setting, schema])),
    required,
    request: { ...requestOf(described, path, places), ...objectOf(rest.request) },
    ...pagesOf(rest, described, places, description),
  };
}

/** How a list is followed, unless the choice says what becomes of the answer, or offers what a page is asked for by as a setting. */
function pagesOf(
  chosen: JsonObject,
  described: DescribedOperation,
  places: readonly Placed[],
  description: ServiceDescription,
): JsonObject {
  if (chosen.output !== undefined || chosen.pagination !== undefined) return {};
  const [pages] = describedPages(described, description);
  if (pages === undefined) return {};
  const isOffered = [pages.size, pages.into].some((place) => places.some(({ name }) => name === place?.name));
  return isOffered ? {} : { pagination: { ...pages } };
}

/** A setting, and where its value goes. */
interface Placed {
  readonly setting: string;
  readonly schema: JsonObject;
  readonly in: string;
  readonly name: string;
  readonly isRequired: boolean;
}

function placeOf(
  setting: string,
  { from, ...words }: JsonObject,
  { parameters, body }: DescribedOperation,
  description: ServiceDescription,
): Placed {
  const name = typeof from === 'string' ? from : setting;
  const parameter = parameters.find((each) => each.name === name);
  const members = description.membersOf(body?.schema ?? null);
  const member = members.properties.get(name);
  if (parameter === undefined && member === undefined)
    throw new Error(`the service has no ${name}, which the setting ${setting} names`);
  const schema = description.resolve(parameter?.schema ?? member ?? undefined);
  return {
    setting,
    name,
    in: parameter?.in ?? 'body',
    schema: { ...takenFrom(schema), ...words },
    isRequired: parameter?.isRequired ?? members.required.has(name),
  };
}

function takenFrom(schema: DescribedSchema): JsonObject {
  const taken = TAKEN.flatMap((keyword): [string, JsonValue][] => {
    const value = schema?.[keyword];
    return value === undefined || value === null ? [] : [[keyword, value]];
  });
  return Object.fromEntries(taken);
}

function requestOf(
  { method, parameters, body }: DescribedOperation,
  path: string,
  places: readonly Placed[],
): JsonObject {
  const given = (where: string): JsonObject =>
    Object.fromEntries(
      places.filter((each) => each.in === where).map(({ name, setting }) => [name, `{{args.${setting}}}`]),
    );
  const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  const filled = inPath.reduce((text, name) => {
    const place = places.find((each) => each.in === 'path' && each.name === name);
    return place === undefined ? text : text.replace(`{${name}}`, `{{args.${place.setting}}}`);
  }, path);
  const [query, inBody, headers] = [given('query'), given('body'), given('header')];
  return {
    method,
    path: filled,
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(inBody).length === 0 ? {} : { body: inBody, ...bodyType(body?.types ?? []) }),
  };
}

function bodyType(types: readonly string[]): JsonObject {
  if (types.some((type) => type.includes('json'))) return {};
  if (types.some((type) => type.includes('urlencoded'))) return { body_type: 'form' };
  return types.some((type) => type.includes('multipart')) ? { body_type: 'multipart' } : {};
}
