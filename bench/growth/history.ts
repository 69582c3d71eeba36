import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '../../packages/database/src/migrate.ts';
import type { PgDatabase } from '../../packages/database/src/pool.ts';
import { createDatabase } from '../../packages/database/src/pool.ts';
import { signIn } from '../editor/page.ts';
import { waitUntilDrained } from '../executions.ts';
import type { Bench } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { createTenant, createWorkflow, type Tenant } from '../tenant.ts';
import { INPUT_BODY, ONE_NODE, THREE_NODES } from '../workflows.ts';

export const ORGANISATIONS = 100;
const WORKFLOWS_PER_ORGANISATION = 5;
/** Rows of one statement: each is a transaction that mustn't keep everything else waiting. */
const ROWS_AT_ONCE = 500_000;
/** How far the history goes back: less than the service keeps by default, so that it prunes nothing by itself. */
export const DAYS = 29;

/** A database with many organisations and what they have executed. */
export interface Grown {
  readonly url: string;
  readonly db: PgDatabase;
  /** The organisation that is looked at; it has nothing cancelled, and none by a schedule or in test mode. */
  readonly tenant: Tenant;
  /** Cookie of one of its administrators. */
  readonly cookie: string;
  /** Has one in {@link WORKFLOWS_PER_ORGANISATION} of its executions. */
  readonly workflowId: number;
  /** Without executions in the history. */
  readonly oneNodeId: number;
  readonly threeNodesId: number;
  /** An execution in the middle of its history. */
  readonly executionId: number;
  readonly rows: number;
}

/** What is known of a database that an earlier run has filled. */
type Kept = Pick<Grown, 'tenant' | 'workflowId' | 'oneNodeId' | 'threeNodesId' | 'executionId' | 'rows'> & {
  readonly filledAt: number;
};

/** Afterwards the service would delete by itself what is older than it keeps. */
const KEPT_MS = 20 * 3_600_000;

/**
 * A database with `rows` ended executions of {@link ORGANISATIONS} organisations over {@link DAYS} days: the one that an earlier run has left in
 * the folder for it, or a new one.
 */
export async function openHistory(bench: Bench, name: string, rows: number): Promise<Grown> {
  const url = await bench.createDatabase(name);
  const db = createDatabase(url, { applicationName: 'bench', statementTimeoutMs: 0 });
  await migrate(db);
  const note = bench.keptFolder === null ? null : join(bench.keptFolder, `${name}.json`);
  const kept =
    (note === null ? null : await readNote(note, rows)) ?? (await fill(bench, name, rows, url, db));
  // Written when everything is there: what was interrupted has no note.
  if (note !== null) await writeFile(note, JSON.stringify(kept), { mode: 0o600 });
  const cookie = `millrace_session=${await signIn(db, kept.tenant.organisationId, 'org_admin')}`;
  return { url, db, cookie, ...kept };
}

async function readNote(file: string, rows: number): Promise<Kept | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const kept = JSON.parse(text) as Kept;
  if (kept.rows !== rows) {
    throw new Error(
      `${file} is about ${kept.rows} executions, not ${rows}: name another --history-folder or --history`,
    );
  }
  if (Date.now() - kept.filledAt > KEPT_MS) {
    throw new Error(`${file} is too old: the service would delete its oldest executions. Delete the folder`);
  }
  return kept;
}

async function fill(bench: Bench, name: string, rows: number, url: string, db: PgDatabase): Promise<Kept> {
  bench.progress(`${name}: writing ${rows} executions`);
  const began = performance.now();
  const [any] = await db.query('SELECT FROM executions LIMIT 1');
  if (any !== undefined) throw new Error(`${name} was left half filled: delete the folder of the history`);
  const tenant = await createTenant(db, name);
  const [oneNodeId, threeNodesId, workflowId] = await makeWorkflows(bench, db, url, tenant);
  await copyOrganisations(db, tenant.organisationId, workflowId);
  await insertHistory(db, rows, (text) => bench.progress(`${name}: ${text}`));
  const [middle] = await db.query<{ id: number }>(
    'SELECT id FROM executions WHERE organisation_id = $1 ORDER BY id OFFSET $2 LIMIT 1',
    [tenant.organisationId, Math.floor(rows / ORGANISATIONS / 2)],
  );
  const [size] = await db.query<{ mib: number }>(
    'SELECT (pg_database_size(current_database()) / 1048576)::integer AS mib',
  );
  bench.progress(`${name}: ${size?.mib} MiB after ${Math.round((performance.now() - began) / 1000)} s`);
  const executionId = middle?.id ?? 0;
  return { tenant, workflowId, oneNodeId, threeNodesId, executionId, rows, filledAt: Date.now() };
}

