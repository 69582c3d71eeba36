import { useStoreApi } from '@xyflow/react';
import { useCallback } from 'react';

/**
 * Makes React Flow look again where the handles of a node are. Its own hook for it writes the id into a selector as it
 * is, and an id may be any text: a quotation mark in it ended the whole page.
 */
export function useMeasureAgain(): (id: string) => void {
  const store = useStoreApi();
  return useCallback(
    (id) => {
      const { domNode, updateNodeInternals } = store.getState();
      const selector = `.react-flow__node[data-id="${CSS.escape(id)}"]`;
      const nodeElement = domNode?.querySelector<HTMLDivElement>(selector);
      if (nodeElement == null) return;
      const update = { id, nodeElement, force: true };
      requestAnimationFrame(() => updateNodeInternals(new Map([[id, update]]), { triggerFitView: false }));
    },
    [store],
  );
}
