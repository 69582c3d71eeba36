import {
  failure,
  HttpClientError,
  type HttpResponse,
  type JsonObject,
  type JsonValue,
  type NodeContext,
  type NodeResult,
  parseJson,
  retryAfterMs,
  stringifyJson,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { sha256Hex } from '@millrace/node-kit/digest';
import type { HttpConfig } from '@millrace/node-kit/http/config';
import { buildRequest, describeRequest } from '@millrace/node-kit/http/request';
import { NodeProblem } from '@millrace/node-kit/node-problem';
import { serviceFailure } from '@millrace/node-kit/service-failure';
import { type WebhookConfig, webhookProperties, webhookRetry } from '../webhook-output/config.ts';
import { type Delivery, deliveriesOf, firstTriedAt } from '../webhook-output/deliveries.ts';
import { readSecret, signatureHeaders } from '../webhook-output/sign.ts';

/** Only the status of a receiver's response matters. */
const MAX_ANSWER_BYTES = 1024 * 1024;
const secret = { type: 'secret', value: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } as const;
const answer = (status: number): HttpResponse => ({
  status,
  headers: {},
  body: new Uint8Array(),
});

export const httpWebhookOutput = checkedNode({
  type: 'http.webhook_output',
  title: 'Webhook output',
  description:
    'Sends a payload to a webhook, signed as specified by Standard Webhooks. The ID stays the same across attempts. Failed deliveries are retried over hours, and the output has a log of all attempts.',
  icon: 'webhook',
  kind: 'effect',
  properties: webhookProperties,
  required: ['url', 'credential_id'],
  defaultTimeoutMs: 130_000,
  defaultRetry: webhookRetry,
  form: {
    main: ['url', 'credential_id', 'payload', 'event_type'],
    sections: [
      { title: 'Change the secret', fields: ['previous_credential_id'] },
      { title: 'Delivery', fields: ['headers', 'timeout_ms', 'retry_delays_s'] },
    ],
  },
  synonyms: ['send webhook', 'outgoing', 'standard webhooks', 'event', 'notify', 'signed'],
  examples: [
    {
      title: 'Tell a partner that an invoice was paid',
      config: {
        url: 'https://partner.example.com/hooks',
        credential_id: 5,
        event_type: 'invoice.paid',
        payload: { invoice: '{{trigger.data.id}}', total: '{{trigger.data.total}}' },
      },
      trigger: { id: 17, total: 42.5 },
      credential: secret,
      http: [answer(204)],
      expect: {
        output: {
          webhook_id: 'msg_7237908641d8c6a032babf81a1cad50a',
          status: 204,
          deliveries: [
            { attempt: 1, at: '2026-01-01T00:00:00.000Z', status: 204, duration_ms: 0, error: null },
          ],
        },
      },
    },
    {
      title: 'The receiver no longer exists',
      config: { url: 'https://partner.example.com/hooks', credential_id: 5, payload: { id: 17 } },
      credential: secret,
      http: [answer(410)],
      expect: { failure: { code: 'webhook_gone' } },
    },
  ],
  async run(config, context) {
    const message = await compose(config, context);
    if (context.execution.isTestMode) {
      return success({ dry_run: true, request: message.shown });
    }
    return deliver(message, config, context);
  },
});

interface SignedMessage {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly id: string;
  readonly atMs: number;
  /** The request as shown in test mode. */
  readonly shown: JsonObject;
}

async function compose(config: WebhookConfig, context: NodeContext): Promise<SignedMessage> {
  const keys = await openKeys(config, context);
  const id = `msg_${(await sha256Hex(context.idempotencyKey)).slice(0, 32)}`;
  const atMs = context.now();
  const body = stringifyJson(bodyOf(config, context, atMs));
  const settings: HttpConfig = {
    ...PLAIN_POST,
    url: config.url,
    headers: { 'content-type': 'application/json', ...lowerCased(config.headers) },
    body,
  };
  const request = buildRequest(settings, context.idempotencyKey);
  const signature = await signatureHeaders({ id, atMs, body }, keys);
  const headers = { ...request.headers, ...signature };
  const shown = { ...describeRequest({ ...request, headers }, settings), body: parseJson(body) };
  return { url: request.url, headers, body, id, atMs, shown };
}

const PLAIN_POST = {
  method: 'POST',
  query: {},
  body_type: 'text',
  auth: { type: 'none' },
  timeout_ms: 0,
  max_response_bytes: 0,
  follow_redirects: false,
  response_type: 'auto',
  success_statuses: [],
} satisfies Omit<HttpConfig, 'url' | 'headers' | 'body'>;

function lowerCased(headers: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.trim().toLowerCase(), value]),
  );
}

