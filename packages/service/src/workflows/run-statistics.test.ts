import { DURATION_CLASSES, RunTallies } from '@millrace/runtime/meters/run-tallies';
import { createTestDatabase, type TestDatabase } from '@millrace/testing/database';
import { insertWorkflow } from '@millrace/testing/rows';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantileMs, readRunBars, storeRuns } from './run-statistics.ts';
import { pruneRuns } from './run-store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const run = (workflowId: number) => ({ workflowId, isTestMode: false, workflowVersion: 1 });

test('a quantile lies within its class', () => {
  const counts = [...DURATION_CLASSES.map(() => 0), 0];
  expect(quantileMs(counts, 0.5)).toBeNull();
  counts[5] = 10;
  expect(quantileMs(counts, 0.5)).toBe(750);
  expect(quantileMs(counts, 0.95)).toBe(975);
  counts[counts.length - 1] = 90;
  expect(quantileMs(counts, 0.5)).toBe(86_400_000);
});

test('what several processes have counted adds up, by days of the time zone, and is deleted when it is old', async () => {
  const { db } = database;
  const { organisationId, workflowId } = await insertWorkflow(db, 'charted');
  for (const hasFailed of [false, true]) {
    const runs = new RunTallies();
    runs.ended(run(workflowId), hasFailed, 0.02);
    runs.ended(run(workflowId), false, 0.02);
    // A workflow that is gone by now.
    runs.ended(run(1_000_000), false, 1);
    await storeRuns(db, runs);
  }
  const [{ durations } = { durations: '' }] = await db.query<{ durations: string }>(
    'SELECT to_json(durations) AS durations FROM workflow_runs WHERE workflow_id = $1',
    [workflowId],
  );
  expect(JSON.parse(durations).slice(0, 3)).toEqual([0, 4, 0]);
  // The last hour of a day in Tokyo, and the first of the next.
  await db.query(
    `INSERT INTO workflow_runs (workflow_id, hour, organisation_id, completed, failed, durations)
     SELECT $1, (date_trunc('day', now() AT TIME ZONE 'Asia/Tokyo') - hours * interval '1 hour') AT TIME ZONE 'Asia/Tokyo', $2,
       hours, 0, '{}' FROM unnest('{25, 24, 2400}'::integer[]) hours`,
    [workflowId, organisationId],
  );
  const read = (organisation: number, range: 'day' | 'week') =>
    db.forOrganisation(organisation, (tx) => readRunBars(tx, organisation, workflowId, range, 'Asia/Tokyo'));
  const { step, bars } = await read(organisationId, 'week');
  expect(step).toBe('day');
  expect(bars.map(({ completed, failed }) => [completed, failed])).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
    [0, 0],
    [25, 0],
    [24, 0],
    [3, 1],
  ]);
  expect(bars.at(-1)).toMatchObject({ medianMs: 30, p95Ms: 48 });
  expect(bars[0]).toMatchObject({ medianMs: null, p95Ms: null });
  expect((await read(organisationId, 'day')).bars).toHaveLength(24);
  expect((await read(organisationId + 1, 'week')).bars.every(({ completed }) => completed === 0)).toBe(true);
  expect(await db.transaction((tx) => pruneRuns(tx, 90, 10))).toBe(1);
});

test('what could not be stored is stored the next time', async () => {
  const { db } = database;
  const { workflowId } = await insertWorkflow(db, 'later');
  const runs = new RunTallies();
  runs.ended(run(workflowId), false, 1);
  const away = { ...db, transaction: () => Promise.reject(new Error('away')) };
  await expect(storeRuns(away, runs)).rejects.toThrow('away');
  await storeRuns(db, runs);
  const rows = await db.query('SELECT completed FROM workflow_runs WHERE workflow_id = $1', [workflowId]);
  expect(rows).toEqual([{ completed: 1 }]);
});
