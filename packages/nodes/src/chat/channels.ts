import type { HttpResponse } from '@millrace/engine';
import { message } from '@millrace/messages';
import { answerOf } from './answer.ts';
import { authenticate, USER_AGENT, webhookUrl } from './compose.ts';
import type { ChannelPage, ChannelQuery, ChatCredential, ChatOutcome } from './service.ts';
import { chatServices } from './services.ts';

type Refusal = Extract<ChatOutcome, { kind: 'refused' }>;

/** How the channels that a credential reaches are listed. */
export interface ChannelLister {
  readonly first: ChannelQuery;
  /** A GET request. */
  request(query: ChannelQuery): {
    readonly url: string;
    readonly headers: { readonly [name: string]: string };
  };
  read(response: HttpResponse, query: ChannelQuery, nowMs: number): ChannelPage | Refusal;
}

/**
 * How a credential's service lists its channels; null if it can't: a webhook belongs to its channel, and some services have no list.
 * @throws NodeProblem `invalid_credential` when the credential doesn't match the service
 */
export function channelLister(credential: ChatCredential): ChannelLister | null {
  const service = chatServices[credential.service];
  const { api } = service;
  if (api?.channels === undefined || webhookUrl(service, credential) !== null) return null;
  const { channels } = api;
  const { root, headers } = authenticate(api, credential, message('nodes.no_token'));
  return {
    first: { path: channels.path, group: null },
    request: ({ path }) => ({
      url: `${root}${path}`,
      headers: { accept: 'application/json', 'user-agent': USER_AGENT, ...headers },
    }),
    read(response, query, nowMs) {
      const answer = answerOf(response, nowMs);
      const isGood = response.status >= 200 && response.status < 300;
      const page = isGood ? channels.read(answer.body, query) : null;
      if (page !== null) return page;
      const outcome = service.read(answer);
      if (outcome.kind === 'refused') return outcome;
      return { kind: 'refused', code: 'chat_refused', reason: `status ${response.status}`, retryable: false };
    },
  };
}
