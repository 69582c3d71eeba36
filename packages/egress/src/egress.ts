import type { HttpClient } from '@millrace/engine';
import { createGuardedHttpClient } from './guarded-client.ts';
import { createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';
import { createGuardedSockets, type GuardedSockets } from './guarded-socket.ts';
import { type HostLimitSettings, HostLimits } from './host-limits.ts';
import { createOrganisationOutbound, type ReadAllowedHosts } from './of-organisation.ts';

/** Guarded access to the network, narrowed to the hosts the organisation allows; one instance per process. */
export interface Egress {
  readonly http: (organisationId: number) => HttpClient;
  readonly fetch: (organisationId: number) => Pick<GuardedFetch, 'fetch'>;
  readonly sockets: (organisationId: number) => GuardedSockets;
  /** Who may call which host now. */
  readonly hosts: HostLimits;
  /** Aborts what is in progress and closes all connections. */
  close(): Promise<void>;
}

/**
 * @param allowHosts entries of MILLRACE_ALLOW_HOSTS
 * @param readHosts returns which of them an organisation allows
 * @param limits of calls to one host
 * @throws Error when an entry can't be parsed
 */
export function createEgress(
  allowHosts: readonly string[],
  readHosts: ReadAllowedHosts,
  limits: HostLimitSettings,
): Egress {
  const client = createGuardedHttpClient({ allowHosts });
  const guardedFetch = createGuardedFetch({ allowHosts });
  const sockets = createGuardedSockets({ allowHosts });
  const hosts = new HostLimits(limits);
  const narrowed = createOrganisationOutbound(readHosts, hosts);
  return {
    hosts,
    http: (organisationId) => narrowed.http(organisationId, client),
    fetch: (organisationId) => narrowed.fetch(organisationId, guardedFetch),
    sockets: (organisationId) => narrowed.sockets(organisationId, sockets),
    async close() {
      await Promise.all([client.close(), guardedFetch.close()]);
    },
  };
}
