import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { describedPages } from './described-pages.ts';
import { GraphqlDescription } from './graphql-description.ts';
import { ODataDescription } from './odata-description.ts';
import { ServiceDescription } from './service-description.ts';

const TEXT: JsonObject = { type: 'string' };
const NUMBER: JsonObject = { type: 'integer' };
const LIST: JsonObject = { type: 'array', items: { type: 'object' } };
const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties });

/** What is said of a list with these parameters, this answer and these headers. */
function pagesOf(
  query: { readonly [name: string]: JsonObject },
  answer: JsonObject,
  { headers = {}, body }: { readonly headers?: JsonObject; readonly body?: JsonObject } = {},
) {
  const description = new ServiceDescription({
    openapi: '3.1.0',
    paths: {
      '/things': {
        post: {
          parameters: Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
          ...(body === undefined
            ? {}
            : { requestBody: { content: { 'application/json': { schema: body } } } }),
          responses: { '200': { headers, content: { 'application/json': { schema: answer } } } },
        },
      },
    },
  });
  const [operation] = description.operations;
  if (operation === undefined) throw new Error('The description has no operation.');
  return describedPages(operation, description);
}

const response = (path: string) => `{{args.response.body${path}}}`;

describe('pages by a cursor', () => {
  it.each<[string, string, JsonObject, string]>([
    ['pageToken', 'maxResults', object({ messages: LIST, nextPageToken: TEXT }), '.nextPageToken'],
    ['offset', 'limit', object({ data: LIST, next_page: object({ offset: TEXT }) }), '.next_page.offset'],
    [
      'after',
      'limit',
      object({ results: LIST, paging: object({ next: object({ after: TEXT }) }) }),
      '.paging.next.after',
    ],
    [
      'cursor',
      'limit',
      object({ channels: LIST, response_metadata: object({ next_cursor: TEXT }) }),
      '.response_metadata.next_cursor',
    ],
  ])('in %s', (name, size, answer, next) => {
    const items =
      Object.entries(answer.properties as JsonObject).find(([, each]) => each === LIST)?.[0] ?? '';
    expect(pagesOf({ [name]: TEXT, [size]: { ...NUMBER, maximum: 50 } }, answer)).toEqual([
      {
        type: 'cursor',
        items: response(`.${items}`),
        next: response(next),
        into: { in: 'query', name },
        size: { in: 'query', name: size, max: 50 },
      },
    ]);
  });

  it('ask whether there is a next page where the last one has a cursor, too', () => {
    const answer = object({
      comments: LIST,
      meta: object({ has_more: { type: 'boolean' }, after_cursor: TEXT }),
    });
    expect(pagesOf({ 'page[after]': TEXT, 'page[size]': NUMBER }, answer)).toMatchObject([
      {
        next: '{{args.response.body.meta.has_more ? args.response.body.meta.after_cursor : null}}',
        into: { name: 'page[after]' },
        size: { name: 'page[size]', max: 100 },
      },
    ]);
  });

  it('go on after the last item', () => {
    const answer = object({ data: LIST, has_more: { type: 'boolean' } });
    expect(pagesOf({ starting_after: TEXT, ending_before: TEXT, limit: NUMBER }, answer)).toMatchObject([
      {
        type: 'cursor',
        next: '{{args.response.body.has_more ? (args.response.body.data | map: "id" | last) : null}}',
        into: { name: 'starting_after' },
      },
    ]);
  });

  it('are asked for in a body', () => {
    const body = object({ start_cursor: TEXT, page_size: { ...NUMBER, maximum: 5_000 } });
    expect(pagesOf({}, object({ results: LIST, next_cursor: TEXT }), { body })).toMatchObject([
      { into: { in: 'body', name: 'start_cursor' }, size: { in: 'body', name: 'page_size', max: 1_000 } },
    ]);
  });

  it('are variables in GraphQL', () => {
    const description = new GraphqlDescription(`
      type Query { teams(first: Int, after: String): TeamConnection! }
      type TeamConnection { nodes: [Team!]! pageInfo: PageInfo! }
      type Team { id: ID! }
      type PageInfo { hasNextPage: Boolean! endCursor: String }
    `);
    const query =
      'query ($first: Int, $after: String) { teams(first: $first, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }';
    const operation = description.find({ method: 'POST', path: '/graphql', body: { query } });
    expect(operation && describedPages(operation, description)).toEqual([
      {
        type: 'cursor',
        items: response('.data.teams.nodes'),
        next: '{{args.response.body.data.teams.pageInfo.hasNextPage ? args.response.body.data.teams.pageInfo.endCursor : null}}',
        into: { in: 'body', name: '/variables/after' },
        size: { in: 'body', name: '/variables/first', max: 100 },
      },
    ]);
  });
});

describe('pages by an address', () => {
  it('in the header Link, before numbers', () => {
    const found = pagesOf({ per_page: NUMBER, page: NUMBER }, LIST, { headers: { Link: { schema: TEXT } } });
    expect(found.map(({ type }) => type)).toEqual(['link', 'page']);
    expect(found[0]).toEqual({
      type: 'link',
      items: response(''),
      size: { in: 'query', name: 'per_page', max: 100 },
    });
  });

  it('in the body, if it is a whole one', () => {
    const url = { ...TEXT, format: 'uri' };
    const answer = (next: JsonObject) => object({ items: LIST, links: object({ next }) });
    expect(pagesOf({ limit: NUMBER }, answer(url))).toMatchObject([
      { type: 'next_url', next: response('.links.next') },
    ]);
    expect(pagesOf({ limit: NUMBER }, answer(TEXT))).toEqual([]);
    expect(pagesOf({ PageSize: NUMBER }, object({ items: LIST, next_page_uri: url }))).toEqual([]);
  });

  it("in OData's annotation", () => {
    const description = new ODataDescription(`<edmx:Edmx xmlns:edmx="e"><Schema Namespace="s">
      <EntityType Name="file"><Property Name="id" Type="Edm.String"/></EntityType>
      <EntityContainer Name="c"><EntitySet Name="files" EntityType="s.file"/></EntityContainer></Schema></edmx:Edmx>`);
    const operation = description.find({ method: 'GET', path: '/v1.0/files' });
    expect(operation && describedPages(operation, description)).toEqual([
      {
        type: 'next_url',
        items: response('.value'),
        next: response('["@odata.nextLink"]'),
        size: { in: 'query', name: '$top', max: 100 },
      },
    ]);
  });
});

describe('pages by a number', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['of the page', { page: NUMBER }, { type: 'page', into: { in: 'query', name: 'page' } }],
    ['of the page, from 0', { page: { ...NUMBER, default: 0 } }, { type: 'page', first: 0 }],
    ['of the first item', { offset: NUMBER }, { type: 'offset', into: { in: 'query', name: 'offset' } }],
  ])('%s', (_, parameter, expected) => {
    const found = pagesOf({ ...(parameter as { [name: string]: JsonObject }), limit: NUMBER }, LIST);
    expect(found).toMatchObject([expected]);
  });
});

it.each<[string, Parameters<typeof pagesOf>]>([
  ['nothing says how many', [{ page: NUMBER }, LIST]],
  ['nothing leads on', [{ limit: NUMBER }, LIST]],
  [
    'it is not clear which list is meant',
    [{ limit: NUMBER, page: NUMBER }, object({ red: LIST, blue: LIST })],
  ],
  ['there is no list', [{ limit: NUMBER, page: NUMBER }, object({ id: TEXT })]],
])('there are no pages where %s', (_, given) => {
  expect(pagesOf(...given)).toEqual([]);
});
