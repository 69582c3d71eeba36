import type { HttpClient } from '@millrace/engine';
import { createGuardedHttpClient } from './guarded-client.ts';
import { createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';
import { createGuardedSockets, type GuardedSockets } from './guarded-socket.ts';
import { createOrganisationOutbound, type ReadAllowedHosts } from './of-organisation.ts';

/** The ways out to the network, guarded, and narrowed to what the organisation allows; one set for a whole process. */
export interface Egress {
  readonly http: (organisationId: number) => HttpClient;
  readonly fetch: (organisationId: number) => Pick<GuardedFetch, 'fetch'>;
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** Ends what is under way and closes all connections. */
  close(): Promise<void>;
}

/**
 * @param allowHosts entries of MILLRACE_ALLOW_HOSTS
 * @param readHosts tells what an organisation allows of them
 * @throws Error when one of them cannot be read
 */
export function createEgress(allowHosts: readonly string[], readHosts: ReadAllowedHosts): Egress {
  const client = createGuardedHttpClient({ allowHosts });
  const guardedFetch = createGuardedFetch({ allowHosts });
  const sockets = createGuardedSockets({ allowHosts });
  const narrowed = createOrganisationOutbound(readHosts);
  return {
    http: (organisationId) => narrowed.http(organisationId, client),
    fetch: (organisationId) => narrowed.fetch(organisationId, guardedFetch),
    sockets: (organisationId) => narrowed.sockets(organisationId, sockets),
    async close() {
      await Promise.all([client.close(), guardedFetch.close()]);
    },
  };
}
