import { failure, type JsonValue, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { credentialProperty, noCredential } from '@millrace/node-kit/credential-property';
import { checkedNode } from '@millrace/node-kit/define';
import { Type } from 'typebox';

const MAX_TIMEOUT_MS = 300_000;

export const sqlQuery = checkedNode({
  type: 'sql.query',
  title: 'SQL query',
  description:
    'Runs one statement on PostgreSQL, MySQL or SQL Server. Values are passed as parameters, never in the text, so no value can become SQL. Read-only by default.',
  icon: 'database',
  kind: 'effect',
  properties: {
    credential_id: {
      ...credentialProperty(['sql'], 'Credential', 'The database and the account to sign in with.'),
      'x-dialects': ['postgresql', 'mysql', 'sqlserver'],
    },
    query: Type.String({
      title: 'Query',
      description:
        "One statement with $1, $2 (PostgreSQL), ? (MySQL) or @p1, @p2 (SQL Server) for values. Templates don't work here and are refused when the node runs; use them in the parameters.",
      default: '',
      'x-filled': true,
      maxLength: 100_000,
      'x-code': 'sql',
    }),
    parameters: Type.Unsafe<readonly JsonValue[]>({
      type: 'array',
      title: 'Parameters',
      description:
        'The values, in order. Templates are allowed. Objects are sent as JSON, lists as arrays (PostgreSQL) or JSON (MySQL, SQL Server).',
      default: [],
      maxItems: 1_000,
    }),
    read_only: Type.Boolean({
      title: 'Read-only',
      description:
        'Runs the statement in a read-only transaction that is rolled back. Turn this off to write.',
      default: true,
    }),
    max_rows: Type.Integer({
      title: 'Maximum rows',
      description: "Further rows aren't read, and is_truncated is true.",
      minimum: 1,
      maximum: 10_000,
      default: 1_000,
    }),
    timeout_ms: Type.Integer({
      title: 'Timeout',
      description: 'After how many milliseconds the statement is cancelled.',
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      default: 30_000,
    }),
  },
  required: ['credential_id', 'query'],
  // Excluded from rendering, so that the text runs exactly as written: what looks like a template is refused below instead of being filled
  // in, and no value can ever get into the text.
  deferred: { query: 'arguments' },
  // The config's own timeout_ms decides; connecting and cancelling are added.
  defaultTimeoutMs: MAX_TIMEOUT_MS + 30_000,
  form: {
    main: ['credential_id', 'query', 'parameters', 'read_only'],
    sections: [{ title: 'Limits', fields: ['max_rows', 'timeout_ms'] }],
  },
  synonyms: [
    'database',
    'postgres',
    'postgresql',
    'mysql',
    'mariadb',
    'sql server',
    'mssql',
    'azure sql',
    'select',
    'insert',
    'table',
    'rows',
  ],
  examples: [
    {
      title: 'Look up a customer',
      config: {
        credential_id: 2,
        query: 'SELECT id, name FROM customers WHERE email = $1',
        parameters: ['{{trigger.data.email}}'],
      },
      trigger: { email: 'ada@example.org' },
      credential: {
        type: 'sql',
        dialect: 'postgresql',
        host: 'db.example.com',
        port: 5432,
        database: 'shop',
        username: 'reader',
        password: 'your-password',
        tls: 'verify',
      },
      sqlRows: [{ id: 17, name: 'Ada' }],
      expect: { output: { rows: [{ id: 17, name: 'Ada' }], row_count: 1, is_truncated: false } },
    },
  ],
  async run(config, context) {
    const { query, parameters, read_only: readOnly, max_rows: maxRows, timeout_ms: timeoutMs } = config;
    if (config.credential_id === 0) return failure('invalid_config', noCredential('credential_id', ['sql']));
    if (query.trim() === '') return failure('invalid_config', message('nodes.empty_query'));
    if (query.includes('{{')) {
      return failure(
        'invalid_config',
        message('nodes.template_in_query', { braces: '{{', literal: '{{1,2}}' }),
      );
    }
    if (context.execution.isTestMode && !readOnly) {
      const request = {
        query,
        parameters: [...parameters],
        read_only: false,
        max_rows: maxRows,
        timeout_ms: timeoutMs,
      };
      return success({ dry_run: true, request });
    }
    const credential = await context.credentials.open(config.credential_id, { types: ['sql'] });
    const order = { sql: query, parameters, readOnly, maxRows, timeoutMs };
    const answer = await context.sql.query(credential, order, context.signal);
    const { rows, rowCount, isTruncated, insertId, furtherResults } = answer;
    return success({
      rows: [...rows],
      row_count: rowCount,
      is_truncated: isTruncated,
      ...(insertId === undefined ? {} : { insert_id: insertId }),
      ...(furtherResults === undefined ? {} : { further_results: furtherResults.map((each) => [...each]) }),
    });
  },
});
