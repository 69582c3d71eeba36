import type { OnProgress } from './backup.ts';
import type { Manifest, TableChecksum } from './manifest.ts';
import type { MovingKeys } from './reseal.ts';

export interface RestoreOptions {
  /** Called if the backup is encrypted. */
  readonly askPassphrase: () => Promise<string>;
  /** Called before everything is stored, so that a failure undoes the restore. */
  readonly placeKeys: (manifest: Manifest) => Promise<void>;
  /** For one organisation, whose secrets are encrypted anew. */
  readonly keys: MovingKeys;
  /** Leaves what is restored paused. */
  readonly isPaused: boolean;
  readonly onProgress?: OnProgress;
}

/** What was restored. */
export interface RestoreSummary {
  readonly manifest: Manifest;
  readonly tables: readonly TableChecksum[];
  /** Migrations that were applied to the restored data, because the backup is older. */
  readonly migrated: readonly string[];
  /** Executions that were running and now wait for a worker. */
  readonly requeued: number;
  /** With a backup of one organisation. */
  readonly organisation?: MovedOrganisation;
}

/** An organisation that was restored beside others. */
export interface MovedOrganisation {
  readonly id: number;
  readonly name: string;
  /** Accounts of its members that are new here; the others had one with the same address. */
  readonly accounts: number;
  /** Members and invitations that administered the former instance; here they administer their organisation. */
  readonly demoted: number;
}
