import type { JsonObject, JsonValue } from '@millrace/engine';
import { type Static, Type } from 'typebox';
import { credentialProperty } from '../credential-property.ts';

/** Seconds, as Standard Webhooks recommends: 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h. */
const RECOMMENDED_DELAYS_S = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400];

/** The settings of http.webhook_output, as an editor shows them. */
export const webhookProperties = {
  url: Type.String({
    title: 'URL',
    description: 'Where the payload is posted to. Absolute, http or https, without user name or password.',
    default: '',
    'x-filled': true,
    'x-url': true,
  }),
  credential_id: credentialProperty(
    ['secret'],
    'Signing secret',
    'The secret that the receiver knows, too: whsec_ and base64, as Standard Webhooks writes it.',
  ),
  previous_credential_id: credentialProperty(
    ['secret'],
    'Previous signing secret',
    'While a secret is changed: the old one. The message then carries a signature by each; 0 for none.',
    'optional',
  ),
  payload: Type.Unsafe<JsonValue>({
    title: 'Payload',
    description: 'Any value, sent as JSON. null sends the outputs of the nodes before this one, by node id.',
    default: null,
  }),
  event_type: Type.String({
    title: 'Event type',
    description:
      'A name such as invoice.paid. Then the body is {type, timestamp, data} with the payload as data; without it the body is the payload.',
    default: '',
    pattern: '^[a-zA-Z0-9_.-]{0,128}$',
  }),
  headers: Type.Unsafe<JsonObject>({
    type: 'object',
    title: 'Headers',
    description: 'Names and values that are sent as well; they cannot replace those that sign.',
    default: {},
  }),
  timeout_ms: Type.Integer({
    title: 'Timeout',
    description: 'Milliseconds in which the receiver has to answer.',
    minimum: 1,
    maximum: 120_000,
    default: 15_000,
  }),
  retry_delays_s: Type.Array(Type.Integer({ minimum: 0, maximum: 86_400 }), {
    title: 'Delays of retries',
    description:
      'Seconds before the second attempt, the third and so on; the last one repeats. Empty: only the retry setting of the node says when. That setting says how often in any case.',
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
