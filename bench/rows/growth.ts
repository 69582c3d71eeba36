import { randomUUID } from 'node:crypto';
import { claimExecutions } from '../../packages/runtime/src/lease-statements.ts';
import { ROOM_FOR_ALL } from '../../packages/runtime/src/room-statements.ts';
import { prune, restAfter } from '../../packages/service/src/retention/prune.ts';
import { countCompleted, newestExecution, waitUntilDrained } from '../executions.ts';
import { DAYS, type Grown, makeHistory, ORGANISATIONS } from '../growth/history.ts';
import { PAGE_ITEMS, pagesOf, READS, type Read } from '../growth/reads.ts';
import type { Bench, Metric, Readings, Row, Unit } from '../row.ts';
import { type ServerProcess, startMillrace } from '../server-process.ts';
import { percentile } from '../statistics.ts';
import { INPUT_BODY } from '../workflows.ts';

const REQUESTS = 40;
const CLAIMS = 20;
const QUEUED = 100_000;
/** What is read may take this much more time than in the new database, and no list longer than this. */
const MOST = { ratio: 1.5, ms: 10 };

const LOADS = [
  { id: 'accepted', label: 'accepted, 1 node, api only' },
  { id: 'completed', label: 'completed, 3 nodes' },
] as const;
const CLAIM = { id: 'claim', label: `claim of 10, ${QUEUED} queued` };

/**
 * The same with a long history as in a new database, which has one page of executions for each organisation: an empty page would cost less
 * whatever the history. What is read is read one request after the other.
 */
export const growthRow: Row = {
  id: 'growth',
  isNamedOnly: true,
  metrics: [
    ...LOADS.flatMap(({ id, label }) => besides(id, label, '/s')),
    ...besides(CLAIM.id, CLAIM.label, 'ms'),
    ...READS.flatMap(({ id, label }) => besides(id, label, 'ms')),
    metric('prune', 'executions pruned under load', '/s'),
    metric('prune_p99', 'start while pruning, p99', 'ms'),
    metric('prune_throughput', 'completed while pruning, compared with before', '×'),
  ],
  async measure(bench) {
    grown ??= [
      await makeHistory(bench, 'bench_growth_new', ORGANISATIONS * PAGE_ITEMS),
      await makeHistory(bench, 'bench_growth_long', bench.effort.historyRows ?? 0),
    ];
    const told = <Part extends Readings>(readings: Part): Part => {
      bench.progress(JSON.stringify(readings));
      return readings;
    };
    return {
      ...(await readAll(bench, grown)),
      ...told(await measureClaims(grown)),
      ...told(await measureLoads(bench, grown)),
      ...(await measurePruning(bench, grown[1])),
    };
  },
};

function metric(id: string, label: string, unit: Unit): Metric {
  return { id: `growth.${id}`, section: 'Growth', label, unit };
}

function besides(id: string, label: string, unit: Unit): Metric[] {
  return [
    metric(`${id}_new`, `${label}: new`, unit),
    metric(`${id}_long`, `${label}: long history`, unit),
    metric(`${id}_ratio`, `${label}: ratio`, '×'),
  ];
}

function readingsOf(id: string, [ofNew, ofLong]: readonly [number, number]): Readings {
  return {
    [`growth.${id}_new`]: ofNew,
    [`growth.${id}_long`]: ofLong,
    [`growth.${id}_ratio`]: ofLong / ofNew,
  };
}

let grown: readonly [Grown, Grown] | undefined;

/** Runs a process over each of the databases while something is measured. */
async function withBoth<Result>(
  bench: Bench,
  databases: readonly [Grown, Grown],
  command: 'api' | 'start',
  work: (servers: readonly [ServerProcess, ServerProcess]) => Promise<Result>,
): Promise<Result> {
  const start = async ({ url }: Grown) =>
    startMillrace({ command, databaseUrl: url, folder: await bench.createFolder('growth') });
  const first = await start(databases[0]);
  const second = await start(databases[1]);
  try {
    return await work([first, second]);
  } finally {
    await first.stop();
    await second.stop();
  }
}

function readAll(bench: Bench, databases: readonly [Grown, Grown]): Promise<Readings> {
  return withBoth(bench, databases, 'api', async (servers) => {
    let readings: Readings = {};
    for (const read of READS) {
      const times: [number, number] = [
        await timeRead(bench, servers[0], databases[0], read),
        await timeRead(bench, servers[1], databases[1], read),
      ];
      if (times[1] > MOST.ms || times[1] > MOST.ratio * times[0]) {
        bench.progress(`${read.label}: ${times.map((ms) => ms.toFixed(1)).join(' -> ')} ms`);
      }
      readings = { ...readings, ...readingsOf(read.id, times) };
    }
    return readings;
  });
}

async function timeRead(
  { load }: Bench,
  { baseUrl }: ServerProcess,
  database: Grown,
  { by, path, depth = 0 }: Read,
): Promise<number> {
  const { tookMs } = await load.sequence({
    url: `${baseUrl}${path(database)}`,
    headers: by === 'key' ? database.tenant.headers : { cookie: database.cookie },
    count: REQUESTS,
    skipPages: Math.floor(pagesOf(database) * depth),
  });
  return percentile(tookMs, 0.5);
}

/** Claims are rolled back, so each finds the same. */
async function measureClaims(databases: readonly [Grown, Grown]): Promise<Readings> {
  const times: number[] = [];
  for (const database of databases) times.push(await timeClaim(database));
  return readingsOf(CLAIM.id, times as [number, number]);
}

