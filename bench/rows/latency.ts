import { newestExecution, storedLatency, waitUntilDrained } from '../executions.ts';
import type { Bench, Row } from '../row.ts';
import { startBareServer, startMillrace } from '../server-process.ts';
import { percentile } from '../statistics.ts';
import { createTenant, createWorkflow } from '../tenant.ts';
import { INPUT_BODY, THREE_NODES } from '../workflows.ts';

const STARTS_PER_SECOND = 10;

/** Milliseconds that the coalesced bare row takes for each request, at the same pace. */
async function measureRoundTrips(bench: Bench): Promise<readonly number[]> {
  const server = await startBareServer('coalesced', [bench.databaseUrl]);
  try {
    const job = {
      url: `${server.baseUrl}/start`,
      headers: {},
      body: INPUT_BODY,
      perSecond: STARTS_PER_SECOND,
      executionsUrl: null,
    };
    await bench.load.openLoop({ ...job, seconds: bench.effort.warmupSeconds });
    return (await bench.load.openLoop({ ...job, seconds: bench.effort.seconds })).completedMs;
  } finally {
    await server.stop();
  }
}

/** How long one start takes on an otherwise idle service: 10 starts a second at fixed times, one process. */
export const latencyRow: Row = {
  id: 'latency',
  metrics: [
    {
      id: 'latency.coalesced_p50',
      section: 'Latency',
      label: 'Bare Fastify: one durable row each, p50 (10 requests/s)',
      unit: 'ms',
    },
    {
      id: 'latency.accepted_p50',
      section: 'Latency',
      label: 'Sent until accepted, p50 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
    {
      id: 'latency.completed_p50',
      section: 'Latency',
      label: 'Sent until seen completed, p50 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
    {
      id: 'latency.completed_p95',
      section: 'Latency',
      label: 'Sent until seen completed, p95 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
    {
      id: 'latency.completed_p99',
      section: 'Latency',
      label: 'Sent until seen completed, p99 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
    {
      id: 'latency.stored_p50',
      section: 'Latency',
      label: 'completed_at - created_at, p50 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
    {
      id: 'latency.stored_p95',
      section: 'Latency',
      label: 'completed_at - created_at, p95 (3 nodes, 10 starts/s)',
      unit: 'ms',
    },
  ],
  async measure(bench) {
    const folder = await bench.createFolder('latency');
    const roundTrips = await measureRoundTrips(bench);
    const artefact = await bench.artefact();
    const server = await startMillrace({
      command: 'start',
      databaseUrl: bench.databaseUrl,
      folder,
      artefact,
    });
    try {
      const tenant = await createTenant(bench.db, 'latency');
      const workflowId = await createWorkflow(server.baseUrl, tenant, 'latency', THREE_NODES);
      const job = {
        url: `${server.baseUrl}/api/v1/workflows/${workflowId}/execute`,
        headers: tenant.headers,
        executionsUrl: `${server.baseUrl}/api/v1/executions`,
        body: INPUT_BODY,
        perSecond: STARTS_PER_SECOND,
      };
      await bench.load.openLoop({ ...job, seconds: bench.effort.warmupSeconds });
      await waitUntilDrained(bench.db);
      const newest = await newestExecution(bench.db);
      const seen = await bench.load.openLoop({ ...job, seconds: bench.effort.seconds });
      const stored = await storedLatency(bench.db, tenant.organisationId, newest);
      return {
        'latency.coalesced_p50': percentile(roundTrips, 0.5),
        'latency.accepted_p50': percentile(seen.acceptedMs, 0.5),
        'latency.completed_p50': percentile(seen.completedMs, 0.5),
        'latency.completed_p95': percentile(seen.completedMs, 0.95),
        'latency.completed_p99': percentile(seen.completedMs, 0.99),
        'latency.stored_p50': stored.p50,
        'latency.stored_p95': stored.p95,
      };
    } finally {
      await server.stop();
    }
  },
};
