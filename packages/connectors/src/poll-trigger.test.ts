import type { JsonObject, JsonValue, PollResult } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { pollNode } from '@millrace/node-kit/testing';
import { expect, test } from 'vitest';
import type { Connector, ConnectorTrigger } from './format.ts';
import { triggerNodeOf } from './trigger-type.ts';

const NOW = '2026-01-01T10:00:00Z';

const TRIGGER: ConnectorTrigger = {
  id: 'new_thing',
  title: 'New thing',
  description: 'Starts an execution for each thing.',
  settings: {},
  required: [],
  request: { method: 'GET', path: '/things', query: { since: '{{args.since}}', from: '{{args.cursor}}' } },
  pagination: {
    type: 'page',
    items: '{{args.response.body}}',
    into: { in: 'query', name: 'page' },
    size: { in: 'query', name: 'size', max: 2 },
  },
  order: 'oldest_first',
  cursor: { type: 'time', item_time: '{{args.item.at}}' },
  id_of: '{{args.item.id}}',
  exchanges: [{ title: 'x', config: {}, now: NOW, position: null, steps: [], items: [] }],
};

const CONNECTOR = {
  id: 'things',
  title: 'Things',
  icon: 'box',
  synonyms: ['things'],
  base_url: 'https://things.example.com',
  hosts: ['things.example.com'],
  authentication: { types: ['bearer'], description: 'A token.' },
  reason: '{{args.response.body.message}}',
  operations: [],
  ja: {},
} as unknown as Connector;

/** Polls once; `list` gives each page. */
async function poll(
  more: Partial<ConnectorTrigger>,
  list: (query: URLSearchParams) => JsonValue,
  { position = null, config = {} }: { position?: JsonValue; config?: JsonObject } = {},
): Promise<{ result: PollResult; queries: string[] }> {
  const queries: string[] = [];
  const { result } = await pollNode(triggerNodeOf(CONNECTOR, { ...TRIGGER, ...more }), {
    config: { credential_id: 1, ...config },
    credential: { type: 'bearer', token: 't' },
    ...{ position, nowMs: Date.parse(NOW) },
    http: ({ url }) => {
      const { searchParams } = new URL(url);
      queries.push(String(searchParams));
      const body = new TextEncoder().encode(JSON.stringify(list(searchParams)));
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    },
  });
  return { result, queries };
}

const thing = (id: number, at = '2026-01-01T09:59:00Z') => ({ id, at });
const idsOf = (result: PollResult) =>
  result.kind === 'polled' ? result.items.map(({ id }) => id) : result.code;

test('the first poll begins now, with an overlap', async () => {
  const { result, queries } = await poll({}, () => []);
  expect(queries).toEqual(['since=2026-01-01T09%3A55%3A00Z&size=2&page=1']);
  expect(result).toEqual({ kind: 'polled', items: [], position: { since: '2026-01-01T09:55:00Z' } });
});

test('the first poll asks for everything where existing items start', async () => {
  const { queries } = await poll({}, () => [], { config: { existing: 'start' } });
  expect(queries).toEqual(['size=2&page=1']);
});

test('later polls continue where the last complete one began, in whole seconds', async () => {
  const { result, queries } = await poll({}, () => [thing(1)], {
    position: { since: '2026-01-01T08:00:00Z' },
  });
  expect(queries[0]).toContain('since=2026-01-01T08%3A00%3A00Z');
  expect(idsOf(result)).toEqual(['1']);
});

test('a list that begins with the oldest continues behind its end when it is cut', async () => {
  const page = (query: URLSearchParams) => Number(query.get('page'));
  const list = (query: URLSearchParams) => [
    thing(page(query) * 2 - 1),
    thing(page(query) * 2, new Date(Date.parse('2026-01-01T09:56:00Z') + page(query) * 1000).toISOString()),
  ];
  const { result, queries } = await poll({}, list);
  expect(queries).toHaveLength(20);
  expect(idsOf(result)).toHaveLength(40);
  expect(result).toMatchObject({ position: { since: '2026-01-01T09:56:20Z' } });
});

