import { type JsonValue, stringifyJson } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import manifest from '../../package.json' with { type: 'json' };
import { NodeProblem } from '../node-problem.ts';
import type { ChatCredential, ChatRequest } from './service.ts';

const USER_AGENT = `Millrace/${manifest.version}`;

/** Posts JSON to an incoming webhook, whose path is its secret. */
export function webhookRequest(url: URL, body: JsonValue): ChatRequest {
  return {
    url: url.href,
    shownUrl: `${url.origin}/[hidden]`,
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': USER_AGENT },
    body: stringifyJson(body),
    secretHeaders: [],
  };
}

/** Posts JSON to an API, with a header for authentication. */
export function apiRequest(
  url: string,
  body: JsonValue,
  auth: readonly [name: string, value: string],
  headers: { readonly [name: string]: string } = {},
): ChatRequest {
  return {
    url,
    shownUrl: url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': USER_AGENT,
      ...headers,
      [auth[0]]: auth[1],
    },
    body: stringifyJson(body),
    secretHeaders: [auth[0]],
  };
}

/**
 * The credential's incoming webhook.
 * @param hosts the service's own; `.example.com` matches every subdomain
 * @throws NodeProblem for another host, unless it is the credential's base_url
 */
export function webhookUrl(credential: ChatCredential, label: string, hosts: readonly string[]): URL | null {
  if (credential.webhook_url === null || credential.webhook_url === '') return null;
  const url = URL.parse(credential.webhook_url);
  if (url === null || url.username !== '' || url.password !== '') {
    throw new NodeProblem(message('nodes.webhook_not_url', { service: label }), 'invalid_credential');
  }
  const base = baseUrl(credential);
  if (base !== null) {
    if (url.origin === base.origin) return url;
    throw new NodeProblem(message('nodes.webhook_other_server'), 'invalid_credential');
  }
  const isOwn = hosts.some((host) =>
    host.startsWith('.') ? url.hostname.endsWith(host) : url.hostname === host,
  );
  if (url.protocol === 'https:' && isOwn) return url;
  const expected = hosts.map((host) => (host.startsWith('.') ? `*${host}` : host)).join(', ');
  throw new NodeProblem(
    hosts.length === 0
      ? message('nodes.needs_server', { service: label })
      : message('nodes.webhook_elsewhere', { service: label, hosts: expected }),
    'invalid_credential',
  );
}

/**
 * The URL of an API: the credential's base_url, else the service's default.
 * @throws NodeProblem
 */
export function apiUrl(credential: ChatCredential, own: string | null, path: string): string {
  const base = baseUrl(credential)?.href ?? own;
  if (base === null) {
    throw new NodeProblem(message('nodes.needs_own_server'), 'invalid_credential');
  }
  return `${base.replace(/\/+$/, '')}${path}`;
}

/** @throws NodeProblem when the credential has none */
export function tokenOf(credential: ChatCredential, otherwise: Message): string {
  const token = credential.token?.trim() ?? '';
  if (token === '') throw new NodeProblem(otherwise, 'invalid_credential');
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new NodeProblem(message('nodes.token_characters'), 'invalid_credential');
  }
  return token;
}

/** @throws NodeProblem when the message has no channel */
export function channelOf(channel: string | null, what: Message): string {
  if (channel !== null) return channel;
  throw new NodeProblem(message('nodes.channel_required', { what }));
}

/** @throws NodeProblem when a channel is given that the webhook would ignore */
export function refuseChannel(channel: string | null, label: string): void {
  if (channel === null) return;
  throw new NodeProblem(message('nodes.webhook_channel', { service: label }));
}

/** @throws NodeProblem when a thread is given but the service has no replies */
export function refuseThread(thread: string | null, label: string): void {
  if (thread === null) return;
  throw new NodeProblem(message('nodes.no_threads', { service: label }));
}

/** @throws NodeProblem when an id contains characters that would turn it into something else */
export function checkedId(id: string, pattern: RegExp, rule: Message): string {
  if (pattern.test(id)) return id;
  throw new NodeProblem(message('nodes.not_an_id', { rule, given: id.slice(0, 80) }));
}

function baseUrl({ base_url: text }: ChatCredential): URL | null {
  if (text === null || text === '') return null;
  const url = URL.parse(text);
  if (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.search === '' &&
    url.hash === ''
  ) {
    return url;
  }
  throw new NodeProblem(message('nodes.server_not_url'), 'invalid_credential');
}
