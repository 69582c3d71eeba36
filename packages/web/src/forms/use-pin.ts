import type { JsonObject } from '@millrace/engine';
import { useParams } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { call } from '../api/client.ts';
import { useOrg } from '../api/me.ts';
import { own } from '../canvas/flow-value.ts';
import { useEditor, useEditorStore } from '../canvas/store.ts';
import { notifyFailure } from '../ui/notify.ts';

/** Somebody is typing: not every letter is sent. */
const PAUSE_MS = 500;

export interface OwnPin {
  /** Undefined: nothing is pinned. */
  readonly output: JsonObject | undefined;
  /** Pins another output; null: none any more. It counts at once, and the service keeps it a moment later. */
  readonly set: (output: JsonObject | null) => void;
}

/** The output that I have pinned to a node. */
export function usePin(nodeId: string): OwnPin {
  const org = useOrg();
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string };
  const store = useEditorStore();
  const output = useEditor((state) => own(state.pins, nodeId));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isWaiting = useRef(false);

  const keep = useCallback(
    (isLast = false) => {
      clearTimeout(timer.current);
      if (!isWaiting.current) return;
      isWaiting.current = false;
      call('PUT /orgs/:org/workflows/:id/pins', {
        params: { org, id },
        body: { node_id: nodeId, output: own(store.getState().pins, nodeId) ?? null },
        ...(isLast ? { keepalive: true } : {}),
      }).catch(notifyFailure);
    },
    [org, id, nodeId, store],
  );
  useEffect(() => {
    const leave = () => keep(true);
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      keep();
    };
  }, [keep]);

  const set = useCallback(
    (next: JsonObject | null) => {
      const { pins, showPins } = store.getState();
      const others = Object.fromEntries(Object.entries(pins).filter(([each]) => each !== nodeId));
      showPins(next === null ? others : { ...others, [nodeId]: next });
      isWaiting.current = true;
      clearTimeout(timer.current);
      timer.current = setTimeout(keep, PAUSE_MS);
    },
    [store, nodeId, keep],
  );
  return { output, set };
}
