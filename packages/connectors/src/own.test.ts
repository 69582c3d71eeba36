import type { JsonObject, JsonValue } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { expect, it } from 'vitest';
import { nodesOf } from './connectors.ts';
import type { OwnConnectorFile } from './format.ts';
import { readOwnConnector } from './own.ts';
import { complete } from './own-file.ts';
import { services } from './services.ts';

const SETTING = { type: 'string', title: 'Name', description: 'Of the thing.' };
const OPERATION = {
  id: 'get',
  title: 'Get',
  description: 'Gets a thing.',
  effect: false,
  settings: { name: SETTING },
  required: ['name'],
  request: { method: 'GET', path: '/things/{{args.name}}' },
  output: { thing: '{{args.response.body}}' },
};
const FILE = {
  id: 'things',
  title: 'Things',
  base_url: 'https://things.example.com',
  hosts: ['things.example.com'],
  authentication: { types: ['header'], description: 'A key.' },
  reason: '{{args.response.body.error}}',
  operations: [OPERATION],
} satisfies JsonObject;

function faultsOf(file: object): readonly (readonly [string, string])[] {
  const read = readOwnConnector(file as JsonValue);
  return 'faults' in read ? read.faults.map(({ pointer, message }) => [pointer, inEnglish(message)]) : [];
}

const setting = (schema: object) => ({ ...FILE, operations: [{ ...OPERATION, settings: { name: schema } }] });

it('accepts what a file has to say, and fills in the rest', () => {
  const read = readOwnConnector(FILE as JsonValue);
  expect(read).toMatchObject({
    connector: { own: true, icon: 'plug', ja: {}, operations: [{ exchanges: [] }], triggers: [] },
  });
  expect(faultsOf({ ...FILE, base_url: 'http://things.example.com:8080' })).toEqual([]);
  expect(faultsOf(without('authentication'))).toEqual([]);
});

const LIST = { id: 'names', operation: 'list', value: '{{args.item.id}}', label: '{{args.item.name}}' };
const LISTING = {
  ...OPERATION,
  ...{ id: 'list', settings: { kind: SETTING }, required: [] },
  ...{ request: { method: 'GET', path: '/things', query: { kind: '{{args.kind}}' } } },
  ...{ output: { items: '{{args.response.body}}' } },
};
/** A file whose operation chooses a name from a list. */
const listed = (list: object, more: { setting?: object; listing?: object } = {}) => ({
  ...FILE,
  lists: [{ ...LIST, ...list }],
  operations: [
    { ...OPERATION, settings: { name: { ...SETTING, 'x-list': 'names', ...more.setting } } },
    { ...LISTING, ...more.listing },
  ],
});

it('takes the choices of a setting from another operation', () => {
  expect(faultsOf(listed({}))).toEqual([]);
  const read = readOwnConnector(listed({ settings: { kind: '{{args.name}}' } }) as unknown as JsonValue);
  if ('faults' in read) throw new Error('it has faults');
  const schemas = nodesOf([read.connector]).map(({ node }) => node.configSchema.properties as JsonObject);
  expect(schemas[0]?.name).toMatchObject({
    'x-options': 'credential_id',
    'x-options-list': { list: 'own.things.names', reads: ['name'] },
  });
});

it.each<[string, object, string]>([
  ['an operation that is not there', listed({ operation: 'nothing' }), '/lists/0/operation'],
  [
    'an operation that changes something',
    listed({}, { listing: { effect: true, repetition: 'harmless' } }),
    '/lists/0/operation',
  ],
  ['a setting that the operation has not', listed({ settings: { color: 'red' } }), '/lists/0/settings'],
  [
    'no setting that the operation needs',
    listed({}, { listing: { required: ['kind'] } }),
    '/lists/0/settings',
  ],
  ['what is no item', listed({ value: '{{args.group.id}}' }), '/lists/0/value/0'],
  [
    'a setting that the node has not',
    listed({ settings: { kind: '{{args.kind}}' } }),
    '/operations/0/settings/name/x-list',
  ],
  ['a list that is not there', listed({ id: 'others' }), '/operations/0/settings/name/x-list'],
  ['a list of numbers', listed({}, { setting: { type: 'integer' } }), '/operations/0/settings/name/x-list'],
  ['no credential', { ...listed({}), authentication: undefined }, '/lists'],
])('refuses a list with %s', (_what, file, pointer) => {
  const sound = JSON.parse(JSON.stringify(file)) as object;
  expect(faultsOf(sound).map(([at]) => at)).toContain(pointer);
});

