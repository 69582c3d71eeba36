import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';

/** Operations, and triggers of services: `connector.slack.send_message`, `trigger.slack.new_message`; `own.` are the organisation's. */
const OF_CONNECTOR = /^(?:connector|own|trigger\.\w+)\./;

/** Whether a node's title and form may need the node types of connectors; an agent has nodes as tools. */
export function needsConnectors({ type }: { readonly type: string }): boolean {
  return OF_CONNECTOR.test(type) || type === 'ai.agent';
}

/** All of every node type but those of connectors. */
export const wholeTypes = {
  ...endpointQuery('GET /node-types'),
  staleTime: Number.POSITIVE_INFINITY,
};

/** All of every node type of connectors. */
const wholeConnectors = {
  ...endpointQuery('GET /connectors'),
  staleTime: Number.POSITIVE_INFINITY,
};

/** Someone may upload a connector while the page is open. */
const OWN_STALE_MS = 30_000;

/** How much of the node types of connectors is needed: `no`: they aren't fetched for this caller. */
type Needed = 'no' | 'outline' | 'whole';

/** All of every node type of the organisation's own connectors. Whoever needs outlines keeps them fresh once they are there. */
function useWholeOwn(needed: Needed) {
  return useQuery({
    ...endpointQuery('GET /orgs/:org/connector-types', { params: { org: useOrg() } }),
    staleTime: OWN_STALE_MS,
    enabled: ({ state }) => needed === 'whole' || (needed === 'outline' && state.data !== undefined),
  });
}

/** The node types of connectors, those of the organisation's own apart from the others; undefined until they have loaded. */
export function useConnectors(needed: Needed) {
  const whole = useQuery({ ...wholeConnectors, enabled: needed === 'whole' });
  const outline = useQuery({
    ...endpointQuery('GET /connectors/outline'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: needed === 'outline' && whole.data === undefined,
  });
  const wholeOwn = useWholeOwn(needed).data;
  const ownOutline = useQuery({
    ...endpointQuery('GET /orgs/:org/connector-types/outline', { params: { org: useOrg() } }),
    staleTime: OWN_STALE_MS,
    enabled: needed === 'outline' && wholeOwn === undefined,
  }).data;
  return { common: whole.data ?? outline.data, own: wholeOwn ?? ownOutline };
}

/**
 * Loads all of every node type, for forms and for the palette.
 * @param ofConnectors those of connectors, too
 */
export function useWholeTypes({ ofConnectors }: { readonly ofConnectors: boolean }) {
  const types = useQuery(wholeTypes);
  const connectors = useQuery({ ...wholeConnectors, enabled: ofConnectors });
  const own = useWholeOwn(ofConnectors ? 'whole' : 'no');
  const asked = ofConnectors ? [types, connectors, own] : [types];
  return {
    areThere: asked.every(({ data }) => data !== undefined),
    /** Null: nothing has failed. */
    error: asked.find(({ error, data }) => error !== null && data === undefined)?.error ?? null,
    retry: () => {
      for (const { isError, refetch } of asked) if (isError) void refetch();
    },
  };
}
