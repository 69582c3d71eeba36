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
