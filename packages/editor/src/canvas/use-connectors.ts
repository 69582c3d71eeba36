import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';

/** Operations, and triggers of services: `connector.slack.send_message`, `trigger.slack.new_message`; `own.` are the organisation's. */
const OF_CONNECTOR = /^(?:connector|own|trigger\.\w+)\./;

/** Whether a node's title and form may need the node types of connectors; an agent has nodes as tools. */
export function needsConnectors({ type }: { readonly type: string }): boolean {
  return OF_CONNECTOR.test(type) || type === 'ai.agent';
}

/** Someone may upload a connector while the page is open. */
const OWN_STALE_MS = 30_000;

/**
 * The node types of connectors, those of the organisation's own apart from the others; undefined until they have loaded.
 * @param isNeeded false: they aren't fetched for this caller
 */
export function useConnectors(isNeeded: boolean) {
  const { data } = useQuery({
    ...endpointQuery('GET /connectors'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isNeeded,
  });
  const own = useQuery({
    ...endpointQuery('GET /orgs/:org/connector-types', { params: { org: useOrg() } }),
    staleTime: OWN_STALE_MS,
    enabled: isNeeded,
  });
  return { common: data, own: own.data };
}
