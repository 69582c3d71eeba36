import type { EditorStore } from '@millrace/editor/model/store.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Provides templates with the trigger's data: the sample, else the last execution's input. */
export function useShownSample(org: number, workflowId: number, store: EditorStore): void {
  const { data } = useQuery(
    endpointQuery('GET /orgs/:org/workflows/:id/inputs', { params: { org, id: workflowId } }),
  );
  useEffect(() => {
    const former = data?.executions.find(({ input }) => input !== undefined)?.input;
    store.getState().showSample(data?.sample?.data ?? former ?? null);
  }, [store, data]);
}
