import type { EditorStore } from '@millrace/editor-model/store.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { readVersionSearch } from '../version-search.ts';

/** Provides templates with the trigger's data: that of the chosen execution, else the sample, else the last execution's input. */
export function useShownSample(org: number, workflowId: number, store: EditorStore, isNeeded: boolean): void {
  const execution = useChosenExecution();
  const { data } = useQuery({ ...inputsQuery(org, workflowId, execution), enabled: isNeeded });
  useEffect(() => {
    const chosen = data?.executions.find((each) => each.execution_id === execution)?.input;
    const former = data?.executions.find(({ input }) => input !== undefined)?.input;
    store.getState().showSample(chosen ?? data?.sample?.data ?? former ?? null);
  }, [store, data, execution]);
}

/** The execution whose data is worked with, as the address says; null for none. */
export function useChosenExecution(): number | null {
  return readVersionSearch(useSearch({ strict: false })).execution ?? null;
}

/** What a workflow can be run with, the input of this execution included. */
export function inputsQuery(org: number, workflowId: number, execution: number | null) {
  const params = { org, id: workflowId };
  return endpointQuery(
    'GET /orgs/:org/workflows/:id/inputs',
    execution === null ? { params } : { params, query: { with: execution } },
  );
}
