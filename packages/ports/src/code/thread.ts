import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { LogLine } from '@millrace/engine';
import type { CodeJob, Job, JobOutcome, ThreadMessage } from './protocol.ts';
import { loadSandbox, runInSandbox } from './sandbox.ts';

/** Runs in a worker thread: one job after another, each followed by one `end`. */
const port = parentPort;
if (port === null) throw new Error('this file is started as a worker thread');
const say = (message: ThreadMessage): void => port.postMessage(message);

// QuickJS asks for the time zone; fixed so that code gives the same result wherever it runs.
Date.prototype.getTimezoneOffset = () => 0;

async function runJob(job: Job): Promise<void> {
  const { outcome, usedBytes } = await resultOf(job);
  say({ kind: 'end', outcome, usedBytes });
}

const onLog = (line: LogLine): void => say({ kind: 'log', line });

async function runPythonJob(
  job: CodeJob,
): Promise<{ readonly outcome: JobOutcome; readonly usedBytes: number }> {
  const { runPython } = await import('./python/run.ts');
  return runPython(job, {
    onLog,
    onImage: (image) => say({ kind: 'image', image }),
    onStart: () => say({ kind: 'start' }),
  });
}

/** What isn't code is loaded on first use, as most threads only run code. */
async function resultOf(job: Job): Promise<{ readonly outcome: JobOutcome; readonly usedBytes: number }> {
  switch (job.kind) {
    case 'code':
      return job.language === 'python' ? runPythonJob(job) : runInSandbox(job, onLog);
    case 'document': {
      const { runDocumentJob } = await import('../documents/run.ts');
      return runDocumentJob(job);
    }
    case 'schema': {
      const { runSchemaJob } = await import('../schema/run.ts');
      return runSchemaJob(job);
    }
    case 'connector': {
      const { runConnectorJob } = await import('../connectors/run.ts');
      return runConnectorJob(job);
    }
    case 'contents': {
      const { runContentJob } = await import('../contents/run.ts');
      return runContentJob(job);
    }
  }
}

const { niceness } = workerData as { readonly niceness: number };
// Elsewhere, it would apply to the whole process.
if (niceness > 0 && process.platform === 'linux') {
  // Lowering it is refused, and the process itself may have been started by nice(1).
  setPriority(Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness));
}

// A rejection ends the thread, and the pool counts the job as failed.
port.on('message', (job: Job) => void runJob(job));

await loadSandbox();
say({ kind: 'ready' });
