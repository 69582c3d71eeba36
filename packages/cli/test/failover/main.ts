import { rmSync } from 'node:fs';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeOwnFolder, sweepAbandoned } from '../faults/support/folders.ts';
import { UsageError } from '../run-options.ts';
import { runFailover } from './failover.ts';
import { HELP, parseOptions } from './options.ts';
import { endProcessesIn, missingPackages } from './patroni.ts';
import { formatReport, isGood } from './report.ts';

/** Standard output is reserved for the report. */
function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const task = parseOptions(args);
  if (task.kind === 'help') {
    process.stdout.write(`${HELP}\n`);
    return 0;
  }
  const missing = await missingPackages();
  if (missing.length > 0) {
    progress(`Skipped: this needs Debian's packages. apt-get install ${missing.join(' ')}`);
    return 0;
  }
  // Reachable for the user that PostgreSQL runs as.
  const folder = await mkdtemp(join(tmpdir(), 'mr-failover-'));
  await chmod(folder, 0o755);
  await sweepAbandoned();
  // PostgreSQL, Patroni and etcd must not outlive this process.
  process.once('exit', () => {
    endProcessesIn(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    const { kind: _, json, ...options } = task;
    const report = await runFailover(options, folder, progress);
    process.stdout.write(`${json ? JSON.stringify(report) : formatReport(report)}\n`);
    return isGood(report) ? 0 : 1;
  } finally {
    await removeOwnFolder();
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError)) throw error;
  progress(`${error.message}\n\n${HELP}`);
  return 2;
});
