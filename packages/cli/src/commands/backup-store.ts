import type { PgDatabase } from '@millrace/database/pool';
import type { FileStore } from '@millrace/files/file-store';
import { openStore } from '@millrace/files/open-store';
import { readInstallationId } from '@millrace/files/owned-store';
import type { Config } from '../settings/config.ts';

/** The store with the contents of files, if it is this database's. */
export function filesOf(db: PgDatabase, config: Pick<Config, 'files'>): FileStore {
  return openStore(config.files, () => readInstallationId(db));
}
