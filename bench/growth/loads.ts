import { countCompleted, newestExecution, waitUntilDrained } from '../executions.ts';
import type { Bench, Metric, Readings, Unit } from '../row.ts';
import { type ServerProcess, startMillrace } from '../server-process.ts';
import { INPUT_BODY } from '../workflows.ts';
import type { Grown } from './history.ts';

/** A number of the rows about a long history. */
export function metric(id: string, label: string, unit: Unit): Metric {
  return { id: `growth.${id}`, section: 'Growth', label, unit };
}

/** Starts a workflow as fast as starts are accepted. */
export function startLoad(bench: Bench, { baseUrl }: ServerProcess, { tenant }: Grown, workflowId: number) {
  return bench.load.saturate({
    url: `${baseUrl}/api/v1/workflows/${workflowId}/execute`,
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: INPUT_BODY,
    connections: bench.effort.connections,
    freshHeader: null,
    seconds: bench.effort.seconds,
  });
}

/** Executions that such a load completes in a second. */
export async function rateOfCompleted(bench: Bench, server: ServerProcess, database: Grown): Promise<number> {
  const { db, tenant, threeNodesId } = database;
  const newest = await newestExecution(db);
  const { requests } = await startLoad(bench, server, database, threeNodesId);
  await waitUntilDrained(db);
  const { count, seconds } = await countCompleted(db, tenant.organisationId, newest, requests);
  return count / seconds;
}

/** Numbers of a new database, of a long history, and their ratio. */
export function besides(id: string, label: string, unit: Unit): Metric[] {
  return [
    metric(`${id}_new`, `${label}: new`, unit),
    metric(`${id}_long`, `${label}: long history`, unit),
    metric(`${id}_ratio`, `${label}: ratio`, '×'),
  ];
}

/** What {@link besides} names. */
export function readingsOf(id: string, [ofNew, ofLong]: readonly [number, number]): Readings {
  return {
    [`growth.${id}_new`]: ofNew,
    [`growth.${id}_long`]: ofLong,
    [`growth.${id}_ratio`]: ofLong / ofNew,
  };
}

/** Runs a process over each of the databases while something is measured. */
export async function withBoth<Result>(
  bench: Bench,
  databases: readonly [Grown, Grown],
  command: 'api' | 'start',
  work: (servers: readonly [ServerProcess, ServerProcess]) => Promise<Result>,
): Promise<Result> {
  // What an API without a worker accepts is only stored: it is deleted between the measurements.
  const environment: Readonly<Record<string, string>> =
    command === 'api' ? { MILLRACE_RUN_AHEAD_NODES: '0' } : {};
  const start = async ({ url }: Grown) =>
    startMillrace({ command, databaseUrl: url, folder: await bench.createFolder('growth'), environment });
  const first = await start(databases[0]);
  const second = await start(databases[1]);
  try {
    return await work([first, second]);
  } finally {
    await first.stop();
    await second.stop();
  }
}
