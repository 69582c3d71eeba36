import type { Queryable } from '@millrace/database/database';

/** One release from the queue of a rate. */
export interface LoggedRelease {
  /** By the database's clock, when it was released. */
  readonly was_due: boolean;
  /** Rows that left the queue. */
  readonly released: number;
  /** By how many intervals the next release was put off. */
  readonly intervals: number;
}

/** Has the database record every change of a rate from now on, in the order of the transactions that held its row. */
export async function logRates(db: Queryable): Promise<void> {
  await db.query(`CREATE TABLE rate_log (n bigserial, old_due timestamptz, new_due timestamptz, interval_us bigint,
    gone bigint, at timestamptz)`);
  await db.query(`CREATE FUNCTION log_rate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO rate_log (old_due, new_due, interval_us, gone, at)
    VALUES (OLD.due_at, NEW.due_at, NEW.interval_us,
      OLD.waiting + NEW.last_seq - OLD.last_seq - NEW.waiting, clock_timestamp());
    RETURN NULL; END $$`);
  await db.query(`CREATE TRIGGER log_rate AFTER UPDATE OF due_at, waiting ON start_rates FOR EACH ROW
    EXECUTE FUNCTION log_rate()`);
}

/** The releases since {@link logRates}. */
export async function readReleases(db: Queryable): Promise<LoggedRelease[]> {
  return db.query<LoggedRelease>(
    `SELECT old_due <= at AS was_due, gone AS released,
       round(extract(epoch FROM new_due - old_due) * 1000000 / interval_us, 3)::double precision AS intervals
     FROM rate_log WHERE gone > 0 ORDER BY n`,
  );
}
