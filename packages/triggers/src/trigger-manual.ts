import { success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';

export const triggerManual = checkedNode({
  type: 'trigger.manual',
  title: 'Manual start',
  description: 'Starts an execution from the API, the command line or the admin area.',
  icon: 'play',
  kind: 'trigger',
  isManual: true,
  properties: {},
  form: { main: [] },
  synonyms: ['start', 'button', 'api', 'cli', 'by hand', 'subworkflow', 'called by workflow'],
  examples: [
    {
      title: 'Pass the input to the workflow',
      config: {},
      trigger: { order: { id: 17 } },
      expect: { output: { data: { order: { id: 17 } } } },
    },
  ],
  run: (_config, context) => success({ data: context.triggerData }),
});
