import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useEffect, useState } from 'react';
import { handlesOf } from './flow-value.ts';
import { useEditor, useEditorStore } from './store.ts';

/**
 * Computes display positions for nodes without one; the flow isn't changed.
 * @returns whether the initial positions are ready, so that the canvas can be shown
 */
export function useInitialLayout(): boolean {
  const store = useEditorStore();
  const isNeeded = useEditor((state) =>
    state.nodes.some(({ id, position }) => position === undefined && !Object.hasOwn(state.placed, id)),
  );
  const [wasPlaced, setWasPlaced] = useState(!isNeeded);
  useEffect(() => {
    if (!isNeeded) return;
    let isStale = false;
    // Few flows need it, so it is loaded on demand.
    import('./layout.ts')
      .then(({ layOut }) => {
        if (isStale) return;
        const { nodes, edges, handles, nodeTypes, place } = store.getState();
        place(layOut(nodes, edges, (node) => handlesOf(node, handles, nodeTypes)));
      })
      .catch(notifyFailure)
      .finally(() => setWasPlaced(true));
    return () => {
      isStale = true;
    };
  }, [isNeeded, store]);
  return wasPlaced || !isNeeded;
}
