import { FINGER } from '@millrace/editor-model/canvas-id.ts';
import type { CanvasNode } from '@millrace/editor-model/display.ts';
import { type OnConnectStartParams, useStoreApi } from '@xyflow/react';
import { type MouseEvent, useMemo } from 'react';
import type { CanvasActions } from './canvas-actions.ts';

interface Clicking {
  readonly actions: CanvasActions;
  readonly isSelecting: boolean;
  readonly onOpenNode: (nodeId: string | null) => void;
  readonly onWidenNode: (() => void) | undefined;
}

/** React Flow props for clicks: they open nodes, or connect them. */
export function useClicks({ actions, isSelecting, onOpenNode, onWidenNode }: Clicking) {
  const { takeClick, ...connecting } = useTapConnect(actions);
  const opening = useMemo(
    () => ({
      onNodeClick: (event: MouseEvent, node: CanvasNode) => {
        if (isSelecting || takeClick(event, node.id)) return;
        onOpenNode(node.type === 'note' ? null : node.data.node.id);
      },
      onNodeDoubleClick: (_event: MouseEvent, node: CanvasNode) => {
        if (node.type !== 'note' && !isSelecting) onWidenNode?.();
      },
      onPaneClick: () => onOpenNode(null),
    }),
    [onOpenNode, onWidenNode, takeClick, isSelecting],
  );
  return { ...connecting, ...opening };
}

/**
 * Connecting without dragging: click one handle, then another, or the empty canvas for a new node. On touch screens the second tap may be on the whole
 * node; with a mouse, where handles are clicked by mistake more easily, clicking a node opens it.
 */
function useTapConnect({ joinTo, startClick, endClick }: CanvasActions) {
  const flow = useStoreApi();
  return useMemo(() => {
    const cancel = () => flow.setState({ connectionClickStartHandle: null });
    return {
      onClickConnectStart: (_event: unknown, { handleType }: OnConnectStartParams) =>
        startClick(handleType ?? 'source'),
      onClickConnectEnd: (event: globalThis.MouseEvent | TouchEvent) => {
        const from = flow.getState().connectionClickStartHandle;
        if (from !== null) endClick(from, event);
      },
      /** @returns whether the click was part of a connection */
      takeClick: (event: MouseEvent, nodeId: string): boolean => {
        if (
          event.target instanceof Element &&
          event.target.closest('.react-flow__handle.connectable') !== null
        ) {
          return true;
        }
        const from = flow.getState().connectionClickStartHandle;
        cancel();
        if (from === null || !matchMedia(FINGER).matches) return false;
        joinTo(from, nodeId);
        return true;
      },
    };
  }, [flow, joinTo, startClick, endClick]);
}
