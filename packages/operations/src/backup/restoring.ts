import type { NodeRegistry } from '@millrace/engine';
import type { FileStore } from '@millrace/files/file-store';
import type { Manifest, TableChecksum } from './manifest.ts';
import type { Renumbering } from './moved-rows.ts';
import type { OnProgress } from './progress.ts';
import type { MovingKeys } from './reseal.ts';

export interface RestoreOptions {
  /** Called if the backup is encrypted. */
  readonly askPassphrase: () => Promise<string>;
  /** Called before everything is stored, so that a failure undoes the restore. */
  readonly placeKeys: (manifest: Manifest) => Promise<void>;
  /** For one organisation, whose secrets are encrypted anew. */
  readonly keys: MovingKeys;
  /** Where contents of files are written to, and what stays free on its disk; null: they are left out. */
  readonly files: { readonly store: FileStore; readonly freeDiskBytes: number } | null;
  /** Leaves what is restored paused. */
  readonly isPaused: boolean;
  /** Of one organisation, instead of its own. */
  readonly name?: string | undefined;
  /** Refuses one organisation whose ids have to change. */
  readonly keepsIds?: boolean;
  /** Says where flows name workflows and credentials. */
  readonly registry: NodeRegistry;
  readonly onProgress?: OnProgress;
}

/** What was restored. */
export interface RestoreSummary {
  readonly manifest: Manifest;
  readonly tables: readonly TableChecksum[];
  /** Migrations that were applied to the restored data, because the backup is older. */
  readonly migrated: readonly string[];
  /** Contents of files that were written. */
  readonly files: number;
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
  /** See `MappedAccounts`. */
  readonly unproved: readonly string[];
  readonly revokedKeys: number;
  /** What has other ids here; requests with the former ones still find it. */
  readonly renumbered: readonly Renumbering[];
}
