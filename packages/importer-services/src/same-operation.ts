import type { Connector, Operation } from '@millrace/connectors/format';
import { typeOf } from '@millrace/connectors/node-type';
import { services } from '@millrace/connectors/services';
import { isJsonArray, isJsonObject, type JsonSchema, type JsonValue } from '@millrace/engine';
import { insideOf, type Shape, template } from '@millrace/importer-kit/refs';

/** An HTTP request to a known service. */
export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly query: JsonValue;
  readonly body: JsonValue;
  /** The body is a form with files. */
  readonly isForm?: boolean;
}

/** The operation of a connector that sends the same request. */
export interface SameOperation {
  readonly type: string;
  /** Its settings, without the credential. */
  readonly config: { readonly [name: string]: JsonValue };
  /** Where a part of the response is in the node's output; null if it isn't. */
  place(names: readonly string[]): readonly string[] | null;
  /** Where the parts are that a whole response is read by. */
  readonly shape: Shape;
  readonly hasPages: boolean;
}

/** Where a token stands in the address of a call. */
export const TOKEN_IN_PATH = '[token]';

type Settings = { [name: string]: JsonValue };

/** A template that is one setting and nothing else, as whatever is sent: as a number, or left out where it has its default. */
const SETTING = /^\{\{args\.(\w+)(?: \|\| null| \| number| == "\w+" \? null : args\.\1)?\}\}$/;
/** A part of a response, by its path. */
const PART = /^\{\{args\.response\.body((?:\.\w+)*)\}\}$/;

/** The operation that sends what a call would send: each part of the call has to be a setting of it, or what it sends anyway. */
export function sameOperation(call: HttpCall): SameOperation | null {
  for (const connector of services) {
    for (const operation of connector.operations) {
      const config = settingsFor(connector, operation, call);
      if (config !== null && operation.replaced !== true) return described(connector, operation, config);
    }
  }
  return null;
}

function described(connector: Connector, operation: Operation, config: Settings): SameOperation {
  const { pagination } = operation;
  return {
    type: typeOf(connector, operation),
    config,
    hasPages: pagination !== undefined,
    shape: shapeOf(operation.output),
    place: (names) =>
      pagination === undefined ? placeIn(operation.output, names) : itemsAt(pagination.items, names),
  };
}

function itemsAt(items: string, names: readonly string[]): readonly string[] | null {
  return partOf(items)?.join('.') === names.join('.') ? ['items'] : null;
}

/** Where a part of the response is in an output: as it came, or under the name of one of its members. */
function placeIn(output: JsonValue | undefined, names: readonly string[]): readonly string[] | null {
  if (typeof output === 'string') {
    const root = partOf(output);
    if (root === null || root.some((name, index) => names[index] !== name)) return null;
    return names.slice(root.length);
  }
  if (output === undefined || !isJsonObject(output)) return null;
  const members = Object.entries(output).map(([name, value]) => [name, partOf(value ?? null)] as const);
  // Of a whole response, the members that have kept their names can be read as before.
  if (names.length === 0 && members.every(([name, part]) => part?.join('.') === name)) return [];
  for (const [name, part] of members) {
    if (part?.every((each, index) => names[index] === each) === true)
      return [name, ...names.slice(part.length)];
  }
  return null;
}

/** Parts of a response by their paths. */
function shapeOf(output: JsonValue | undefined): Shape {
  if (typeof output === 'string') return { [partOf(output)?.join('.') ?? '']: [] };
  const members = Object.entries(isJsonObject(output ?? null) ? (output as object) : {});
  return Object.fromEntries(
    members.flatMap(([name, value]: [string, JsonValue]) => {
      const part = partOf(value);
      return part === null ? [] : [[part.join('.'), [name]] as const];
    }),
  );
}

function partOf(value: JsonValue): readonly string[] | null {
  const [, path] = typeof value === 'string' ? (PART.exec(value) ?? []) : [];
  return path === undefined ? null : path.split('.').slice(1);
}

