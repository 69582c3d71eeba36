import type { CredentialOf, SqlQuery } from '@millrace/engine';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { type Proxy as DatabaseProxy, openProxy } from '@millrace/testing/proxy';
import { afterAll, beforeAll } from 'vitest';
import { createSqlService } from '../src/sql.ts';
import { anybody, errorWithout, never, sockets, useCleanUps } from './clients.ts';

type Sql = CredentialOf<'sql'>;

/** A customer's PostgreSQL with a table of orders, for the tests of a file, and how the SQL service sees it. */
export function useCustomerDatabase() {
  const cleanUps = useCleanUps();
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let credential: Sql;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await openProxy(database.url);
    const url = new URL(proxy.url);
    credential = {
      type: 'sql',
      dialect: 'postgresql',
      host: 'service.test',
      port: Number(url.port),
      database: url.pathname.slice(1),
      username: url.username,
      password: decodeURIComponent(url.password),
      tls: 'off',
    };
    await database.db.query(`CREATE FUNCTION write_order() RETURNS int LANGUAGE plpgsql
      AS 'BEGIN INSERT INTO orders (id) VALUES (120); RETURN 1; END'`);
    await database.db.query(`CREATE PROCEDURE commit_and_write() LANGUAGE plpgsql
      AS 'BEGIN COMMIT; INSERT INTO orders (id) VALUES (121); END'`);
    await database.db.query('CREATE TABLE orders (id bigint PRIMARY KEY, note text NOT NULL DEFAULT $$$$)');
  });
  afterAll(async () => {
    await proxy.close();
    await database.drop();
  });

  const sql = createSqlService({ sockets: () => sockets })(anybody);

  function query(text: string, given: Partial<SqlQuery> = {}, signal = never, to: Partial<Sql> = {}) {
    const order = { sql: text, parameters: [], readOnly: true, maxRows: 1_000, timeoutMs: 30_000, ...given };
    return sql.query({ ...credential, ...to }, order, signal);
  }

  const write = (text: string, given: Partial<SqlQuery> = {}) => query(text, { readOnly: false, ...given });

  const errorOf = (running: Promise<unknown>) => errorWithout(credential.password, running);

  async function countOrders(): Promise<unknown> {
    return (await query('SELECT count(*) AS n FROM orders')).rows[0]?.n;
  }

  return {
    get database() {
      return database;
    },
    get proxy() {
      return proxy;
    },
    get credential() {
      return credential;
    },
    /** Called after the test. */
    cleanUps,
    query,
    /** A query that may write. */
    write,
    errorOf,
    countOrders,
  };
}
