import { type HttpClient, HttpClientError } from '@millrace/engine';
import { coalesce } from '../db/coalesce.ts';
import type { Queryable } from '../db/database.ts';
import { listAllowedHosts } from '../features/settings/store.ts';
import { whileAway } from '../services/patience.ts';
import { targetOf } from './allow-hosts.ts';
import type { GuardedHttpClient } from './guarded-client.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import type { GuardedSockets } from './guarded-socket.ts';
import { createNarrowRules, type NarrowRules } from './narrowed.ts';

/** Makes the ways out of an organisation's nodes: those of the service, narrowed to the hosts the organisation allows. */
export interface OrganisationOutbound {
  http(organisationId: number, client: GuardedHttpClient): HttpClient;
  fetch(organisationId: number, guarded: GuardedFetch): Pick<GuardedFetch, 'fetch'>;
  sockets(organisationId: number, guarded: GuardedSockets): GuardedSockets;
}

/** Organisations whose hosts are read by one statement. */
const MOST_AT_ONCE = 500;

/**
 * The organisation's hosts are read anew for every call, so that a change acts at once, in all processes. Calls that come at the
 * same time share a statement, which begins after each of them.
 */
export function createOrganisationOutbound(db: Queryable): OrganisationOutbound {
  const readHosts = coalesce<number, readonly string[] | null>({
    run: (organisationIds) => readAllowedHosts(db, organisationIds),
    maxItems: MOST_AT_ONCE,
  });
  return {
    http: (organisationId, client) => ({
      async send(request, signal) {
        const rules = await readRules(readHosts, organisationId);
        return rules === null ? client.send(request, signal) : client.narrowedTo(rules).send(request, signal);
      },
    }),
    fetch: (organisationId, guarded) => ({
      async fetch(url, init, maxBytes) {
        const rules = await readRules(readHosts, organisationId);
        const parsed = URL.parse(url);
        // What is no URL is refused by the guarded one, in its words.
        if (parsed !== null) rules?.check(targetOf(parsed));
        return guarded.fetch(url, init, maxBytes);
      },
    }),
    sockets: (organisationId, guarded) => ({
      async connect(target, signal) {
        const rules = await readRules(readHosts, organisationId);
        const name =
          target.host.includes(':') && !target.host.startsWith('[') ? `[${target.host}]` : target.host;
        const parsed = URL.parse(`http://${name}:${target.port}/`);
        if (parsed !== null) rules?.check(targetOf(parsed));
        return guarded.connect(target, signal);
      },
    }),
  };
}

/** Null: the organisation has no list of its own. Without its rules nothing is sent. */
async function readRules(
  readHosts: (organisationId: number) => Promise<readonly string[] | null>,
  organisationId: number,
): Promise<NarrowRules | null> {
  let hosts: readonly string[] | null;
  try {
    hosts = await whileAway(() => readHosts(organisationId));
  } catch (error) {
    throw new HttpClientError(
      'connection_failed',
      'The hosts that the organisation allows could not be read, so nothing was sent.',
      { cause: error },
    );
  }
  return hosts === null ? null : createNarrowRules(hosts);
}

/** In the order of the ids; null where an organisation has no list. */
async function readAllowedHosts(
  db: Queryable,
  organisationIds: readonly number[],
): Promise<(readonly string[] | null)[]> {
  const lists = new Map(
    (await listAllowedHosts(db, [...new Set(organisationIds)])).map((row) => [
      row.organisation_id,
      row.allowed_hosts,
    ]),
  );
  return organisationIds.map((id) => lists.get(id) ?? null);
}
