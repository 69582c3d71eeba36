import { type JsonObject, ServiceError, type SqlQuery } from '@millrace/engine';
import { verbatim } from '@millrace/messages';
import { saying } from '@millrace/messages/testing';
import { type RunOptions, runNode } from '@millrace/node-kit/testing';
import { describe, expect, it } from 'vitest';
import { sqlQuery } from './sql-query.ts';

const credential = {
  type: 'sql',
  dialect: 'postgresql',
  host: 'db.example.com',
  port: 5432,
  database: 'shop',
  username: 'reader',
  password: 's3cret-canary',
  tls: 'verify',
} as const;

async function run(config: JsonObject, options: Omit<RunOptions, 'config'> = {}) {
  const queries: SqlQuery[] = [];
  const { result } = await runNode(sqlQuery, {
    credential,
    services: {
      sql: {
        async query(given, query) {
          expect(given).toBe(credential);
          queries.push(query);
          return { rows: [{ id: 1 }], rowCount: 1, isTruncated: true };
        },
      },
    },
    ...options,
    config: { credential_id: 2, query: 'SELECT 1', ...config },
  });
  return { result, queries };
}

describe('sql.query', () => {
  it('reads with default limits', async () => {
    const { result, queries } = await run({});
    expect(queries).toEqual([
      { sql: 'SELECT 1', parameters: [], readOnly: true, maxRows: 1_000, timeoutMs: 30_000 },
    ]);
    expect(result).toMatchObject({
      kind: 'success',
      output: { rows: [{ id: 1 }], row_count: 1, is_truncated: true },
    });
  });

  it('shows the results after the first one', async () => {
    const answer = { rows: [{ id: 1 }], rowCount: 3, isTruncated: false };
    const { result } = await run(
      { read_only: false },
      {
        services: {
          sql: { query: async () => ({ ...answer, furtherResults: [[], [{ id: 2 }, { id: 3 }]] }) },
        },
      },
    );
    expect(result).toMatchObject({
      output: { rows: [{ id: 1 }], further_results: [[], [{ id: 2 }, { id: 3 }]] },
    });
  });

  it('passes values as parameters, unchanged', async () => {
    const { queries } = await run(
      { query: 'SELECT $1', parameters: ['{{trigger.data.name}}', '{{trigger.data.tags}}'] },
      { trigger: { name: "'; DROP TABLE x; --", tags: ['a', 1] } },
    );
    expect(queries[0]).toMatchObject({ sql: 'SELECT $1', parameters: ["'; DROP TABLE x; --", ['a', 1]] });
  });

  it.each([
    "SELECT * FROM users WHERE name = '{{trigger.data.name}}'",
    '{{trigger.data.query}}',
    "SELECT '{{1,2}}'::int[]",
    'SELECT {{',
  ])('renders nothing into the text: %s', async (query) => {
    const { result, queries } = await run({ query }, { trigger: { name: 'x', query: 'DROP TABLE users' } });
    expect(result).toMatchObject({
      kind: 'failure',
      code: 'invalid_config',
      retryable: false,
      message: saying('config.parameters'),
    });
    expect(queries).toEqual([]);
  });

  it.each([
    { query: ' ' },
    { credential_id: 0 },
    { max_rows: 10_001 },
    { max_rows: 0 },
    { timeout_ms: 0 },
    { parameters: 'a' },
  ])('refuses %j', async (config) => {
    const { result, queries } = await run(config);
    expect(result).toMatchObject({ kind: 'failure', code: 'invalid_config' });
    expect(queries).toEqual([]);
  });

  it("fails with the service's reason", async () => {
    const query = () =>
      Promise.reject(
        new ServiceError('sql_error', verbatim('no'), { retryable: true, details: { sqlstate: '40001' } }),
      );
    expect((await run({}, { services: { sql: { query } } })).result).toMatchObject({
      kind: 'failure',
      code: 'sql_error',
      retryable: true,
      output: { sqlstate: '40001' },
    });
  });

  it("doesn't swallow a defect", async () => {
    const query = () => Promise.reject(new Error('a bug'));
    await expect(run({}, { services: { sql: { query } } })).rejects.toThrow('a bug');
  });

  describe('in test mode', () => {
    it('reads', async () => {
      expect((await run({}, { isTestMode: true })).queries).toHaveLength(1);
    });

    it('shows a write and sends nothing', async () => {
      const write = { query: 'DELETE FROM orders WHERE id = $1', parameters: [7], read_only: false };
      const { result, queries } = await run(write, { isTestMode: true });
      expect(queries).toEqual([]);
      expect(result).toMatchObject({ kind: 'success', output: { dry_run: true, request: write } });
      expect(JSON.stringify(result)).not.toContain('canary');
    });
  });
});
