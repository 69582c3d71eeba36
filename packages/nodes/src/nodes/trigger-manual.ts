import { success } from '@millrace/engine';
import { checkedNode } from '../define.ts';

export const triggerManual = checkedNode({
  type: 'trigger.manual',
  title: 'Manual start',
  description:
    'Where an execution begins that is started through the API, the command line or the admin area.',
  icon: 'play',
  kind: 'trigger',
  properties: {},
  examples: [
    {
      title: 'Hand the input to the workflow',
      config: {},
      trigger: { order: { id: 17 } },
      expect: { output: { data: { order: { id: 17 } } } },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
