import {
  type Failure,
  failure,
  type JsonValue,
  type PollContext,
  type PollResult,
  retryAfterMs,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { isRetryable, isSuccess, readBody } from '@millrace/node-kit/http/answer';
import { type HttpConfig, httpProperties } from '@millrace/node-kit/http/config';
import { prepareExchange } from '@millrace/node-kit/http/exchange';
import { buildRequest } from '@millrace/node-kit/http/request';
import { Type } from 'typebox';
import { pollingProperties } from './polling/config.ts';
import { listItems } from './polling/list-items.ts';

const MIB = 1024 * 1024;
const FETCH_MS = 45_000;

const ORDER = { id: 17, total: 42.5, status: 'paid' };

export const triggerPoll = checkedNode({
  type: 'trigger.poll',
  title: 'Poll a URL',
  description:
    'Reads a list of JSON items from a URL at an interval and starts one execution for each new one. trigger.data is the item. An item is new if its id was not in an earlier response.',
  icon: 'refresh-cw',
  kind: 'trigger',
  properties: {
    url: Type.String({
      title: 'URL',
      description: 'Absolute, http or https, without user name or password. Read with GET.',
      default: '',
      'x-placeholder': 'https://api.example.com/orders?sort=created',
      'x-filled': true,
      'x-url': true,
    }),
    list_path: Type.String({
      title: 'Path of the list',
      description: 'Where the list is in the response, such as data.orders. Empty: the response is the list.',
      default: '',
      maxLength: 1_000,
      'x-placeholder': 'data.orders',
    }),
    id_path: Type.String({
      title: 'Path of the ID',
      description:
        'What tells items apart, such as id or meta.uuid. Empty: the whole item, so one that changes counts as new.',
      default: 'id',
      maxLength: 1_000,
      'x-placeholder': 'id',
    }),
    order: choice(
      'Order of executions',
      'Reversed suits sources that list the newest item first.',
      { listed: 'As listed', reversed: 'Reversed' },
      { default: 'listed' },
    ),
    auth: httpProperties.auth,
    headers: {
      ...httpProperties.headers,
      description:
        'Names and values. The service sets Host, Content-Length, Transfer-Encoding, Connection and similar headers.',
    } as typeof httpProperties.headers,
    query: {
      ...httpProperties.query,
      description: 'Added to the URL. A list repeats the name.',
    } as typeof httpProperties.query,
    max_response_bytes: Type.Integer({
      title: 'Maximum response size',
      description: 'Maximum size of the response in bytes, after decompression.',
      minimum: 1,
      maximum: 8 * MIB,
      default: MIB,
    }),
    ...pollingProperties,
  },
  required: ['url'],
  form: {
    main: ['url', 'list_path', 'id_path', 'auth', 'interval_s', 'existing'],
    sections: [
      { title: 'Request', fields: ['headers', 'query', 'order'] },
      { title: 'Limits', fields: ['max_response_bytes'] },
    ],
  },
  synonyms: ['polling', 'watch', 'new record', 'check for changes', 'rest', 'api', 'interval', 'http'],
  examples: [
    {
      title: 'Each new order of a shop',
      config: {
        url: 'https://api.example.com/orders',
        list_path: 'data.orders',
        id_path: 'id',
        query: { status: 'paid' },
        interval_s: 60,
      },
      trigger: ORDER,
      expect: { output: { data: ORDER } },
    },
  ],
  polling: {
    async poll(config, context): Promise<PollResult> {
      const body = await read(httpConfigOf(config), context);
      if (body.kind === 'failure') return body;
      const items = listItems(body.value, config);
      return {
        kind: 'polled',
        items: config.order === 'reversed' ? items.toReversed() : items,
        position: null,
      };
    },
  },
  run: (_config, context) => success({ data: context.triggerData }),
});

/** The settings of a request, complete; what the trigger doesn't offer is as in http.request. */
function httpConfigOf(
  config: Pick<HttpConfig, 'url' | 'auth' | 'headers' | 'query' | 'max_response_bytes'>,
): HttpConfig {
  const { url, auth, headers, query, max_response_bytes } = config;
  return {
    ...{ method: 'GET', url, auth, headers, query, body: null, body_type: 'json' },
    ...{ timeout_ms: FETCH_MS, max_response_bytes, follow_redirects: true },
    ...{ response_type: 'json', success_statuses: ['200-299'] },
  };
}

async function read(
  config: HttpConfig,
  context: PollContext,
): Promise<Failure | { readonly kind: 'body'; readonly value: JsonValue }> {
  // Reading needs no key that makes repeats harmless.
  const { headers, ...wire } = buildRequest(config, '');
  const { 'idempotency-key': _unused, ...sent } = headers;
  const { send } = await prepareExchange({ ...wire, headers: sent }, config, context, 'auth.credential_id');
  const response = await send();
  const request = `GET ${wire.url.split('?', 1)[0] ?? ''}`;
  if (!isSuccess(response.status, config.success_statuses)) {
    const delayMs = retryAfterMs(response.headers['retry-after'], context.now());
    return failure('http_status', message('nodes.http_status', { request, status: response.status }), {
      retryable: isRetryable(response.status),
      ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    });
  }
  const read = await readBody(response, config.response_type, context);
  if (read === undefined) return failure('invalid_response', message('nodes.body_not_json', { request }));
  return { kind: 'body', value: read.body };
}
