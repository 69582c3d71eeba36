import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import type { Connector, Operation } from '../packages/connectors/src/format.ts';
import { compareConnector } from './compare-connector.ts';
import { makeConnector } from './make-connector.ts';
import { ServiceDescription } from './service-description.ts';

/** A service with one operation, as OpenAPI has it. */
const DESCRIPTION: JsonObject = {
  openapi: '3.1.0',
  servers: [{ url: 'https://api.example.com/v1' }],
  paths: {
    '/things/{id}': {
      post: {
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'size', in: 'query', required: true, schema: { type: 'integer', maximum: 50 } },
        ],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        responses: {
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        },
      },
    },
  },
  components: {
    schemas: {
      Thing: {
        allOf: [{ $ref: '#/components/schemas/Named' }],
        properties: { color: { type: 'string', enum: ['red', 'blue'] } },
      },
      Named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
  },
};
/** The same, as Google describes it. */
const DISCOVERED: JsonObject = {
  kind: 'discovery#restDescription',
  rootUrl: 'https://api.example.com/',
  servicePath: 'v1/',
  resources: {
    things: {
      methods: {
        change: {
          httpMethod: 'POST',
          path: 'things/{+id}',
          parameters: {
            id: { location: 'path', required: true, type: 'string' },
            size: { location: 'query', required: true, type: 'integer', maximum: 50 },
          },
          request: { $ref: 'Thing' },
          response: { $ref: 'Thing' },
        },
      },
    },
  },
  schemas: {
    Thing: {
      id: 'Thing',
      properties: { color: { type: 'string', enum: ['red', 'blue'] }, name: { type: 'string' } },
      required: ['name'],
    },
  },
};

const settings: Operation['settings'] = {
  id: { type: 'string' },
  size: { type: 'integer', maximum: 50 },
  name: { type: 'string' },
  color: { type: 'string', enum: ['red'] },
};
const request: Operation['request'] = {
  method: 'POST',
  path: '/things/{{args.id}}',
  query: { size: '{{args.size}}' },
  body: { name: '{{args.name}}', color: '{{args.color}}' },
};

function differencesAfter(change: Partial<Operation>, description = DESCRIPTION): string[] {
  const operation = {
    id: 'change',
    settings,
    request,
    output: '{{args.response.body.name}}',
    exchanges: [],
    ...change,
  };
  const connector = {
    base_url: 'https://api.example.com/v1',
    operations: [operation],
  } as unknown as Connector;
  const { compared, differences } = compareConnector(connector, new ServiceDescription(description));
  expect(compared).toEqual(['change']);
  return differences.map(({ at, message }) => `${at} ${message}`);
}

describe.each([
  ['OpenAPI', DESCRIPTION],
  ['discovery', DISCOVERED],
])('comparing with %s', (_, description) => {
  it.each<[string, Partial<Operation>, string[]]>([
    ['nothing', {}, []],
    [
      'a parameter that is not there',
      { request: { ...request, query: { size: '{{args.size}}', sort: 'x' } } },
      ['/request/query/sort is no parameter of the service.'],
    ],
    [
      'a parameter that is missing',
      { request: { ...request, query: {} } },
      ['/request/query lacks size, which the service requires.'],
    ],
    [
      'a member that is not there',
      { request: { ...request, body: { name: 'x', colour: 'red' } } },
      ['/request/body/colour is no member that the service describes.'],
    ],
    [
      'a member that is missing',
      { request: { ...request, body: { color: 'red' } } },
      ['/request/body lacks name, which the service requires.'],
    ],
    [
      'another type',
      { settings: { ...settings, name: { type: 'array' } } },
      ['/request/body/name takes array; the service takes string.'],
    ],
    [
      'another choice',
      { settings: { ...settings, color: { type: 'string', enum: ['red', 'green'] } } },
      ['/request/body/color offers "green", which the service does not list.'],
    ],
    [
      'a larger maximum',
      { settings: { ...settings, size: { type: 'integer', maximum: 100 } } },
      ['/request/query/size has the maximum 100; that of the service is 50.'],
    ],
    [
      'an output that no answer has',
      { output: '{{args.response.body.colour}}' },
      ['/output reads colour, which no answer has.'],
    ],
  ])('finds %s', (_, change, expected) => {
    expect(differencesAfter(change, description)).toEqual(expected);
  });
});

