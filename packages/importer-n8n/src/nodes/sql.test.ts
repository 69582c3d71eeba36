import type { JsonObject, JsonValue } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, START } from '../testing.ts';

/** What a node becomes behind one that makes an item. */
function made(parameters: JsonObject, type = 'postgres') {
  const result = read(n8n({ Start: START, Here: { type, version: 2.6, parameters } }, [['Start', 'Here']]));
  const { query, parameters: values, read_only } = configOf(result, 'Here') ?? {};
  return { query, values, read_only, outcome: outcomeOf(result, 'Here') };
}

const TABLE = { table: { __rl: true, value: 'people', mode: 'list' } };
const mapped = (value: JsonObject, matchingColumns: JsonValue = []) => ({
  columns: { mappingMode: 'defineBelow', value, matchingColumns, schema: [] },
});
const ROW = { id: '={{ $json.id }}', name: '={{ $json.name }}' };
const READ = ['{{trigger.data.id}}', '{{trigger.data.name}}'];

describe('rows of a table', () => {
  it.each<[string, string, JsonObject, string, JsonValue]>([
    [
      'are inserted',
      'postgres',
      { operation: 'insert', ...TABLE, ...mapped(ROW) },
      'INSERT INTO "public"."people" ("id", "name") VALUES ($1, $2) RETURNING *',
      READ,
    ],
    [
      'are inserted unless they are there',
      'postgres',
      { operation: 'insert', ...TABLE, ...mapped(ROW), options: { skipOnConflict: true } },
      'INSERT INTO "public"."people" ("id", "name") VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING *',
      READ,
    ],
    [
      'are inserted or updated',
      'postgres',
      { operation: 'upsert', ...TABLE, ...mapped(ROW, ['id']) },
      'INSERT INTO "public"."people" ("id", "name") VALUES ($1, $2) ON CONFLICT ("id") DO UPDATE SET "name" = EXCLUDED."name" RETURNING *',
      READ,
    ],
    [
      'are inserted or updated in MySQL',
      'mySql',
      {
        operation: 'upsert',
        ...TABLE,
        dataMode: 'defineBelow',
        columnToMatchOn: 'id',
        valueToMatchOn: '={{ $json.id }}',
        valuesToSend: { values: [{ column: 'name', value: '={{ $json.name }}' }] },
      },
      'INSERT INTO `people` (`id`, `name`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `name` = VALUES(`name`)',
      READ,
    ],
    [
      'are updated',
      'postgres',
      { operation: 'update', ...TABLE, ...mapped(ROW, ['id']) },
      'UPDATE "public"."people" SET "name" = $1 WHERE "id" = $2 RETURNING *',
      READ.toReversed(),
    ],
    [
      'are deleted by conditions',
      'postgres',
      {
        operation: 'deleteTable',
        ...TABLE,
        deleteCommand: 'delete',
        where: {
          values: [
            { column: 'name', condition: 'IS NULL' },
            { column: 'id', condition: '>', value: '={{ $json.id }}' },
          ],
        },
        combineConditions: 'OR',
      },
      'DELETE FROM "public"."people" WHERE "name" IS NULL OR "id" > $1',
      ['{{trigger.data.id}}'],
    ],
    [
      'are all deleted',
      'postgres',
      { operation: 'deleteTable', ...TABLE, deleteCommand: 'truncate', restartSequences: true },
      'TRUNCATE TABLE "public"."people" RESTART IDENTITY',
      [],
    ],
    [
      'are updated in SQL Server',
      'microsoftSql',
      { operation: 'update', table: 'dbo.people', columns: 'id, name', updateKey: 'id' },
      'UPDATE [dbo].[people] SET [name] = @p1 WHERE [id] = @p2',
      READ.toReversed(),
    ],
    [
      'are deleted in SQL Server',
      'microsoftSql',
      { operation: 'delete', table: 'people', deleteKey: 'id' },
      'DELETE FROM [people] WHERE [id] = @p1',
      ['{{trigger.data.id}}'],
    ],
  ])('%s', (_what, type, parameters, query, values) => {
    const { outcome, ...statement } = made(parameters, type);
    expect(statement).toEqual({ query, values, read_only: false });
    expect(outcome?.kind).toBe('approximated');
  });

  it.each<[string, JsonObject, string, string?]>([
    [
      'names that are SQL',
      { operation: 'insert', ...TABLE, ...mapped({ 'a") --': 1 }) },
      'sql_with_expression',
    ],
    [
      'keys that are SQL',
      { operation: 'upsert', ...TABLE, ...mapped(ROW, ['id) --']) },
      'sql_with_expression',
    ],
    ['no key', { operation: 'update', ...TABLE, ...mapped(ROW) }, 'no_matching_column'],
    [
      'columns that only the item knows',
      { operation: 'insert', ...TABLE, columns: { mappingMode: 'autoMapInputData' } },
      'no_columns',
    ],
    ['nothing to change', { operation: 'update', ...TABLE, ...mapped({ id: 1 }, ['id']) }, 'no_columns'],
    ['no columns of SQL Server', { operation: 'update', table: 'people' }, 'no_columns', 'microsoftSql'],
  ])('are not written with %s', (_what, parameters, reason, type) => {
    expect(made(parameters, type).outcome).toMatchObject({
      kind: 'dropped',
      reason: { key: `import.${reason}` },
    });
  });
});
