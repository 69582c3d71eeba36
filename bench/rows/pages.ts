import { migrate } from '../../packages/database/src/migrate.ts';
import { createDatabase, type PgDatabase } from '../../packages/database/src/pool.ts';
import type { Bench, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { percentile } from '../statistics.ts';
import { createTenant, createWorkflow, type Tenant } from '../tenant.ts';
import { ONE_NODE } from '../workflows.ts';

const WORKFLOWS = 20;
const REQUESTS = 60;
const PAGE = 'limit=100';

interface PageKind {
  readonly id: string;
  readonly label: string;
  /** Query of the page for the given table content. */
  query(history: History): string;
  /** Share of the table to skip before the measured page, 0 to 1. */
  readonly depth: number;
}

/** A table of executions to read pages from. */
interface History {
  readonly url: string;
  readonly tenant: Tenant;
  /** Has one in {@link WORKFLOWS} executions. */
  readonly workflowId: number;
}

const KINDS: readonly PageKind[] = [
  { id: 'pages.first', label: 'first page', query: () => '', depth: 0 },
  { id: 'pages.deep', label: 'in the middle of the table', query: () => '', depth: 0.5 },
  { id: 'pages.completed', label: 'status completed (19 of 20)', query: () => '&status=completed', depth: 0 },
  { id: 'pages.failed', label: 'status failed (1 of 20)', query: () => '&status=failed', depth: 0 },
  {
    id: 'pages.cancelled',
    label: 'status cancelled (oldest 100 only)',
    query: () => '&status=cancelled',
    depth: 0,
  },
  {
    id: 'pages.workflow',
    label: 'one workflow (1 of 20)',
    query: (h) => `&workflow_id=${h.workflowId}`,
    depth: 0,
  },
  {
    id: 'pages.workflow_failed',
    label: 'one workflow, status failed',
    query: (h) => `&workflow_id=${h.workflowId}&status=failed`,
    depth: 0,
  },
  {
    id: 'pages.range',
    label: 'one hour, ten days ago',
    query: () => `&created_after=${hoursAgo(240)}&created_before=${hoursAgo(239)}`,
    depth: 0,
  },
];

/** The cost of a page of the execution list if there are many. One request after the other. */
export const pagesRow: Row = {
  id: 'pages',
  metrics: KINDS.map(({ id, label }) => ({
    id,
    section: 'List of executions',
    label: `Page of 100, p50: ${label}`,
    unit: 'ms',
  })),
  async measure(bench) {
    history ??= await makeHistory(bench);
    const folder = await bench.createFolder('pages');
    const server = await startMillrace({ command: 'api', databaseUrl: history.url, folder });
    try {
      const readings: Record<string, number> = {};
      for (const kind of KINDS) {
        const { tookMs } = await bench.load.sequence({
          url: `${server.baseUrl}/api/v1/executions?${PAGE}${kind.query(history)}`,
          headers: history.tenant.headers,
          count: REQUESTS,
          skipPages: Math.floor((bench.effort.pageRows * kind.depth) / 100),
        });
        readings[kind.id] = percentile(tookMs, 0.5);
      }
      return readings;
    } finally {
      await server.stop();
    }
  },
};

let history: History | undefined;

/** Fills a separate database with executions of the last 20 days, oldest first, as a service would. */
async function makeHistory(bench: Bench): Promise<History> {
  bench.progress(`writing ${bench.effort.pageRows} executions`);
  const url = await bench.createDatabase('bench_pages');
  const db = createDatabase(url, { statementTimeoutMs: 0 });
  try {
    await migrate(db);
    const tenant = await createTenant(db, 'pages');
    const workflowIds = await makeWorkflows(bench, url, tenant);
    await insertExecutions(db, tenant.organisationId, workflowIds, bench.effort.pageRows);
    return { url, tenant, workflowId: workflowIds[0] ?? 0 };
  } finally {
    await db.close();
  }
}

async function makeWorkflows(bench: Bench, url: string, tenant: Tenant): Promise<number[]> {
  const folder = await bench.createFolder('pages-setup');
  const server = await startMillrace({ command: 'api', databaseUrl: url, folder });
  try {
    const ids: number[] = [];
    for (let index = 0; index < WORKFLOWS; index += 1) {
      ids.push(await createWorkflow(server.baseUrl, tenant, `Workflow ${index}`, ONE_NODE));
    }
    return ids;
  } finally {
    await server.stop();
  }
}

async function insertExecutions(
  db: PgDatabase,
  organisationId: number,
  workflowIds: readonly number[],
  count: number,
): Promise<void> {
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input, created_at, started_at, completed_at, error)
     SELECT $1, w.id, 1, s.status, 'api', 'Order ' || n, false, '{"id":4711}', t.at, t.at, t.at + interval '8 ms',
       CASE WHEN s.status = 'failed' THEN '{"code":"http_error","message":"502","node_id":"send"}'::json END
     FROM generate_series(1, $3::bigint) AS n
     CROSS JOIN LATERAL (SELECT ($2::bigint[])[1 + (hashint8(n)::bigint & 2147483647) % cardinality($2::bigint[])] AS id) AS w
     CROSS JOIN LATERAL (SELECT CASE WHEN n <= 100 THEN 'cancelled' WHEN n % 20 = 3 THEN 'failed' ELSE 'completed' END AS status) AS s
     CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', now() - interval '20 days' * (1 - n / $3::double precision)) AS at) AS t
     ORDER BY n`,
    [organisationId, workflowIds, count],
  );
  await db.exclusive(async (session) => {
    await session.query('VACUUM (ANALYZE) executions');
  });
}

function hoursAgo(hours: number): string {
  return new Date(Date.now() - hours * 3_600_000).toISOString();
}
