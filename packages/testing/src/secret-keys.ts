import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretKeys, type SecretKeys } from '@millrace/secrets/keys';

/** Keys of a process configured with `current` (and `previous`) by variable. */
export function keysOfVariable(current: Buffer = randomBytes(32), ...previous: Buffer[]): SecretKeys {
  return createSecretKeys({ dataDir: '/nowhere', secretKeys: { current, previous } });
}

/** A separate data folder for keys in a file. */
export interface KeyFolder {
  readonly dataDir: string;
  /** Another process on the same folder: it only knows what it has read. */
  open(): SecretKeys;
  remove(): Promise<void>;
}

export async function createKeyFolder(): Promise<KeyFolder> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-data-'));
  return {
    dataDir,
    open: () => createSecretKeys({ dataDir, secretKeys: { current: null, previous: [] } }),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}
