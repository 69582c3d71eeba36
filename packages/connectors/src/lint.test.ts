import type { JsonValue } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { expect, it } from 'vitest';
import type { Connector, ConnectorTrigger, Operation } from './format.ts';
import { lintConnector } from './lint.ts';
import { services } from './services.ts';

const [sound] = services.filter(({ id }) => id === 'slack');
if (sound === undefined) throw new Error('there is no connector slack');

/** Faults of a sound file after a change, without those of texts, which changes leave without Japanese. */
function faultsAfter(
  change: (file: Connector, first: Operation) => object,
): readonly (readonly [string, string])[] {
  const file = structuredClone(sound) as Connector;
  const [first] = file.operations;
  if (first === undefined) throw new Error('there is no operation');
  const changed = { ...file, ...change(file, first) };
  return lintConnector(changed as unknown as JsonValue)
    .filter(({ pointer }) => !pointer.startsWith('/ja'))
    .map(({ pointer, message }) => [pointer, inEnglish(message)] as const);
}

/** Changes the first operation. */
const operation = (change: (first: Operation) => object) =>
  faultsAfter(({ operations }, first) => ({
    operations: [{ ...first, ...change(first) }, ...operations.slice(1)],
  }));

const LOOKUP = {
  request: { method: 'GET', path: '/a' },
  found: { id: '{{args.response.body.id}}' },
} as const;

/** Sends the first operation to another address. */
const at = (url: string) => operation(({ request }) => ({ request: { ...request, base_url: url } }));

/** Changes the first trigger. */
const trigger = (change: (first: ConnectorTrigger) => object) =>
  faultsAfter(({ triggers: [first, ...rest] = [] }) => {
    if (first === undefined) throw new Error('there is no trigger');
    return { triggers: [{ ...first, ...change(first) }, ...rest] };
  });

