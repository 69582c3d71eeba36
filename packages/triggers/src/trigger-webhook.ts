import { success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { findWebhookFaults } from './webhook/faults.ts';
import { webhookProperties } from './webhook/options.ts';
import { shapeOfPath } from './webhook/request.ts';

export const triggerWebhook = checkedNode({
  type: 'trigger.webhook',
  title: 'Webhook',
  description:
    'Starts an execution when the public URL of the workflow is called. Accepts any JSON body, and other bodies and methods if set.',
  icon: 'webhook',
  kind: 'trigger',
  properties: webhookProperties,
  deferred: { response: 'end' },
  addressOf: ({ path }) => shapeOfPath(typeof path === 'string' ? path : ''),
  findFaults: findWebhookFaults,
  form: {
    main: [],
    sections: [
      { title: 'Accepted calls', fields: ['methods', 'path', 'body'] },
      { title: 'Headers and query', fields: ['headers', 'query'] },
      { title: 'Verify the caller', fields: ['signature', 'challenge', 'ip_allow_list'] },
      { title: 'Skip duplicates', fields: ['deduplicate'] },
      { title: 'Answer to the caller', fields: ['respond', 'response', 'timeout_s', 'failure_status'] },
    ],
  },
  synonyms: ['http', 'callback', 'hook', 'api', 'event', 'stripe', 'github', 'shopify', 'svix', 'endpoint'],
  examples: [
    {
      title: 'Read the body of a call',
      config: {},
      trigger: { event: 'order.paid', amount: 4200 },
      expect: { output: { data: { event: 'order.paid', amount: 4200 } } },
    },
    {
      title: "The body doesn't have to be an object",
      config: {},
      trigger: [1, 2, 3],
      expect: { output: { data: [1, 2, 3] } },
    },
    {
      title: 'Signed calls from GitHub, each event once',
      config: {
        signature: { preset: 'github', credential_id: 1 },
        deduplicate: { by: 'header', name: 'X-GitHub-Delivery' },
      },
      trigger: { action: 'opened', issue: { number: 5 } },
      expect: { output: { data: { action: 'opened', issue: { number: 5 } } } },
    },
    {
      title: 'Respond to the caller when the workflow has finished',
      config: {
        respond: 'when_done',
        response: {
          status: 201,
          headers: { 'X-Order': '{{trigger.data.id}}' },
          body: { received: '{{trigger.data.id}}' },
        },
      },
      trigger: { id: 'A-17' },
      expect: { output: { data: { id: 'A-17' } } },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
