import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { OPERATIONS } from './operations.ts';

/*
 * Prints how much processor time each operation that a tenant's data can make the service do takes at a stretch, while nothing else runs,
 * and in all. Each runs in a thread of its own, which ends after {@link LIMIT_MS}.
 *
 *   npm run bench:main-thread [-- part of a name]
 */

const LIMIT_MS = 120_000;

interface Reading {
  readonly longestMs: number;
  readonly totalMs: number;
}

if (isMainThread) await measureAll(process.argv[2] ?? '');
else parentPort?.postMessage(await measure(workerData as number));

async function measureAll(part: string): Promise<void> {
  console.log('| Operation | Data | Longest at a stretch | In all |\n|---|---|---:|---:|');
  for (const [index, { name, size }] of OPERATIONS.entries()) {
    if (!name.includes(part)) continue;
    const reading = await inThread(index);
    const [longest, total] =
      typeof reading === 'string' ? [reading, reading] : [ms(reading.longestMs), ms(reading.totalMs)];
    console.log(`| ${name} | ${size} | ${longest} | ${total} |`);
  }
}

function inThread(index: number): Promise<Reading | string> {
  const thread = new Worker(new URL(import.meta.url), { workerData: index });
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(`more than ${LIMIT_MS / 1_000} s`), LIMIT_MS);
    const end = (reading: Reading | string): void => {
      clearTimeout(timer);
      void thread.terminate();
      resolve(reading);
    };
    thread.on('message', end);
    thread.on('error', (error) => end(error.message));
  });
}

/** Processor time of this thread in milliseconds: what others compute meanwhile doesn't count. */
function now(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** The longest time between two turns of the event loop while the operation runs. */
async function measure(index: number): Promise<Reading> {
  const operation = OPERATIONS[index];
  if (operation === undefined) throw new Error(`there is no operation ${index}`);
  const run = operation.prepare();
  let longestMs = 0;
  let lastTurn = now();
  let isDone = false;
  const turn = (): void => {
    const at = now();
    longestMs = Math.max(longestMs, at - lastTurn);
    lastTurn = at;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise((resolve) => setImmediate(resolve));
  const startedAt = now();
  await run();
  const totalMs = now() - startedAt;
  isDone = true;
  turn();
  return { longestMs, totalMs };
}

function ms(value: number): string {
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;
}
