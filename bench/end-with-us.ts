import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ends: (() => void)[] = [];

process.on('exit', () => {
  for (const end of ends.reverse()) {
    try {
      end();
    } catch {
      // The target has ended by itself.
    }
  }
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/** Ends a process when this one ends in any way but SIGKILL; ignored if it is no longer running. */
export function killAtExit(pid: number, signal: NodeJS.Signals, isRunning: () => boolean): void {
  ends.push(() => {
    if (isRunning()) process.kill(pid, signal);
  });
}

/** When this process ends: stops an embedded PostgreSQL on `dataDir`, and deletes the enclosing `folder`. */
export function clearAtExit(folder: string, dataDir: string): void {
  ends.push(() => removeFolder(folder));
  ends.push(() => {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGQUIT');
  });
}

/** A server shutting down still writes and removes files: a removal then stops halfway, without an error. */
function removeFolder(folder: string): void {
  for (let attempt = 1; attempt <= 50 && existsSync(folder); attempt += 1) {
    // Nothing asynchronous runs while a process exits.
    if (attempt > 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    rmSync(folder, { recursive: true, force: true });
  }
}