/** The last one is executed once: the history is made of copies of that. */
async function makeWorkflows(
  bench: Bench,
  db: PgDatabase,
  url: string,
  tenant: Tenant,
): Promise<[number, number, number]> {
  const folder = await bench.createFolder('growth-setup');
  const server = await startMillrace({ command: 'start', databaseUrl: url, folder });
  try {
    const make = (name: string, flow: unknown) => createWorkflow(server.baseUrl, tenant, name, flow);
    const ids = [
      await make('one', ONE_NODE),
      await make('three', THREE_NODES),
      await make('history', THREE_NODES),
    ] as const;
    await fetch(`${server.baseUrl}/api/v1/workflows/${ids[2]}/execute`, {
      method: 'POST',
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: INPUT_BODY,
    });
    await waitUntilDrained(db);
    return [...ids];
  } finally {
    await server.stop();
  }
}

/** Makes the other organisations, and {@link WORKFLOWS_PER_ORGANISATION} copies of a workflow in each. */
async function copyOrganisations(db: PgDatabase, organisationId: number, workflowId: number): Promise<void> {
  await db.query(
    `INSERT INTO organisations (name) SELECT 'organisation ' || n FROM generate_series(2, $1::integer) n`,
    [ORGANISATIONS],
  );
  await db.query(
    `WITH copied AS (
       INSERT INTO workflows (organisation_id, name, status, version, webhook_hash)
       SELECT o.id, 'history ' || n, 'active', 1, rpad('', 31, 'x') || lpad(o.id::text, 9, '0') || lpad(n::text, 3, '0')
       FROM organisations o CROSS JOIN generate_series(1, $2::integer) n
       WHERE o.name LIKE 'organisation %' OR (o.id = $1 AND n > 1)
       RETURNING id, organisation_id
     )
     INSERT INTO workflow_versions (workflow_id, version, organisation_id, flow_data)
     SELECT c.id, 1, c.organisation_id, v.flow_data
     FROM copied c CROSS JOIN workflow_versions v WHERE v.workflow_id = $3 AND v.version = 1`,
    [organisationId, WORKFLOWS_PER_ORGANISATION, workflowId],
  );
}

/** The indexes are made again afterwards, in a fraction of the time that filling them row by row takes. */
async function insertHistory(db: PgDatabase, rows: number, progress: (text: string) => void): Promise<void> {
  const indexes = await db.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
     WHERE tablename = 'executions' AND indexname <> 'executions_pkey'`,
  );
  for (const { name } of indexes) await db.query(`DROP INDEX ${name}`);
  for (let from = 1; from <= rows; from += ROWS_AT_ONCE) {
    await insertPart(db, from, Math.min(rows, from + ROWS_AT_ONCE - 1), rows);
    progress(`${Math.min(rows, from + ROWS_AT_ONCE - 1)} written`);
  }
  for (const { definition } of indexes) await db.query(definition);
  await db.exclusive(async (session) => {
    await session.query('VACUUM (FREEZE, ANALYZE) executions');
  });
}

/** Executions as they are after their end, oldest first; 1 in 20 failed, 1 in 1,000 of the other organisations' was cancelled. */
async function insertPart(db: PgDatabase, from: number, to: number, rows: number): Promise<void> {
  await db.query(
    `WITH workflow AS MATERIALIZED (
       SELECT w.id, w.organisation_id, row_number() OVER (ORDER BY o.name LIKE 'organisation %', o.id) - 1 AS place
       FROM workflows w JOIN organisations o ON o.id = w.organisation_id WHERE w.name LIKE 'history%'
     ), listed AS MATERIALIZED (
       SELECT array_agg(id ORDER BY place) AS ids, array_agg(organisation_id ORDER BY place) AS organisations,
         (SELECT input::text FROM executions ORDER BY id LIMIT 1)::json AS input,
         (SELECT records::text FROM execution_chunks ORDER BY octet_length(records::text) DESC LIMIT 1)::json AS records
       FROM workflow
     )
     INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error, first_records, first_records_at, checkpoint_seq)
     SELECT l.organisations[p.place], l.ids[p.place], 1, s.status, 'api', 'Order ' || n, false,
       l.input, t.at, t.at, t.at + interval '8 ms',
       CASE WHEN s.status = 'failed' THEN '{"code":"http_error","message":"502","node_id":"send"}'::json END,
       l.records, t.at, 1
     FROM generate_series($1::bigint, $2::bigint) AS n
     CROSS JOIN listed l
     CROSS JOIN LATERAL (SELECT 1 + (hashint8(n)::bigint & 2147483647) % cardinality(l.ids) AS place) AS p
     CROSS JOIN LATERAL (SELECT CASE WHEN n % 1000 = 7 AND p.place > $4 THEN 'cancelled'
       WHEN n % 20 = 3 THEN 'failed' ELSE 'completed' END AS status) AS s
     CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - interval '1 day' * $5::integer
       * (1 - n / $3::double precision)) AS at) AS t
     ORDER BY n`,
    [from, to, rows, WORKFLOWS_PER_ORGANISATION, DAYS],
  );
}
