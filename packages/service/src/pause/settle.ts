import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '@millrace/database/database';
import { countUnderWay, hasEarlierTransactions, readClock, takeBackRunning } from './store.ts';

const LOOK_EVERY_MS = 100;
/** Longer than any statement of the service, or the sending of an alert, may take. */
const SETTLE_MS = 150_000;

/** What became of the running work of a paused organisation. */
export interface Settled {
  /** Executions that are back in the queue until it is resumed. */
  readonly takenBack: number;
}

/** Something of a paused organisation hasn't ended in time. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError';
}

/**
 * Waits until a paused organisation is idle: everything that was accepted is stored, and nothing runs. What still runs after `graceMs` is put
 * back into the queue; a call in progress is then made again, with the same Idempotency-Key.
 * @throws NotSettledError
 */
export async function settle(db: Database, organisationId: number, graceMs: number): Promise<Settled> {
  await waitForEarlier(db);
  const graceUntil = performance.now() + graceMs;
  await until(
    async () => (await countUnderWay(db, organisationId)).executions === 0,
    () => performance.now() < graceUntil,
  );
  const takenBack = await db.transaction((tx) => takeBackRunning(tx, organisationId));
  const isQuiet = async () => (await countUnderWay(db, organisationId)).alerts === 0;
  if (!(await until(isQuiet, deadline()))) throw new NotSettledError('an alert is still being sent');
  return { takenBack };
}

/**
 * Waits until every transaction that may not have seen the pause has ended: later ones see it.
 * @throws NotSettledError
 */
export async function waitForEarlier(db: Database): Promise<void> {
  const moment = await readClock(db);
  if (await until(async () => !(await hasEarlierTransactions(db, moment)), deadline())) return;
  throw new NotSettledError('a transaction of the database has been open for too long');
}

function deadline(): () => boolean {
  const end = performance.now() + SETTLE_MS;
  return () => performance.now() < end;
}

/** Polls, because PostgreSQL announces none of this. @returns whether it became true in time */
async function until(isTrue: () => Promise<boolean>, isInTime: () => boolean): Promise<boolean> {
  while (!(await isTrue())) {
    if (!isInTime()) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}
