import {
  failure,
  type HttpResponse,
  type JsonObject,
  type NodeContext,
  type NodeResult,
  retryAfterMs,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { isRetryable, isSuccess, readBody } from '@millrace/node-kit/http/answer';
import { type HttpConfig, httpForm, httpProperties, MAX_TIMEOUT_MS } from '@millrace/node-kit/http/config';
import { prepareExchange } from '@millrace/node-kit/http/exchange';
import { openFileBody } from '@millrace/node-kit/http/file-body';
import { buildRequest, describeRequest, isReading, type WireRequest } from '@millrace/node-kit/http/request';

const jsonAnswer = (status: number, text: string, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: new TextEncoder().encode(text),
});

/** What an example puts out. */
function jsonOutput(status: number, body: JsonObject): JsonObject {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body, body_type: 'json', duration_ms: 0 };
}

export const httpRequest = checkedNode({
  type: 'http.request',
  title: 'HTTP request',
  description:
    'Calls a URL. Private and internal addresses are refused unless the operator allows them. Each request has an Idempotency-Key that stays the same across attempts, so the receiver can detect repeats.',
  icon: 'globe',
  kind: 'effect',
  properties: httpProperties,
  required: ['url'],
  // The config's own timeout_ms decides; this only has to exceed its maximum.
  defaultTimeoutMs: MAX_TIMEOUT_MS + 10_000,
  form: httpForm,
  synonyms: [
    'rest',
    'api',
    'fetch',
    'curl',
    'get',
    'post',
    'call',
    'url',
    'download',
    'graphql',
    'integration',
  ],
  examples: [
    {
      title: 'Read JSON',
      config: {
        url: 'https://api.example.com/orders/{{trigger.data.id}}',
        query: { expand: ['lines', 'customer'] },
      },
      trigger: { id: 17 },
      http: [jsonAnswer(200, '{"id":17,"total":42.5}')],
      expect: { output: jsonOutput(200, { id: 17, total: 42.5 }) },
    },
    {
      title: 'Send JSON with a token',
      config: {
        method: 'POST',
        url: 'https://api.example.com/notes',
        auth: { type: 'bearer', token: 'your-token' },
        body: { text: 'Order {{trigger.data.id}} is paid' },
      },
      trigger: { id: 17 },
      http: [jsonAnswer(201, '{"id":"n1"}')],
      expect: { output: jsonOutput(201, { id: 'n1' }) },
    },
    {
      title: 'Authenticate with a stored credential',
      config: {
        url: 'https://api.example.com/me',
        auth: { type: 'credential', credential_id: 3 },
      },
      credential: { type: 'bearer', token: 'your-token' },
      http: [jsonAnswer(200, '{"name":"Ada"}')],
      expect: { output: jsonOutput(200, { name: 'Ada' }) },
    },
    {
      title: 'The server is busy',
      config: { url: 'https://api.example.com/orders' },
      http: [jsonAnswer(429, '{"error":"slow down"}', { 'retry-after': '30' })],
      expect: { failure: { code: 'http_status' } },
    },
  ],
  async run(config, context) {
    const fileBody = await openFileBody(config, context);
    const request = buildRequest(config, context.idempotencyKey, fileBody);
    const { shown, send } = await prepareExchange(request, config, context, 'auth.credential_id');
    if (context.execution.isTestMode && !isReading(request.method)) {
      return success({ dry_run: true, request: describeRequest({ ...request, ...shown }, config) });
    }
    const startedAtMs = context.now();
    const response = await send();
    return resultOf(response, request, config, context, startedAtMs);
  },
});

async function resultOf(
  response: HttpResponse,
  request: WireRequest,
  config: HttpConfig,
  context: NodeContext,
  startedAtMs: number,
): Promise<NodeResult> {
  const { status, headers, setCookies } = response;
  const isWanted = isSuccess(status, config.success_statuses);
  const durationMs = Math.max(0, context.now() - startedAtMs);
  const asked = await readBody(response, config.response_type, context);
  // An error page in another format must not hide the status, which matters more.
  const read = asked ?? (await readBody(response, 'text', context)) ?? { body: null, body_type: 'empty' };
  const shownHeaders = setCookies === undefined ? headers : { ...headers, 'set-cookie': setCookies };
  const output = {
    status,
    headers: shownHeaders,
    ...read,
    duration_ms: durationMs,
  };
  if (!isWanted) {
    const delayMs = retryAfterMs(headers['retry-after'], context.now());
    return failure('http_status', message('nodes.http_status', { request: nameOf(request), status }), {
      retryable: isRetryable(status),
      ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
      output,
    });
  }
  if (asked === undefined) {
    return failure('invalid_response', message('nodes.body_not_json', { request: nameOf(request) }), {
      output,
    });
  }
  return success(output);
}

/** Method and URL without its query, which may contain secrets. */
function nameOf({ method, url }: WireRequest): string {
  return `${method} ${url.split('?', 1)[0] ?? ''}`;
}
