import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonValue } from '@millrace/engine';
import { afterAll, describe, expect, it } from 'vitest';
import type { Connector, Operation } from '../packages/connectors/src/format.ts';
import { compareConnector } from './compare-connector.ts';
import { readDescription } from './read-description.ts';

const folder = mkdtempSync(join(tmpdir(), 'millrace-descriptions-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Descriptions of the same service: things that are listed, made and changed. */
const FILES: { readonly [name: string]: string } = {
  'things.stone': `namespace things
import common
alias Size = UInt32(min_value=1, max_value=50)
struct ListArg
    "Which things are listed;
    all of them without a color."
    color Color?
        "Of the things."
    limit Size = 10
union Color
    red
        "Like blood."
    mixed Mix
struct Mix
    parts List(String, max_items=3)
struct Thing
    union
        tool Tool
    name String
    owner common.Person
struct Tool extends Thing
    weight Float64?
struct ListResult
    things List(Thing)
    cursor String?
route list:2 (ListArg, ListResult, Void)
    "Lists things."
    attrs
        scope = "read"
route list (ListArg, ListResult, Void) deprecated by list:2
route put (Mix, Thing, Void)
    attrs
        host = "content"
        style = "upload"
route get (Mix, Thing, Void)
    attrs
        style = "download"
`,
  'common.stone': `namespace common
struct Person
    email String
`,
  'things.csdl': `<?xml version="1.0"?>
<edmx:Edmx Version="4.0"><edmx:DataServices>
  <Schema Namespace="example.things" Alias="t">
    <EnumType Name="color"><Member Name="red" Value="0" /></EnumType>
    <EntityType Name="base" Abstract="true"><Property Name="id" Type="Edm.String" /></EntityType>
    <EntityType Name="thing" BaseType="t.base" OpenType="true">
      <Property Name="name" Type="Edm.String" />
      <Property Name="color" Type="t.color" />
      <NavigationProperty Name="parts" Type="Collection(t.thing)" />
    </EntityType>
    <EntityType Name="shop"><NavigationProperty Name="things" Type="Collection(t.thing)" /></EntityType>
    <Action Name="Paint" IsBound="true">
      <Parameter Name="bindingParameter" Type="t.base" />
      <Parameter Name="Color" Type="t.color" Nullable="false" />
      <ReturnType Type="t.thing" />
    </Action>
    <EntityContainer Name="service"><Singleton Name="me" Type="t.shop" /></EntityContainer>
  </Schema>
</edmx:DataServices></edmx:Edmx>`,
  'things.graphql': `
"What a thing may be."
enum Color { RED "Like the sea." BLUE }
input ThingInput { name: String! color: Color = RED weight: Float }
type Thing implements Node { id: ID! name: String! @deprecated(reason: "no {") color: Color parts(first: Int): [Thing!]! }
type Query { things(color: Color, first: Int!): [Thing!]! }
type Mutation { thingCreate(input: ThingInput!): Thing }
`,
  'things.json': JSON.stringify({
    smithy: '2.0',
    shapes: {
      'example#Put': {
        type: 'operation',
        input: { target: 'example#PutInput' },
        output: { target: 'example#PutOutput' },
        traits: { 'smithy.api#http': { method: 'PUT', uri: '/{Shop}/{Key+}?x-id=Put' } },
      },
      'example#PutPart': {
        type: 'operation',
        input: { target: 'example#PutPartInput' },
        traits: { 'smithy.api#http': { method: 'PUT', uri: '/{Shop}/{Key+}?x-id=PutPart' } },
      },
      'example#PutInput': {
        type: 'structure',
        members: {
          Shop: {
            target: 'smithy.api#String',
            traits: { 'smithy.api#httpLabel': {}, 'smithy.api#required': {} },
          },
          Color: { target: 'example#Color', traits: { 'smithy.api#httpQuery': 'color' } },
          Body: { target: 'example#Blob', traits: { 'smithy.api#httpPayload': {} } },
        },
      },
      'example#PutPartInput': {
        type: 'structure',
        members: {
          Part: {
            target: 'smithy.api#Integer',
            traits: { 'smithy.api#httpQuery': 'part', 'smithy.api#required': {} },
          },
        },
      },
      'example#PutOutput': {
        type: 'structure',
        members: { ETag: { target: 'smithy.api#String', traits: { 'smithy.api#httpHeader': 'ETag' } } },
      },
      'example#Blob': { type: 'blob' },
      'example#Color': {
        type: 'enum',
        members: { RED: { target: 'smithy.api#Unit', traits: { 'smithy.api#enumValue': 'red' } } },
      },
    },
  }),
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

const settings: Operation['settings'] = {
  color: { type: 'string', enum: ['red'] },
  count: { type: 'integer', maximum: 50 },
  name: { type: 'string' },
  tags: { type: 'array' },
};

function differencesIn(
  file: string,
  base: string,
  request: Operation['request'],
  output: Operation['output'] = null,
): string[] {
  const operation = { id: 'change', settings, request, output, exchanges: [] };
  const connector = { base_url: base, operations: [operation] } as unknown as Connector;
  const { compared, differences } = compareConnector(connector, readDescription(join(folder, file)));
  return compared.length === 0 ? ['not described'] : differences.map(({ at, message }) => `${at} ${message}`);
}

describe('Stone', () => {
  const list = (body: JsonValue, output?: Operation['output'], path = '/things/list_v2') =>
    differencesIn('things.stone', 'https://api.example.com/2', { method: 'POST', path, body }, output);

  it.each<[string, string[], string[]]>([
    [
      'routes, aliases, unions and structs that stand for others',
      list({ color: '{{args.color}}', limit: '{{args.count}}' }, [
        '{{args.response.body.things[0].weight}}',
        '{{args.response.body.things[0][".tag"]}}',
      ]),
      [],
    ],
    ['imported namespaces', list({}, '{{args.response.body.things[0].owner.email}}'), []],
    [
      'members that are not there',
      list({ colour: 'red' }, '{{args.response.body.things[0].owner.phone}}'),
      [
        '/request/body/colour is no member that the service describes.',
        '/output reads things.0.owner.phone, which no answer has.',
      ],
    ],
    [
      'the nearest kind of a union',
      list({ color: { '.tag': 'mixed', parts: '{{args.name}}' } }),
      ['/request/body/color/parts takes string; the service takes array.'],
    ],
    [
      'arguments beside the file of an upload',
      differencesIn('things.stone', 'https://api.example.com/2', {
        ...{ method: 'POST', path: '/put', base_url: 'https://content.example.com/2/things' },
        ...{ query: { arg: '{"parts":[]}' }, body: '{{args.name}}', body_type: 'file' },
      }),
      [],
    ],
    [
      'a download whose arguments are a body',
      list({ parts: [] }, undefined, '/things/get'),
      [
        '/request/query lacks arg, which the service requires.',
        '/request/body is sent, but the service describes none.',
      ],
    ],
    [
      'bounds of literals',
      list({ limit: 60 }),
      ['/request/body/limit has the maximum 60; that of the service is 50.'],
    ],
    ['what is deprecated', list({}, null, '/things/list'), ['/request is deprecated by the service.']],
    ['what is not described', list({}, null, '/things/make'), ['not described']],
  ])('knows %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('CSDL', () => {
  const ask = (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    more: Partial<Operation['request']> = {},
    output?: Operation['output'],
  ) => differencesIn('things.csdl', 'https://api.example.com/v1.0', { method, path, ...more }, output);

  it.each<[string, string[], string[]]>([
    [
      'lists and their pages',
      ask('GET', '/me/things', { query: { $top: '{{args.count}}' } }, [
        '{{args.response.body.value[0].id}}',
        '{{args.response.body["@odata.nextLink"]}}',
      ]),
      [],
    ],
    [
      'lists below others',
      ask('GET', '/me/things/{{args.name}}/parts', { query: { top: '1' } }),
      ['/request/query/top is no parameter of the service.'],
    ],
    [
      'what is added to a list',
      ask(
        'POST',
        '/me/things',
        { body: { name: '{{args.tags}}', '@odata.type': '#example.things.thing' } },
        '{{args.response.body.colour}}',
      ),
      [
        '/request/body/name takes array; the service takes string.',
        '/output reads colour, which no answer has.',
      ],
    ],
    [
      'actions of a base type',
      ask('POST', '/me/things/{{args.name}}/Paint', { body: { color: 'green' } }),
      ['/request/body/color offers "green", which the service does not list.'],
    ],
    [
      'what an action needs',
      ask('POST', '/me/things/{{args.name}}/Paint', { body: {} }),
      ['/request/body lacks color, which the service requires.'],
    ],
    ['that an action is no list', ask('GET', '/me/things/{{args.name}}/Paint'), ['not described']],
    ['steps that lead nowhere', ask('GET', '/me/shops'), ['not described']],
  ])('knows %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('GraphQL', () => {
  const ask = (query: string, variables: JsonValue = {}, output?: Operation['output']) =>
    differencesIn(
      'things.graphql',
      'https://api.example.com',
      { method: 'POST', path: '/graphql', body: { query, variables } },
      output,
    );
  const create = 'mutation ($input: ThingInput!) { made: thingCreate(input: $input) { id parts { name } } }';

  it.each<[string, string[], string[]]>([
    [
      'variables and what is selected',
      ask(
        create,
        { input: { name: '{{args.name}}', color: 'BLUE' } },
        '{{args.response.body.data.made.parts[0].name}}',
      ),
      [],
    ],
    [
      'members of inputs',
      ask(create, { input: { color: 'GREEN', size: 1 } }),
      [
        '/request/body/variables/input/color offers "GREEN", which the service does not list.',
        '/request/body/variables/input/size is no member that the service describes.',
        '/request/body/variables/input lacks name, which the service requires.',
      ],
    ],
    [
      'what was not selected',
      ask(create, { input: { name: 'a' } }, '{{args.response.body.data.made.name}}'),
      ['/output reads data.made.name, which no answer has.'],
    ],
    [
      'fields and arguments',
      ask('query { things(size: 1, color: GREEN) { colour parts } }'),
      [
        '/request gives Query.things the argument size, which it does not take.',
        '/request gives the argument color of Query.things another type.',
        '/request lacks the argument first of Query.things.',
        '/request selects Thing.colour, which the schema does not have.',
        '/request selects nothing of Thing.parts.',
      ],
    ],
    [
      'types of variables',
      ask('query ($n: Int) { things(first: $n) { id } }'),
      ['/request gives the argument first of Query.things another type.'],
    ],
    ['that a query of the workflow can not be compared', ask('{{args.name}}'), ['not described']],
  ])('knows %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('Smithy', () => {
  const put = (more: Partial<Operation['request']>, output?: Operation['output']) =>
    differencesIn(
      'things.json',
      'https://shop.example.com',
      { method: 'PUT', path: '/{{args.name}}/{{args.name}}', ...more },
      output,
    );

  it.each<[string, string[], string[]]>([
    [
      'labels, parameters, payloads and headers',
      put(
        { query: { color: '{{args.color}}' }, body: '{{args.name}}', body_type: 'text' },
        '{{args.response.headers.etag}}',
      ),
      [],
    ],
    [
      'what is not there',
      put({ query: { color: 'green', size: '1' } }, '{{args.response.headers.size}}'),
      [
        '/request/query/color offers "green", which the service does not list.',
        '/request/query/size is no parameter of the service.',
        '/output reads the header size, which no answer has.',
      ],
    ],
  ])('knows %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});
