import type { ExecutionDetail } from '@millrace/admin-api';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import { useEvents } from '../../api/events.ts';
import { useOrg } from '../../api/me.ts';
import { readExactly } from './exact.ts';
import { isUnderWay } from './use-now.ts';

const DETAIL = 'GET /orgs/:org/executions/:execution';
/** What happens meanwhile is read together. */
const PAUSE_MS = 500;

/** One execution, read again whenever something has happened in it. */
export function useExecution(id: number) {
  const org = useOrg();
  const client = useQueryClient();
  const key = [DETAIL, { org, execution: id }];
  const detail = useQuery({
    queryKey: key,
    queryFn: ({ signal }): Promise<ExecutionDetail> =>
      readExactly(DETAIL, { params: { org, execution: id }, signal }),
    // Sharing parts with the last answer would turn exact numbers into plain objects.
    structuralSharing: false,
  });
  const isOn = detail.data !== undefined && isUnderWay(detail.data.execution.status);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const readSoon = useEffectEvent(() => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      void client.invalidateQueries({ queryKey: key });
      void client.invalidateQueries({ queryKey: [`${DETAIL}/nodes/:node`] });
    }, PAUSE_MS);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useEvents(
    `${DETAIL}/events`,
    { params: { org, execution: id } },
    { execution: () => readSoon(), node: () => readSoon() },
    isOn,
  );
  return detail;
}