test.each(['newest_first', 'unordered'] as const)(
  'a cut list that is %s is refused: its rest would be lost',
  async (order) => {
    const { result } = await poll({ order }, () => [thing(1), thing(2)]);
    expect(result).toMatchObject({ kind: 'failure', code: 'too_many_items', message: saying('40') });
  },
);

test('pages of the newest end where items are older than what is asked for', async () => {
  const pages = [[thing(4), thing(3)], [thing(2), thing(1, '2026-01-01T09:00:00Z')], [thing(0)]];
  const { result, queries } = await poll(
    { order: 'newest_first' },
    (query) => pages[Number(query.get('page')) - 1] ?? [],
  );
  expect(queries).toHaveLength(2);
  expect(idsOf(result)).toEqual(['2', '3', '4']);
});

test('an item whose time says nothing counts as new, and seconds since the epoch are a time', async () => {
  const list = [
    { id: 1, at: null },
    { id: 2, at: 'soon' },
    { id: 3, at: Date.parse('2026-01-01T09:58:00Z') / 1000 },
    { id: 4, at: String(Date.parse('2026-01-01T09:00:00Z') / 1000) },
  ];
  const { result } = await poll(
    { pagination: undefined, items: '{{args.response.body}}' } as never,
    () => list,
  );
  expect(idsOf(result)).toEqual(['1', '2', '3']);
});

const BY_VALUE: Partial<ConnectorTrigger> = {
  cursor: { type: 'value', next: '{{args.items | last | default: null}}' },
  id_of: '{{args.item}}',
};

test('a value leads behind what the first poll finds, which is skipped', async () => {
  expect((await poll(BY_VALUE, () => [7])).result).toEqual({
    kind: 'polled',
    items: [],
    position: { cursor: 7 },
  });
  const { result } = await poll(BY_VALUE, () => [7], { config: { existing: 'start' } });
  expect(result).toMatchObject({ items: [{ id: '7' }], position: { cursor: 7 } });
});

test('the first poll goes on to the end of a list that is cut', async () => {
  const more = {
    pagination: undefined,
    items: '{{args.response.body}}',
    more: '{{(args.response.body | length) == 2}}',
  };
  const list = (query: URLSearchParams) =>
    [1, 2, 3].filter((id) => id > Number(query.get('from') ?? 0)).slice(0, 2);
  const { result, queries } = await poll({ ...BY_VALUE, ...more } as never, list);
  expect(queries).toEqual(['', 'from=2']);
  expect(result).toEqual({ kind: 'polled', items: [], position: { cursor: 3 } });
});

test('a value stays where nothing is found', async () => {
  const { result, queries } = await poll(BY_VALUE, () => [], { position: { cursor: 7 } });
  expect(queries[0]).toContain('from=7');
  expect(result).toEqual({ kind: 'polled', items: [], position: { cursor: 7 } });
});

test.each([null, '', {}, []])('an item with the id %j is refused', async (id) => {
  const { result } = await poll({}, () => [{ id }]);
  expect(result).toMatchObject({ kind: 'failure', code: 'invalid_response', message: saying('Things') });
});

test('rows take the names of the columns; a name that could change an object is only a name', async () => {
  const { result } = await poll(
    {
      ...({ pagination: undefined, cursor: undefined } as object),
      items: '{{args.response.body.rows | slice: 1}}',
      table: { header: '{{args.response.body.rows[0]}}', first_row: 2 },
      id_of: '{{args.item.row_number}}',
    },
    () => ({ rows: [['a', '', '__proto__', 5], [1, 2, 3], [4]] }),
  );
  expect(JSON.parse(JSON.stringify(result)).items).toEqual([
    { id: '2', data: JSON.parse('{"row_number":2,"a":1,"__proto__":3,"5":""}') },
    { id: '3', data: JSON.parse('{"row_number":3,"a":4,"__proto__":"","5":""}') },
  ]);
});
