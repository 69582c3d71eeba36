import { useStoreApi } from '@xyflow/react';
import { type MouseEvent, useMemo } from 'react';
import { FINGER } from '../model/canvas-id.ts';
import type { CanvasActions } from './canvas-actions.ts';

/**
 * Connecting without dragging: a click on one handle, then on another. A finger may choose the whole node instead of
 * its handle; with a mouse, where a handle is clicked by mistake more easily, a node stays something to be opened.
 */
export function useTapConnect({ joinTo, startClick, endClick }: CanvasActions) {
  const flow = useStoreApi();
  return useMemo(() => {
    const cancel = () => flow.setState({ connectionClickStartHandle: null });
    return {
      onClickConnectStart: startClick,
      onClickConnectEnd: (event: globalThis.MouseEvent | TouchEvent) => {
        const from = flow.getState().connectionClickStartHandle;
        if (from !== null) endClick(from, event.target);
      },
      /** @returns whether the click meant a connection */
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
