import type { JsonObject, JsonValue } from '@millrace/engine';
import { credentialProperty } from '@millrace/node-kit/credential-property';
import { type Static, Type } from 'typebox';

/** Seconds, as recommended by Standard Webhooks: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h. */
const RECOMMENDED_DELAYS_S = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400];

/** The settings of http.webhook_output, as the editor shows them. */
export const webhookProperties = {
  url: Type.String({
    title: 'URL',
    description: 'Where to send the payload. Absolute, http or https, without user name or password.',
    default: '',
    'x-filled': true,
    'x-url': true,
  }),
  credential_id: credentialProperty(
    ['secret'],
    'Signing secret',
    'The secret shared with the receiver: whsec_ and base64, as in Standard Webhooks.',
  ),
  previous_credential_id: credentialProperty(
    ['secret'],
    'Previous signing secret',
    'The old secret, while you switch to a new one. Messages then have a signature by each. 0: none.',
    'optional',
  ),
  payload: Type.Unsafe<JsonValue>({
    title: 'Payload',
    description: 'Any value, sent as JSON. Empty: the outputs of the preceding nodes, by node ID.',
    default: null,
  }),
  event_type: Type.String({
    title: 'Event type',
    description:
      'A name such as invoice.paid. With it, the body is {type, timestamp, data} with the payload as data; without it, the body is the payload.',
    default: '',
    pattern: '^[a-zA-Z0-9_.-]{0,128}$',
  }),
  headers: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Headers',
    description: "Additional headers. They can't replace the signature headers.",
    default: {},
  }),
  timeout_ms: Type.Integer({
    title: 'Timeout',
    description: 'How long the receiver has to respond, in milliseconds.',
    minimum: 1,
    maximum: 120_000,
    default: 15_000,
  }),
  retry_delays_s: Type.Array(Type.Integer({ minimum: 0, maximum: 86_400 }), {
    title: 'Retry delays',
    description:
      "Seconds before the second attempt, the third and so on; the last one repeats. Empty: the delays of the node's retry setting. The number of attempts always comes from that setting.",
    default: RECOMMENDED_DELAYS_S,
    maxItems: 20,
  }),
};

export const webhookRetry = {
  maxAttempts: RECOMMENDED_DELAYS_S.length + 1,
  backoffMs: 5_000,
  maxBackoffMs: 3_600_000,
};

export type WebhookConfig = Static<ReturnType<typeof Type.Object<typeof webhookProperties>>>;
