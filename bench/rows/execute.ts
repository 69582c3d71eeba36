import { countCompleted, newestExecution, waitUntilDrained } from '../executions.ts';
import { readCpuMs, readProportionalMib, readResidentMib, withChildren } from '../process-facts.ts';
import type { Bench, Metric, Readings, Row } from '../row.ts';
import { type ServerProcess, startBareServer, startMillrace } from '../server-process.ts';
import { createTenant, createWorkflow, type Tenant } from '../tenant.ts';
import { callOut, INPUT_BODY, ONE_NODE, THREE_NODES } from '../workflows.ts';

interface Variant {
  readonly id: string;
  readonly title: string;
  /** @param receiver the address of a server that only responds */
  readonly flowData: (receiver: string) => unknown;
  readonly withIdempotencyKey: boolean;
  /** One process that accepts and executes, or separate ones. */
  readonly processes: 'one' | 'api and worker';
  /** Whether the report shows memory: it is the same for variants that run the same processes. */
  readonly withMemory: boolean;
}

const ALONE = { withIdempotencyKey: false, processes: 'one', withMemory: false } as const;
const SPLIT = { withIdempotencyKey: false, processes: 'api and worker', withMemory: false } as const;

const VARIANTS: readonly Variant[] = [
  { ...ALONE, id: 'execute-1', title: '1 node', flowData: () => ONE_NODE, withMemory: true },
  {
    ...ALONE,
    id: 'execute-1-key',
    title: '1 node, Idempotency-Key',
    flowData: () => ONE_NODE,
    withIdempotencyKey: true,
  },
  { ...ALONE, id: 'execute-3', title: '3 nodes', flowData: () => THREE_NODES },
  { ...ALONE, id: 'call', title: '1 call out', flowData: callOut },
  { ...SPLIT, id: 'split-1', title: '1 node, api + worker', flowData: () => ONE_NODE, withMemory: true },
  { ...SPLIT, id: 'split-3', title: '3 nodes, api + worker', flowData: () => THREE_NODES },
];

/** Starts by POST execute as fast as they are accepted; their executions are counted in the database. */
export const executeRows: readonly Row[] = VARIANTS.map((variant) => ({
  id: variant.id,
  metrics: metricsOf(variant),
  measure: (bench) => measure(bench, variant),
}));

function metricsOf({ id, title, withMemory }: Variant): Metric[] {
  return [
    { id: `${id}.accepted`, section: 'Throughput', label: `Accepted: ${title}`, unit: '/s' },
    { id: `${id}.completed`, section: 'Throughput', label: `Completed: ${title}`, unit: '/s' },
    {
      id: `${id}.cpu_millrace`,
      section: 'Processor time',
      label: `Millrace, per execution: ${title}`,
      unit: 'µs',
    },
    {
      id: `${id}.cpu_postgres`,
      section: 'Processor time',
      label: `PostgreSQL, per execution: ${title}`,
      unit: 'µs',
    },
    ...(withMemory ? memoryMetrics(id, title) : []),
  ];
}

function memoryMetrics(id: string, title: string): Metric[] {
  return [
    { id: `${id}.memory_idle`, section: 'Memory', label: `Millrace before load: ${title}`, unit: 'MiB' },
    { id: `${id}.memory_loaded`, section: 'Memory', label: `Millrace after load: ${title}`, unit: 'MiB' },
    { id: `${id}.memory_postgres`, section: 'Memory', label: `PostgreSQL after load: ${title}`, unit: 'MiB' },
  ];
}

async function measure(bench: Bench, variant: Variant): Promise<Readings> {
  const receiver = await startBareServer('bare');
  const servers = await startServers(bench, variant, receiver);
  try {
    const [api] = servers;
    const tenant = await createTenant(bench.db, variant.id);
    const workflowId = await createWorkflow(
      api.baseUrl,
      tenant,
      variant.title,
      variant.flowData(`${receiver.baseUrl}/start`),
    );
    const pids = servers.map(({ pid }) => pid);
    const memoryIdle = await residentMib(pids);
    const job = {
      url: `${api.baseUrl}/api/v1/workflows/${workflowId}/execute`,
      headers: { ...tenant.headers, 'content-type': 'application/json' },
      body: INPUT_BODY,
      connections: bench.effort.connections,
      freshHeader: variant.withIdempotencyKey ? 'idempotency-key' : null,
    };
    await bench.load.saturate({ ...job, seconds: bench.effort.warmupSeconds });
    await waitUntilDrained(bench.db);
    const readings = await measureLoad(bench, variant.id, job, pids, tenant);
    return {
      ...readings,
      [`${variant.id}.memory_idle`]: memoryIdle,
      [`${variant.id}.memory_loaded`]: await residentMib(pids),
      [`${variant.id}.memory_postgres`]: await readProportionalMib(await withChildren(bench.postgresPid)),
    };
  } finally {
    for (const server of [...servers, receiver]) await server.stop();
  }
}

async function measureLoad(
  bench: Bench,
  id: string,
  job: Omit<Parameters<Bench['load']['saturate']>[0], 'seconds'>,
  pids: readonly number[],
  tenant: Tenant,
): Promise<Readings> {
  const newest = await newestExecution(bench.db);
  const postgresPids = await withChildren(bench.postgresPid);
  const [millraceBefore, postgresBefore] = await Promise.all([readCpuMs(pids), readCpuMs(postgresPids)]);
  const load = await bench.load.saturate({ ...job, seconds: bench.effort.seconds });
  await waitUntilDrained(bench.db);
  const [millraceAfter, postgresAfter] = await Promise.all([readCpuMs(pids), readCpuMs(postgresPids)]);
  const completed = await countCompleted(bench.db, tenant.organisationId, newest, load.requests);
  return {
    [`${id}.accepted`]: load.perSecond,
    [`${id}.completed`]: completed.count / completed.seconds,
    [`${id}.cpu_millrace`]: ((millraceAfter - millraceBefore) * 1000) / completed.count,
    [`${id}.cpu_postgres`]: ((postgresAfter - postgresBefore) * 1000) / completed.count,
  };
}

async function startServers(
  bench: Bench,
  variant: Variant,
  receiver: ServerProcess,
): Promise<readonly [ServerProcess, ...ServerProcess[]]> {
  const options = {
    databaseUrl: bench.databaseUrl,
    folder: await bench.createFolder(variant.id),
    artefact: await bench.artefact(),
    allowHost: new URL(receiver.baseUrl).host,
  };
  if (variant.processes === 'one') return [await startMillrace({ command: 'start', ...options })];
  const api = await startMillrace({ command: 'api', ...options });
  return [api, await startMillrace({ command: 'worker', ...options })];
}

async function residentMib(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(readResidentMib));
  return sizes.reduce((sum, mib) => sum + mib, 0);
}
