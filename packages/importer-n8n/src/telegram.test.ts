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
    additionalFields: { parse_mode: 'HTML', disable_notification: true, disable_web_page_preview: true },
  });
  expect(type).toBe('connector.telegram.send_message');
  expect(config).toEqual({
    credential_id: 0,
    chat_id: '{{trigger.data.chat | string}}',
    text: 'Hello',
    parse_mode: 'HTML',
    disable_notification: true,
    disable_link_preview: true,
  });
  expect(values).toEqual({ x: '{{nodes.tell.output.message_id}}' });
  expect(outcomeOf(result, 'Tell')?.kind).toBe('approximated');
});

it('a message is Markdown without previews of links, as there, unless it says otherwise', () => {
  expect(imported({ chatId: '1', text: '*Hi*' }).config).toEqual({
    credential_id: 0,
    ...{ chat_id: '1', text: '*Hi*', parse_mode: 'Markdown', disable_link_preview: true },
  });
  const shown = { parse_mode: 'HTML', disable_web_page_preview: false };
  expect(imported({ chatId: '1', text: 'Hi', additionalFields: shown }).config).toMatchObject({
    parse_mode: 'HTML',
    disable_link_preview: false,
  });
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

it('what the bot is doing is the operation', () => {
  const { type, config } = imported({ operation: 'sendChatAction', chatId: '1', action: 'typing' });
  expect(type).toBe('connector.telegram.send_chat_action');
  expect(config).toMatchObject({ chat_id: '1', action: 'typing' });
});

it('a file is downloaded with the credential, and passed on with what Telegram says of it', () => {
  const result = read(
    n8n(
      {
        Start: START,
        File: { type: 'telegram', version: 1.2, parameters: { resource: 'file', fileId: '={{ $json.id }}' } },
        Send: {
          type: 'telegram',
          version: 1.2,
          parameters: { operation: 'sendDocument', chatId: '7', binaryData: true, additionalFields: {} },
        },
      },
      [
        ['Start', 'File'],
        ['File', 'Send'],
      ],
    ),
  );
  const { nodes } = (result.workflow?.flow_data ?? { nodes: [] }) as unknown as Flow;
  expect(nodes.slice(1).map(({ type }) => type)).toEqual([
    'connector.telegram.download_file',
    'connector.telegram.send_document',
  ]);
  expect(configOf(result, 'File')?.file_id).toBe('{{trigger.data.id}}');
  expect(configOf(result, 'Send')).toEqual({
    credential_id: 0,
    chat_id: '7',
    document: '{{nodes.file.output.file}}',
  });
});

it('what no operation does is a request, whose token is a constant of the workflow', () => {
  const { type, config } = imported({ operation: 'pinChatMessage', chatId: '1', messageId: '2' });
  expect(type).toBe('http.request');
  expect(config?.url).toBe('https://api.telegram.org/bot{{vars.telegram_token}}/pinChatMessage');
});
