import { type AddressInfo, connect, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { saying } from '@millrace/messages/testing';
import { openProxy } from '@millrace/testing/proxy';
import { describe, expect, it } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY, trustTestCertificate } from '../../ports/test/certificate.ts';
import { createSqlService } from '../src/sql.ts';
import { anybody, never, sockets } from './clients.ts';
import { useCustomerDatabase } from './customer-database.ts';

const customer = useCustomerDatabase();
const { query, write, errorOf, cleanUps } = customer;

describe('a statement that runs too long', () => {
  /** This test's statements that the server is still running. */
  const running = async (mark: string): Promise<unknown> =>
    (
      await query(
        'SELECT count(*) AS n FROM pg_stat_activity WHERE state = $1 AND query LIKE $2 AND pid <> pg_backend_pid()',
        {
          parameters: ['active', `%${mark}%`],
        },
      )
    ).rows[0]?.n;

  it('is cancelled at its limit', async () => {
    const error = await errorOf(query('SELECT pg_sleep(600) AS limit_mark', { timeoutMs: 100 }));
    expect(error).toMatchObject({
      code: 'sql_timeout',
      retryable: true,
      message: saying('100 ms'),
    });
    // Its end is reported before the server has noted it.
    await expect.poll(() => running('limit_mark')).toBe(0);
  });

  it('is cancelled with its execution', async () => {
    const aborter = new AbortController();
    const ended = errorOf(query('SELECT pg_sleep(600) AS abort_mark', {}, aborter.signal));
    while ((await running('abort_mark')) !== 1) await new Promise((resolve) => setImmediate(resolve));
    aborter.abort();
    expect(await ended).toMatchObject({ code: 'aborted', retryable: true });
    await expect.poll(() => running('abort_mark')).toBe(0);
  });

  it('is not started if already aborted', async () => {
    expect(await errorOf(query('SELECT 1', {}, AbortSignal.abort()))).toMatchObject({ code: 'aborted' });
  });

  it('and was cut off during a write has an unknown outcome', async () => {
    const cuttable = await openProxy(customer.database.url);
    cleanUps.push(() => cuttable.close());
    const to = { port: Number(new URL(cuttable.url).port) };
    const order = { readOnly: false };
    const ended = errorOf(query('SELECT pg_sleep(600) AS cut_mark', order, never, to));
    while ((await running('cut_mark')) !== 1) await new Promise((resolve) => setImmediate(resolve));
    cuttable.forward();
    expect(await ended).toMatchObject({ code: 'sql_outcome_unknown', retryable: false });
    await write(
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%cut_mark%' AND pid <> pg_backend_pid()",
    );
  });
});

describe('connections', () => {
  it('are limited in number, and none is left', async () => {
    const gated = createSqlService({ sockets: () => sockets, maxConnections: 2 })(anybody);
    const text =
      "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%gate_mark%'";
    const order = { sql: text, parameters: [], readOnly: true, maxRows: 1, timeoutMs: 30_000 };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => gated.query(customer.credential, order, never)),
    );
    for (const { rows } of answers) expect(Number(rows[0]?.n)).toBeLessThanOrEqual(2);
  });

  it('that wait for a slot stop waiting when aborted', async () => {
    const gated = createSqlService({ sockets: () => sockets, maxConnections: 1 })(anybody);
    const [first, second] = [new AbortController(), new AbortController()];
    const order = {
      sql: 'SELECT pg_sleep(600)',
      parameters: [],
      readOnly: true,
      maxRows: 1,
      timeoutMs: 60_000,
    };
    const holding = errorOf(gated.query(customer.credential, order, first.signal));
    const waiting = errorOf(gated.query(customer.credential, order, second.signal));
    second.abort();
    expect(await waiting).toMatchObject({ code: 'aborted' });
    first.abort();
    expect(await holding).toMatchObject({ code: 'aborted' });
    expect(await gated.query(customer.credential, { ...order, sql: 'SELECT 1 AS n' }, never)).toMatchObject({
      rows: [{ n: 1 }],
    });
  });
});

describe('encryption', () => {
  /** Replies to SSLRequest as PostgreSQL does, and forwards the decrypted stream to the database. */
  async function startTls(answer: 'S' | 'N'): Promise<number> {
    const target = new URL(customer.proxy.url);
    const server = createServer((client) => {
      client.on('error', () => undefined);
      client.once('data', () => {
        client.write(answer);
        if (answer === 'N') return;
        const secure = new TLSSocket(client, { isServer: true, key: TEST_KEY, cert: TEST_CERTIFICATE });
        const upstream = connect(Number(target.port), '127.0.0.1');
        secure.on('error', () => upstream.destroy());
        upstream.on('error', () => secure.destroy());
        secure.pipe(upstream).pipe(secure);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
    return (server.address() as AddressInfo).port;
  }

  it('checks the certificate with verify', async () => {
    const port = await startTls('S');
    expect(await errorOf(query('SELECT 1', {}, never, { port, tls: 'verify' }))).toMatchObject({
      code: 'sql_tls_failed',
      retryable: false,
    });
    cleanUps.push(trustTestCertificate());
    expect(await query('SELECT 1 AS n', {}, never, { port, tls: 'verify' })).toMatchObject({
      rows: [{ n: 1 }],
    });
    expect(await query('SELECT 1 AS n', {}, never, { port, tls: 'verify', host: '127.0.0.1' })).toMatchObject(
      { rows: [{ n: 1 }] },
    );
    const other = errorOf(query('SELECT 1', {}, never, { port, tls: 'verify', host: 'other.test' }));
    expect(await other).toMatchObject({ code: 'sql_tls_failed' });
  });

  it('accepts any certificate with require, and cancels the same way', async () => {
    const port = await startTls('S');
    const to = { port, tls: 'require' } as const;
    expect(await query('SELECT 1 AS n', {}, never, to)).toMatchObject({ rows: [{ n: 1 }] });
    const error = await errorOf(query('SELECT pg_sleep(600)', { timeoutMs: 100 }, never, to));
    expect(error).toMatchObject({ code: 'sql_timeout' });
  });

  it('is never skipped if required', async () => {
    const port = await startTls('N');
    expect(await errorOf(query('SELECT 1', {}, never, { port, tls: 'require' }))).toMatchObject({
      code: 'sql_tls_failed',
    });
  });
});
