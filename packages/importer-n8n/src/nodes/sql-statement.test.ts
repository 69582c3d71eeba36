import type { JsonObject } from '@millrace/engine';
import { describe, expect, it } from 'vitest';
import { configOf, n8n, outcomeOf, read, START } from '../testing.ts';

/** What a query becomes behind a node that makes an item. */
function queried(parameters: JsonObject, type = 'postgres') {
  const result = read(
    n8n(
      {
        Start: START,
        Here: { type, version: 2.6, parameters: { operation: 'executeQuery', ...parameters } },
      },
      [['Start', 'Here']],
    ),
  );
  const { query, parameters: values, read_only } = configOf(result, 'Here') ?? {};
  return { query, values, read_only, outcome: outcomeOf(result, 'Here') };
}

describe('SQL with expressions', () => {
  it.each([
    [
      "SELECT * FROM t WHERE id = '{{ $json.id }}'::uuid LIMIT {{ $json.n }}",
      'SELECT * FROM t WHERE id = $1::uuid LIMIT $2',
      ['{{trigger.data.id}}', '{{trigger.data.n}}'],
    ],
    [
      "=SELECT * FROM t WHERE name ILIKE '%{{ $json.a }}''s%' -- {{ $json.b }}\n AND x = 1",
      'SELECT * FROM t WHERE name ILIKE $1 -- \n AND x = 1',
      ["%{{trigger.data.a}}'s%"],
    ],
    [
      "INSERT INTO t (a, b) VALUES ({{ $json.a }}, 'b')",
      "INSERT INTO t (a, b) VALUES ($1, 'b')",
      ['{{trigger.data.a}}'],
    ],
    // A parameter alone has no type here.
    [
      "SELECT json_build_object('a', '{{ $json.a }}', 'n', {{ $json.n }})",
      "SELECT json_build_object('a', $1::text, 'n', $2::numeric)",
      ['{{trigger.data.a}}', '{{trigger.data.n}}'],
    ],
  ])('passes values as parameters: %s', (query, statement, values) => {
    const made = queried({ query });
    expect([made.query, made.values]).toEqual([statement, values]);
    expect(made.outcome).toMatchObject({
      what: [{ key: 'import.choose_credential' }, { key: 'import.sql_values' }],
    });
  });

  it.each([
    '{{ $json.sql }}',
    'SELECT * FROM {{ $json.table }}',
    'SELECT * FROM items_{{ $json.year }}',
    'SELECT * FROM "{{ $json.table }}"',
    'SELECT * FROM t WHERE {{ $json.condition }}',
    'SELECT * FROM t WHERE id IN ({{ $json.ids }})',
    `UPDATE t SET a = {{ $json.a ? "'" + $json.a + "'" : 'NULL' }}`,
  ])('is dropped where an expression is SQL: %s', (query) => {
    expect(queried({ query }).outcome).toMatchObject({ reason: { key: 'import.sql_with_expression' } });
  });

  it('numbers parameters after those that the node names', () => {
    const replacement = '={{ $json.a }}, {{ $json.list.map((each) => each.b, 1) }}';
    const made = queried({
      query: "SELECT $1, $2, '{{ $json.c }}' AS c",
      options: { queryReplacement: replacement },
    });
    expect(made.query).toBe('SELECT $1, $2, $3 AS c');
    expect(made.values).toHaveLength(3);
    const list = queried({
      query: 'SELECT $1, $2',
      options: { queryReplacement: '={{ [$json.a, "x"] }}' },
    });
    expect(list.values).toEqual(['{{trigger.data.a}}', 'x']);
    // In MySQL, places are counted.
    const counted = queried(
      { query: 'SELECT ?, {{ $json.c }}', options: { queryReplacement: 'a' } },
      'mySql',
    );
    expect(counted.outcome).toMatchObject({ kind: 'dropped' });
  });

  it('knows what only reads', () => {
    expect(queried({ query: '-- all\nWITH a AS (SELECT 1) SELECT * FROM a' }).read_only).toBe(true);
    expect(queried({ query: 'WITH a AS (DELETE FROM t RETURNING *) SELECT * FROM a' }).read_only).toBe(false);
  });

  it('becomes one for SQL Server', () => {
    const query = (text: string) => queried({ query: text }, 'microsoftSql');
    const made = query("SELECT [a'b] FROM t WHERE a = '{{ $json.a }}' AND n = {{ $json.n }}");
    expect([made.query, made.values, made.read_only]).toEqual([
      "SELECT [a'b] FROM t WHERE a = @p1 AND n = @p2",
      ['{{trigger.data.a}}', '{{trigger.data.n}}'],
      true,
    ]);
    expect(query('SELECT * INTO copy FROM t').read_only).toBe(false);
    expect(query('SELECT 1; EXEC p').read_only).toBe(false);
    const insert = { operation: 'insert', table: 'dbo.people', columns: 'id, name' };
    const row = queried(insert, 'microsoftSql');
    expect([row.query, row.values, row.read_only]).toEqual([
      'INSERT INTO [dbo].[people] ([id], [name]) VALUES (@p1, @p2)',
      ['{{trigger.data.id}}', '{{trigger.data.name}}'],
      false,
    ]);
    const evil = queried({ ...insert, columns: 'id]) VALUES (1); DROP TABLE t --' }, 'microsoftSql');
    expect(evil.outcome).toMatchObject({ kind: 'dropped' });
  });
});
