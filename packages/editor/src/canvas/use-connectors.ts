import { send } from '@millrace/ui/api/client.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointKey, endpointQuery } from '@millrace/ui/api/query.ts';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Operations, and triggers of services: `connector.slack.send_message`, `trigger.slack.new_message`; `own.` are the organisation's. */
const OF_CONNECTOR = /^(?:connector|own|trigger\.\w+)\./;

/** Whether a node's title and form may need the node types of connectors; an agent has nodes as tools. */
export function needsConnectors({ type }: { readonly type: string }): boolean {
  return OF_CONNECTOR.test(type) || type === 'ai.agent';
}

/** Types of an organisation's own connectors in the JSON of a node: its own, or those of an agent's tools. */
const OWN_TYPE = /"(?:trigger\.)?own\.([a-z][a-z0-9_]{0,59})\./g;

/** Own connectors that one request may ask for, as in admin-api. */
const MAX_ASKED = 100;

/**
 * Which node types of connectors a flow needs for its titles and handles.
 * @returns null: none. Else the names of the organisation's own connectors, separated by commas, or an empty text: only common ones
 */
export function connectorsOf(
  nodes: readonly { readonly type: string; readonly data?: object }[],
): string | null {
  const names = new Set<string>();
  let isNeeded = false;
  for (const node of nodes) {
    if (!needsConnectors(node)) continue;
    isNeeded = true;
    // The editor asks after every change, so only what may name others is read as a whole.
    const text = JSON.stringify(node.type === 'ai.agent' ? (node.data ?? null) : node.type);
    for (const [, name = ''] of text.matchAll(OWN_TYPE)) names.add(name);
  }
  return isNeeded ? [...names].join(',') : null;
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

/** All of every node type of the organisation's own connectors. Whoever needs outlines keeps them fresh once they are there. */
function useWholeOwn(needed: 'no' | 'if there' | 'yes') {
  return useQuery({
    ...endpointQuery('GET /orgs/:org/connector-types', { params: { org: useOrg() } }),
    staleTime: OWN_STALE_MS,
    enabled: ({ state }) => needed === 'yes' || (needed === 'if there' && state.data !== undefined),
  });
}

const OWN_OUTLINE = 'GET /orgs/:org/connector-types/outline';

/** By organisation: its own connectors in flows that this page has shown. They share a query, so that all readers find its result. */
const shownOwn = new Map<number, Set<string>>();

function ownOutline(org: number) {
  return queryOptions({
    queryKey: endpointKey(OWN_OUTLINE, { params: { org } }),
    queryFn: ({ signal }) => {
      const connectors = [...(shownOwn.get(org) ?? [])].slice(-MAX_ASKED).join(',');
      return send(OWN_OUTLINE, { params: { org }, query: { connectors }, signal });
    },
    staleTime: OWN_STALE_MS,
  });
}

/**
 * The node types of connectors, those of the organisation's own apart from the others; undefined until they have loaded.
 * @param needed as {@link connectorsOf} returns it; null: only what others have loaded
 */
export function useConnectors(needed: string | null) {
  const org = useOrg();
  const queryClient = useQueryClient();
  // Before the queries, whose own effects fetch.
  useEffect(() => {
    const shown = shownOwn.get(org) ?? new Set();
    const missing = (needed ?? '').split(',').filter((name) => name !== '' && !shown.has(name));
    if (missing.length === 0) return;
    shownOwn.set(org, new Set([...shown, ...missing]));
    void queryClient.invalidateQueries({ queryKey: endpointKey(OWN_OUTLINE, { params: { org } }) });
  }, [needed, org, queryClient]);
  const whole = useQuery({ ...wholeConnectors, enabled: false });
  const outline = useQuery({
    ...endpointQuery('GET /connectors/outline'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: needed !== null && whole.data === undefined,
  });
  const wholeOwn = useWholeOwn(needed === null ? 'no' : 'if there').data;
  const outlineOfOwn = useQuery({
    ...ownOutline(org),
    enabled: needed !== null && needed !== '' && wholeOwn === undefined,
  }).data;
  return { common: whole.data ?? outline.data, own: wholeOwn ?? outlineOfOwn };
}

/**
 * Loads all of every node type, for forms and for the palette.
 * @param ofConnectors those of connectors, too
 */
export function useWholeTypes({ ofConnectors }: { readonly ofConnectors: boolean }) {
  const types = useQuery(wholeTypes);
  const connectors = useQuery({ ...wholeConnectors, enabled: ofConnectors });
  const own = useWholeOwn(ofConnectors ? 'yes' : 'no');
  const asked = ofConnectors ? [types, connectors, own] : [types];
  return {
    areThere: asked.every(({ data }) => data !== undefined),
    /** False without a connection, too: nothing comes then. */
    areLoading: asked.some(({ data, fetchStatus }) => data === undefined && fetchStatus === 'fetching'),
    /** Null: nothing has failed. */
    error: asked.find(({ error, data }) => error !== null && data === undefined)?.error ?? null,
    retry: () => {
      for (const { isError, refetch } of asked) if (isError) void refetch();
    },
  };
}
