import type { CanvasNode } from '@millrace/editor-model/display.ts';
import type { OnNodeDrag } from '@xyflow/react';
import { useMemo, useState } from 'react';
import type { CanvasActions } from './canvas-actions.ts';
import type { HeldViewport } from './held-viewport.ts';

/** What is going on: the canvas is zoomed or moved, panned with the mouse, or something is being pulled. */
type Motion = '' | 'is-moving' | 'is-panned' | 'is-panned is-pulled' | 'is-pulled';

type Pointing = MouseEvent | TouchEvent | null;

/** How the canvas moves, as a class name, and the React Flow props that follow it. */
export function useMotion(viewport: HeldViewport, { onNodeDrag, onNodeDragStop }: CanvasActions) {
  const [motion, setMotion] = useState<Motion>('');
  const moving = useMemo(() => {
    const dragWhile =
      (motion: Motion, act: OnNodeDrag<CanvasNode>): OnNodeDrag<CanvasNode> =>
      (...drag) => {
        setMotion(motion);
        act(...drag);
      };
    return {
      onMoveStart: (event: Pointing) => {
        if (event?.type === 'mousedown') viewport.hold();
        setMotion(event?.type === 'mousedown' ? 'is-panned' : 'is-moving');
      },
      // A press may still become a click.
      onMove: (event: Pointing) => {
        if (event?.type === 'mousemove') setMotion('is-panned is-pulled');
      },
      onMoveEnd: () => {
        viewport.release();
        setMotion('');
      },
      onNodeDrag: dragWhile('is-pulled', onNodeDrag),
      onNodeDragStop: dragWhile('', onNodeDragStop),
    };
  }, [viewport, onNodeDrag, onNodeDragStop]);
  return { motion, moving };
}
