import { createGuardedHttpClient } from './guarded-client.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import { createGuardedSockets } from './guarded-socket.ts';
import { type HostLimitSettings, HostLimits } from './host-limits.ts';
import { createOrganisationOutbound, type ReadAllowedHosts } from './of-organisation.ts';

export type Egress = ReturnType<typeof createEgress>;

/**
 * Guarded access to the network, narrowed to the hosts the organisation allows; one instance per process.
 * @param allowHosts entries of MILLRACE_ALLOW_HOSTS
 * @param readHosts returns which of them an organisation allows
 * @param limits of calls to one host
 * @throws Error when an entry can't be parsed
 */
export function createEgress(
  allowHosts: readonly string[],
  readHosts: ReadAllowedHosts,
  limits: HostLimitSettings,
) {
  const client = createGuardedHttpClient({ allowHosts });
  const guardedFetch = createGuardedFetch({ allowHosts });
  const sockets = createGuardedSockets({ allowHosts });
  const hosts = new HostLimits(limits);
  const narrowed = createOrganisationOutbound(readHosts, hosts);
  return {
    /** Who may call which host now. */
    hosts,
    http: (organisationId: number) => narrowed.http(organisationId, client),
    fetch: (organisationId: number) => narrowed.fetch(organisationId, guardedFetch),
    sockets: (organisationId: number) => narrowed.sockets(organisationId, sockets),
    /** Aborts what is in progress and closes all connections. */
    async close(): Promise<void> {
      await Promise.all([client.close(), guardedFetch.close()]);
    },
  };
}
