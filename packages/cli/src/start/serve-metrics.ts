import type { AddressInfo } from 'node:net';
import { createMetricsPage } from '@millrace/api/metrics/page';
import { createMetricsServer } from '@millrace/api/metrics/server';
import type { PgDatabase } from '@millrace/database/pool';
import type { Meters } from '@millrace/runtime/meters/meters';
import { createSnapshots } from '@millrace/service/system/snapshot';
import type { Logger } from 'pino';
import { type Config, localUrl } from '../settings/config.ts';
import { explainListenError } from './listen.ts';

export interface ServedMetrics {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics`, if it is configured.
 * @throws ListenError
 */
export async function serveMetrics(
  { metrics, storage, files }: Pick<Config, 'metrics' | 'storage' | 'files'>,
  { db, meters, log }: { readonly db: PgDatabase; readonly meters: Meters; readonly log: Logger },
): Promise<ServedMetrics | null> {
  const { port, host, token, busiest, queryMs } = metrics;
  if (port === null) return null;
  const snapshots = createSnapshots({ db, log, everyMs: queryMs, busiest });
  const limits = { ...storage, filesBytes: files.organisationBytes };
  const page = createMetricsPage({ meters, pool: db, snapshots, limits });
  const server = createMetricsServer({ page, token, log });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  }).catch((error: unknown) => {
    throw explainListenError(error, host, port, 'MILLRACE_METRICS_');
  });
  const url = `${localUrl(host, (server.address() as AddressInfo).port)}/metrics`;
  log.info({ url }, 'metrics served');
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
