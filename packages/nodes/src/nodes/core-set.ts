import { type JsonObject, success } from '@millrace/engine';
import { Type } from 'typebox';
import { checkedNode } from '../define.ts';

export const coreSet = checkedNode({
  type: 'core.set',
  title: 'Set values',
  description: 'Makes an object out of constants and templates; the object is the output.',
  icon: 'pencil-line',
  kind: 'pure',
  properties: {
    values: Type.Unsafe<JsonObject>({
      type: 'object',
      title: 'Values',
      description: 'Names and their values. Values may hold templates and may be nested.',
      default: {},
    }),
  },
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
