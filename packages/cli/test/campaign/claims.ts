import type { Queryable } from '@millrace/database/database';

/** A claim that took an execution from another worker. Times are epoch milliseconds. */
export interface TakeOver {
  readonly executionId: number;
  /** Processes; null if unknown. */
  readonly fromPid: number | null;
  readonly toPid: number | null;
  /** Whether it counted a crash. */
  readonly isCrash: boolean;
  readonly atMs: number;
}

/** Makes the database note who takes over from whom: tables keep only the last one. */
export async function noteClaims(db: Queryable): Promise<void> {
  const statements = [
    `CREATE TABLE campaign_workers (id uuid PRIMARY KEY, pid integer NOT NULL)`,
    `CREATE TABLE campaign_claims (execution_id bigint NOT NULL, former_worker uuid, worker uuid, is_crash boolean NOT NULL,
       at timestamptz NOT NULL DEFAULT clock_timestamp())`,
    `CREATE FUNCTION campaign_note_worker() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN INSERT INTO campaign_workers VALUES (NEW.id, NEW.pid) ON CONFLICT DO NOTHING; RETURN NULL; END $$`,
    `CREATE FUNCTION campaign_note_claim() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         INSERT INTO campaign_claims (execution_id, former_worker, worker, is_crash)
         VALUES (NEW.id, OLD.worker_id, NEW.worker_id, NEW.crashed_attempts > OLD.crashed_attempts);
         RETURN NULL;
       END $$`,
    `CREATE TRIGGER campaign_note_worker AFTER INSERT ON workers
       FOR EACH ROW EXECUTE FUNCTION campaign_note_worker()`,
    `CREATE TRIGGER campaign_note_claim AFTER UPDATE ON executions
       FOR EACH ROW WHEN (OLD.worker_id IS NOT NULL AND NEW.claim > OLD.claim) EXECUTE FUNCTION campaign_note_claim()`,
  ];
  for (const statement of statements) await db.query(statement);
}

/** All take-overs since {@link noteClaims}. */
export async function readTakeOvers(db: Queryable): Promise<TakeOver[]> {
  return await db.query<TakeOver>(
    `SELECT c.execution_id AS "executionId", f.pid AS "fromPid", t.pid AS "toPid", c.is_crash AS "isCrash",
       (extract(epoch FROM c.at) * 1000)::double precision AS "atMs"
     FROM campaign_claims c LEFT JOIN campaign_workers f ON f.id = c.former_worker
     LEFT JOIN campaign_workers t ON t.id = c.worker
     ORDER BY c.at`,
  );
}
