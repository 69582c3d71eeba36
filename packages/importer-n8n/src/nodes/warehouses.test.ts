import { runInNewContext } from 'node:vm';
import { findProblems, type JsonObject } from '@millrace/engine';
import type { ImportResult } from '@millrace/importer';
import { registry } from '@millrace/nodes';
import { expect, test } from 'vitest';
import { configOf, flowOf, n8n, outcomeOf, read } from '../testing.ts';

function imported(type: string, parameters: JsonObject, version = 1): ImportResult {
  return read(
    n8n(
      {
        Hook: { type: 'webhook', version: 2, parameters: { path: 'x' } },
        Store: { type, version, parameters },
        Here: {
          type: 'set',
          version: 3.4,
          parameters: {
            assignments: { assignments: [{ name: 'x', type: 'string', value: '={{ $json.total }}' }] },
          },
        },
      },
      [
        ['Hook', 'Store'],
        ['Store', 'Here'],
      ],
    ),
  );
}

/** Only the credential remains to be chosen. */
function problemsOf(result: ImportResult): unknown[] {
  const found = findProblems(flowOf(result), registry);
  return found.map(({ message }) => /flow\.no_credential/.exec(JSON.stringify(message))?.[0] ?? message);
}

/** What the Code node after the call makes of a response. */
function rowsOf(result: ImportResult, response: object): unknown {
  const code = configOf(result, 'Store: rows')?.code as string;
  const found: unknown = runInNewContext(`((input) => {${code}})(${JSON.stringify({ response })})`);
  return JSON.parse(JSON.stringify(found)) as unknown;
}

test('a query of BigQuery is a call of its API, whose rows become items', () => {
  const result = imported(
    'googleBigQuery',
    {
      projectId: { __rl: true, mode: 'id', value: 'mill-1' },
      sqlQuery: '=SELECT * FROM shop.orders WHERE id = {{ $json.body.id }}',
      options: { location: 'EU' },
    },
    2.1,
  );
  expect(configOf(result, 'Store')).toMatchObject({
    method: 'POST',
    url: 'https://bigquery.googleapis.com/bigquery/v2/projects/mill-1/queries',
    body: {
      query: 'SELECT * FROM shop.orders WHERE id = {{trigger.data.id}}',
      useLegacySql: false,
      location: 'EU',
    },
  });
  expect(outcomeOf(result, 'Store')).toMatchObject({ kind: 'approximated' });
  const schema = {
    fields: [
      { name: 'total', type: 'INTEGER' },
      { name: 'tags', type: 'STRING', mode: 'REPEATED' },
      { name: 'buyer', type: 'RECORD', fields: [{ name: 'name', type: 'STRING' }] },
    ],
  };
  const row = { f: [{ v: '42' }, { v: [{ v: 'a' }, { v: 'b' }] }, { v: { f: [{ v: null }] } }] };
  expect(rowsOf(result, { schema, rows: [row] })).toEqual([
    { total: '42', tags: ['a', 'b'], buyer: { name: null } },
  ]);
  expect(rowsOf(result, { schema })).toEqual([]);
  expect(problemsOf(result)).toEqual(['flow.no_credential']);
});

test('a row is inserted into BigQuery with the fields that are named, or all', () => {
  const at = { operation: 'insert', projectId: 'p', datasetId: 'd', tableId: 't' };
  const named = imported(
    'googleBigQuery',
    {
      ...at,
      dataMode: 'define',
      fieldsUi: { values: [{ fieldId: 'total', fieldValue: '={{ $json.body.total }}' }] },
    },
    2.1,
  );
  expect(configOf(named, 'Store')).toMatchObject({
    url: 'https://bigquery.googleapis.com/bigquery/v2/projects/p/datasets/d/tables/t/insertAll',
    body: { rows: [{ json: { total: '{{trigger.data.total}}' } }] },
  });
  const old = imported('googleBigQuery', { ...at, operation: 'create', columns: 'a, b' });
  expect(Object.keys((configOf(old, 'Store') as never as { body: Body }).body.rows[0].json)).toEqual([
    'a',
    'b',
  ]);
  expect(outcomeOf(imported('googleBigQuery', { operation: 'getAll' }), 'Store')).toMatchObject({
    kind: 'dropped',
  });
});

interface Body {
  readonly rows: readonly [{ readonly json: object }];
}

test('Snowflake is called by its SQL API, with values as bindings', () => {
  const query = imported('snowflake', { operation: 'executeQuery', query: 'SELECT 1' });
  expect(configOf(query, 'Store')).toMatchObject({
    url: 'https://{{vars.snowflake_account}}.snowflakecomputing.com/api/v2/statements',
    body: { statement: 'SELECT 1', database: '{{vars.snowflake_database}}' },
  });
  const response = {
    resultSetMetaData: {
      rowType: [
        { name: 'TOTAL', type: 'fixed' },
        { name: 'BIG', type: 'fixed' },
        { name: 'DATA', type: 'variant' },
        { name: 'NAME', type: 'text' },
      ],
    },
    data: [['42', '12345678901234567890', '{"a":1}', null]],
  };
  expect(rowsOf(query, response)).toEqual([
    { TOTAL: 42, BIG: '12345678901234567890', DATA: { a: 1 }, NAME: null },
  ]);
  const insert = imported('snowflake', { operation: 'insert', table: 'shop.orders', columns: 'id, total' });
  expect(configOf(insert, 'Store')).toMatchObject({
    body: {
      statement: 'INSERT INTO shop.orders (id, total) VALUES (?, ?)',
      bindings: { 1: { type: 'TEXT' }, 2: { type: 'TEXT' } },
    },
  });
  const update = imported('snowflake', {
    operation: 'update',
    table: 'orders',
    columns: 'total',
    updateKey: 'id',
  });
  expect(configOf(update, 'Store')).toMatchObject({
    body: { statement: 'UPDATE orders SET total = ? WHERE id = ?' },
  });
  const evil = imported('snowflake', { operation: 'insert', table: 'a; DROP', columns: 'id' });
  expect(outcomeOf(evil, 'Store')).toMatchObject({ kind: 'dropped' });
  expect(problemsOf(insert)).toEqual(['flow.no_credential']);
});
