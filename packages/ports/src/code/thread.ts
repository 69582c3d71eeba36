import { parentPort } from 'node:worker_threads';
import type { DocumentJob } from '../documents/protocol.ts';
import type { Job, ThreadMessage } from './protocol.ts';
import { loadSandbox, runInSandbox } from './sandbox.ts';

/** Runs in a worker thread: one job after another, each followed by one `end`. */
const port = parentPort;
if (port === null) throw new Error('this file is started as a worker thread');
const say = (message: ThreadMessage): void => port.postMessage(message);

// QuickJS asks for the time zone; fixed so that code gives the same result wherever it runs.
Date.prototype.getTimezoneOffset = () => 0;

async function runJob(job: Job): Promise<void> {
  const { outcome, usedBytes } =
    job.kind === 'code' ? await runInSandbox(job, (line) => say({ kind: 'log', line })) : await convert(job);
  say({ kind: 'end', outcome, usedBytes });
}

/** Loaded on first use, as most threads only run code. */
async function convert(job: DocumentJob) {
  const { runDocumentJob } = await import('../documents/run.ts');
  return runDocumentJob(job);
}

// A rejection ends the thread, and the pool counts the job as failed.
port.on('message', (job: Job) => void runJob(job));

await loadSandbox();
say({ kind: 'ready' });
