import { failure, type JsonValue, success } from '@millrace/engine';
import { message } from '@millrace/messages';
import { Type } from 'typebox';
import { credentialProperty, noCredential } from '../credential-property.ts';
import { checkedNode } from '../define.ts';
import { serviceFailure } from '../service-failure.ts';

const MAX_TIMEOUT_MS = 300_000;

export const sqlQuery = checkedNode({
  type: 'sql.query',
  title: 'SQL query',
  description:
    'Runs one statement on PostgreSQL or MySQL. Values go into parameters, never into the text, so that no value can become SQL. Reads only, unless told otherwise.',
  icon: 'database',
  kind: 'effect',
  properties: {
    credential_id: credentialProperty(['sql'], 'Credential', 'The database and who signs in to it.'),
    query: Type.String({
      title: 'Query',
      description:
        'One statement with $1, $2 (PostgreSQL) or ? (MySQL) where values go. It holds no templates: they belong in the parameters, and {{ here is refused when the node runs.',
      default: '',
      'x-filled': true,
      maxLength: 100_000,
      'x-code': 'sql',
    }),
    parameters: Type.Unsafe<readonly JsonValue[]>({
      type: 'array',
      title: 'Parameters',
      description:
        'Values in the order of their places; templates as you like. An object is sent as JSON; a list as an array (PostgreSQL) or as JSON (MySQL).',
      default: [],
      maxItems: 1_000,
    }),
    read_only: Type.Boolean({
      title: 'Read only',
      description:
        'The statement runs in a read-only transaction that is rolled back. Switch it off to write.',
      default: true,
    }),
    max_rows: Type.Integer({
      title: 'Most rows',
      description: 'More are not read; is_truncated then says so.',
      minimum: 1,
      maximum: 10_000,
      default: 1_000,
    }),
    timeout_ms: Type.Integer({
      title: 'Timeout',
      description: 'Milliseconds after which the statement is cancelled.',
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      default: 30_000,
    }),
  },
  required: ['credential_id', 'query'],
  // Kept back from rendering, so that the text which runs is the one that was written: what looks like a template is
  // refused below instead of being filled in, and no value can get into the text on any way.
  deferred: { query: 'arguments' },
  // The config's own timeout_ms decides; connecting and cancelling come on top.
  defaultTimeoutMs: MAX_TIMEOUT_MS + 30_000,
  examples: [
    {
      title: 'Look a customer up',
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
    try {
      const credential = await context.credentials.open(config.credential_id, { types: ['sql'] });
      const order = { sql: query, parameters, readOnly, maxRows, timeoutMs };
      const answer = await context.sql.query(credential, order, context.signal);
      const { rows, rowCount, isTruncated, insertId } = answer;
      return success({
        rows: [...rows],
        row_count: rowCount,
        is_truncated: isTruncated,
        ...(insertId === undefined ? {} : { insert_id: insertId }),
      });
    } catch (error) {
      return serviceFailure(error);
    }
  },
});
