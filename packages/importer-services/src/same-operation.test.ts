import { expect, it } from 'vitest';
import { type HttpCall, sameOperation } from './same-operation.ts';

const POST: HttpCall = {
  method: 'POST',
  url: 'https://slack.com/api/chat.postMessage',
  query: null,
  body: { channel: 'C1', text: '{{item.text}}' },
};
const LIST: HttpCall = {
  method: 'GET',
  url: 'https://gmail.googleapis.com/gmail/v1/users/me/messages',
  query: { q: 'is:unread', maxResults: '5' },
  body: null,
};
const RECORD: HttpCall = {
  method: 'GET',
  url: 'https://api.airtable.com/v0/{{vars.base | url_encode}}/My%20table/{{item.id | url_encode}}',
  query: null,
  body: null,
};

it.each<[string, HttpCall, string, object]>([
  ['a body', POST, 'connector.slack.send_message', { channel: 'C1', text: '{{item.text}}' }],
  ['a query', LIST, 'connector.gmail.list_messages', { query: 'is:unread', limit: 5 }],
  [
    'a path',
    RECORD,
    'connector.airtable.get_record',
    { base_id: '{{vars.base}}', table: 'My table', record_id: '{{item.id | string}}' },
  ],
  [
    'address, apart from the token that its credential has',
    {
      method: 'POST',
      url: 'https://api.telegram.org/bot[token]/sendMessage',
      query: null,
      body: {
        chat_id: '{{item.chat.id}}',
        text: 'x',
        parse_mode: 'HTML',
        reply_parameters: { message_id: 7 },
      },
    },
    'connector.telegram.send_message',
    { chat_id: '{{item.chat.id | string}}', text: 'x', parse_mode: 'HTML', reply_to_message_id: '7' },
  ],
  [
    'form, whose file is an address',
    {
      method: 'POST',
      url: 'https://api.telegram.org/bot[token]/sendPhoto',
      query: null,
      body: { chat_id: '1', photo: 'https://example.com/x.jpg' },
    },
    'connector.telegram.send_photo',
    { chat_id: '1', photo: 'https://example.com/x.jpg' },
  ],
  [
    'host of its own',
    {
      method: 'PUT',
      url: 'https://{{vars.woocommerce_shop}}/wp-json/wc/v3/orders/17',
      query: null,
      body: { status: 'completed' },
    },
    'connector.woocommerce.update_order',
    { shop: '{{vars.woocommerce_shop}}', order_id: 17, status: 'completed' },
  ],
])('finds the operation with the same %s', (_, call, type, config) => {
  expect(sameOperation(call)).toMatchObject({ type, config });
  expect(sameOperation(call)?.config).toEqual(config);
});

it.each<[string, HttpCall]>([
  ['sends more', { ...POST, body: { channel: 'C1', text: 'x', as_user: true } }],
  ['is for another account', { ...LIST, url: LIST.url.replace('/me/', '/other/') }],
  [
    'sends something else than a constant',
    {
      method: 'POST',
      url: 'https://graph.facebook.com/v23.0/1/messages',
      query: null,
      body: { messaging_product: 'other', to: '1', type: 'text', text: { body: 'x' } },
    },
  ],
  ['lacks what is required', { ...POST, body: { channel: 'C1' } }],
  [
    'has a style that the operation lacks',
    {
      method: 'POST',
      url: 'https://api.telegram.org/bot[token]/sendMessage',
      query: null,
      body: { chat_id: '1', text: 'x', parse_mode: 'Unknown' },
    },
  ],
  ['has another method', { ...POST, method: 'PUT' }],
  ['goes to another host', { ...POST, url: 'https://slack.example.com/api/chat.postMessage' }],
  ['sends a list where the setting is a text', { ...POST, body: { channel: ['C1'], text: 'x' } }],
  ['has a path that cannot be read', { ...RECORD, url: 'https://api.airtable.com/v0/%E0%A4%A/t/r' }],
])('finds none if the call %s', (_, call) => {
  expect(sameOperation(call)).toBeNull();
});

it('says where the parts of the response are', () => {
  expect(sameOperation(LIST)?.place(['messages'])).toEqual(['items']);
  expect(sameOperation(LIST)?.place([])).toBeNull();
  expect(sameOperation(RECORD)?.place(['fields', 'Name'])).toEqual(['fields', 'Name']);
  expect(sameOperation(POST)?.place([])).toEqual([]);
  expect(sameOperation(POST)?.place(['message', 'text'])).toEqual(['message', 'text']);
  expect(sameOperation(POST)?.place(['ok'])).toBeNull();
});
