import type { PgDatabase } from '@millrace/database/pool';
import type { FileStore } from '@millrace/files/file-store';
import { createOwnedStore, readInstallationId } from '@millrace/files/folder-owner';
import type { Config } from '../settings/config.ts';

/** The folder with the contents of files, if it is this database's. */
export function filesOf(db: PgDatabase, config: Pick<Config, 'files'>): FileStore {
  return createOwnedStore(config.files.folder, () => readInstallationId(db));
}