async function timeClaim({ db, tenant, oneNodeId }: Grown): Promise<number> {
  const workerId = randomUUID();
  await db.query(
    "INSERT INTO workers (id, host, pid, lease_expires_at) VALUES ($1, 'bench', 1, now() + interval '1 hour')",
    [workerId],
  );
  await db.query(
    `INSERT INTO executions (organisation_id, workflow_id, workflow_version, status, trigger_type, display_name,
       is_test_mode, input)
     SELECT $1, $2, 1, 'queued', 'api', 'queued', false, '{}' FROM generate_series(1, $3::integer)`,
    [tenant.organisationId, oneNodeId, QUEUED],
  );
  await db.exclusive(async (session) => {
    await session.query('VACUUM (ANALYZE) executions');
  });
  const shares = {
    ...{ free: 10, held: new Map<number, number>(), largestPercent: 100 },
    ...{ afterOrganisation: 0, takenOfTurn: 0, isTurnOfOldest: false },
  };
  const tookMs: number[] = [];
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    await db
      .transaction(async (tx) => {
        const began = performance.now();
        const claimed = await claimExecutions(tx, workerId, 10, 3, shares, ROOM_FOR_ALL);
        tookMs.push(performance.now() - began);
        if (claimed.length !== 10) throw new Error(`a claim of 10 got ${claimed.length}`);
        throw new Undo();
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undo)) throw error;
      });
  }
  await db.query("DELETE FROM executions WHERE status = 'queued'");
  await db.query('DELETE FROM workers WHERE id = $1', [workerId]);
  return percentile(tookMs, 0.5);
}

class Undo extends Error {}

async function measureLoads(bench: Bench, databases: readonly [Grown, Grown]): Promise<Readings> {
  const accepted = await withBoth(bench, databases, 'api', async ([first, second]) => {
    const rate = async (server: ServerProcess, database: Grown) => {
      const { perSecond } = await load(bench, server, database, database.oneNodeId, bench.effort.seconds);
      await database.db.query(`DELETE FROM executions WHERE status = 'queued'`);
      return perSecond;
    };
    await rate(first, databases[0]);
    await rate(second, databases[1]);
    return [await rate(first, databases[0]), await rate(second, databases[1])] as const;
  });
  const completed = await withBoth(bench, databases, 'start', async ([first, second]) => {
    const rate = (server: ServerProcess, database: Grown) => rateOfCompleted(bench, server, database);
    await rate(first, databases[0]);
    await rate(second, databases[1]);
    return [await rate(first, databases[0]), await rate(second, databases[1])] as const;
  });
  return { ...readingsOf('accepted', accepted), ...readingsOf('completed', completed) };
}

function load(
  bench: Bench,
  { baseUrl }: ServerProcess,
  { tenant }: Grown,
  workflowId: number,
  seconds: number,
) {
  return bench.load.saturate({
    url: `${baseUrl}/api/v1/workflows/${workflowId}/execute`,
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: INPUT_BODY,
    connections: bench.effort.connections,
    freshHeader: null,
    seconds,
  });
}

async function rateOfCompleted(bench: Bench, server: ServerProcess, database: Grown): Promise<number> {
  const { db, tenant, threeNodesId } = database;
  const newest = await newestExecution(db);
  const { requests } = await load(bench, server, database, threeNodesId, bench.effort.seconds);
  await waitUntilDrained(db);
  const { count, seconds } = await countCompleted(db, tenant.organisationId, newest, requests);
  return count / seconds;
}

/** Everything that has expired, while starts arrive as fast as they are accepted. Only in the first round: afterwards nothing has. */
async function measurePruning(bench: Bench, database: Grown): Promise<Readings> {
  const folder = await bench.createFolder('growth-prune');
  // Accepts and executes, so that what it accepts doesn't pile up.
  const server = await startMillrace({ command: 'start', databaseUrl: database.url, folder });
  try {
    await rateOfCompleted(bench, server, database);
    const before = await rateOfCompleted(bench, server, database);
    const began = performance.now();
    let isOver = false;
    const pruning = prune(database.db, RETENTION, () => false, restAfter).finally(() => {
      isOver = true;
    });
    const rates: number[] = [];
    let p99OfAll = 0;
    // At least once, or a short history would be gone before anything is measured.
    do {
      const { perSecond, p99Ms } = await load(
        bench,
        server,
        database,
        database.threeNodesId,
        bench.effort.seconds,
      );
      rates.push(perSecond);
      p99OfAll = Math.max(p99OfAll, p99Ms);
    } while (!isOver);
    const { executions } = await pruning;
    const seconds = (performance.now() - began) / 1000;
    await waitUntilDrained(database.db);
    if (executions === 0) return {};
    return {
      'growth.prune': executions / seconds,
      'growth.prune_p99': p99OfAll,
      'growth.prune_throughput': rates.reduce((sum, rate) => sum + rate, 0) / rates.length / before,
    };
  } finally {
    await server.stop();
  }
}

/** Shorter than the history, of which a tenth is older. */
const KEPT_DAYS = 0.9 * DAYS;
const RETENTION: Parameters<typeof prune>[1] = {
  executionsDays: { completed: KEPT_DAYS, failed: KEPT_DAYS, cancelled: KEPT_DAYS },
  auditDays: 365,
  statisticsDays: 365,
  idempotencyHours: 24,
  idleSessionMs: 86_400_000,
};
