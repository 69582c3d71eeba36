import type { HttpResponse } from '@millrace/engine';
import { message } from '@millrace/messages';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { answerOf } from './answer.ts';
import { authenticate, USER_AGENT, webhookUrl } from './compose.ts';
import type { ChatCredential, ChatOutcome } from './service.ts';
import { chatServices } from './services.ts';

type Ask = Extract<ChatProbe, { kind: 'ask' }>;

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

/**
 * The test request for a credential's service.
 * @throws NodeProblem `invalid_credential` when the credential doesn't match the service
 */
export function chatProbe(credential: ChatCredential): ChatProbe {
  const service = chatServices[credential.service];
  const { webhook, api } = service;
  const read: Ask['read'] = (response, nowMs) => service.read(answerOf(response, nowMs));
  const userAgent = { 'user-agent': USER_AGENT };
  const url = webhookUrl(service, credential);
  if (url !== null) {
    const shownUrl = `${url.origin}/[hidden]`;
    if (webhook?.canBeRead !== true) return { kind: 'reach', url: url.href, shownUrl };
    url.search = '';
    const question = { method: 'GET', url: url.href, shownUrl, headers: userAgent } as const;
    return { kind: 'ask', ...question, read, mayBeForbidden: false };
  }
  if (api === undefined) throw new NodeProblem(service.needs, 'invalid_credential');
  const { root, shownRoot, headers } = authenticate(api, credential, message('nodes.no_token'));
  const { path, method = 'GET', mayBeForbidden = false } = api.probe;
  return {
    kind: 'ask',
    method,
    url: `${root}${path}`,
    shownUrl: `${shownRoot}${path}`,
    headers: { ...userAgent, ...headers },
    read,
    mayBeForbidden,
  };
}
