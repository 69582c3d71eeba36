import { countCompleted, newestExecution, waitUntilDrained } from '../executions.ts';
import type { Bench, Readings, Row } from '../row.ts';
import { startMillrace } from '../server-process.ts';
import { createTenant, createWorkflow } from '../tenant.ts';
import { batchBody, INPUT_BODY, ONE_NODE } from '../workflows.ts';

/** Starts per request. */
const ITEMS = 500;
/** Few: a request has as much to do as hundreds of single starts, and what was accepted has to be executed before the row ends. */
const CONNECTIONS = 2;
/** Fraction of the measured time: batches are accepted many times faster than they are executed. */
const FRACTION = 0.25;

/** Starts in batches, and single starts of the same workflow in the same process just before; nothing is executed while they are accepted. */
export const bulkStartRow: Row = {
  id: 'bulk-start',
  metrics: [
    {
      id: 'bulk-start.single',
      section: 'Throughput',
      label: 'Accepted: single starts, api only',
      unit: '/s',
    },
    {
      id: 'bulk-start.accepted',
      section: 'Throughput',
      label: `Accepted: batches of ${ITEMS}, api only`,
      unit: '/s',
    },
    { id: 'bulk-start.ratio', section: 'Throughput', label: 'Batches to single starts', unit: '×' },
  ],
  measure,
};

async function measure(bench: Bench): Promise<Readings> {
  const options = {
    databaseUrl: bench.databaseUrl,
    folder: await bench.createFolder('bulk-start'),
    artefact: await bench.artefact(),
    // Both kinds of starts are only stored.
    environment: { MILLRACE_RUN_AHEAD_NODES: '0' },
  };
  const api = await startMillrace({ command: 'api', ...options });
  try {
    const tenant = await createTenant(bench.db, 'bulk-start');
    const workflowId = await createWorkflow(api.baseUrl, tenant, 'bulk start', ONE_NODE);
    const path = `${api.baseUrl}/api/v1/workflows/${workflowId}`;
    const headers = { ...tenant.headers, 'content-type': 'application/json' };
    const { effort, load } = bench;
    const single = {
      url: `${path}/execute`,
      headers,
      body: INPUT_BODY,
      connections: effort.connections,
      freshHeader: null,
    };
    const batch = {
      ...single,
      url: `${path}/executions/batch`,
      body: batchBody(ITEMS),
      connections: CONNECTIONS,
    };
    const seconds = Math.max(1, effort.seconds * FRACTION);
    const newest = await newestExecution(bench.db);
    const warmUps = [
      await load.saturate({ ...single, seconds: 1 }),
      await load.saturate({ ...batch, seconds: 1 }),
    ];
    const ofSingles = await load.saturate({ ...single, seconds });
    const ofBatches = await load.saturate({ ...batch, seconds });
    const worker = await startMillrace({ command: 'worker', ...options });
    try {
      await waitUntilDrained(bench.db);
    } finally {
      await worker.stop();
    }
    const [warmUp, warmUpOfBatches] = warmUps;
    const accepted =
      (warmUp?.requests ?? 0) +
      ofSingles.requests +
      ((warmUpOfBatches?.requests ?? 0) + ofBatches.requests) * ITEMS;
    await countCompleted(bench.db, tenant.organisationId, newest, accepted);
    return {
      'bulk-start.single': ofSingles.perSecond,
      'bulk-start.accepted': ofBatches.perSecond * ITEMS,
      'bulk-start.ratio': (ofBatches.perSecond * ITEMS) / ofSingles.perSecond,
    };
  } finally {
    await api.stop();
  }
}
