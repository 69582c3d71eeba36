import { stringifyJson } from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import manifest from '../../package.json' with { type: 'json' };
import { checkLength } from './limits.ts';
import type { ChatApi, ChatCredential, ChatMessage, ChatPost, ChatRequest, ChatService } from './service.ts';

export const USER_AGENT = `Millrace/${manifest.version}`;

/**
 * The request that sends a message: by the credential's webhook if it has one, else by the service's API.
 * @throws NodeProblem when the service can't send the message or use the credential
 */
export function compose(service: ChatService, chat: ChatMessage, credential: ChatCredential): ChatRequest {
  const { label, api, webhook, maxBytes } = service;
  if (chat.thread !== null && service.hasThreads === false) {
    throw new NodeProblem(message('nodes.no_threads', { service: label }));
  }
  const url = webhookUrl(service, credential);
  let request: ChatRequest;
  if (webhook !== undefined && url !== null) {
    if (chat.channel !== null && webhook.takesChannel !== true) {
      throw new NodeProblem(message('nodes.webhook_channel', { service: label }));
    }
    request = requestOf(webhook.post(chat, url), url.href, `${url.origin}/[hidden]`);
  } else if (api !== undefined) {
    const { root, shownRoot, headers } = authenticate(api, credential, service.needs);
    const { path, ...post } = api.post(chat, channelOf(chat, api));
    request = requestOf(post, `${root}${path}`, `${shownRoot}${path}`, headers);
  } else {
    throw new NodeProblem(service.needs, 'invalid_credential');
  }
  if (maxBytes !== undefined) {
    checkLength(message('nodes.whole_message'), request.body, maxBytes, label, 'bytes');
  }
  return request;
}

function requestOf(
  { body, headers = {} }: ChatPost,
  url: string,
  shownUrl: string,
  secretHeaders: ChatRequest['headers'] = {},
): ChatRequest {
  const isForm = body instanceof URLSearchParams;
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json; charset=utf-8';
  return {
    url,
    shownUrl,
    headers: { 'content-type': type, 'user-agent': USER_AGENT, ...headers, ...secretHeaders },
    body: isForm ? body.toString() : stringifyJson(body),
    secretHeaders: Object.keys(secretHeaders),
  };
}

/**
 * The credential's incoming webhook; null without one, or when the service has none.
 * @throws NodeProblem for another host, unless it is the credential's base_url
 */
export function webhookUrl({ webhook, label }: ChatService, credential: ChatCredential): URL | null {
  if (webhook === undefined || credential.webhook_url === null || credential.webhook_url === '') return null;
  const { hosts } = webhook;
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
 * Where an API is, and what authenticates its requests.
 * @param otherwise says that the credential has no token
 * @throws NodeProblem
 */
export function authenticate(
  { auth, base }: ChatApi,
  credential: ChatCredential,
  otherwise: Message,
): { readonly root: string; readonly shownRoot: string; readonly headers: ChatRequest['headers'] } {
  const token = tokenOf(credential, otherwise);
  const address = baseUrl(credential)?.href ?? base;
  if (address === null) throw new NodeProblem(message('nodes.needs_own_server'), 'invalid_credential');
  const root = address.replace(/\/+$/, '');
  if ('header' in auth) {
    return { root, shownRoot: root, headers: { [auth.header]: `${auth.scheme}${token}` } };
  }
  if (!auth.form.test(token)) throw new NodeProblem(auth.rule, 'invalid_credential');
  return { root: `${root}${auth.path}${token}`, shownRoot: `${root}${auth.path}[hidden]`, headers: {} };
}

function tokenOf(credential: ChatCredential, otherwise: Message): string {
  const token = credential.token?.trim() ?? '';
  if (token === '') throw new NodeProblem(otherwise, 'invalid_credential');
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new NodeProblem(message('nodes.token_characters'), 'invalid_credential');
}

function channelOf({ channel }: ChatMessage, { channel: { what, form, rule } }: ChatApi): string {
  if (channel === null) throw new NodeProblem(message('nodes.channel_required', { what }));
  return form === undefined || rule === undefined ? channel : checkedId(channel, form, rule);
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
