import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { endpointQuery } from '../../../api/query.ts';
import type { EditorStore } from '../../../canvas/store.ts';

/** Shows templates what the trigger brings: the sample, else what the last execution was started with. */
export function useShownSample(org: number, workflowId: number, store: EditorStore): void {
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflowId } }),
  );
  useEffect(() => {
    const former = data?.executions.find(({ input }) => input !== undefined)?.input;
    store.getState().showSample(data?.sample?.data ?? former ?? null);
  }, [store, data]);
}
