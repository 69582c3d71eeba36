import { type JsonObject, success } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

export const coreSet = checkedNode({
  type: 'core.set',
  title: 'Set values',
  description: 'Creates an object from constants and templates and outputs it.',
  icon: 'pencil-line',
  kind: 'pure',
  properties: {
    values: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Values',
      description: 'Names and values. Values can contain templates and can be nested.',
      default: {},
    }),
  },
  form: { main: ['values'] },
  synonyms: ['set', 'edit fields', 'assign', 'variable', 'map', 'constant', 'object', 'json'],
  examples: [
    {
      title: 'Shape data for the next node',
      config: { values: { subject: 'Order {{trigger.data.id}}', total: '{{trigger.data.total}}' } },
      trigger: { id: 17, total: 42.5 },
      expect: { output: { subject: 'Order 17', total: 42.5 } },
    },
  ],
  run: (config) => success(config.values),
});
