import { type JsonObject, type JsonValue, own, tryParseJson } from '@millrace/engine';
import { type CurlOption, readOptions, wordsOf } from './curl-options.ts';
import { isCurl } from './pasted-text.ts';

/** A secret found in pasted text, to be stored as a credential. */
export interface OfferedCredential {
  readonly type: 'basic' | 'bearer' | 'digest' | 'header' | 'query';
  readonly fields: JsonObject;
  readonly hosts: readonly string[];
}

/** A request as the HTTP request node sends it. */
export interface CurlRequest {
  /** Without secrets. */
  readonly config: JsonObject;
  readonly credential: OfferedCredential | null;
  /** Options, as written but without secret values, that the node has nothing for. */
  readonly leftOut: readonly string[];
}

/** Longer commands come from uploads and aren't meant to be read by people. */
const MAX_LENGTH = 1_000_000;

/** Reads a curl command; null if it has no URL, or can't be read. Nothing in it is run, and no file is read. */
export function readCurl(text: string): CurlRequest | null {
  if (!isCurl(text) || text.length > MAX_LENGTH) return null;
  const words = wordsOf(text);
  if (words === null) return null;
  return toRequest(readOptions(words));
}

/** What only concerns the terminal or the connection, which the node does its own way. */
const IGNORED = new Set([
  ...['silent', 'show-error', 'include', 'verbose', 'fail', 'fail-with-body', 'globoff', 'no-buffer'],
  ...['progress-bar', 'remote-name', 'compressed', 'location', 'output', 'write-out', 'dump-header'],
  ...['http1.1', 'http2', 'http3', 'tlsv1.2', 'tlsv1.3', 'ipv4', 'ipv6', 'basic', 'connect-timeout'],
  ...['retry', 'retry-delay', 'retry-max-time', 'trace-ascii', 'no-progress-meter', 'parallel', 'path-as-is'],
]);

/** What has been found so far. */
interface Found {
  method: string | null;
  url: string | null;
  readonly headers: [name: string, value: string][];
  readonly data: string[];
  isJson: boolean;
  isGet: boolean;
  isHead: boolean;
  isDigest: boolean;
  user: string | null;
  bearer: string | null;
  timeoutMs: number | null;
  readonly leftOut: string[];
}

function toRequest(options: readonly CurlOption[]): CurlRequest | null {
  const found: Found = {
    ...{ method: null, url: null, headers: [], data: [], isJson: false, isGet: false, isHead: false },
    ...{ isDigest: false, user: null, bearer: null, timeoutMs: null, leftOut: [] },
  };
  for (const option of options) take(option, found);
  if (found.url === null) return null;
  const url = addressOf(found.url);
  if (url === null) return null;
  if (url.user !== null) found.user ??= url.user;
  const written = [url.query, ...(found.isGet ? found.data : [])].filter((part) => part !== '').join('&');
  const query = parametersOf(written);
  const { credential, headers, leftOut } = hideSecrets(found, query, url.host);
  const body = found.isGet ? {} : bodyOf(found, headers);
  const method = methodOf(found);
  if (method === null) leftOut.push(`-X ${found.method}`);
  return {
    config: {
      ...(method === null || method === 'GET' ? {} : { method }),
      url: url.address,
      ...(Object.keys(headers).length === 0 ? {} : { headers }),
      ...(Object.keys(query).length === 0 ? {} : { query }),
      ...body,
      ...(credential === null ? {} : { auth: { type: 'credential', credential_id: 0 } }),
      ...(found.timeoutMs === null ? {} : { timeout_ms: found.timeoutMs }),
    },
    credential,
    leftOut,
  };
}

