import { Buffer } from 'node:buffer';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, stringifyJson } from '@millrace/engine';
import manifest from '../../package.json' with { type: 'json' };
import { scalarText, typeName } from '../values.ts';
import type { Auth, HttpConfig } from './config.ts';

/** What goes over the wire; header names are lower case. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
}

/** A setting that makes no request possible; the message is for the workflow's author. */
export class RequestProblem extends Error {
  readonly code: 'invalid_config' | 'invalid_url';
  constructor(code: 'invalid_config' | 'invalid_url', message: string) {
    super(message);
    this.code = code;
  }
}

/** RFC 9110 connection control and framing: the service's own business. */
const FORBIDDEN_HEADERS = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);
const SECRET_HEADERS = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'x-api-key',
  'api-key',
  'x-auth-token',
];
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
// Visible ASCII, space, tab and Latin-1, as RFC 9110 has it; no line breaks, which would start another header.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const BODILESS = ['GET', 'HEAD'];
const CONTENT_TYPES = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  form: 'application/x-www-form-urlencoded',
} as const;

/** Whether test mode sends it: GET alone. */
export function isReading(method: string): boolean {
  return method === 'GET';
}

/**
 * Makes the request that a config describes; a credential it names is not part of it yet.
 * @throws RequestProblem
 */
export function buildRequest(config: HttpConfig, idempotencyKey: string): WireRequest {
  const url = urlOf(config);
  const body = bodyOf(config);
  const auth = ownAuthHeader(config.auth);
  const own = authorHeaders(config.headers);
  if (auth !== undefined && own.has(auth[0])) {
    throw new RequestProblem(
      'invalid_config',
      `The header ${auth[0]} is set by config.auth and by config.headers. Set it once.`,
    );
  }
  const headers = new Map([
    ['user-agent', `Millrace/${manifest.version}`],
    ['accept', '*/*'],
    ['idempotency-key', idempotencyKey],
    ...(body === undefined ? [] : [['content-type', CONTENT_TYPES[config.body_type]] as const]),
    ...own,
    ...(auth === undefined ? [] : [auth]),
  ]);
  return {
    method: config.method,
    url,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  };
}

/**
 * What test mode shows instead of sending: the request, with its secrets hidden.
 * @param secretHeader one more that is hidden
 */
export function describeRequest(request: WireRequest, config: HttpConfig, secretHeader?: string): JsonObject {
  const secrets = [...SECRET_HEADERS, ownAuthHeader(config.auth)?.[0], secretHeader];
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    secrets.includes(name) ? '[hidden]' : value,
  ]);
  const body =
    request.body === undefined || config.body_type !== 'json' ? (request.body ?? null) : config.body;
  return { method: request.method, url: request.url, headers: Object.fromEntries(headers), body };
}

function urlOf({ url: text, query }: HttpConfig): string {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new RequestProblem(
      'invalid_url',
      'config.url must be an absolute http or https URL, such as https://api.example.com/orders.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new RequestProblem(
      'invalid_url',
      'config.url may not hold a user name or password. Put them into config.auth.',
    );
  }
  url.hash = '';
  const added = new URLSearchParams(pairsOf(query, 'config.query')).toString();
  // Appended as text: searchParams would write the author's own query anew and break signed URLs.
  if (added !== '') url.search = url.search === '' ? added : `${url.search}&${added}`;
  return url.href;
}

function pairsOf(fields: JsonObject, where: string): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    (isJsonArray(value) ? value : [value])
      .filter((each) => each !== null)
      .map((each): [string, string] => [name, textOf(each, `${where}.${name}`)]),
  );
}

function textOf(value: JsonValue, where: string): string {
  const text = scalarText(value);
  if (text !== undefined) return text;
  throw new RequestProblem(
    'invalid_config',
    `${where} must be text, a number or a boolean, but is ${typeName(value)}.`,
  );
}

function authorHeaders(headers: JsonObject): Map<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== null);
  return new Map(
    entries.map(([name, value]) => {
      const lowered = name.trim().toLowerCase();
      if (FORBIDDEN_HEADERS.has(lowered)) {
        throw new RequestProblem(
          'invalid_config',
          `The header ${name} is set by the service. Remove it from config.headers.`,
        );
      }
      return checkedHeader(lowered, textOf(value, `config.headers.${name}`), 'config.headers');
    }),
  );
}

function checkedHeader(name: string, value: string, where: string): [string, string] {
  if (!HEADER_NAME.test(name)) {
    throw new RequestProblem(
      'invalid_config',
      `${JSON.stringify(name)} in ${where} cannot be the name of a header.`,
    );
  }
  const trimmed = value.trim();
  if (!HEADER_VALUE.test(trimmed)) {
    throw new RequestProblem(
      'invalid_config',
      `The value of ${name} in ${where} holds a line break or a character that a header cannot carry.`,
    );
  }
  return [name, trimmed];
}

function ownAuthHeader(auth: Auth): [string, string] | undefined {
  return auth.type === 'none' || auth.type === 'credential' ? undefined : authHeader(auth);
}

/**
 * Name and value of the header that signs in.
 * @throws RequestProblem
 */
export function authHeader(auth: Exclude<Auth, { type: 'none' | 'credential' }>): [string, string] {
  switch (auth.type) {
    case 'basic': {
      if (auth.username.includes(':')) {
        throw new RequestProblem('invalid_config', 'config.auth.username may not hold a colon.');
      }
      const pair = Buffer.from(`${auth.username}:${auth.password}`, 'utf8').toString('base64');
      return ['authorization', `Basic ${pair}`];
    }
    case 'bearer':
      return checkedHeader('authorization', `Bearer ${auth.token}`, 'config.auth');
    case 'header': {
      const name = auth.name.trim().toLowerCase();
      if (FORBIDDEN_HEADERS.has(name)) {
        throw new RequestProblem(
          'invalid_config',
          `config.auth.name may not be ${name}: the service sets that header.`,
        );
      }
      return checkedHeader(name, auth.value, 'config.auth');
    }
  }
}

function bodyOf({ method, body, body_type: type }: HttpConfig): string | undefined {
  if (body === null) return undefined;
  if (BODILESS.includes(method)) {
    throw new RequestProblem(
      'invalid_config',
      `A ${method} request carries no body. Remove config.body or choose another method.`,
    );
  }
  if (type === 'json') return stringifyJson(body);
  if (type === 'form') {
    if (!isJsonObject(body)) {
      throw new RequestProblem(
        'invalid_config',
        `config.body must be an object for a form, but is ${typeName(body)}.`,
      );
    }
    return new URLSearchParams(pairsOf(body, 'config.body')).toString();
  }
  if (typeof body !== 'string') {
    throw new RequestProblem(
      'invalid_config',
      `config.body must be text for body_type text, but is ${typeName(body)}.`,
    );
  }
  return body;
}