function settingsFor(connector: Connector, operation: Operation, call: HttpCall): Settings | null {
  const { method, path, query = {}, headers, body = null, body_type: bodyType = 'json' } = operation.request;
  if (
    method !== call.method ||
    !(call.isForm === true ? /^multipart$/ : /^(?:json|multipart)$/).test(bodyType) ||
    (operation.response ?? 'json') !== 'json' ||
    headers !== undefined ||
    // Other requests than the one that is compared.
    (operation.lookup ?? operation.stores ?? operation.request.base_url) !== undefined
  )
    return null;
  const found: Settings = {};
  const { pagination } = operation;
  const sized = (where: string, sent: JsonValue): JsonValue =>
    pagination?.size.in === where && isJsonObject(sent ?? {})
      ? { ...(sent as object), [pagination.size.name]: '{{args.limit}}' }
      : sent;
  const fits =
    fitsUrl(connector.base_url + path, withoutToken(connector, call.url), found) &&
    fitsValue(sized('query', query), call.query, found) &&
    fitsValue(sized('body', body), call.body, found);
  if (!fits) return null;
  const properties: { readonly [name: string]: JsonSchema } =
    pagination === undefined ? operation.settings : { ...operation.settings, limit: { type: 'integer' } };
  const config: Settings = {};
  for (const [name, value] of Object.entries(found)) {
    if (!Object.hasOwn(properties, name)) return null;
    const typed = ofType(name, value, properties[name]);
    if (typed === undefined) return null;
    config[name] = typed;
  }
  return operation.required.every((name) => Object.hasOwn(config, name) && config[name] !== '')
    ? config
    : null;
}

/** An address without the token that the credential puts into it. */
function withoutToken({ authentication: { chat } }: Connector, url: string): string {
  return chat === undefined ? url : url.replace(`${chat.before}${TOKEN_IN_PATH}`, '');
}

/** Takes the settings out of an address. In a call, a value is a template or escaped text. */
function fitsUrl(pattern: string, url: string, found: Settings): boolean {
  const names: string[] = [];
  const source = pattern.split(/(\{\{.*?\}\})/).map((part) => {
    const [, name] = SETTING.exec(part) ?? [];
    if (name === undefined) return RegExp.escape(part);
    names.push(name);
    return '(\\{\\{(?:(?!\\}\\}).)*\\}\\}|[^/{}?]+)';
  });
  const match = new RegExp(`^${source.join('')}$`).exec(url);
  if (match === null) return false;
  return names.every((name, index) => bind(name, unescaped(match[index + 1] ?? ''), found));
}

function unescaped(text: string): string | null {
  const inside = insideOf(text);
  if (inside !== null) return template(inside.replace(/ \| url_encode$/, ''));
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function bind(name: string, value: JsonValue, found: Settings): boolean {
  if (value === null || Object.hasOwn(found, name))
    return JSON.stringify(found[name]) === JSON.stringify(value);
  found[name] = value;
  return true;
}

/** Whether a call's value is what an operation sends, with settings that are taken out of it. What a call leaves out, a setting leaves out, too. */
function fitsValue(sent: JsonValue, value: JsonValue, found: Settings): boolean {
  if (value === null) return true;
  if (typeof sent === 'string') {
    const [, name] = SETTING.exec(sent) ?? [];
    return name === undefined ? sent === value : bind(name, value, found);
  }
  if (sent !== null && isJsonArray(sent)) {
    if (!isJsonArray(value) || value.length !== sent.length) return false;
    return value.every((item, index) => fitsValue(sent[index] ?? null, item, found));
  }
  if (sent !== null && isJsonObject(sent)) {
    if (!isJsonObject(value)) return false;
    return Object.entries(value).every(
      ([name, member]) => Object.hasOwn(sent, name) && fitsValue(sent[name] ?? null, member ?? null, found),
    );
  }
  return sent === value;
}

/** A value as a setting takes it; undefined if it can't. Templates are taken everywhere. */
function ofType(name: string, value: JsonValue, schema: JsonSchema | undefined): JsonValue | undefined {
  const type = schema?.type;
  if (typeof value === 'string' && value.includes('{{')) {
    const inside = insideOf(value);
    // Services have numbers for ids, and a template alone keeps its type.
    const isId = /(?:^|_)id$/.test(name) && type === 'string';
    return isId && inside !== null && !inside.startsWith('vars.') ? template(`${inside} | string`) : value;
  }
  const types =
    typeof type === 'string' ? [type] : isJsonArray((type ?? null) as JsonValue) ? (type as string[]) : [];
  if (types.length === 0) return value;
  if (types.includes('string') && typeof value === 'number') return String(value);
  const choices = schema?.enum as readonly JsonValue[] | undefined;
  if (choices !== undefined && !choices.includes(value)) return undefined;
  const kind = isJsonArray(value) ? 'array' : isJsonObject(value) ? 'object' : typeof value;
  if (types.includes('integer') && /^\d{1,9}$/.test(scalarOf(value))) return Number(value);
  return types.includes(kind) ? value : undefined;
}

function scalarOf(value: JsonValue): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
