import { failure, type JsonValue, textOrJson } from '@millrace/engine';
import { type Message, message, verbatim } from '@millrace/messages';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

const DEFAULT_MESSAGE = 'The workflow was ended by a Fail node.';
const MAX_MESSAGE_LENGTH = 10_000;

export const coreFail = checkedNode({
  type: 'core.fail',
  title: 'Fail',
  description: 'Ends the execution as failed, regardless of `on_error`, even from inside a loop.',
  icon: 'octagon-x',
  kind: 'pure',
  properties: {
    message: Type.Unsafe<JsonValue>({
      title: 'Message',
      description:
        'What went wrong, for people who look at the execution. Anything but text is shown as JSON.',
      default: DEFAULT_MESSAGE,
    }),
    code: Type.String({
      title: 'Code',
      description: 'A stable name for programs: lower-case letters, digits and underscores.',
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      default: 'workflow_failed',
    }),
  },
  form: { main: ['message', 'code'] },
  synonyms: ['error', 'throw', 'abort', 'raise', 'stop'],
  examples: [
    {
      title: 'Refuse an order without lines',
      config: { message: 'Order {{trigger.data.id}} has no lines', code: 'empty_order' },
      trigger: { id: 17 },
      expect: { failure: { code: 'empty_order' } },
    },
  ],
  run: (config) => failure(config.code, messageOf(config.message), { fatal: true }),
});

/** Never refuses: a missing or odd message must not keep the execution from failing. */
function messageOf(value: JsonValue): Message {
  if (value === null || value === '' || value === DEFAULT_MESSAGE) return message('nodes.ended_by_fail');
  const text = textOrJson(value);
  return verbatim(text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH)}…` : text);
}
