import { own } from '@millrace/editor-model/flow-value.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import type { JsonObject } from '@millrace/engine';
import { useCallback, useContext } from 'react';
import { PinSyncContext } from './pin-sync.ts';

export interface OwnPin {
  /** Undefined: not pinned. */
  readonly output: JsonObject | undefined;
  /** Pins an output, or unpins with null. Takes effect at once and is saved a moment later. */
  readonly set: (output: JsonObject | null) => void;
}

/** The user's pinned output of a node. */
export function usePin(nodeId: string): OwnPin {
  const store = useEditorStore();
  const pinSync = useContext(PinSyncContext);
  const output = useEditor((state) => own(state.pins, nodeId));
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