/** The signing keys, the new one first. */
async function openKeys(
  config: WebhookConfig,
  context: NodeContext,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  if (config.credential_id === 0) {
    throw new NodeProblem(noCredential('credential_id', ['secret']));
  }
  const ids = [config.credential_id, config.previous_credential_id].filter((id) => id !== 0);
  const keys: Uint8Array<ArrayBuffer>[] = [];
  for (const id of ids) {
    const key = readSecret((await context.credentials.open(id, { types: ['secret'] })).value);
    if (key === undefined) {
      throw new NodeProblem(message('nodes.no_signing_secret', { id }));
    }
    keys.push(key);
  }
  return keys;
}

function bodyOf(config: WebhookConfig, context: NodeContext, nowMs: number): JsonValue {
  const data = config.payload ?? context.inputs;
  if (config.event_type === '') return data;
  // When it happened, not when it is retried: the receiver sees one message however often it arrives.
  const timestamp = firstTriedAt(deliveriesOf(context.previousOutput)) ?? new Date(nowMs).toISOString();
  return { type: config.event_type, timestamp, data };
}

async function deliver(
  signed: SignedMessage,
  config: WebhookConfig,
  context: NodeContext,
): Promise<NodeResult> {
  const { url, headers, body } = signed;
  const limits = { timeoutMs: config.timeout_ms, maxResponseBytes: MAX_ANSWER_BYTES, maxRedirects: 0 };
  const outcome = await context.http
    .send({ method: 'POST', url, headers, body, ...limits }, context.signal)
    .catch(asOutcome);
  const status = outcome instanceof HttpClientError ? null : outcome.status;
  const isDelivered = status !== null && status >= 200 && status < 300;
  const error =
    outcome instanceof HttpClientError ? outcome.message : isDelivered ? null : `status ${status}`;
  const delivery: Delivery = {
    attempt: context.attempt,
    at: new Date(signed.atMs).toISOString(),
    status,
    duration_ms: Math.max(0, context.now() - signed.atMs),
    error,
  };
  const deliveries = [...deliveriesOf(context.previousOutput), { ...delivery }];
  const output: JsonObject = { webhook_id: signed.id, status, deliveries };
  if (isDelivered) return success(output);
  if (outcome instanceof HttpClientError) {
    const failed = serviceFailure(outcome);
    return failed.kind === 'failure'
      ? { ...failed, ...later(failed.retryable, config, context), output }
      : failed;
  }
  const name = url.split('?', 1)[0] ?? '';
  if (status === 410) {
    return failure('webhook_gone', message('nodes.webhook_gone', { url: name }), {
      output,
    });
  }
  // Standard Webhooks: anything but 2xx is a failed delivery, which is retried.
  const asked = retryAfterMs(outcome.headers['retry-after'], context.now());
  return failure('http_status', message('nodes.http_status', { request: name, status: outcome.status }), {
    retryable: true,
    ...later(true, config, context, asked),
    output,
  });
}

/** An aborted or failed exchange is a failed delivery; any other error is a defect. */
function asOutcome(error: unknown): HttpClientError {
  if (error instanceof HttpClientError) return error;
  throw error;
}

/** When the next attempt is due: by the schedule, but not before the receiver wants it. */
function later(
  isRetryable: boolean,
  { retry_delays_s: delays }: WebhookConfig,
  { attempt }: NodeContext,
  askedMs = 0,
): { retryAfterMs?: number } {
  const scheduledMs = (delays[attempt - 1] ?? delays.at(-1) ?? 0) * 1000;
  const delayMs = Math.max(scheduledMs, askedMs);
  return isRetryable && delayMs > 0 ? { retryAfterMs: delayMs } : {};
}
