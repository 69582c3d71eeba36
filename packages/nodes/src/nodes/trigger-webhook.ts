import { success } from '@millrace/engine';
import { checkedNode } from '../define.ts';

export const triggerWebhook = checkedNode({
  type: 'trigger.webhook',
  title: 'Webhook',
  description:
    'Where an execution begins that is started by a call to the public URL of the workflow. Any JSON body is taken as it is.',
  icon: 'webhook',
  kind: 'trigger',
  properties: {},
  examples: [
    {
      title: 'Take the body of a call',
      config: {},
      trigger: { event: 'order.paid', amount: 4200 },
      expect: { output: { data: { event: 'order.paid', amount: 4200 } } },
    },
    {
      title: 'A body need not be an object',
      config: {},
      trigger: [1, 2, 3],
      expect: { output: { data: [1, 2, 3] } },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
