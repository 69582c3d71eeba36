import { CONNECTIONS_PER_PROCESS } from '@millrace/database/pool';
import type { Installation } from '@millrace/operations/doctor/machine-findings';
import type { Config } from '../settings/config.ts';

/** What the doctor has to know of the settings. */
export function installationOf(config: Config): Installation {
  const { host, publicUrl, publicUrlIsExplicit, trustProxy, databaseUrl, dataDir, files } = config;
  return {
    host,
    publicUrl,
    publicUrlIsExplicit,
    trustProxy,
    dataDir: databaseUrl === null ? dataDir : null,
    files,
    connectionsPerProcess: CONNECTIONS_PER_PROCESS,
  };
}
