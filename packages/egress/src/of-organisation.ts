import type { Socket } from 'node:net';
import { type HttpClient, HttpClientError } from '@millrace/engine';
import { message } from '@millrace/messages';
import { targetOf } from './allow-hosts.ts';
import type { GuardedHttpClient } from './guarded-client.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import type { GuardedSockets } from './guarded-socket.ts';
import type { HostLimits, HostPass } from './host-limits.ts';
import { createNarrowRules, type NarrowRules } from './narrowed.ts';
import { createTurns } from './organisation-turns.ts';

/** The hosts that an organisation allows; null when it doesn't have a list. */
export type ReadAllowedHosts = (organisationId: number) => Promise<readonly string[] | null>;

/**
 * Creates the network access of an organisation's nodes: the service's, narrowed to the hosts the organisation allows.
 * @param readHosts called for every request, so that changes to the list take effect at once
 * @param limits of calls by host
 */
export function createOrganisationOutbound(readHosts: ReadAllowedHosts, limits: HostLimits) {
  return {
    http: (organisationId: number, client: GuardedHttpClient): HttpClient => ({
      async send(request, signal, room, wait) {
        const rules = await readRules(readHosts, organisationId);
        const allowed = client.ofOrganisation(rules, createTurns(limits, organisationId));
        return allowed.send(request, signal, room, wait);
      },
    }),
    fetch: (organisationId: number, guarded: GuardedFetch): Pick<GuardedFetch, 'fetch'> => ({
      async fetch(url, init, maxBytes) {
        const rules = await readRules(readHosts, organisationId);
        const parsed = URL.parse(url);
        // An invalid URL is refused by the guarded client, with its message.
        if (parsed !== null) rules?.check(targetOf(parsed));
        return guarded.fetch(url, init, maxBytes, createTurns(limits, organisationId));
      },
    }),
    sockets: (organisationId: number, guarded: GuardedSockets): GuardedSockets => ({
      async connect(target, signal, wait) {
        const rules = await readRules(readHosts, organisationId);
        const name =
          target.host.includes(':') && !target.host.startsWith('[') ? `[${target.host}]` : target.host;
        const parsed = URL.parse(`http://${name}:${target.port}/`);
        if (parsed !== null) rules?.check(targetOf(parsed));
        if (parsed === null || wait === undefined) return guarded.connect(target, signal);
        const { host, port } = targetOf(parsed);
        const call = { organisationId, host: `${host}:${port}`, quota: () => '', wait };
        return connectWithin(await limits.enter(call, signal), () => guarded.connect(target, signal));
      },
    }),
  };
}

/** The call is over when the connection is. */
async function connectWithin(pass: HostPass, connect: () => Promise<Socket>): Promise<Socket> {
  try {
    const socket = await connect();
    if (socket.destroyed) pass.leave();
    else socket.once('close', () => pass.leave());
    return socket;
  } catch (error) {
    pass.leave();
    throw error;
  }
}

/** Null: the organisation doesn't have a list. If the rules can't be read, nothing is sent. */
async function readRules(readHosts: ReadAllowedHosts, organisationId: number): Promise<NarrowRules | null> {
  let hosts: readonly string[] | null;
  try {
    hosts = await readHosts(organisationId);
  } catch (error) {
    throw new HttpClientError('connection_failed', message('egress.hosts_unknown'), { cause: error });
  }
  return hosts === null ? null : createNarrowRules(hosts);
}