describe('alternatives', () => {
  const text = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } };
  const choice = { type: 'object', required: ['color'], properties: { color: { enum: ['red'] } } };
  const takes = (schema: JsonObject): JsonObject => ({
    openapi: '3.1.0',
    servers: [{ url: 'https://api.example.com/v1' }],
    paths: { '/things/{id}': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
  });
  const sent = (body: JsonObject) => ({
    request: { method: 'POST' as const, path: '/things/{{args.id}}', body },
  });

  it.each<[string, JsonObject, string[]]>([
    ['the first', { text: 'x' }, []],
    ['the second', { color: 'red' }, []],
    [
      'none, and says how it misses the nearest',
      { color: 'green' },
      ['/request/body/color offers "green", which the service does not list.'],
    ],
  ])('a body may fit %s', (_, body, expected) => {
    expect(differencesAfter(sent(body), takes({ oneOf: [text, choice] }))).toEqual(expected);
  });

  it('hold for what is nested, and together with what always holds', () => {
    const description = takes({
      required: ['kind'],
      properties: { kind: { type: 'string' }, parts: { type: 'array', items: { anyOf: [text, choice] } } },
      allOf: [{ oneOf: [text, choice] }],
    });
    expect(
      differencesAfter(sent({ kind: 'a', text: 'x', parts: [{ color: 'red' }, { text: 'y' }] }), description),
    ).toEqual([]);
    expect(differencesAfter(sent({ text: 'x', parts: [{ colour: 'red' }] }), description)).toEqual([
      '/request/body/parts/0/colour is no member that the service describes.',
      '/request/body/parts/0 lacks text, which the service requires.',
      '/request/body lacks kind, which the service requires.',
    ]);
  });
});

describe('a body instead of the query', () => {
  it('is taken where the description says so', () => {
    const described = (text: string): JsonObject => ({
      openapi: '3.0.0',
      servers: [{ url: 'https://api.example.com/v1' }],
      paths: {
        '/things/{id}': {
          post: {
            description: text,
            parameters: [{ name: 'name', in: 'query', required: true, schema: { type: 'string' } }],
          },
        },
      },
    });
    const request = { method: 'POST' as const, path: '/things/{{args.id}}', body: { name: 'x' } };
    const said = 'Makes one. Query parameters may also be replaced with a JSON request body instead.';
    expect(differencesAfter({ request }, described(said))).toEqual([]);
    expect(differencesAfter({ request: { ...request, body: { size: 1 } } }, described(said))).toHaveLength(2);
    expect(differencesAfter({ request }, described('Makes one.'))).toEqual([
      '/request/query lacks name, which the service requires.',
      '/request/body is sent, but the service describes none.',
    ]);
  });
});

describe('a trigger', () => {
  const things: JsonObject = {
    openapi: '3.0.0',
    servers: [{ url: 'https://api.example.com/v1' }],
    paths: {
      '/things': {
        get: {
          parameters: [{ name: 'since', in: 'query', schema: { type: 'string' } }],
          responses: {
            '200': {
              content: {
                'application/json; charset=utf-8': {
                  schema: {
                    properties: {
                      things: { type: 'array', items: { properties: { id: { type: 'string' } } } },
                    },
                  },
                },
              },
            },
          },
        },
      },
      '/things/{id}': {
        get: {
          responses: { '200': { content: { 'application/json': { schema: { properties: { text: {} } } } } } },
        },
      },
    },
  };
  const trigger = {
    id: 'new_thing',
    settings: {},
    request: { method: 'GET', path: '/things', query: { since: '{{args.since}}' } },
    items: '{{args.response.body.things}}',
    id_of: '{{args.item.id}}',
    exchanges: [],
  };
  const compare = (change: object) => {
    const connector = {
      base_url: 'https://api.example.com/v1',
      operations: [],
      triggers: [{ ...trigger, ...change }],
    };
    const { compared, differences } = compareConnector(
      connector as unknown as Connector,
      new ServiceDescription(things),
    );
    return {
      compared,
      found: differences.map(({ operation, at, message }) => `${operation}${at} ${message}`),
    };
  };

  it('is compared like an operation', () => {
    expect(compare({})).toEqual({ compared: ['trigger new_thing'], found: [] });
    expect(
      compare({
        request: { ...trigger.request, query: { after: 'x' } },
        items: '{{args.response.body.items}}',
      }).found,
    ).toEqual([
      'trigger new_thing/request/query/after is no parameter of the service.',
      'trigger new_thing/output reads items, which no answer has.',
      'trigger new_thing/items reads id, which no item has.',
    ]);
  });

  it('reads of items and details what they have', () => {
    const detail = {
      request: { method: 'GET', path: '/things/{{args.item.id}}' },
      output: '{{args.response.body.title}}',
    };
    expect(compare({ id_of: '{{args.item.key}}', when: '{{args.item.id != null}}', detail })).toEqual({
      compared: ['trigger new_thing', 'trigger new_thing/detail'],
      found: [
        'trigger new_thing/items reads key, which no item has.',
        'trigger new_thing/detail/output reads title, which no answer has.',
      ],
    });
  });
});

