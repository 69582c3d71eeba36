import {
  failure,
  type HttpResponse,
  type JsonObject,
  type NodeContext,
  type NodeResult,
  parseJson,
  success,
} from '@millrace/engine';
import { type Message, message } from '@millrace/messages';
import { noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { sha256Hex } from '@millrace/node-kit/digest';
import { HIDDEN, hideInText, hideSecrets } from '@millrace/node-kit/hidden';
import { answerOf } from '../chat/answer.ts';
import { compose } from '../chat/compose.ts';
import { type ChatConfig, chatProperties, findChatGaps, messageOf } from '../chat/config.ts';
import type { ChatCredential, ChatRequest, ChatService } from '../chat/service.ts';
import { chatServices } from '../chat/services.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const webhook: ChatCredential = {
  type: 'chat',
  service: 'slack',
  webhook_url: 'https://hooks.slack.com/services/T0/B0/your-secret',
  token: null,
  base_url: null,
};
const textAnswer = (status: number, text: string, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers,
  body: new TextEncoder().encode(text),
});

export const chatNotify = checkedNode({
  type: 'chat.notify',
  title: 'Chat message',
  description:
    'Sends a message to Slack, Microsoft Teams, Discord, Google Chat, Mattermost, Telegram, LINE or Chatwork. Respects the rate limits of the service. Duplicates are dropped where the service can detect them (Discord bots, LINE, Google Chat).',
  icon: 'message-square',
  kind: 'effect',
  properties: chatProperties,
  required: ['credential_id'],
  findGaps: findChatGaps,
  defaultTimeoutMs: 130_000,
  defaultRetry: { maxAttempts: 4, backoffMs: 1_000, maxBackoffMs: 60_000 },
  form: {
    main: ['credential_id', 'channel', 'text'],
    sections: [
      { title: 'Layout', fields: ['title', 'fields', 'link', 'color'] },
      { title: 'Thread and mentions', fields: ['thread', 'allow_mentions'] },
      { title: 'Limits', fields: ['timeout_ms'] },
    ],
  },
  synonyms: [
    'slack',
    'teams',
    'discord',
    'telegram',
    'line',
    'chatwork',
    'google chat',
    'mattermost',
    'message',
    'notify',
    'notification',
  ],
  examples: [
    {
      title: 'Tell a channel',
      config: { credential_id: 3, text: 'Order {{trigger.data.id}} is paid' },
      trigger: { id: 17 },
      credential: webhook,
      http: [textAnswer(200, 'ok')],
      expect: { output: { service: 'slack', message_id: null, response: 'ok' } },
    },
    {
      title: 'With a table and a link',
      config: {
        credential_id: 3,
        title: 'Payment failed',
        text: 'The card was declined.',
        fields: [
          { label: 'Order', value: '{{trigger.data.id}}' },
          { label: 'Customer', value: '{{trigger.data.customer}}' },
        ],
        link: { text: 'Open the order', url: 'https://shop.example.com/orders/{{trigger.data.id}}' },
        color: 'error',
      },
      trigger: { id: 17, customer: 'Ada' },
      credential: webhook,
      http: [textAnswer(200, 'ok')],
      expect: { output: { service: 'slack', message_id: null, response: 'ok' } },
    },
    {
      title: 'The service is limiting requests',
      config: { credential_id: 3, text: 'Hello' },
      credential: webhook,
      http: [textAnswer(429, 'ratelimited', { 'retry-after': '30' })],
      expect: { failure: { code: 'chat_rate_limited' } },
    },
  ],
  async run(config, context) {
    if (config.credential_id === 0) return failure('invalid_config', noCredential('credential_id', ['chat']));
    const credential = await context.credentials.open(config.credential_id, { types: ['chat'] });
    const service = chatServices[credential.service];
    const composed = messageOf(config, await sha256Hex(context.idempotencyKey));
    const request = compose(service, composed, credential);
    if (context.execution.isTestMode) {
      return success({ dry_run: true, service: service.name, request: describe(request, credential) });
    }
    return send(request, service, credential, config, context);
  },
});

async function send(
  request: ChatRequest,
  service: ChatService,
  credential: ChatCredential,
  config: ChatConfig,
  context: NodeContext,
): Promise<NodeResult> {
  const { url, headers, body } = request;
  const response = await context.http.send(
    {
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: config.timeout_ms,
      maxResponseBytes: MAX_ANSWER_BYTES,
      // A redirect would send the secret in the URL to another host.
      maxRedirects: 0,
    },
    context.signal,
  );
  const answer = answerOf(response, context.now());
  const outcome = service.read(answer);
  const secrets = secretsOf(credential);
  const shown = hideSecrets(answer.body, secrets);
  if (outcome.kind === 'sent') {
    return success({ service: service.name, message_id: outcome.messageId, response: shown });
  }
  const reason = hideInText(outcome.reason, secrets).slice(0, 500);
  return failure(outcome.code, explain(outcome.code, service.label, reason), {
    retryable: outcome.retryable,
    ...(outcome.retryAfterMs === undefined ? {} : { retryAfterMs: outcome.retryAfterMs }),
    output: { service: service.name, status: response.status, response: shown },
  });
}

function explain(
  code: Extract<ReturnType<ChatService['read']>, { kind: 'refused' }>['code'],
  service: string,
  reason: string,
): Message {
  switch (code) {
    case 'chat_rate_limited':
      return message('nodes.chat_rate_limited', { service, reason });
    case 'chat_auth_failed':
      return message('nodes.chat_auth_failed', { service, reason });
    case 'chat_refused':
      return message('nodes.chat_refused', { service, reason });
    case 'chat_unavailable':
      return message('nodes.chat_unavailable', { service, reason });
  }
}

/** Shown in test mode instead of sending: the request, with its secrets hidden. */
function describe(request: ChatRequest, credential: ChatCredential): JsonObject {
  const headers = Object.entries(request.headers).map(([name, value]) => [
    name,
    request.secretHeaders.includes(name) ? HIDDEN : value,
  ]);
  const isJson = request.headers['content-type']?.startsWith('application/json') === true;
  const body = isJson ? parseJson(request.body) : request.body;
  return {
    method: 'POST',
    url: request.shownUrl,
    headers: Object.fromEntries(headers),
    body: hideSecrets(body, secretsOf(credential)),
  };
}

/** Every secret string: the token, and the parts that make a webhook hard to guess. */
function secretsOf({ token, webhook_url: webhookUrl }: ChatCredential): readonly string[] {
  const url = webhookUrl === null ? null : URL.parse(webhookUrl);
  const parts =
    url === null
      ? []
      : [
          url.href,
          `${url.pathname}${url.search}`,
          url.pathname.split('/').at(-1) ?? '',
          ...url.searchParams.values(),
        ];
  // Short parts of a path (`messages`, `hooks`) are words, not secrets.
  return [...(token === null ? [] : [token.trim()]), ...parts.filter((part) => part.length >= 12)];
}
