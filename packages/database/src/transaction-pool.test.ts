import { expect, test } from 'vitest';
import type { Connection } from './connection.ts';
import type { Connector } from './connector.ts';
import { DatabaseUnavailableError } from './errors.ts';
import { TransactionPool } from './transaction-pool.ts';

/** Opens connections when the test lets it. */
function heldConnector() {
  const asked: PromiseWithResolvers<Connection>[] = [];
  const connector = {
    connect() {
      const attempt = Promise.withResolvers<Connection>();
      asked.push(attempt);
      return attempt.promise;
    },
  };
  return { asked, connector: connector as Connector };
}

const connection = (isOpen = true) =>
  ({ isOpen, destroy() {}, end: async () => {} }) as unknown as Connection;

test('a waiter that gives up while its connection is opened costs no slot', async () => {
  const { asked, connector } = heldConnector();
  const sessions = new TransactionPool(connector, 1, 20);
  const first = sessions.acquire();
  asked[0]?.resolve(connection());
  const lent = await first;
  const waiter = sessions.acquire();
  sessions.release(lent, false);
  await expect(waiter).rejects.toThrow('all 1 connections were busy');
  const late = connection();
  asked[1]?.resolve(late);
  expect(await sessions.acquire()).toBe(late);
  await sessions.close();
});

test("a waiter that gives up doesn't affect others", async () => {
  const { asked, connector } = heldConnector();
  const sessions = new TransactionPool(connector, 1, 20);
  const first = sessions.acquire();
  asked[0]?.resolve(connection());
  const lent = await first;
  const [early, late] = [sessions.acquire(), sessions.acquire()];
  sessions.release(lent, false);
  await expect(early).rejects.toBeInstanceOf(DatabaseUnavailableError);
  await expect(late).rejects.toThrow('all 1 connections were busy');
  const opened = connection();
  asked[1]?.resolve(opened);
  expect(await sessions.acquire()).toBe(opened);
  await sessions.close();
});

test('waiters are notified at once when the database is unavailable', async () => {
  const { asked, connector } = heldConnector();
  const sessions = new TransactionPool(connector, 1, 60_000);
  const first = sessions.acquire();
  const waiter = sessions.acquire();
  asked[0]?.reject(new DatabaseUnavailableError(new Error('away')));
  await expect(first).rejects.toThrow('away');
  await expect(waiter).rejects.toThrow('away');
  const next = sessions.acquire();
  const opened = connection();
  asked[1]?.resolve(opened);
  expect(await next).toBe(opened);
  await sessions.close();
});
