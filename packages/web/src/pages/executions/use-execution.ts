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
/** A long history takes its time to be read: that is to be a small part of the time. */
const PAUSE_FOR_READING = 5;
/** Should a stream not come through, or something of it be lost. */
const POLL_MS = 15_000;

/** One execution, read again whenever something has happened in it. */
export function useExecution(id: number) {
  const org = useOrg();
  const client = useQueryClient();
  const key = [DETAIL, { org, execution: id }];
  const readingMs = useRef(0);
  const detail = useQuery({
    queryKey: key,
    queryFn: async ({ signal }): Promise<ExecutionDetail> => {
      const beganAt = performance.now();
      const read = await readExactly(DETAIL, { params: { org, execution: id }, signal });
      readingMs.current = performance.now() - beganAt;
      return read;
    },
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && isUnderWay(data.execution.status) ? POLL_MS : false,
    // Sharing parts with the last answer would turn exact numbers into plain objects.
    structuralSharing: false,
  });
  const isOn = detail.data !== undefined && isUnderWay(detail.data.execution.status);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const readSoon = useEffectEvent(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = null;
        void client.invalidateQueries({ queryKey: key });
        void client.invalidateQueries({ queryKey: [`${DETAIL}/nodes/:node`] });
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
  useEvents(
    `${DETAIL}/events`,
    { params: { org, execution: id } },
    { execution: () => readSoon(), node: () => readSoon() },
    isOn,
  );
  return detail;
}
