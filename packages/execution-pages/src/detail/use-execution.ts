import type { ExecutionDetail, NodeRunDetail } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { useOrg } from '@millrace/ui/api/me.ts';
import { endpointQuery } from '@millrace/ui/api/query.ts';
import { type Query, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { isUnderWay } from '../common/under-way.ts';

const DETAIL = 'GET /orgs/:org/executions/:execution';
const NODE = `${DETAIL}/nodes/:node`;
/** Events within this time are handled by one fetch. */
const PAUSE_MS = 500;
/** Long histories take time to load: wait this many times as long before the next fetch. */
const PAUSE_FOR_READING = 5;
/** A fallback for lost events and broken streams. */
const POLL_MS = 15_000;

/** One execution, refetched whenever something happens in it. */
export function useExecution(id: number) {
  const org = useOrg();
  const client = useQueryClient();
  const key = [DETAIL, { org, execution: id }];
  const readingMs = useRef(0);
  const detail = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<ExecutionDetail> => {
      const beganAt = performance.now();
      const read = await call(DETAIL, { params: { org, execution: id }, signal });
      readingMs.current = performance.now() - beganAt;
      return read;
    },
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isUnderWay(data.execution.status) ? POLL_MS : false,
  });
  const isOn = detail.data !== undefined && isUnderWay(detail.data.execution.status);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const readSoon = useEffectEvent(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = null;
        void client.invalidateQueries({ queryKey: key });
      },
      Math.max(PAUSE_MS, readingMs.current * PAUSE_FOR_READING),
    );
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useEffect(() => {
    if (detail.data === undefined) return;
    const read = detail.data;
    // Data of its nodes may be stale too, however the change was noticed.
    void client.invalidateQueries({ predicate: (query) => mayHaveChanged(query, read) });
  }, [client, detail.data]);
  useEvents(
    `${DETAIL}/events`,
    { params: { org, execution: id } },
    { execution: () => readSoon(), node: () => readSoon() },
    isOn,
  );
  return detail;
}

function mayHaveChanged({ queryKey, state }: Query, { execution, nodes }: ExecutionDetail): boolean {
  const [name, params] = queryKey as [unknown, { readonly execution?: unknown; readonly node?: unknown }?];
  if (params?.execution !== execution.id) return false;
  if (name !== NODE) return name === `${NODE}/iterations`;
  // Retry what was missing; don't restart a first fetch.
  if (state.data === undefined) return state.status === 'error';
  // A node outside loops ends only once; inside, another run may follow.
  const { completed_at: completedAt } = state.data as NodeRunDetail;
  const summary = nodes.find(({ node_id: id }) => id === params.node);
  return completedAt === null || summary === undefined || summary.loop_id !== null;
}

/** One run of a node. The execution's events trigger refetches. */
export function nodeRunQuery(
  params: { readonly org: number; readonly execution: number; readonly node: string },
  query: { readonly iteration?: string },
) {
  return { ...endpointQuery(NODE, { params, query }), staleTime: Number.POSITIVE_INFINITY };
}
