import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveClient } from './http.ts';

/** Posts at fixed times, however long earlier ones take. */
export interface OpenLoop {
  readonly kind: 'open-loop';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where the started executions are read; each is followed until it is final. Null: the responses are all there is. */
  readonly executionsUrl: string | null;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** Milliseconds from sending each request until its execution is known to be completed; until its response if none is followed. */
  readonly completedMs: readonly number[];
  /** Milliseconds until its receipt was read. */
  readonly acceptedMs: readonly number[];
}

/** @throws if a start was refused or an execution did not complete */
export async function runOpenLoop(job: OpenLoop): Promise<OpenLoopResult> {
  const client = new KeepAliveClient();
  const count = Math.max(1, Math.round(job.perSecond * job.seconds));
  const begin = performance.now();
  try {
    const times = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        await pause(Math.max(0, begin + (index * 1000) / job.perSecond - performance.now()));
        return await followOne(client, job);
      }),
    );
    return {
      acceptedMs: times.map(({ acceptedMs }) => acceptedMs),
      completedMs: times.map(({ completedMs }) => completedMs),
    };
  } finally {
    client.close();
  }
}

async function followOne(
  client: KeepAliveClient,
  job: OpenLoop,
): Promise<{ acceptedMs: number; completedMs: number }> {
  const sentAt = performance.now();
  const started = await client.send(
    'POST',
    job.url,
    { ...job.headers, 'content-type': 'application/json' },
    job.body,
  );
  const acceptedMs = performance.now() - sentAt;
  if (started.status !== 202) throw new Error(`a start was answered with ${started.status}: ${started.body}`);
  if (job.executionsUrl === null) return { acceptedMs, completedMs: acceptedMs };
  const { execution_id: id } = JSON.parse(started.body) as { execution_id: number };
  const ended = await client.send('GET', `${job.executionsUrl}/${id}?wait=30`, job.headers);
  const completedMs = performance.now() - sentAt;
  const { status } = JSON.parse(ended.body) as { status?: string };
  if (status !== 'completed') throw new Error(`execution ${id} should have completed: ${ended.body}`);
  return { acceptedMs, completedMs };
}
