/** Calls of n8n's helpers that send requests. */
const CALL = /\bthis\.helpers\.((?:httpRequest|request)(WithAuthentication)?)(?:\.call\(\s*this\s*,|\s*\()/g;

/** What can't be sent, or be received, for code. */
const MISSING = /\bFormData\b|['"]stream['"]/;

/** Code whose requests are sent for it. */
interface CodeWithRequests {
  /** It calls `requests` in place of n8n's helpers. */
  readonly code: string;
  /** Its requests have a credential. */
  readonly isSigned: boolean;
}

/** Code whose requests can be sent for it; null if it sends none, or others as well. */
export function withRequests(given: string): CodeWithRequests | null {
  const kinds = new Set([...given.matchAll(CALL)].map(([, , signed]) => signed !== undefined));
  if (kinds.size !== 1 || MISSING.test(given)) return null;
  return { code: given.replaceAll(CALL, 'requests.$1('), isSigned: kinds.has(true) };
}

/**
 * What `requests` is in the sandbox, which has no network: code stops at the first request that has no answer yet, and runs again from its
 * beginning with one more answer. So that it takes the same way each time, the clock stands still, and random numbers repeat.
 */
export const REQUESTS = String.raw`const requests = (() => {
  const answers = input.answers ?? [], start = input.start ?? Date.now();
  const Clock = Date;
  globalThis.Date = class extends Clock { constructor(...all) { super(...(all.length === 0 ? [start] : all)); } static now() { return start; } };
  let seed = start % 2147483647 || 1;
  Math.random = () => { seed = seed * 48271 % 2147483647; return (seed - 1) / 2147483646; };
  let count = 0, ask;
  const asked = new Promise((resolve) => { ask = resolve; });
  const withScheme = (url) => /^https?:/i.test(url) ? url : 'http://' + url;
  const written = (options, headers) => {
    const given = options.form ?? options.body ?? options.data;
    const nameOf = Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
    const type = nameOf === undefined ? '' : String(headers[nameOf]);
    const has = (value) => { if (nameOf === undefined) headers['content-type'] = value; };
    if (given == null || given === '') return null;
    if (typeof given === 'string') { if (options.json === true) has('application/json'); return given; }
    if (given instanceof URLSearchParams || options.form !== undefined || type.includes('x-www-form-urlencoded')) {
      has('application/x-www-form-urlencoded');
      return new URLSearchParams(given).toString();
    }
    if (ArrayBuffer.isView(given) || given instanceof ArrayBuffer) throw new Error('Code sends no bytes here. Use an HTTP request node with a file.');
    if (typeof given === 'object' && Object.keys(given).length === 0 && options.json !== true && /^(GET|HEAD)$/.test(options.method ?? 'GET')) return null;
    has('application/json');
    return JSON.stringify(given);
  };
  const requestOf = (given) => {
    const options = typeof given === 'string' ? { url: given } : given ?? {};
    const headers = Object.fromEntries(Object.entries(options.headers ?? {}).filter(([, value]) => value != null).map(([name, value]) => [name, String(value)]));
    const { username, user, password, pass } = options.auth ?? {};
    if (username !== undefined || user !== undefined) headers.authorization = 'Basic ' + btoa((username ?? user) + ':' + (password ?? pass ?? ''));
    const url = String(options.url ?? options.uri ?? '');
    const body = written(options, headers);
    return {
      method: String(options.method ?? 'GET').toUpperCase(), url: options.baseURL && !/^https?:/i.test(url) ? withScheme(options.baseURL.replace(/\/$/, '') + '/' + url.replace(/^\//, '')) : withScheme(url),
      headers, query: options.qs ?? options.params ?? {}, ...(body === null ? {} : { body }),
      redirects: options.disableFollowRedirect !== true && options.followRedirect !== false,
    };
  };
  const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };
  const bytesOf = (text) => typeof Buffer === 'undefined' ? new TextEncoder().encode(text) : Buffer.from(text);
  const bodyOf = ({ body, body_type: type }, options, isOld) => {
    const wantsBytes = options.encoding === 'arraybuffer' || options.responseType === 'arraybuffer' || (isOld && options.encoding === null);
    if (type === 'base64') {
      const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
      return wantsBytes ? (typeof Buffer === 'undefined' ? bytes : Buffer.from(bytes)) : new TextDecoder().decode(bytes);
    }
    const text = body == null ? '' : type === 'json' ? JSON.stringify(body) : String(body);
    if (wantsBytes) return bytesOf(text);
    if (isOld && options.json !== true) return text;
    return options.json === false || options.encoding === 'text' ? text : type === 'json' ? body : parsed(text);
  };
  const failed = (text, more) => Object.assign(new Error(text), more);
  const send = async (given, isOld) => {
    const options = typeof given === 'string' ? {} : given ?? {};
    const request = requestOf(given), answer = answers[count];
    count += 1;
    if (answer === undefined) { ask(request); return new Promise(() => {}); }
    if (answer.url !== request.url || answer.method !== request.method) throw new Error('The code sends another request each time it runs: ' + request.url);
    const { status, headers = {} } = answer;
    if (status == null) throw failed(answer.error || 'The request failed', { code: 'ECONNREFUSED' });
    const body = bodyOf(answer, options, isOld);
    const ignores = options.ignoreHttpStatusErrors === true || options.simple === false;
    if (status >= 400 && !ignores)
      throw failed('Request failed with status code ' + status, { statusCode: status, httpCode: String(status), status, error: body, response: { status, statusCode: status, headers, data: body, body } });
    return options.returnFullResponse === true || options.resolveWithFullResponse === true ? { body, headers, statusCode: status, statusMessage: '' } : body;
  };
  return {
    start, asked, httpRequest: (options) => send(options, false), request: (options, more) => send(typeof options === 'string' ? { ...more, url: options } : options, true),
    httpRequestWithAuthentication: (_type, options) => send(options, false), requestWithAuthentication: (_type, options) => send(options, true),
  };
})();`;
