import type { Queryable } from '@millrace/database/database';
import { prune } from '@millrace/service/retention/prune';
import { type EndedStatus, pruneExecutions } from '@millrace/service/retention/store';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { buffersOf } from '@millrace/testing/list-cost';
import { runs } from '@millrace/testing/property-runs';
import { insertWorkflow, type WorkflowIds } from '@millrace/testing/rows';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

const DAYS: Readonly<Record<EndedStatus, number>> = { completed: 10, failed: 30, cancelled: 20 };
const RETENTION = {
  executionsDays: DAYS,
  auditDays: 365,
  statisticsDays: 400,
  idempotencyHours: 24,
  idleSessionMs: 24 * 3_600_000,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ statementTimeoutMs: 60_000 });
});
afterAll(() => database.drop());

interface Sample {
  readonly organisation: number;
  readonly status: EndedStatus | 'queued' | 'running' | 'waiting_async';
  /** Half a day longer ago than this: nothing expires while the test runs. */
  readonly createdDaysAgo: number;
  readonly endedDaysAgo: number;
}

/** Days of one organisation; null: those of the service. */
type OwnDays = Readonly<Record<EndedStatus, number | null>>;

const sample: fc.Arbitrary<Sample> = fc
  .record({
    organisation: fc.nat({ max: 2 }),
    status: fc.constantFrom('completed', 'failed', 'cancelled', 'queued', 'running', 'waiting_async'),
    createdDaysAgo: fc.nat({ max: 40 }),
    lasted: fc.nat({ max: 40 }),
  })
  .map(({ lasted, ...rest }) => ({ ...rest, endedDaysAgo: Math.max(0, rest.createdDaysAgo - lasted) }));

const ownDays: fc.Arbitrary<OwnDays> = fc.record({
  completed: fc.option(fc.integer({ min: 1, max: 40 })),
  failed: fc.option(fc.integer({ min: 1, max: 40 })),
  cancelled: fc.option(fc.integer({ min: 1, max: 40 })),
});

const isEnded = (status: Sample['status']): status is EndedStatus => status in DAYS;

function hasExpired({ status, endedDaysAgo }: Sample, own: OwnDays): boolean {
  return isEnded(status) && endedDaysAgo + 0.5 > Math.min(DAYS[status], own[status] ?? DAYS[status]);
}

/** Oldest first, as ids are assigned. @returns their ids */
async function insert(samples: readonly Sample[], of: readonly WorkflowIds[]): Promise<number[]> {
  const rows = await database.db.query<{ id: number }>(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error, wake_at, worker_id)
     SELECT organisation, workflow, 1, status, 'api', 'sample', false, '{}', created, created,
       CASE WHEN status IN ('completed', 'failed', 'cancelled') THEN ended END, CASE WHEN status = 'failed' THEN '{}'::json END,
       CASE WHEN status = 'waiting_async' THEN ended END, CASE WHEN status = 'running' THEN gen_random_uuid() END
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::integer[], $5::integer[])
       WITH ORDINALITY AS s (organisation, workflow, status, created_days, ended_days, place)
     CROSS JOIN LATERAL (SELECT now() - (created_days + 0.5) * interval '1 day' AS created,
       now() - (ended_days + 0.5) * interval '1 day' AS ended) AS times
     ORDER BY place RETURNING id`,
    [
      samples.map(({ organisation }) => of[organisation]?.organisationId),
      samples.map(({ organisation }) => of[organisation]?.workflowId),
      samples.map(({ status }) => status),
      samples.map(({ createdDaysAgo }) => createdDaysAgo),
      samples.map(({ endedDaysAgo }) => endedDaysAgo),
    ],
  );
  return rows.map(({ id }) => id);
}

test('exactly what has expired is deleted, by status and organisation', async () => {
  const { db } = database;
  const of = [
    await insertWorkflow(db, 'one'),
    await insertWorkflow(db, 'two'),
    await insertWorkflow(db, 'three'),
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(sample, { maxLength: 60 }),
      fc.tuple(ownDays, ownDays, ownDays),
      async (unordered, own) => {
        await db.query('TRUNCATE executions CASCADE');
        await db.query('DELETE FROM organisation_settings');
        for (const [index, { completed, failed, cancelled }] of own.entries()) {
          await db.query(
            `INSERT INTO organisation_settings (organisation_id, retention_days_completed, retention_days_failed, retention_days_cancelled)
             VALUES ($1, $2, $3, $4)`,
            [of[index]?.organisationId, completed, failed, cancelled],
          );
        }
        const samples = unordered.toSorted((a, b) => b.createdDaysAgo - a.createdDaysAgo);
        const ids = await insert(samples, of);
        await prune(db, RETENTION);
        const left = await db.query<{ id: number }>('SELECT id FROM executions ORDER BY id');
        const kept = ids.filter((_id, index) => {
          const { [index]: one } = samples;
          return one !== undefined && !hasExpired(one, own[one.organisation] as OwnDays);
        });
        expect(left.map(({ id }) => id)).toEqual(kept);
      },
    ),
    { numRuns: runs(20) },
  );
});

/** What a round reads for `workflows` workflows that have ten expired executions and `staying` others each. */
async function costOfRound(name: string, workflows: number, staying: number): Promise<number> {
  const { db } = database;
  const ids = await insertWorkflow(db, name);
  await db.query(
    `WITH others AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       SELECT $1::bigint, 'w', 'active', 1, rpad('', 27, 'y') || lpad($1::bigint::text, 8, '0') || lpad(n::text, 8, '0')
       FROM generate_series(2, $2::integer) n RETURNING id
     )
     INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
     SELECT id, 1, $1::bigint, '{"nodes": [], "edges": []}' FROM others`,
    [ids.organisationId, workflows],
  );
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at)
     SELECT $1::bigint, w.id, 1, 'completed', 'api', 'sample', false, '{}', t, t, t
     FROM generate_series(1, 10 + $2::integer) n CROSS JOIN (SELECT id FROM workflows WHERE organisation_id = $1) w
     CROSS JOIN LATERAL (SELECT now() - CASE WHEN n <= 10 THEN interval '11 days' ELSE interval '1 day' END
       + n * interval '1 second' AS t) times
     ORDER BY n`,
    [ids.organisationId, staying],
  );
  await db.query('VACUUM ANALYZE executions');
  const round = (tx: Queryable) =>
    pruneExecutions(tx, 'completed', DAYS.completed, ids.workflowId - 1, 1_000);
  const buffers = await buffersOf({ database, ids, rare: 0 }, round);
  await db.query('TRUNCATE executions CASCADE');
  return buffers;
}

test("a round doesn't read more because more stays", async () => {
  const short = await costOfRound('short', 20, 500);
  const long = await costOfRound('long', 20, 2_000);
  // The longer indexes may have one more level, for each execution that is deleted too.
  expect(long).toBeLessThan(1.5 * short);
});
