import { Buffer } from 'node:buffer';
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StreamedBody,
  stringifyJson,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import manifest from '../../package.json' with { type: 'json' };
import { HIDDEN } from '../hidden.ts';
import { NodeProblem } from '../node-problem.ts';
import { scalarText, typeName } from '../values.ts';
import type { Auth, HttpConfig } from './config.ts';
import type { FileBody } from './file-body.ts';

/** The request on the wire; header names are lower case. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | StreamedBody;
}

/** RFC 9110 connection control and framing: managed by the service itself. */
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
// Visible ASCII, space, tab and Latin-1, as in RFC 9110; no line breaks, which would start another header.
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const CONTENT_TYPES = {
  json: 'application/json',
  text: 'text/plain; charset=utf-8',
  form: 'application/x-www-form-urlencoded',
  // These say it themselves.
  file: 'application/octet-stream',
  multipart: 'multipart/form-data',
  related: 'multipart/related',
} as const;

/** Whether test mode sends it: only GET. */
export function isReading(method: string): boolean {
  return method === 'GET';
}

/**
 * Builds the request described by a config, without the credential it names.
 * @param fileBody of a config whose body has files
 * @throws NodeProblem
 */
export function buildRequest(config: HttpConfig, idempotencyKey: string, fileBody?: FileBody): WireRequest {
  const url = urlOf(config);
  const body = bodyOf(config, fileBody);
  const type = fileBody?.contentType ?? CONTENT_TYPES[config.body_type];
  const auth = ownAuthHeader(config.auth);
  const own = authorHeaders(config.headers);
  if (auth !== undefined && own.has(auth[0])) {
    throw new NodeProblem(message('nodes.header_twice', { name: auth[0] }));
  }
  const headers = new Map([
    ['user-agent', `Millrace/${manifest.version}`],
    ['accept', '*/*'],
    ['idempotency-key', idempotencyKey],
    ...(body === undefined ? [] : [['content-type', type] as const]),
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

/** Shown in test mode instead of sending: the request, with its secrets hidden. */
export function describeRequest(request: WireRequest, config: HttpConfig): JsonObject {
  const secrets = [...SECRET_HEADERS, ownAuthHeader(config.auth)?.[0]];
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    secrets.includes(name) ? HIDDEN : value,
  ]);
  // Of files, only what they are.
  const body = typeof request.body === 'string' && config.body_type !== 'json' ? request.body : config.body;
  return { method: request.method, url: request.url, headers: Object.fromEntries(headers), body };
}

function urlOf({ url: text, query }: HttpConfig): string {
  const url = URL.parse(text.trim());
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new NodeProblem(message('nodes.wrong_url'), 'invalid_url');
  }
  if (url.username !== '' || url.password !== '') {
    throw new NodeProblem(message('nodes.url_with_password'), 'invalid_url');
  }
  url.hash = '';
  const added = new URLSearchParams(pairsOf(query, 'config.query')).toString();
  // Appended as text: searchParams would re-encode the author's own query and break signed URLs.
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
  throw new NodeProblem(message('nodes.not_scalar', { where, given: typeName(value) }));
}

function authorHeaders(headers: JsonObject): Map<string, string> {
  const entries = Object.entries(headers).filter(([, value]) => value !== null);
  return new Map(
    entries.map(([name, value]) => {
      const lowered = name.trim().toLowerCase();
      if (FORBIDDEN_HEADERS.has(lowered)) {
        throw new NodeProblem(message('nodes.header_of_service', { name }));
      }
      return checkedHeader(lowered, textOf(value, `config.headers.${name}`), 'config.headers');
    }),
  );
}

function checkedHeader(name: string, value: string, where: string): [string, string] {
  if (!HEADER_NAME.test(name)) {
    throw new NodeProblem(message('nodes.wrong_header_name', { name, where }));
  }
  const trimmed = value.trim();
  if (!HEADER_VALUE.test(trimmed)) {
    throw new NodeProblem(message('nodes.wrong_header_value', { name, where }));
  }
  return [name, trimmed];
}

function ownAuthHeader(auth: Auth): [string, string] | undefined {
  return auth.type === 'none' || auth.type === 'credential' ? undefined : authHeader(auth);
}

/**
 * Name and value of the header for authentication.
 * @throws NodeProblem
 */
export function authHeader(auth: Exclude<Auth, { type: 'none' | 'credential' }>): [string, string] {
  switch (auth.type) {
    case 'basic': {
      if (auth.username.includes(':')) {
        throw new NodeProblem(message('nodes.colon_in_username'));
      }
      const pair = Buffer.from(`${auth.username}:${auth.password}`, 'utf8').toString('base64');
      return ['authorization', `Basic ${pair}`];
    }
    case 'bearer':
      return checkedHeader('authorization', `Bearer ${auth.token}`, 'config.auth');
    case 'header': {
      const name = auth.name.trim().toLowerCase();
      if (FORBIDDEN_HEADERS.has(name)) {
        throw new NodeProblem(message('nodes.auth_header_of_service', { name }));
      }
      return checkedHeader(name, auth.value, 'config.auth');
    }
  }
}

function bodyOf(
  { method, body, body_type: type }: HttpConfig,
  fileBody: FileBody | undefined,
): WireRequest['body'] {
  if (body === null) return undefined;
  // Some services ask for one with GET, such as those that search.
  if (method === 'HEAD') {
    throw new NodeProblem(message('nodes.no_body_allowed', { method }));
  }
  if (fileBody !== undefined) return fileBody;
  if (type === 'json') return stringifyJson(body);
  if (type === 'form') {
    if (!isJsonObject(body)) {
      throw new NodeProblem(message('nodes.form_not_object', { given: typeName(body) }));
    }
    return new URLSearchParams(pairsOf(body, 'config.body')).toString();
  }
  if (typeof body !== 'string') {
    throw new NodeProblem(message('nodes.body_not_text', { given: typeName(body) }));
  }
  return body;
}
