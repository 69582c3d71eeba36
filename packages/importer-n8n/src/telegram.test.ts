import type { Flow, JsonObject } from '@millrace/engine';
import { expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, START } from './testing.ts';

/** A node of Telegram behind a trigger, and what follows it. */
function imported(parameters: JsonObject) {
  const here = {
    assignments: { assignments: [{ name: 'x', type: 'string', value: '={{ $json.result.message_id }}' }] },
  };
  const result = read(
    n8n(
      {
        Start: START,
        Tell: { type: 'telegram', version: 1.2, parameters },
        Here: { type: 'set', version: 3.4, parameters: here },
      },
      [
        ['Start', 'Tell'],
        ['Tell', 'Here'],
      ],
    ),
  );
  const { nodes } = (result.workflow?.flow_data ?? { nodes: [] }) as unknown as Flow;
  return {
    result,
    type: nodes[1]?.type,
    config: configOf(result, 'Tell'),
    read: configOf(result, 'Here')?.values,
  };
}

it('a message becomes the operation, whose output is what the response calls its result', () => {
  const {
    result,
    type,
    config,
    read: values,
  } = imported({
    chatId: '={{ $json.chat }}',
    text: 'Hello',
    additionalFields: { parse_mode: 'HTML', disable_notification: true },
  });
  expect(type).toBe('connector.telegram.send_message');
  expect(config).toEqual({
    credential_id: 0,
    chat_id: '{{trigger.data.chat | string}}',
    text: 'Hello',
    parse_mode: 'HTML',
    disable_notification: true,
  });
  expect(values).toEqual({ x: '{{nodes.tell.output.message_id}}' });
  expect(outcomeOf(result, 'Tell')?.kind).toBe('approximated');
});

it('buttons are kept, and an answer to one has its member of the output', () => {
  const button = { text: 'Yes', additionalFields: { callback_data: 'yes' } };
  const inlineKeyboard = { rows: [{ row: { buttons: [button] } }] };
  const { config } = imported({ chatId: '1', text: 'Sure?', replyMarkup: 'inlineKeyboard', inlineKeyboard });
  expect(config?.reply_markup).toEqual({ inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] });
  expect(
    imported({ resource: 'callback', operation: 'answerQuery', queryId: '={{ $json.id }}' }),
  ).toMatchObject({
    type: 'connector.telegram.answer_callback',
    config: { callback_query_id: '{{trigger.data.id | string}}' },
  });
});

it('what no operation does is a request, whose token is a constant of the workflow', () => {
  const { type, config } = imported({ operation: 'sendChatAction', chatId: '1', action: 'typing' });
  expect(type).toBe('http.request');
  expect(config?.url).toBe('https://api.telegram.org/bot{{vars.telegram_token}}/sendChatAction');
});
