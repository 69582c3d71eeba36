import { readCpuMs, withChildren } from '../process-facts.ts';
import type { Bench, Metric, Readings, Row } from '../row.ts';
import { startBareServer } from '../server-process.ts';
import { INPUT_BODY } from '../workflows.ts';

const DURABLE = 'one durable row each, commits shared';

/** Fastify alone: the upper limit for this machine, this load generator and this protocol. */
export const bareRow: Row = {
  id: 'bare',
  metrics: serverMetrics('bare', '202 to a JSON body'),
  measure: (bench) => measureServer(bench, 'bare', []),
};

/** One durable row per request, with shared commits: the upper limit for any service that stores what it accepts. */
export const coalescedRow: Row = {
  id: 'coalesced',
  metrics: [
    ...serverMetrics('coalesced', DURABLE),
    {
      id: 'coalesced.cpu_postgres',
      section: 'Processor time',
      label: `PostgreSQL, per request: ${DURABLE}`,
      unit: 'µs',
    },
  ],
  measure: (bench) => measureServer(bench, 'coalesced', [bench.databaseUrl]),
};

function serverMetrics(id: string, what: string): Metric[] {
  return [
    { id, section: 'Throughput', label: `Bare Fastify: ${what}`, unit: '/s' },
    {
      id: `${id}.cpu_server`,
      section: 'Processor time',
      label: `Bare Fastify, per request: ${what}`,
      unit: 'µs',
    },
  ];
}

async function measureServer(
  bench: Bench,
  name: 'bare' | 'coalesced',
  args: readonly string[],
): Promise<Readings> {
  const { connections, seconds, warmupSeconds } = bench.effort;
  const server = await startBareServer(name, args);
  const job = {
    url: `${server.baseUrl}/start`,
    headers: { 'content-type': 'application/json' },
    body: INPUT_BODY,
    connections,
    freshHeader: null,
  };
  try {
    await bench.load.saturate({ ...job, seconds: warmupSeconds });
    const postgres = await withChildren(bench.postgresPid);
    const before = await Promise.all([readCpuMs([server.pid]), readCpuMs(postgres)]);
    const { perSecond, requests } = await bench.load.saturate({ ...job, seconds });
    const after = await Promise.all([readCpuMs([server.pid]), readCpuMs(postgres)]);
    return {
      [name]: perSecond,
      [`${name}.cpu_server`]: ((after[0] - before[0]) * 1000) / requests,
      [`${name}.cpu_postgres`]: ((after[1] - before[1]) * 1000) / requests,
    };
  } finally {
    await server.stop();
  }
}
