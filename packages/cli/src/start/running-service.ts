import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateFile } from '@millrace/database/embedded/cluster';

/** The content of `service.json` in the data folder while the service runs. */
export interface RunningService {
  readonly pid: number;
  /** Base URL of the API; null for a process without one. */
  readonly address: string | null;
  readonly startedAt: string;
}

/** The service running on a data folder, or null. A file left behind by a killed process is ignored. */
export async function readRunningService(dataDir: string): Promise<RunningService | null> {
  const text = await readFile(join(dataDir, 'service.json'), 'utf8').catch(() => null);
  if (text === null) return null;
  const service: RunningService = JSON.parse(text);
  try {
    process.kill(service.pid, 0);
    return service;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? service : null;
  }
}

export async function writeRunningService(dataDir: string, service: RunningService): Promise<void> {
  await writePrivateFile(join(dataDir, 'service.json'), `${JSON.stringify(service, null, 2)}\n`);
}

export async function removeRunningService(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'service.json'), { force: true });
}
