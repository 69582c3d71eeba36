import type { HttpRequest, JsonObject, JsonValue } from '@millrace/engine';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { answer } from '@millrace/node-kit/testing-http';
import { expect, it } from 'vitest';
import { nodeOf } from './node-type.ts';
import { services } from './services.ts';

const [sheets] = services.filter(({ id }) => id === 'google_sheets');
if (sheets === undefined) throw new Error('there is no Google Sheets');
const connector = sheets;

const ROWS: JsonValue = [
  ['id', 'total', '', 'note'],
  [9007199254740993n.toString(), 1],
  [18, 2, 'x', 'late'],
  ['18', 3],
];

async function run(id: string, config: JsonObject, rows: JsonValue = ROWS, options: RunOptions = {}) {
  const operation = connector.operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`there is no operation ${id}`);
  const { result, requests } = await runNode(nodeOf(connector, operation), {
    credential: { type: 'bearer', token: 'canary-token' },
    http: [answer(JSON.stringify({ values: rows })), answer('{"updatedRange":"Orders!A3:D3"}')],
    idempotencyKey: 'key-1',
    ...options,
    config: { credential_id: 1, spreadsheet_id: 's1', sheet: 'Orders', ...config },
  });
  return { result, requests, sent: requests.slice(1).map(shown) };
}

function shown({ method, url, body }: HttpRequest): readonly [string, JsonValue] {
  const { values } = JSON.parse(typeof body === 'string' ? body : '{}') as { values: JsonValue };
  return [`${method} ${new URL(url).pathname.split('/').at(-1)}`, values];
}

it('finds the first row whose cell reads the same, and leaves cells without a value alone', async () => {
  const { result, sent } = await run('update_row', { column: 'id', values: { id: '18', note: '' } });
  expect(sent).toEqual([["PUT 'Orders'!3%3A3", [['18', null, null, '']]]]);
  expect(result).toMatchObject({ output: { row_number: 3 } });
});

it('sends the other request where there is no such row', async () => {
  const values = { id: 20, total: 7 };
  const { sent } = await run('upsert_row', { column: 'id', values });
  expect(sent).toEqual([["POST 'Orders':append", [[20, 7, null, null]]]]);
});

it('looks up without the key of the request that follows', async () => {
  const { requests } = await run('update_row', { column: 'id', values: { id: 18 } });
  expect(requests.map(({ headers = {} }) => headers['idempotency-key'])).toEqual([undefined, 'key-1']);
});

it('looks up in test mode, and shows what it would send', async () => {
  const { result, requests } = await run('update_row', { column: 'id', values: { id: 18 } }, ROWS, {
    isTestMode: true,
  });
  expect(requests).toHaveLength(1);
  expect(result).toMatchObject({ output: { dry_run: true, request: { method: 'PUT' } } });
});

it.each<[string, string, JsonObject, JsonValue, string, string]>([
  ['no row', 'update_row', { column: 'id', values: { id: 20 } }, ROWS, 'connector_not_found', 'matches'],
  ['an empty sheet', 'update_row', { column: 'id', values: { id: 20 } }, null, 'invalid_config', 'first row'],
  ['a column that is not there', 'append_row', { values: { Id: 1 } }, ROWS, 'invalid_config', 'Id'],
  ['no value to find', 'upsert_row', { column: 'id', values: { total: 1 } }, ROWS, 'invalid_config', 'id'],
  ['an empty value', 'upsert_row', { column: 'id', values: { id: '' } }, ROWS, 'invalid_config', 'id'],
  [
    'a column to match that is not there',
    'upsert_row',
    { column: 'key', values: { key: 1 }, ignore_unknown: true },
    ROWS,
    'invalid_config',
    'key',
  ],
])('changes nothing with %s', async (_, id, config, rows, code, word) => {
  const { result, sent } = await run(id, config, rows);
  expect(result).toMatchObject({ kind: 'failure', code, message: saying(word) });
  expect(sent).toEqual([]);
});

it('leaves out what has no column, if that is wanted', async () => {
  const values = { id: 20, row_number: 4, __proto__: 1 };
  const { sent } = await run('append_row', { values, ignore_unknown: true });
  expect(sent).toEqual([["POST 'Orders':append", [[20, null, null, null]]]]);
});
