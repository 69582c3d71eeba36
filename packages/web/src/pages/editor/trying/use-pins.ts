import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useRole } from '../../../api/me.ts';
import { endpointQuery } from '../../../api/query.ts';
import type { EditorStore } from '../../../canvas/store.ts';

/** Shows the outputs that I have pinned, as the service kept them. */
export function usePins(org: number, workflowId: number, store: EditorStore): void {
  const { can } = useRole();
  const { data } = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/pins', { params: { org, id: workflowId } }),
    enabled: can('editor'),
    // Read anew at each opening; from then on this page is where they are changed.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  useEffect(() => {
    const pins = (data?.items ?? []).map(({ node_id: id, output }) => [id, output]);
    store.getState().showPins(Object.fromEntries(pins));
  }, [store, data]);
}
