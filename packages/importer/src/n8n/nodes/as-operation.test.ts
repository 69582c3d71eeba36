import { expect, it } from 'vitest';
import { type HttpCall, sameOperation } from './as-operation.ts';

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
    { base_id: '{{vars.base}}', table: 'My table', record_id: '{{item.id}}' },
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
