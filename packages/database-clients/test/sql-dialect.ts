import type { CredentialOf, ServiceError, SqlQuery } from '@millrace/engine';
import { describe, expect, it, vi } from 'vitest';
import type { SqlAnswer } from '../src/sql/result.ts';
import { createSqlService } from '../src/sql.ts';
import { anybody, errorWithout, never, sockets } from './clients.ts';
import { int } from './mysql-server.ts';

type Sql = CredentialOf<'sql'>;

/** The time limit of statements that `startSlow` lets run out. */
export const LIMIT_MS = 20_000;

/** How the tests of a dialect query their server. */
export interface SqlClient {
  readonly query: (
    server: { readonly port: number },
    text: string,
    given?: Partial<SqlQuery>,
    signal?: AbortSignal,
    to?: Partial<Sql>,
  ) => Promise<SqlAnswer>;
  /** How a query fails; the error may not repeat the password. */
  readonly errorOf: (running: Promise<unknown>) => Promise<ServiceError>;
}

export function createSqlClient(dialect: Sql['dialect'], password: string): SqlClient {
  const sql = createSqlService({ sockets: () => sockets })(anybody);
  return {
    query({ port }, text, given = {}, signal = never, to = {}) {
      const credential: Sql = {
        ...{ type: 'sql', dialect, host: 'service.test', port, database: 'shop' },
        ...{ username: 'ada', password, tls: 'off', ...to },
      };
      const order = {
        sql: text,
        parameters: [],
        readOnly: true,
        maxRows: 1_000,
        timeoutMs: 30_000,
        ...given,
      };
      return sql.query(credential, order, signal);
    },
    errorOf: (running) => errorWithout(password, running),
  };
}

/** A server of a dialect without a database, and what it says. */
export interface SqlDialect<Server extends { readonly port: number }, Reply> {
  readonly client: SqlClient;
  readonly cleanUps: (() => unknown)[];
  readonly start: (
    answer: Reply | 'cut' | 'silence' | ((text: string) => Reply | 'silence'),
  ) => Promise<Server>;
  /** Rows with one column, `n`, that count from 1. */
  readonly numbers: (count: number) => Reply;
  /** Rows with one column, `n`, as they are asked for. */
  readonly stream: (rows: AsyncIterable<readonly Buffer[]>) => Reply;
  readonly affected: (count: number) => Reply;
  /** The same, of a statement that had ended when it was to be stopped. */
  readonly affectedWhenStopped: (count: number) => Reply;
  /** How often it was asked to stop a statement. */
  readonly stops: (server: Server) => number;
  /** What its words about a wrong password say, which nobody may read. */
  readonly private: string;
}

/** A server that has just received a statement when its time is over. */
export async function startSlow<Server extends { readonly port: number }, Reply>(
  { cleanUps, start }: Pick<SqlDialect<Server, Reply>, 'cleanUps' | 'start'>,
  reply: Reply | 'silence',
): Promise<Server> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  cleanUps.push(() => vi.useRealTimers());
  return start((text) => {
    if (/^(?:SELECT|UPDATE|EXEC)\b/.test(text)) setImmediate(() => vi.advanceTimersByTime(LIMIT_MS));
    return reply;
  });
}

/** What holds for every dialect whose server the tests play. */
export function describeSqlDialect<Server extends { readonly port: number }, Reply>(
  dialect: SqlDialect<Server, Reply>,
): void {
  const { client, start, numbers } = dialect;
  const { query, errorOf } = client;

  describe('rows', () => {
    it.each([
      [9, 9, true],
      [10, 10, false],
      [11, 10, false],
    ])('with a limit of %i are %i, truncated: %s', async (maxRows, rowCount, isTruncated) => {
      const answer = await query(await start(numbers(10)), 'SELECT n', { maxRows });
      expect(answer).toMatchObject({ rowCount, isTruncated });
      expect(answer.rows).toHaveLength(rowCount);
    });

    it('that are no longer wanted are not read', async () => {
      const stopped = Promise.withResolvers<void>();
      async function* forever() {
        try {
          for (;;) {
            yield [int(1, 4)];
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          stopped.resolve();
        }
      }
      const answer = await query(await start(dialect.stream(forever())), 'SELECT n', { maxRows: 2 });
      expect(answer).toEqual({ rows: [{ n: 1 }, { n: 1 }], rowCount: 2, isTruncated: true });
      await stopped.promise;
    });

    it('of a write are counted by the server', async () => {
      const server = await start(dialect.affected(7));
      const answer = await query(server, 'UPDATE t SET a = 1', { readOnly: false });
      expect(answer).toEqual({ rows: [], rowCount: 7, isTruncated: false });
    });
  });

  describe('errors', () => {
    it("of a wrong password are reported without the server's words", async () => {
      const server = await start(numbers(1));
      const error = await errorOf(query(server, 'SELECT 1', {}, never, { password: 'wrong' }));
      expect(error).toMatchObject({ code: 'sql_auth_failed', retryable: false });
      expect(error.message).not.toContain(dialect.private);
    });

    it('of a lost connection depend on what was in progress', async () => {
      const server = await start('cut');
      expect(await errorOf(query(server, 'SELECT 1'))).toMatchObject({
        code: 'sql_connection_failed',
        retryable: true,
      });
      expect(await errorOf(query(server, 'DELETE FROM t', { readOnly: false }))).toMatchObject({
        code: 'sql_outcome_unknown',
        retryable: false,
      });
    });
  });

  describe('a statement that runs too long', () => {
    it('is stopped at its limit', async () => {
      const server = await startSlow(dialect, 'silence');
      const error = await errorOf(query(server, 'SELECT 1', { timeoutMs: LIMIT_MS }));
      expect(error).toMatchObject({ code: 'sql_timeout', retryable: true });
      expect(dialect.stops(server)).toBe(1);
    });

    it('and had written when it was stopped has written', async () => {
      const server = await startSlow(dialect, dialect.affectedWhenStopped(3));
      const order = { timeoutMs: LIMIT_MS, readOnly: false };
      expect(await query(server, 'UPDATE t SET a = 1', order)).toMatchObject({ rowCount: 3 });
    });

    it('is stopped with its execution', async () => {
      const aborter = new AbortController();
      const server = await start((text) => {
        if (text.startsWith('DELETE')) aborter.abort();
        return 'silence';
      });
      const error = await errorOf(query(server, 'DELETE FROM t', { readOnly: false }, aborter.signal));
      expect(error).toMatchObject({ code: 'aborted', retryable: true });
      expect(dialect.stops(server)).toBe(1);
    });
  });

  describe('encryption', () => {
    it('is never skipped if required', async () => {
      const server = await start(numbers(1));
      for (const tls of ['require', 'verify'] as const) {
        const { code } = await errorOf(query(server, 'SELECT 1', {}, never, { tls }));
        expect(code).toBe('sql_tls_failed');
      }
    });
  });
}
