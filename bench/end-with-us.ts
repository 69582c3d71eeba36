import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ends: (() => void)[] = [];

process.on('exit', () => {
  for (const end of ends.reverse()) {
    try {
      end();
    } catch {
      // What it was to end has ended by itself.
    }
  }
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/** Ends a process when this one ends in whatever way but SIGKILL; one that is not running by then is left alone. */
export function killAtExit(pid: number, signal: NodeJS.Signals, isRunning: () => boolean): void {
  ends.push(() => {
    if (isRunning()) process.kill(pid, signal);
  });
}

/** When this process ends: stops the embedded PostgreSQL that may run on `dataDir`, and deletes `folder` around it. */
export function clearAtExit(folder: string, dataDir: string): void {
  ends.push(() => removeFolder(folder));
  ends.push(() => {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
  });
}

/** A server on its way out still writes and removes files of its own: then a removal stops half way, without an error. */
function removeFolder(folder: string): void {
  for (let attempt = 1; attempt <= 50 && existsSync(folder); attempt += 1) {
    // Nothing asynchronous happens any more while a process exits.
    if (attempt > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    rmSync(folder, { recursive: true, force: true });
  }
}