function take({ name, value, written }: CurlOption, found: Found): void {
  switch (name) {
    case 'url':
      if (found.url === null) found.url = value;
      else found.leftOut.push(value ?? '');
      return;
    case 'request':
      found.method = (value ?? '').toUpperCase();
      return;
    case 'header':
      takeHeader(value ?? '', found);
      return;
    case 'user-agent':
      found.headers.push(['User-Agent', value ?? '']);
      return;
    case 'referer':
      found.headers.push(['Referer', value ?? '']);
      return;
    case 'cookie':
      // Without "=" it names a file.
      if (value?.includes('=') === true) found.headers.push(['Cookie', value]);
      else found.leftOut.push(written);
      return;
    case 'json':
      found.isJson = true;
      takeData(value ?? '', written, found);
      return;
    case 'data':
    case 'data-ascii':
    case 'data-binary':
      takeData(value ?? '', written, found);
      return;
    case 'data-raw':
      found.data.push(value ?? '');
      return;
    case 'data-urlencode':
      takeEncoded(value ?? '', written, found);
      return;
    case 'url-query':
      found.url = found.url === null ? null : `${found.url}${found.url.includes('?') ? '&' : '?'}${value}`;
      return;
    case 'get':
      found.isGet = true;
      return;
    case 'head':
      found.isHead = true;
      return;
    case 'digest':
      found.isDigest = true;
      return;
    case 'user':
      found.user = value;
      return;
    case 'oauth2-bearer':
      found.bearer = value;
      return;
    case 'max-time': {
      const ms = Math.round(Number(value) * 1_000);
      if (ms >= 1 && ms <= 300_000) found.timeoutMs = ms;
      else found.leftOut.push(written);
      return;
    }
    default:
      if (!IGNORED.has(name)) found.leftOut.push(written);
  }
}

function takeHeader(line: string, found: Found): void {
  const [, name, value] = /^([^:;]+):\s*(.*)$/s.exec(line) ?? [];
  // "Name:" removes a header that curl would have sent; "Name;" sends it empty.
  if (name !== undefined && value !== undefined && value !== '') found.headers.push([name.trim(), value]);
}

/** `@` names a file, which the page can't read. */
function takeData(value: string, written: string, found: Found): void {
  if (value.startsWith('@')) found.leftOut.push(`${written} ${value}`);
  else found.data.push(value);
}

function takeEncoded(value: string, written: string, found: Found): void {
  const [, name = '', content = ''] = /^([^=@]*)=(.*)$/s.exec(value) ?? [null, '', value];
  if (/^[^=]*@/.test(value)) found.leftOut.push(`${written} ${value}`);
  else found.data.push(`${name === '' ? '' : `${name}=`}${encodeURIComponent(content)}`);
}

interface Address {
  readonly address: string;
  readonly query: string;
  readonly host: string | null;
  readonly user: string | null;
}

