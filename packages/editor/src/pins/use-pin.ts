import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { type JsonObject, own } from '@millrace/engine';
import { useCallback, useContext } from 'react';
import { PinSyncContext } from './pin-sync.ts';

/** The user's pinned output of a node. */
export function usePin(nodeId: string) {
  const store = useEditorStore();
  const pinSync = useContext(PinSyncContext);
  /** Undefined: not pinned. */
  const output = useEditor((state) => own(state.pins, nodeId));
  /** Pins an output, or unpins with null. Takes effect at once and is saved a moment later. */
  const set = useCallback(
    (next: JsonObject | null) => {
      const { pins, showPins } = store.getState();
      const others = Object.fromEntries(Object.entries(pins).filter(([each]) => each !== nodeId));
      showPins(next === null ? others : { ...others, [nodeId]: next });
      pinSync?.set(nodeId, next);
    },
    [store, nodeId, pinSync],
  );
  return { output, set };
}