it.each<[string, object, string, string]>([
  ['a member that is not known', { ...FILE, script: 'x' }, '/script', 'not a member'],
  ['an icon with markup', { ...FILE, icon: '<svg onload="x">' }, '/icon', 'match'],
  ['that it is of the catalogue', { ...FILE, own: true }, '/own', 'not a member'],
  ['nothing', { ...FILE, operations: [] }, '/operations', 'empty'],
  ['no title', without('title'), '/title', 'missing'],
  [
    'no type of credential',
    { ...FILE, authentication: { types: [], description: 'A key.' } },
    '/authentication/types',
    'leave out authentication',
  ],
  ['any host', { ...FILE, base_url: 'https://{{args.name}}', hosts: ['*'] }, '/hosts', 'any host'],
  ['another host', { ...FILE, hosts: ['example.com'] }, '/hosts', 'things.example.com'],
  [
    'a token in the path',
    { ...FILE, authentication: { types: ['chat'], description: 'A token.' } },
    '/authentication/types',
    'bearer',
  ],
  [
    'a setting with a name of its own',
    setting_('__proto__'),
    '/operations/0/settings/__proto__',
    'lower-case',
  ],
  ['a reference', setting({ ...SETTING, $ref: '#' }), '/operations/0/settings/name/$ref', "isn't allowed"],
  [
    'a keyword inside',
    setting({ ...SETTING, type: 'array', items: { not: {} } }),
    '/operations/0/settings/name/items/not',
    "isn't allowed",
  ],
  [
    'a pattern that is none',
    setting({ ...SETTING, pattern: '(' }),
    '/operations/0/settings/name/pattern',
    'not a regular expression',
  ],
  [
    'a pattern that is not linear',
    setting({ ...SETTING, pattern: '(a*)\\1' }),
    '/operations/0/settings/name/pattern',
    '',
  ],
  [
    'a default that is not valid',
    setting({ ...SETTING, maxLength: 1, default: 'ab' }),
    '/operations/0/settings/name/default',
    '',
  ],
  ['no type', setting({ title: 'Name', description: 'x' }), '/operations/0/settings/name/type', 'string'],
  [
    'labels that are no texts',
    setting({ ...SETTING, 'x-labels': { a: 1 } }),
    '/operations/0/settings/name/x-labels',
    'texts',
  ],
  [
    'too many settings',
    {
      ...FILE,
      operations: [
        {
          ...OPERATION,
          settings: Object.fromEntries(Array.from({ length: 61 }, (_each, at) => [`n${at}`, SETTING])),
        },
      ],
    },
    '/operations/0/settings',
    '60',
  ],
  ['a template that reads nothing', { ...FILE, reason: '{{args.nothing}}' }, '', 'args.response'],
  ['a translation of nothing', { ...FILE, ja: { Thongs: 'もの' } }, '/ja/Thongs', 'not in the file'],
])('refuses %s', (_what, file, pointer, said) => {
  const faults = faultsOf(file);
  expect(faults.find(([at]) => at.startsWith(pointer))?.[1] ?? JSON.stringify(faults)).toContain(said);
  expect(faults.map(([at]) => at).join(' ')).toContain(pointer);
  expect(faults.length).toBeGreaterThan(0);
});

function without(name: keyof typeof FILE): object {
  const { [name]: _left, ...rest } = FILE;
  return rest;
}

/** `__proto__` as an own member, as JSON has it. */
function setting_(name: string): object {
  const settings = JSON.parse(`{"${name}": ${JSON.stringify(SETTING)}}`) as object;
  return { ...FILE, operations: [{ ...OPERATION, settings }] };
}

it('has types that no connector of the catalogue has', () => {
  const types = nodesOf([complete(FILE as unknown as OwnConnectorFile)]).map(({ node }) => node.type);
  expect(types).toEqual(['own.things.get']);
  expect(services.map(({ id }) => id)).not.toContain('own');
});

it('checks settings without compiling their schema to code', async () => {
  const [found] = nodesOf([
    complete(setting({ ...SETTING, pattern: '^[a-z]+$' }) as unknown as OwnConnectorFile),
  ]);
  const context = { config: { credential_id: 1, name: 'NO', timeout_ms: 1 } };
  const result = await found?.node.run(context as never);
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
});
