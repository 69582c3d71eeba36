import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';

/** Operations, and triggers of services: `connector.slack.send_message`, `trigger.slack.new_message`. */
const OF_CONNECTOR = /^(?:connector|trigger\.\w+)\./;

/** Whether a node's title and form may need the node types of connectors; an agent has nodes as tools. */
export function needsConnectors({ type }: { readonly type: string }): boolean {
  return OF_CONNECTOR.test(type) || type === 'ai.agent';
}

/**
 * The node types of connectors; undefined until they have loaded.
 * @param isNeeded false: they aren't fetched for this caller
 */
export function useConnectors(isNeeded: boolean) {
  const { data } = useQuery({
    ...endpointQuery('GET /connectors'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: isNeeded,
  });
  return data;
}
