import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** What each thread is given. */
export interface PackedInThreads {
  readonly paths: readonly string[];
  /** How many of them a thread has taken, in memory that all of them share. */
  readonly taken: Int32Array<SharedArrayBuffer>;
}

/** More would save little: the largest file takes a second, and all of them half a minute. */
const MAX_THREADS = 8;

/**
 * Writes each file compressed beside it, with gzip and with Brotli. This is most of a build's time, so every processor takes part; what is
 * written doesn't depend on how many there are.
 * @throws the first failure, once no thread writes any more
 */
export async function packFiles(paths: readonly string[]): Promise<void> {
  const bySize = paths
    .map((path) => ({ path, bytes: statSync(path).size }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const workerData: PackedInThreads = {
    // The last ones take no time, so that all threads finish together.
    paths: bySize.map(({ path }) => path),
    taken: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
  const threads = Math.min(availableParallelism(), MAX_THREADS, paths.length);
  const ends = await Promise.allSettled(Array.from({ length: threads }, () => runThread(workerData)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function runThread(workerData: PackedInThreads): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(join(import.meta.dirname, 'pack-thread.ts'), { workerData });
    thread.once('error', reject);
    thread.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`a thread that packs files ended with ${code}`));
    });
  });
}