it.each<[string, () => ReturnType<typeof faultsAfter>, string, string]>([
  [
    'a trigger that changes something',
    () => trigger(({ request }) => ({ request: { ...request, method: 'DELETE' } })),
    '/triggers/0/request',
    'only reads',
  ],
  [
    'a lookup that changes something',
    () => operation(() => ({ lookup: { ...LOOKUP, request: { method: 'PUT', path: '/a' } } })),
    '/operations/0/lookup/request',
    'only reads',
  ],
  [
    'a lookup that finds nothing',
    () => operation(() => ({ lookup: { request: LOOKUP.request } })),
    '/operations/0/lookup',
    'found or table',
  ],
  [
    'a row without a column to find it by',
    () =>
      operation(() => ({
        lookup: {
          request: LOOKUP.request,
          table: {
            header: '{{args.response.body}}',
            rows: '{{args.response.body}}',
            values: '{{args.text}}',
          },
        },
      })),
    '/operations/0/lookup/table/rows',
    'match',
  ],
  [
    'what is found before anything is looked up',
    () => operation(() => ({ output: { id: '{{args.found.id}}' } })),
    '/operations/0/output/0/id',
    'args.found.id',
  ],
  [
    'another request to a host that is not listed',
    () =>
      operation(() => ({
        lookup: {
          ...LOOKUP,
          instead: {
            when: '{{args.found.id == null}}',
            request: { method: 'POST', base_url: 'https://example.com', path: '/a' },
          },
        },
      })),
    '/operations/0/lookup/instead/request/base_url',
    'example.com',
  ],
  [
    'a file inside a file',
    () =>
      operation(() => ({
        response: 'file',
        stores: { base64: '{{args.response.body.data}}', name: 'a.pdf' },
      })),
    '/operations/0/stores',
    'JSON',
  ],
  [
    'another address whose host is a setting',
    () =>
      faultsAfter(() => ({
        other_address: { setting: 'cloud', base_url: 'https://{{args.cloud}}.slack.com' },
      })),
    '/other_address/base_url',
    'path',
  ],
  [
    'another address at a host that is not listed',
    () =>
      faultsAfter(() => ({
        other_address: { setting: 'cloud', base_url: 'https://example.com/{{args.cloud}}' },
      })),
    '/other_address/base_url',
    'example.com',
  ],
  [
    'what a credential of another type begins with',
    () =>
      faultsAfter(({ authentication }) => ({
        authentication: { ...authentication, new_credential: { header: { name: 'X-Key' } } },
      })),
    '/authentication/new_credential/header',
    'authentication.types',
  ],
  [
    'a time that nothing reads',
    () =>
      trigger(({ request }) => ({
        request: { ...request, query: { channel: '{{args.channel}}' } },
        cursor: { type: 'time' },
      })),
    '/triggers/0/cursor',
    'args.since',
  ],
  [
    'a cursor that is read as a time',
    () => trigger(() => ({ cursor: { type: 'value', next: '{{args.response.body.next}}' } })),
    '/triggers/0/request/query/oldest',
    'args.cursor',
  ],
  [
    'a cursor that never moves',
    () => trigger(() => ({ cursor: { type: 'value' } })),
    '/triggers/0/cursor',
    'next',
  ],
  [
    'a list that begins with the oldest and says nothing of times',
    () => trigger(() => ({ order: 'oldest_first', cursor: { type: 'time' } })),
    '/triggers/0/cursor/item_time',
    'last item',
  ],
  [
    'a list that begins with the oldest, without a cursor',
    () =>
      trigger(({ request }) => ({
        order: 'oldest_first',
        cursor: undefined,
        request: { ...request, query: {} },
      })),
    '/triggers/0/cursor',
    'newest',
  ],
  [
    'an id that is read before there is an item',
    () => trigger(() => ({ id_of: '{{args.response.body.id}}' })),
    '/triggers/0/id_of',
    'args.item',
  ],
  [
    'two ways to find the list',
    () => trigger(() => ({ items: '{{args.response.body}}' })),
    '/triggers/0/items',
    'only one',
  ],
  [
    'a trigger that is there twice',
    () => faultsAfter(({ triggers = [] }) => ({ triggers: [...triggers, ...triggers] })),
    '/triggers/1',
    'twice',
  ],
  [
    'polls that find nothing',
    () => trigger(({ exchanges }) => ({ exchanges: exchanges.map((each) => ({ ...each, items: [] })) })),
    '/triggers/0/exchanges',
    'no item',
  ],
  ['an unknown member', () => faultsAfter(() => ({ colour: 'red' })), '', 'colour'],
  ['no https', () => faultsAfter(() => ({ base_url: 'http://slack.com/api' })), '/base_url', 'https'],
  ['a host that is not listed', () => faultsAfter(() => ({ hosts: ['example.com'] })), '/hosts', 'slack.com'],
  [
    'an address of a request with a host that is not listed',
    () => at('https://content.example.com/2'),
    '/operations/0/request/base_url',
    'content.example.com',
  ],
  [
    'an address of a request without https',
    () => at('http://slack.com/api'),
    '/operations/0/request/base_url',
    'https',
  ],
  [
    'an address of a request where the token stands in the path',
    () =>
      faultsAfter(({ authentication, operations }, first) => ({
        authentication: {
          ...authentication,
          types: ['chat'],
          chat: { service: 'slack', before: '/bot', form: '^x$' },
        },
        operations: [
          { ...first, request: { ...first.request, base_url: 'https://slack.com/api' } },
          ...operations.slice(1),
        ],
      })),
    '/operations/0/request/base_url',
    'token',
  ],
  [
    'any host where the address has one',
    () => faultsAfter(() => ({ hosts: ['slack.com', '*'] })),
    '/hosts',
    'whole host',
  ],
  [
    'a chat credential that says nothing of its token',
    () => faultsAfter(({ authentication }) => ({ authentication: { ...authentication, types: ['chat'] } })),
    '/authentication',
    "'chat'",
  ],
  [
    'a chat credential beside another',
    () =>
      faultsAfter(({ authentication }) => ({
        authentication: {
          ...authentication,
          types: ['chat', 'bearer'],
          chat: { service: 'slack', before: '/bot', form: '^x$' },
        },
      })),
    '/authentication',
    "can't be combined",
  ],
  [
    'two templates in the address',
    () => faultsAfter(() => ({ base_url: 'https://{{args.a}}.{{args.b}}.com' })),
    '/base_url',
    'several templates',
  ],
  [
    'an operation that is there twice',
    () => faultsAfter(({ operations }, first) => ({ operations: [...operations, first] })),
    '/operations/9',
    'twice',
  ],
  [
    'an old version that is not marked',
    () => faultsAfter(({ operations }, first) => ({ operations: [...operations, { ...first, version: 2 }] })),
    '/operations/0/replaced',
    'newer version',
  ],
  [
    'a template that reads nothing known',
    () => operation(({ request }) => ({ request: { ...request, query: { a: '{{args.chanel}}' } } })),
    '/operations/0/request/query/a',
    'args.channel',
  ],
  [
    'a template that reads an answer before there is one',
    () => operation(({ request }) => ({ request: { ...request, query: { a: '{{args.response.status}}' } } })),
    '/operations/0/request/query/a',
    'args.response.status',
  ],
  [
    'a template with a mistake',
    () => operation(({ request }) => ({ request: { ...request, query: { a: '{{args.' } } })),
    '/operations/0/request/query/a',
    '',
  ],
  [
    'a query in the path',
    () => operation(({ request }) => ({ request: { ...request, path: '/a?b=1' } })),
    '/operations/0/request/path',
    'query',
  ],
  [
    'a setting that is never sent',
    () => operation(({ settings }) => ({ settings: { ...settings, extra: settings.text } })),
    '/operations/0/settings/extra',
    'never sent',
  ],
  [
    'a reserved name',
    () => operation(({ settings }) => ({ settings: { ...settings, limit: settings.text } })),
    '/operations/0/settings/limit',
    'reserved',
  ],
  [
    'a required setting in a section',
    () => operation(() => ({ sections: [{ title: 'Rest', fields: ['channel'] }] })),
    '/operations/0/sections',
    'required',
  ],
  [
    'no word about repetition',
    () => operation(() => ({ repetition: undefined })),
    '/operations/0/repetition',
    'harm',
  ],
  [
    'a key without its repetition',
    () => operation(() => ({ repetition: 'keyed' })),
    '/operations/0/key',
    'keyed',
  ],
  [
    'a reading operation that deletes',
    () => operation(({ request }) => ({ effect: false, request: { ...request, method: 'DELETE' } })),
    '/operations/0/effect',
    'DELETE',
  ],
  ['no output', () => operation(() => ({ output: undefined })), '/operations/0/output', 'pagination'],
  [
    'an exchange with a setting that is not there',
    () =>
      operation(({ exchanges }) => ({
        exchanges: exchanges.map((each) => ({ ...each, config: { to: 1 } })),
      })),
    '/operations/0/exchanges/0/config',
    'sets to',
  ],
])('%s is a fault, with its place and what to do', (_, faults, pointer, says) => {
  const found = faults();
  expect(found.map(([at]) => at)).toContain(pointer);
  expect(
    found
      .filter(([at]) => at === pointer)
      .map(([, message]) => message)
      .join('\n'),
  ).toContain(says);
});

it('a text without Japanese, and Japanese without a text, are faults', () => {
  const file = { ...sound, ja: { ...sound.ja, Nothing: 'なし' } };
  expect(lintConnector(file as unknown as JsonValue).map(({ pointer }) => pointer)).toEqual(['/ja/Nothing']);
  const { Channel: _, ...rest } = sound.ja;
  expect(lintConnector({ ...sound, ja: rest } as unknown as JsonValue)).toMatchObject([
    { pointer: '/ja', message: { key: 'connectors.no_japanese', params: { text: '"Channel"' } } },
  ]);
});