/** A URL in parts; one without a scheme is http, as for curl. */
function addressOf(written: string): Address | null {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  if (!/^https?:\/\//i.test(full)) return null;
  const [, before = '', query = ''] = /^([^?#]*)(?:\?([^#]*))?/.exec(full) ?? [];
  const [, scheme = '', user, rest = ''] = /^(https?:\/\/)(?:([^/@]*)@)?(.*)$/is.exec(before) ?? [];
  const [host = ''] = /^(?:\[[^\]]*\]|[^/:]*)/.exec(rest) ?? [];
  return {
    address: scheme + rest,
    query,
    host: host === '' || host.includes('{') ? null : host.toLowerCase(),
    user: user === undefined ? null : decoded(user.replaceAll('+', '%2B')),
  };
}

function methodOf({ method, isHead, isGet, data }: Found): string | null {
  if (method === null) return isHead ? 'HEAD' : data.length > 0 && !isGet ? 'POST' : 'GET';
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method) ? method : null;
}

/** Set by the node itself. */
const OWN_HEADERS = /^(host|content-length|connection|transfer-encoding|accept-encoding)$/i;
const SECRET_PARAMETER = /^(key|.*(api_?key|token|secret|password|signature).*)$/i;
const SECRET_HEADER = /^(cookie|x-csrf.*|.*(authorization|api-?key|token|secret|password).*)$/i;

/** Takes secrets out of headers and query: one becomes the credential, for more there is no place. */
function hideSecrets(
  { headers: all, user, bearer, isDigest, leftOut }: Found,
  query: { [name: string]: JsonValue },
  host: string | null,
): { credential: OfferedCredential | null; headers: { [name: string]: string }; leftOut: string[] } {
  const hosts = host === null ? [] : [host];
  const named: OfferedCredential[] = [];
  if (bearer !== null) named.push({ type: 'bearer', fields: { token: bearer }, hosts });
  if (user !== null) named.push({ type: isDigest ? 'digest' : 'basic', fields: userOf(user), hosts });
  const headers: { [name: string]: string } = {};
  const notTaken = [...leftOut];
  for (const [name, value] of all) {
    if (OWN_HEADERS.test(name)) continue;
    // A template reads the secret from elsewhere.
    if (!SECRET_HEADER.test(name) || value.includes('{{')) headers[name] = value;
    else if (named.length === 0) named.push(credentialOf(name, value, hosts));
    else notTaken.push(`-H ${name}`);
  }
  for (const [name, value] of Object.entries(query)) {
    if (!SECRET_PARAMETER.test(name) || typeof value !== 'string' || value.includes('{{')) continue;
    delete query[name];
    if (named.length === 0) named.push({ type: 'query', fields: { name, value }, hosts });
    else notTaken.push(`?${name}`);
  }
  return { credential: named[0] ?? null, headers, leftOut: notTaken };
}

function credentialOf(name: string, value: string, hosts: readonly string[]): OfferedCredential {
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.+)$/s.exec(value) ?? [];
  if (/^authorization$/i.test(name) && /^bearer$/i.test(scheme)) {
    return { type: 'bearer', fields: { token: rest.trim() }, hosts };
  }
  const user = /^authorization$/i.test(name) && /^basic$/i.test(scheme) ? fromBase64(rest.trim()) : null;
  if (user !== null) return { type: 'basic', fields: userOf(user), hosts };
  return { type: 'header', fields: { name, value }, hosts };
}

function userOf(text: string): JsonObject {
  const at = text.indexOf(':');
  return at === -1
    ? { username: text, password: '' }
    : { username: text.slice(0, at), password: text.slice(at + 1) };
}

function fromBase64(text: string): string | null {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** The body, in the node's notation; removes a header that the node sends anyway. */
function bodyOf({ data, isJson }: Found, headers: { [name: string]: string }): JsonObject {
  if (data.length === 0) return {};
  const [typeName] = Object.keys(headers).filter((name) => /^content-type$/i.test(name));
  const type = typeName === undefined ? '' : (headers[typeName] ?? '');
  const text = isJson ? data.join('') : data.join('&');
  const json = tryParseJson(text);
  const looksLikeJson = /^\s*[[{]/.test(text) && type === '';
  if (json !== undefined && (isJson || /\bjson\b/i.test(type) || looksLikeJson)) {
    if (/^application\/json\b/i.test(type)) delete headers[typeName as string];
    return { body: json };
  }
  const isForm = type === '' || /x-www-form-urlencoded/i.test(type);
  if (isForm && /^[^=&]+=[^&]*(&[^=&]+=[^&]*)*$/.test(text)) {
    if (typeName !== undefined) delete headers[typeName];
    return { body: parametersOf(text), body_type: 'form' };
  }
  if (type === '') headers['Content-Type'] = 'application/x-www-form-urlencoded';
  return { body: text, body_type: 'text' };
}

/** Parameters by name; a repeated one is a list. */
function parametersOf(text: string): { [name: string]: JsonValue } {
  const found: { [name: string]: JsonValue } = {};
  for (const part of text.split('&').filter((each) => each !== '')) {
    const at = part.indexOf('=');
    const name = decoded(at === -1 ? part : part.slice(0, at));
    const value = at === -1 ? '' : decoded(part.slice(at + 1));
    const before = own(found, name);
    const next = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
    Object.defineProperty(found, name, { value: next, enumerable: true, configurable: true, writable: true });
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
