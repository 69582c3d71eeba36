import {
  awaitSignal,
  isJsonObject,
  type JsonObject,
  type NodeContext,
  type NodeResult,
  success,
} from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { MAX_TIMEOUT_MS } from '@millrace/node-kit/http/config';
import { requestProperty, sendRequest } from '@millrace/node-kit/http/send-request';
import { CALLBACK_GRACE_MS, DAY_S, expiryText, timeoutProperty } from '@millrace/node-kit/waits';

export const waitCallback = checkedNode({
  type: 'wait.callback',
  title: 'Wait for a callback',
  description:
    "Sends a request with a one-time URL, then waits for a POST to that URL. Its JSON body becomes the output, under data if it isn't an object. Waiting doesn't occupy a worker. If nothing arrives in time, the branch timeout is taken. The URL is secret and isn't shown anywhere. If a loop around this node is retried, it gets the earlier response.",
  icon: 'webhook',
  kind: 'effect',
  properties: {
    request: requestProperty(
      'The request that passes on the URL, with the settings of an HTTP request. Put {{args.callback_url}} in the body, the query or a header.',
      { method: 'POST', url: '', body: { callback_url: '{{args.callback_url}}' } },
    ),
    timeout_s: timeoutProperty('How many seconds to wait for the callback.', DAY_S),
  },
  required: ['request'],
  deferred: { request: 'arguments' },
  defaultTimeoutMs: MAX_TIMEOUT_MS + 10_000,
  handles: () => ['out', 'timeout'],
  form: { main: ['request', 'timeout_s'] },
  synonyms: ['webhook', 'resume', 'async', 'pause', 'external'],
  examples: [
    {
      title: 'Let another system do the work',
      config: {
        request: {
          url: 'https://jobs.example.com/render',
          body: { document: '{{trigger.data.id}}', callback_url: '{{args.callback_url}}' },
        },
        timeout_s: 3_600,
      },
      trigger: { id: 17 },
      expect: { awaitsSignal: true, output: { status: 202, expires_at: '2026-01-01T01:00:00.000Z' } },
    },
    {
      title: 'Missing request',
      config: { request: '{{trigger.data.request}}' },
      trigger: {},
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  async run({ request, timeout_s: timeoutS }, context) {
    const expiresAtMs = context.now() + timeoutS * 1_000;
    const { url } = await context.callbacks.createCallback({ expiresAtMs });
    const sent = await sendRequest(context, request, { callback_url: url });
    if (sent.kind === 'failure') return sent;
    return afterSending(context, sent.output, expiresAtMs);
  },
  resume(_config, _context, signal) {
    if (signal.kind === 'timeout') return success({ timed_out: true }, { handles: ['timeout'] });
    return success(isJsonObject(signal.payload) ? signal.payload : { data: signal.payload });
  },
});

function afterSending(context: NodeContext, sent: JsonObject, expiresAtMs: number): NodeResult {
  const { status = null, body = null, request = null } = sent;
  // Nothing was sent, so no callback will come.
  if (context.execution.isTestMode) return success({ dry_run: true, request });
  return awaitSignal(expiresAtMs + CALLBACK_GRACE_MS, { status, body, expires_at: expiryText(expiresAtMs) });
}