describe('pages and headers', () => {
  const page = { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } };
  const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } };
  const things = (parameters: JsonObject[]): JsonObject => ({
    openapi: '3.0.0',
    servers: [{ url: 'https://api.example.com/v1' }],
    paths: {
      '/things': {
        get: {
          parameters,
          responses: {
            '200': {
              content: {
                'application/json': {
                  schema: {
                    properties: { things: { type: 'array' }, next_cursor: { type: 'string' } },
                  },
                },
              },
            },
          },
        },
      },
    },
  });
  const list = { request: { method: 'GET' as const, path: '/things' }, output: null };
  const pages = {
    type: 'page' as const,
    items: '{{args.response.body.things}}',
    into: { in: 'query' as const, name: 'page' },
    size: { in: 'query' as const, name: 'limit', max: 50 },
  };

  it.each<[string, Partial<Operation>, string[]]>([
    ['nothing', { pagination: pages }, []],
    ['pages that are missing', {}, ['/pagination is missing; the service lists by page.']],
    ['no pages where they are asked for by hand', { request: { ...list.request, query: { page: '1' } } }, []],
    [
      'pages of another kind',
      { pagination: { ...pages, type: 'next_url', next: '{{args.response.body.next_cursor}}' } },
      ['/pagination/type is next_url; the service lists by page.'],
    ],
    [
      'larger pages',
      { pagination: { ...pages, size: { ...pages.size, max: 100 } } },
      ['/pagination/size has the maximum 100; that of the service is 50.'],
    ],
    [
      'a page before the first',
      { pagination: { ...pages, first: 0 } },
      ['/pagination/into has the minimum 0; that of the service is 1.'],
    ],
    [
      'what is no list',
      { pagination: { ...pages, items: '{{args.response.body.next_cursor}}' } },
      ['/pagination/items is no list of the service.'],
    ],
  ])('finds %s', (_, change, expected) => {
    expect(differencesAfter({ ...list, ...change }, things([page, limit]))).toEqual(expected);
  });

  it('finds headers that are missing or say something else', () => {
    const header = (name: string, schema: JsonObject) => ({ name, in: 'header', required: true, schema });
    const described = things([
      header('Api-Version', { enum: ['1', '2'] }),
      // Those of a credential, and of every request.
      header('X-Api-Key', {}),
      header('Accept', {}),
    ]);
    const sent = (headers: { [name: string]: string }) =>
      differencesAfter({ ...list, request: { ...list.request, headers } }, described);
    expect(sent({ 'api-version': '2' })).toEqual([]);
    expect(sent({})).toEqual(['/request/headers lacks Api-Version, which the service requires.']);
    expect(sent({ 'api-version': '3' })).toEqual([
      '/request/headers/api-version offers "3", which the service does not list.',
    ]);
    const key = { in: 'header' as const, name: 'API-Version', form: 'uuid' as const };
    expect(differencesAfter({ ...list, key }, described)).toEqual([]);
  });

  it('makes pages where the description tells them, and the choice does not', () => {
    const made = (chosen: JsonObject) => {
      const choice = { operations: [{ id: 'list', from: 'GET /v1/things', ...chosen }] };
      const [operation] = makeConnector(choice, new ServiceDescription(things([page, limit]))).operations as [
        JsonObject,
      ];
      return operation.pagination;
    };
    expect(made({})).toEqual(pages);
    expect(made({ output: '{{args.response.body}}' })).toBeUndefined();
    expect(made({ settings: { page: {} } })).toBeUndefined();
    expect(made({ pagination: { type: 'link' } })).toEqual({ type: 'link' });
  });
});

describe('making an operation', () => {
  const make = (chosen: JsonObject) =>
    makeConnector({ id: 'example', operations: [chosen] }, new ServiceDescription(DESCRIPTION));
  const from = 'POST /v1/things/{id}';

  it('takes types, choices, bounds and places from the description', () => {
    const words = { title: 'Colour', description: 'Of the thing.' };
    const chosen = { id: { title: 'ID' }, size: {}, colour: { from: 'color', ...words }, name: {} };
    expect(make({ id: 'change', from, settings: chosen })).toEqual({
      id: 'example',
      operations: [
        {
          id: 'change',
          settings: {
            id: { type: 'string', title: 'ID' },
            size: { type: 'integer', maximum: 50 },
            colour: { type: 'string', enum: ['red', 'blue'], ...words },
            name: { type: 'string' },
          },
          required: ['id', 'size', 'name'],
          request: {
            method: 'POST',
            path: '/v1/things/{{args.id}}',
            query: { size: '{{args.size}}' },
            body: { color: '{{args.colour}}', name: '{{args.name}}' },
          },
        },
      ],
    });
  });

  it.each([
    [{ id: 'change', from: 'GET /v1/other' }, 'the description has no GET /v1/other'],
    [{ id: 'change', from, settings: { weight: {} } }, 'the service has no weight'],
  ])('says what the description lacks: %j', (chosen, says) => {
    expect(() => make(chosen)).toThrow(says);
  });
});
