import type { Queryable } from '@millrace/database/database';
import { expect } from 'vitest';
import { holdLocks } from './hold-locks.ts';
import type { TestService } from './service.ts';

/**
 * Starts all requests, waits until each is blocked by what `hold` has locked, and then releases them all at once. Fails if one of them
 * isn't blocked.
 */
export async function allAtOnce<Answer>(
  { database: { db } }: TestService,
  hold: (tx: Queryable) => Promise<unknown>,
  requests: readonly (() => Promise<Answer>)[],
): Promise<Answer[]> {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = holdLocks(db, async (tx) => {
    await hold(tx);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const answers = requests.map((begin) => begin());
  try {
    await expect.poll(() => countWaiting(db)).toBe(requests.length);
  } finally {
    release.resolve();
  }
  await holder;
  return Promise.all(answers);
}

async function countWaiting(db: Queryable): Promise<number> {
  const rows = await db.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
  );
  return rows.length;
}
