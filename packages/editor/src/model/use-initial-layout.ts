import { notifyFailure } from '@millrace/ui/components/notify.ts';
import { useEffect, useState } from 'react';
import { handlesOf } from './flow-value.ts';
import { useEditor, useEditorStore } from './store.ts';

/**
 * Nodes that the flow gives no position are shown where a layout would put them; the flow is not changed by it.
 * @returns whether the first of them have their places, so that the picture can be shown
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
    // Few flows need it: it is loaded when one does.
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
