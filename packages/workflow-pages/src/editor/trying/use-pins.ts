import { PinSync } from '@millrace/editor/pins/pin-sync.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import type { JsonObject } from '@millrace/engine';
import { call } from '@millrace/ui/api/client.ts';
import { serviceNow } from '@millrace/ui/api/clock.ts';
import { useRole } from '@millrace/ui/api/me.ts';
import { endpointQuery, noteFailure } from '@millrace/ui/api/query.ts';
import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { leftPins, newestOf, putLeftPins } from './left-pins.ts';

/** The owner of the pins and their workflow. */
interface Place {
  readonly org: number;
  readonly workflowId: number;
  readonly userId: number;
}

/** Loads the user's pins once they are needed, and saves later changes. */
export function usePins(place: Place, store: EditorStore, isNeeded: boolean): PinSync {
  const { org, workflowId, userId } = place;
  const { can } = useRole();
  const queryClient = useQueryClient();
  const [pinSync] = useState(() => createPinSync(place, queryClient));
  const { data } = useQuery({
    ...endpointQuery('GET /orgs/:org/workflows/:id/pins', { params: { org, id: workflowId } }),
    enabled: isNeeded && can('editor'),
    // Refetched on every opening; afterwards they change only here.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  useEffect(() => {
    if (data === undefined) return;
    for (const [id, output] of newestOf(leftPins(userId, workflowId).take(), data.items))
      pinSync.set(id, output);
    const kept = data.items.map(({ node_id: id, output }) => [id, output] as const);
    // Pins set here while loading are newer.
    const pins = [...new Map([...kept, ...pinSync.unsaved])].filter(
      (pin): pin is [string, JsonObject] => pin[1] !== null,
    );
    store.getState().showPins(Object.fromEntries(pins));
  }, [store, data, pinSync, userId, workflowId]);
  useEffect(() => followPage(pinSync), [pinSync]);
  return pinSync;
}

function createPinSync({ org, workflowId, userId }: Place, queryClient: QueryClient): PinSync {
  const left = leftPins(userId, workflowId);
  return new PinSync({
    send: (nodeId, output, isLast) =>
      call('PUT /orgs/:org/workflows/:id/pins', {
        params: { org, id: workflowId },
        body: { node_id: nodeId, output },
        ...(isLast ? { keepalive: true } : {}),
      }),
    putAside: (pins, sent) => putLeftPins(left, { at: serviceNow(), pins, sent }),
    onSettled: left.drop,
    onFailed(error) {
      notifyFailure(error);
      noteFailure(queryClient, error);
    },
  });
}

/** Sends pending pins when the page is left, and warns if any would be lost. */
function followPage(pinSync: PinSync): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  pinSync.start();
  window.addEventListener('pagehide', () => pinSync.leave(true), { signal });
  window.addEventListener('blur', () => pinSync.leave(false), { signal });
  window.addEventListener(
    'beforeunload',
    (event) => {
      if (!pinSync.putAside()) event.preventDefault();
    },
    { signal },
  );
  return () => {
    stop.abort();
    pinSync.leave(false);
    pinSync.stop();
  };
}
