import type { ExecutionItem } from '@millrace/admin-api';
import { call } from '@millrace/ui/api/client.ts';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useEvents } from '@millrace/ui/api/events.ts';
import { noteFailure } from '@millrace/ui/api/query.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { Trial } from './use-trial.ts';

export type Watch = ReturnType<typeof useWatch>;

interface Watching {
  readonly isOnce: boolean;
  /** Epoch milliseconds; earlier executions aren't shown. */
  readonly since: number;
}

/** Of one look at what was missed. */
const MAX_MISSED = 5;

/** Follows executions of the workflow that others begin from now on, on request. */
export function useWatch(
  { org, workflowId }: { readonly org: number; readonly workflowId: number },
  trial: Trial,
) {
  const queryClient = useQueryClient();
  const [watching, setWatching] = useState<Watching | null>(null);
  const take = (items: readonly ExecutionItem[]) => {
    if (watching === null || trial.isUnderWay) return;
    const isNew = (item: ExecutionItem) =>
      item.workflow_id === workflowId &&
      item.id > (trial.executionId ?? 0) &&
      Date.parse(item.created_at) >= watching.since;
    const found = items.filter(isNew).toSorted((a, b) => a.id - b.id)[0];
    if (found === undefined) return;
    trial.follow(found.id);
    setWatching(watching.isOnce ? null : { ...watching, since: Date.parse(found.created_at) });
  };
  const isReady = useEvents(
    'GET /orgs/:org/executions/events',
    { params: { org } },
    {
      changed: ({ items }) => take(items),
      missed: () => {
        const query = { workflow_id: workflowId, limit: MAX_MISSED };
        call('GET /orgs/:org/executions', { params: { org }, query })
          .then(({ items }) => take(items))
          .catch((error: unknown) => noteFailure(queryClient, error));
      },
    },
    watching !== null,
  );
  const begin = useCallback((isOnce: boolean) => setWatching({ isOnce, since: serviceNow() }), []);
  return useMemo(
    () => ({
      isOn: watching !== null,
      /** Whether it hears of new executions already. */
      isReady: watching !== null && isReady,
      /** Shows the next execution. */
      next: () => begin(true),
      /** Shows each further execution, once the one before has ended. */
      all: () => begin(false),
      stop: () => setWatching(null),
    }),
    [watching, isReady, begin],
  );
}
