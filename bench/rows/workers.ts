import { setTimeout as pause } from 'node:timers/promises';
import { newestExecution, waitUntilDrained } from '../executions.ts';
import type { Bench, Metric, Readings, Row } from '../row.ts';
import { type ServerProcess, startBareServer, startMillrace } from '../server-process.ts';
import { createTenant, createWorkflow } from '../tenant.ts';
import { batchBody, callOut } from '../workflows.ts';

/** Workers that are compared. */
const COUNTS = [1, 2, 4] as const;
/** Few, so that waiting for the calls limits the throughput, and not the processors. */
const SLOTS = 12;
const CALLS_PER_SLOT_AND_SECOND = 5;
/** Starts per request. */
const ITEMS = 500;
const LEASE_POLL_MS = 50;
/** After a worker joined or left: it takes what it may, or hands back what it had. */
const SETTLING_MS = 1_000;

const ENVIRONMENT = {
  MILLRACE_ALLOW_HOSTS: '127.0.0.1',
  MILLRACE_WORKER_CONCURRENCY: String(SLOTS),
  // Executions of the worker that is killed are run again within seconds.
  MILLRACE_LEASE_MS: '4000',
  MILLRACE_HEARTBEAT_MS: '1000',
};

const throughput = (id: string, label: string): Metric => ({ id, section: 'Throughput', label, unit: '/s' });

/** Executions with a call of 200 ms, run by one, two and four workers from one queue. */
export const workersRow: Row = {
  id: 'workers',
  metrics: [
    ...COUNTS.map((count) =>
      throughput(`workers.${count}`, `Completed: call of 200 ms, ${count} × ${SLOTS} slots`),
    ),
    throughput('workers.joined', 'Completed: the same, one worker, after three joined'),
    throughput('workers.left', 'Completed: the same, after one of the four was stopped'),
    throughput('workers.killed', 'Completed: the same, after one of the three was killed'),
  ],
  measure,
};

async function measure(bench: Bench): Promise<Readings> {
  const receiver = await startBareServer('slow');
  const options = { databaseUrl: bench.databaseUrl, folder: await bench.createFolder('workers') };
  const api = await startMillrace({ command: 'api', ...options, environment: ENVIRONMENT });
  try {
    const tenant = await createTenant(bench.db, 'workers');
    const workflowId = await createWorkflow(api.baseUrl, tenant, 'call', callOut(receiver.baseUrl));
    const crew = new Crew(bench, options);
    const queue = async (seconds: number, workers: number): Promise<void> => {
      const requests = Math.ceil((seconds * workers * SLOTS * CALLS_PER_SLOT_AND_SECOND) / ITEMS);
      for (let n = 0; n < requests; n += 1) {
        const answer = await fetch(`${api.baseUrl}/api/v1/workflows/${workflowId}/executions/batch`, {
          method: 'POST',
          headers: { ...tenant.headers, 'content-type': 'application/json' },
          body: batchBody(ITEMS),
        });
        if (answer.status !== 202) throw new Error(`starts were refused with ${answer.status}`);
        await answer.arrayBuffer();
      }
    };
    let readings: Readings = {};
    for (const count of COUNTS) {
      readings = { ...readings, [`workers.${count}`]: await crew.drain(count, queue) };
    }
    return { ...readings, ...(await crew.change(queue)) };
  } finally {
    await api.stop();
    await receiver.stop();
  }
}

type Queue = (seconds: number, workers: number) => Promise<void>;

/** Workers that come and go. */
class Crew {
  readonly #bench: Bench;
  readonly #options: { readonly databaseUrl: string; readonly folder: string };
  #workers: ServerProcess[] = [];

  constructor(bench: Bench, options: { readonly databaseUrl: string; readonly folder: string }) {
    this.#bench = bench;
    this.#options = options;
  }

  /** @returns executions a second, from the first that is begun to the last that is completed */
  async drain(count: number, queue: Queue): Promise<number> {
    const { db, effort } = this.#bench;
    await this.#become(count);
    try {
      // Warms up compilers and connections.
      await queue(1, count);
      await waitUntilDrained(db);
      const newest = await newestExecution(db);
      await queue(effort.seconds, count);
      await waitUntilDrained(db);
      const [row] = await db.query<{ per_second: number }>(
        `SELECT (count(*) / extract(epoch FROM max(completed_at) - min(started_at)))::double precision AS per_second
         FROM executions WHERE id > $1 AND status = 'completed'`,
        [newest],
      );
      return row?.per_second ?? 0;
    } finally {
      await this.#become(0);
    }
  }

  /** Three join one worker, one leaves, one is killed, while there is always enough to do. */
  async change(queue: Queue): Promise<Readings> {
    const { db, effort } = this.#bench;
    const newest = await newestExecution(db);
    await this.#become(1);
    try {
      await queue(3 * effort.seconds + 20, Math.max(...COUNTS));
      await this.#become(4);
      const joined = await this.#rate();
      await this.#become(3);
      const left = await this.#rate();
      const [victim] = this.#workers.splice(0, 1);
      if (victim !== undefined) process.kill(victim.pid, 'SIGKILL');
      const killed = await this.#rate();
      await this.#become(4);
      await waitUntilDrained(db);
      const [row] = await db.query<{ others: number }>(
        `SELECT count(*) AS others FROM executions WHERE id > $1 AND status <> 'completed'`,
        [newest],
      );
      if (row?.others !== 0) throw new Error(`${row?.others} executions did not complete`);
      return { 'workers.joined': joined, 'workers.left': left, 'workers.killed': killed };
    } finally {
      await this.#become(0);
    }
  }

  /** Executions completed a second, for the measured time. */
  async #rate(): Promise<number> {
    await pause(SETTLING_MS);
    const count = async (): Promise<{ completed: number; atMs: number }> => {
      const [row] = await this.#bench.db.query<{ completed: number; atMs: number }>(
        `SELECT count(*) AS completed, (extract(epoch FROM now()) * 1000)::double precision AS "atMs"
         FROM executions WHERE status = 'completed'`,
      );
      if (row === undefined) throw new Error('a count has a row');
      return row;
    };
    const before = await count();
    await pause(this.#bench.effort.seconds * 1_000);
    const after = await count();
    return ((after.completed - before.completed) * 1_000) / (after.atMs - before.atMs);
  }

  /** Starts or stops workers until there are that many, each with a lease. */
  async #become(count: number): Promise<void> {
    while (this.#workers.length > count) await this.#workers.pop()?.stop();
    while (this.#workers.length < count) {
      this.#workers.push(
        await startMillrace({ command: 'worker', ...this.#options, environment: ENVIRONMENT }),
      );
    }
    for (;;) {
      const rows = await this.#bench.db.query<{ pid: number }>(
        'SELECT pid FROM workers WHERE lease_expires_at > clock_timestamp()',
      );
      const pids = new Set(rows.map(({ pid }) => pid));
      if (this.#workers.every(({ pid }) => pids.has(pid))) return;
      await pause(LEASE_POLL_MS);
    }
  }
}
