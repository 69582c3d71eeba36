import {
  failure,
  type JsonObject,
  type JsonValue,
  joinPointer,
  setOwn,
  stringifyJson,
  success,
} from '@millrace/engine';
import { message } from '@millrace/messages';
import { choice } from '@millrace/node-kit/choice';
import { checkedNode } from '@millrace/node-kit/define';
import { scalarText } from '@millrace/node-kit/values';
import { responseHeaderFault } from '@millrace/triggers';
import { Type } from 'typebox';

/** The type of the node that answers a webhook's caller. */
export const WEBHOOK_RESPOND = 'webhook.respond';

const CONTENT_TYPES = {
  json: 'application/json; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
} as const;

export const webhookRespond = checkedNode({
  type: WEBHOOK_RESPOND,
  title: 'Respond to webhook',
  description:
    'Answers the caller of the webhook while the execution goes on. The trigger has to be set to answer by this node; the first one that is reached answers, and later ones change nothing. If the caller is no longer waiting, nothing is sent.',
  icon: 'webhook',
  kind: 'effect',
  properties: {
    format: choice(
      'Format',
      'Browsers show HTML without running scripts and without sending forms.',
      { json: 'JSON', text: 'Text', html: 'HTML' },
      { default: 'json' },
    ),
    body: Type.Unsafe<JsonValue>({
      title: 'Body',
      description: 'What the caller gets. Empty: no body.',
      default: null,
    }),
    status: Type.Integer({
      title: 'Status',
      description: 'HTTP status of the response.',
      minimum: 200,
      maximum: 599,
      default: 200,
    }),
    headers: Type.Unsafe<JsonObject>({
      type: 'object',
      maxProperties: 50,
      title: 'Headers',
      description: 'Names and values. A template that finds nothing leaves its header out.',
      default: {},
    }),
  },
  findFaults: ({ headers }) =>
    typeof headers !== 'object' || headers === null
      ? []
      : Object.keys(headers).flatMap((name) => {
          const fault = responseHeaderFault(name);
          return fault === null ? [] : [{ pointer: joinPointer('/headers', name), message: fault }];
        }),
  form: {
    main: ['format', 'body'],
    sections: [{ title: 'Status and headers', fields: ['status', 'headers'] }],
  },
  synonyms: ['answer', 'reply', 'return', 'http response', 'html page', 'redirect'],
  examples: [
    {
      title: 'Confirm an order before it is processed',
      config: { status: 201, body: { accepted: '{{trigger.data.id}}' } },
      trigger: { id: 'A-17' },
      expect: {
        output: {
          status: 201,
          headers: { 'content-type': 'application/json; charset=utf-8' },
          body: '{"accepted":"A-17"}',
        },
      },
    },
    {
      title: 'Show a page',
      config: { format: 'html', body: '<h1>Thank you, {{trigger.data.name}}</h1>' },
      trigger: { name: 'Ada' },
      expect: {
        output: {
          status: 200,
          headers: { 'content-type': 'text/html; charset=utf-8' },
          body: '<h1>Thank you, Ada</h1>',
        },
      },
    },
    {
      title: 'Redirect to another address',
      config: { status: 303, headers: { Location: 'https://example.com/thanks' } },
      trigger: {},
      expect: { output: { status: 303, headers: { Location: 'https://example.com/thanks' }, body: null } },
    },
    {
      title: 'A header with a line break',
      config: { headers: { 'X-Name': '{{trigger.data.name}}' } },
      trigger: { name: 'a\nb' },
      expect: { failure: { code: 'invalid_config' } },
    },
  ],
  run({ format, body, status, headers: given }) {
    const headers: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(given)) {
      if (value === null) continue;
      const text = scalarText(value);
      const fault =
        responseHeaderFault(name) ?? (isSendable(text) ? null : message('nodes.not_a_header_value'));
      if (fault !== null)
        return failure(
          'invalid_config',
          message('nodes.wrong_setting', { path: `config.headers.${name}`, fault }),
        );
      setOwn(headers, name, text ?? '');
    }
    const text =
      body === null ? null : format === 'json' || typeof body !== 'string' ? stringifyJson(body) : body;
    const isTyped =
      text === null || Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
    const all = isTyped ? headers : { 'content-type': CONTENT_TYPES[format], ...headers };
    return success({ status, headers: all, body: text });
  },
});

/** Whether a header can carry it (RFC 9110, 5.5). */
function isSendable(text: string | undefined): boolean {
  return text !== undefined && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
