import type { Queryable } from '@millrace/database/database';
import type { RunTally } from '@millrace/runtime/meters/run-tallies';

/** Adds ends of executions to this hour, by the database's clock. Those of workflows that are gone are left out. */
export async function addRuns(tx: Queryable, tallies: readonly RunTally[]): Promise<void> {
  await tx.query(
    `INSERT INTO workflow_runs AS r (workflow_id, hour, organisation_id, completed, failed, durations)
     SELECT w.id, date_trunc('hour', now()), w.organisation_id, t.completed, t.failed,
       ARRAY(SELECT value::bigint FROM json_array_elements_text(t.durations) WITH ORDINALITY AS d (value, place) ORDER BY place)
     FROM json_to_recordset($1::json) AS t ("workflowId" bigint, completed bigint, failed bigint, durations json)
     JOIN (SELECT id, organisation_id FROM workflows WHERE id = ANY ($2::bigint[]) ORDER BY id FOR KEY SHARE) w
       ON w.id = t."workflowId"
     ORDER BY w.id
     ON CONFLICT (workflow_id, hour) DO UPDATE SET completed = r.completed + EXCLUDED.completed,
       failed = r.failed + EXCLUDED.failed, durations = ARRAY(
         SELECT coalesce(a, 0) + coalesce(b, 0) FROM unnest(r.durations, EXCLUDED.durations) WITH ORDINALITY AS u (a, b, place)
         ORDER BY place)`,
    [JSON.stringify(tallies), tallies.map(({ workflowId }) => workflowId)],
  );
}

/** One hour or day; `durations` is the JSON text of one list for each hour in it. */
export interface RunSlot {
  readonly at: Date;
  readonly completed: number;
  readonly failed: number;
  readonly durations: string | null;
}

/** The last hours or days of a workflow, today's included, oldest first; days begin at midnight in the time zone. */
export async function readRuns(
  tx: Queryable,
  organisationId: number,
  workflowId: number,
  { step, count, zone }: { readonly step: 'hour' | 'day'; readonly count: number; readonly zone: string },
): Promise<RunSlot[]> {
  return tx.query<RunSlot>(
    `WITH slot AS (
       SELECT s AT TIME ZONE $5 AS at, (s + ('1 ' || $3)::interval) AT TIME ZONE $5 AS before
       FROM generate_series(0, $4::integer - 1) n,
         LATERAL (SELECT date_trunc($3, now() AT TIME ZONE $5) - n * ('1 ' || $3)::interval AS s) l
     )
     SELECT slot.at, coalesce(sum(r.completed), 0)::bigint AS completed, coalesce(sum(r.failed), 0)::bigint AS failed,
       json_agg(to_json(r.durations)) FILTER (WHERE r.durations IS NOT NULL) AS durations
     FROM slot LEFT JOIN workflow_runs r
       ON r.workflow_id = $2 AND r.organisation_id = $1 AND r.hour >= slot.at AND r.hour < slot.before
     GROUP BY slot.at ORDER BY slot.at`,
    [organisationId, workflowId, step, count, zone],
  );
}

export async function pruneRuns(tx: Queryable, days: number, limit: number): Promise<number> {
  const rows = await tx.query(
    `DELETE FROM workflow_runs r USING (
       SELECT workflow_id, hour FROM workflow_runs WHERE hour < now() - $1::integer * interval '1 day' ORDER BY hour LIMIT $2
     ) old
     WHERE r.workflow_id = old.workflow_id AND r.hour = old.hour RETURNING r.hour`,
    [days, limit],
  );
  return rows.length;
}
