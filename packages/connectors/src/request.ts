import {
  isJsonArray,
  isJsonObject,
  isRawNumber,
  type JsonObject,
  type JsonValue,
  setOwn,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { sha256Hex } from '@millrace/node-kit/digest';
import type { HttpConfig } from '@millrace/node-kit/http/config';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { isBlank } from '@millrace/node-kit/values';
import type { Asked, Connector, Operation, Place } from './format.ts';
import { fillIn, fillInGiven, fillInPath, type TemplateBudget } from './templates.ts';

const MIB = 1024 * 1024;
/** Of one answer. */
const MAX_ANSWER_BYTES = 4 * MIB;
/** Of a table in which a row is looked up, or of a file in JSON. */
export const MAX_LARGE_ANSWER_BYTES = 16 * MIB;

/** What a node's settings say besides those of the operation. */
export interface Limits {
  /** 0: none is chosen, or the service asks for none. */
  readonly credential_id: number;
  readonly timeout_ms: number;
}

/** What is the same for every request of a run. */
export interface Call {
  readonly connector: Connector;
  readonly operation: Asked;
  /** The operation's settings by name. */
  readonly args: JsonObject;
  readonly limits: Limits;
  /** Of the whole run. */
  readonly budget: TemplateBudget;
  /** Empty where nothing but reading is done outside an execution: no key is sent. */
  readonly idempotencyKey: string;
  readonly maxAnswerBytes?: number;
}

/** What is the same for every request of a run of an operation. */
export interface OperationCall extends Call {
  readonly operation: Operation;
}

/** What belongs to one page. */
export interface PageRequest {
  readonly values: readonly (readonly [Place, JsonValue])[];
  /** The whole address, as the answer before gave it. */
  readonly url?: string;
}

/**
 * The request of an operation, in the form that http.request builds one from.
 * @throws NodeProblem for a setting that can't be part of it
 * @throws RenderLimitError
 */
export async function requestOf(call: Call, page: PageRequest = { values: [] }): Promise<HttpConfig> {
  const { connector, operation, args, limits, budget } = call;
  const { method, query = {}, headers = {}, body, body_type: bodyType = 'json' } = operation.request;
  const key = await keyOf(call);
  const valuesIn = (where: Place['in']): [string, JsonValue][] =>
    page.values.flatMap(([place, value]) => (place.in === where ? [[place.name, value]] : []));
  const inBody = [...valuesIn('body'), ...Object.entries(key.body)];
  const filled = body === undefined ? null : fillInGiven(body, args, budget);
  const whole = inBody.length === 0 ? filled : inBody.reduce(withValue, objectOf(filled));
  return {
    method,
    url: page.url ?? addressOf(call),
    headers: {
      accept: 'application/json',
      ...connector.headers,
      ...objectOf(fillInGiven(headers, args, budget)),
      ...key.headers,
    },
    // The address of a further page has its query.
    query:
      page.url === undefined
        ? { ...objectOf(fillInGiven(query, args, budget)), ...Object.fromEntries(valuesIn('query')) }
        : {},
    body: bodyType === 'form' ? flattened(objectOf(whole)) : whole,
    body_type: bodyType,
    auth:
      connector.authentication.types.length === 0
        ? { type: 'none' }
        : { type: 'credential', credential_id: limits.credential_id },
    timeout_ms: limits.timeout_ms,
    max_response_bytes: call.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    // A body is meant for the service alone.
    follow_redirects: method === 'GET',
    response_type: operation.response === 'file' ? 'file' : 'auto',
    success_statuses: ['200-299'],
  };
}

/** The body with a value under a name, or where a JSON Pointer of names leads. */
function withValue(body: JsonObject, [name, value]: readonly [string, JsonValue]): JsonObject {
  if (!name.startsWith('/')) return { ...body, [name]: value };
  const [first = '', ...rest] = name.slice(1).split('/');
  const below =
    rest.length === 0 ? value : withValue(objectOf(body[first] ?? null), [`/${rest.join('/')}`, value]);
  return { ...body, [first]: below };
}

function objectOf(value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The fields of a form: `{a: {b: 1}, c: [2]}` becomes `a[b]=1` and `c[0]=2`. */
function flattened(fields: JsonObject): JsonObject {
  const flat: { [name: string]: JsonValue } = {};
  const waiting: [string, JsonValue][] = Object.entries(fields);
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [name, value] = next;
    if (!isJsonArray(value) && (!isJsonObject(value) || isRawNumber(value))) {
      setOwn(flat, name, value);
      continue;
    }
    const members = Object.entries(value).map(([key, each]): [string, JsonValue] => [
      `${name}[${key}]`,
      each,
    ]);
    waiting.unshift(...members);
  }
  return flat;
}

/** The key that stays the same across attempts, where the service wants it. */
async function keyOf({ operation: { key }, idempotencyKey }: Call): Promise<{
  readonly headers: JsonObject;
  readonly body: JsonObject;
}> {
  if (key === undefined) return { headers: {}, body: {} };
  const value = await keyText(key.form, idempotencyKey);
  return key.in === 'header'
    ? { headers: { [key.name.toLowerCase()]: value }, body: {} }
    : { headers: {}, body: { [key.name]: value } };
}

async function keyText(form: NonNullable<Asked['key']>['form'], idempotencyKey: string): Promise<string> {
  if (form === 'text') return idempotencyKey;
  const hash = await sha256Hex(idempotencyKey);
  return form === 'uuid' ? uuidOf(hash) : hash.slice(0, 24);
}

/** A UUID (version 4 by its form) of the first digits of a hash. */
function uuidOf(hex: string): string {
  const digits = `${hex.slice(0, 12)}4${hex.slice(13, 16)}a${hex.slice(17, 32)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** @throws NodeProblem */
function addressOf({ connector, operation: { request }, args, budget }: Call): string {
  const base = request.base_url === undefined ? baseOf(connector, args, budget) : new URL(request.base_url);
  const path = fillInPath(request.path, args, request.whole ?? [], budget);
  const url = new URL(base.href.replace(/\/$/, '') + path);
  const expected = base.pathname.replace(/\/$/, '') + path;
  // Every value is encoded, so this holds; if it ever didn't, the request would go somewhere else.
  if (url.origin !== base.origin || url.pathname !== expected) {
    throw new NodeProblem(message('nodes.path_value_dots', { name: request.path }));
  }
  return url.href;
}

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
/** A host's name is no longer. */
const MAX_HOST = 253;

/** @throws NodeProblem when a setting isn't a part of a host's name */
function baseOf(connector: Connector, args: JsonObject, budget: TemplateBudget): URL {
  const { base_url: template, hosts, several_labels: isSeveral = false, other_address: other } = connector;
  if (other !== undefined && !isBlank(args[other.setting] ?? null)) {
    const [, origin = '', path = ''] = /^(https?:\/\/[^/]+)(.*)$/.exec(other.base_url) ?? [];
    return new URL(origin + fillInPath(path, args, [], budget));
  }
  const [before = '', expression, after = ''] = template.split(/(\{\{.*?\}\})/);
  if (expression === undefined) return new URL(template);
  const given = fillIn(expression, args, budget);
  const labels = typeof given !== 'string' ? [] : isSeveral ? given.slice(0, MAX_HOST).split('.') : [given];
  if (labels.length === 0 || !labels.every((label) => LABEL.test(label))) {
    const name = /args\.(\w+)/.exec(expression)?.[1] ?? '';
    throw new NodeProblem(message(isSeveral ? 'nodes.not_host_part' : 'nodes.not_host_label', { name }));
  }
  const url = new URL(before + labels.join('.') + after);
  if (!hosts.some((host) => isHost(url.hostname, host))) {
    throw new NodeProblem(message('nodes.not_host_label', { name: url.hostname }));
  }
  return url;
}

/** Whether a host's name is the one that a connector names, or below it (`*.example.com`). */
export function isHost(hostname: string, entry: string): boolean {
  if (entry === '*') return true;
  return entry.startsWith('*.') ? hostname.endsWith(entry.slice(1)) : hostname === entry;
}
