import { isJsonObject, type JsonValue, stop } from '@millrace/engine';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

export const coreStop = checkedNode({
  type: 'core.stop',
  title: 'Stop',
  description:
    'Ends the execution immediately as completed, even from inside a loop. Anything still running is aborted.',
  icon: 'circle-stop',
  kind: 'pure',
  properties: {
    result: Type.Unsafe<JsonValue>({
      title: 'Result',
      description:
        'The result of the execution, for a calling workflow or a webhook response. Anything but an object becomes its field `result`.',
      default: {},
    }),
  },
  form: { main: ['result'] },
  synonyms: ['end', 'exit', 'return', 'finish', 'respond'],
  examples: [
    {
      title: 'Nothing to do',
      config: { result: { processed: 0, reason: 'The list {{trigger.data.name}} is empty' } },
      trigger: { name: 'orders' },
      expect: { stops: true, output: { processed: 0, reason: 'The list orders is empty' } },
    },
    {
      title: 'A plain value',
      config: { result: '{{trigger.data.total}}' },
      trigger: { total: 12 },
      expect: { stops: true, output: { result: 12 } },
    },
  ],
  run: ({ result }) => stop(isJsonObject(result) ? result : { result }),
});
