import type { ChatServiceName, HttpResponse } from '@millrace/engine';
import { message } from '@millrace/messages';
import manifest from '../../package.json' with { type: 'json' };
import { answerOf } from './answer.ts';
import { apiUrl, tokenOf } from './request.ts';
import type { ChatCredential, ChatMessage, ChatOutcome, ChatService } from './service.ts';
import { chatServices } from './services.ts';

/** How a credential is tested without sending a message. */
export type ChatProbe =
  | {
      /** A request that changes nothing and succeeds only with valid authentication. */
      readonly kind: 'ask';
      readonly method: 'GET' | 'POST';
      readonly url: string;
      /** The URL without secrets. */
      readonly shownUrl: string;
      readonly headers: { readonly [name: string]: string };
      readonly read: (response: HttpResponse, nowMs: number) => ChatOutcome;
      /** A token that may send but lacks the scope for this request gets a 403. */
      readonly mayBeForbidden: boolean;
    }
  /** The service only accepts messages: just check whether its server is reachable. */
  | { readonly kind: 'reach'; readonly url: string; readonly shownUrl: string };

type Question = Pick<Extract<ChatProbe, { kind: 'ask' }>, 'method' | 'url' | 'shownUrl' | 'headers'>;

/**
 * The test request for a credential's service.
 * @throws NodeProblem `invalid_credential` when the credential doesn't match the service
 */
export function chatProbe(credential: ChatCredential): ChatProbe {
  const service = chatServices[credential.service];
  const ask = QUESTIONS[credential.service];
  if (ask === undefined || (TAKES_WEBHOOKS.includes(credential.service) && hasText(credential.webhook_url))) {
    return webhookProbe(service, credential);
  }
  const mayBeForbidden = credential.service === 'google_chat';
  return { kind: 'ask', ...ask(credential), read: readerOf(service), mayBeForbidden };
}

/** Those that prefer a credential's webhook to its token. */
const TAKES_WEBHOOKS: readonly ChatServiceName[] = ['slack', 'teams', 'discord', 'google_chat', 'mattermost'];

const PLAIN: ChatMessage = {
  channel: null,
  text: 'Hello',
  title: null,
  fields: [],
  link: null,
  color: null,
  thread: null,
  allowMentions: false,
  onceKey: '0'.repeat(64),
};

/** A message is composed only for its URL, which this also validates; it isn't sent. */
function webhookProbe(service: ChatService, credential: ChatCredential): ChatProbe {
  const { url, shownUrl } = service.compose(PLAIN, credential);
  if (service.name !== 'discord') return { kind: 'reach', url, shownUrl };
  // "Get Webhook with Token": needs no other authentication.
  const address = new URL(url);
  address.search = '';
  const question = { method: 'GET', url: address.href, shownUrl, headers: USER_AGENT } as const;
  return { kind: 'ask', ...question, read: readerOf(service), mayBeForbidden: false };
}

function readerOf(service: ChatService): Extract<ChatProbe, { kind: 'ask' }>['read'] {
  return (response, nowMs) => service.read(answerOf(response, nowMs));
}

const USER_AGENT = { 'user-agent': `Millrace/${manifest.version}` };

/** A request of each service that requires authentication; absent: it only supports webhooks. */
const QUESTIONS: { readonly [Name in ChatServiceName]?: (credential: ChatCredential) => Question } = {
  // "auth.test": needs no scope.
  slack: (credential) => ({
    ...signedIn(credential, apiUrl(credential, 'https://slack.com/api', '/auth.test'), 'Bearer '),
    method: 'POST',
  }),
  // "Get Current User".
  discord: (credential) =>
    signedIn(credential, apiUrl(credential, 'https://discord.com/api/v10', '/users/@me'), 'Bot '),
  // "spaces.list": with a scope that isn't needed for sending.
  google_chat: (credential) =>
    signedIn(
      credential,
      apiUrl(credential, 'https://chat.googleapis.com', '/v1/spaces?pageSize=1'),
      'Bearer ',
    ),
  // "Get a user", with `me` instead of an id.
  mattermost: (credential) => signedIn(credential, apiUrl(credential, null, '/api/v4/users/me'), 'Bearer '),
  // "getMe".
  telegram: (credential) => {
    const address = (access: string): string =>
      apiUrl(credential, 'https://api.telegram.org', `/bot${access}/getMe`);
    const token = encodeURIComponent(tokenOf(credential, NEEDS_TOKEN)).replaceAll('%3A', ':');
    return { method: 'GET', url: address(token), shownUrl: address('[hidden]'), headers: USER_AGENT };
  },
  // "Get bot info".
  line: (credential) =>
    signedIn(credential, apiUrl(credential, 'https://api.line.me', '/v2/bot/info'), 'Bearer '),
  // "GET /me".
  chatwork: (credential) => {
    const url = apiUrl(credential, 'https://api.chatwork.com/v2', '/me');
    const headers = { ...USER_AGENT, 'x-chatworktoken': tokenOf(credential, NEEDS_TOKEN) };
    return { method: 'GET', url, shownUrl: url, headers };
  },
};

const NEEDS_TOKEN = message('nodes.no_token');

function signedIn(credential: ChatCredential, url: string, scheme: 'Bearer ' | 'Bot '): Question {
  const authorization = `${scheme}${tokenOf(credential, NEEDS_TOKEN)}`;
  return { method: 'GET', url, shownUrl: url, headers: { ...USER_AGENT, authorization } };
}

function hasText(text: string | null): boolean {
  return text !== null && text !== '';
}
