import { fromCanvasId } from '@millrace/editor-model/canvas-id.ts';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { EditorState } from '@millrace/editor-model/editor-state.ts';
import { type EditorStore, useEditorStore } from '@millrace/editor-model/store.ts';
import { useReactFlow } from '@xyflow/react';
import { type MouseEvent, useMemo } from 'react';
import type { MenuRequest, MenuSubject } from './canvas-menu.tsx';

/** React Flow props for right-clicks (and long presses on touch screens). */
export function useContextMenus(onMenu: (request: MenuRequest) => void) {
  const store = useEditorStore();
  const { screenToFlowPosition } = useReactFlow();
  return useMemo(() => {
    const show = (event: MouseEvent | globalThis.MouseEvent, subject: MenuSubject) => {
      event.preventDefault();
      onMenu({ subject, at: { x: event.clientX, y: event.clientY } });
    };
    return {
      onNodeContextMenu: (event: MouseEvent, { id }: CanvasNode) =>
        show(event, subjectOfNode(store, fromCanvasId(id))),
      onEdgeContextMenu: (event: MouseEvent, { id }: CanvasEdge) => {
        const subject = subjectOfEdge(store, fromCanvasId(id));
        if (subject !== null) show(event, subject);
      },
      onSelectionContextMenu: (event: MouseEvent) => show(event, { kind: 'selection' }),
      onPaneContextMenu: (event: MouseEvent | globalThis.MouseEvent) =>
        show(event, {
          kind: 'canvas',
          at: screenToFlowPosition({ x: event.clientX, y: event.clientY }),
        }),
    };
  }, [onMenu, store, screenToFlowPosition]);
}

/** A single node, or the selection if it is part of that; selects the node otherwise. */
export function subjectOfNode(store: EditorStore, id: string): MenuSubject {
  const state = store.getState();
  if (!state.selectedIds.includes(id)) state.select([id]);
  const isAlone = store.getState().selectedIds.length === 1;
  return isAlone && isNode(state, id) ? { kind: 'node', id } : { kind: 'selection' };
}

/** Null in read-only flows. */
export function subjectOfEdge(store: EditorStore, key: string): MenuSubject | null {
  const state = store.getState();
  if (state.isReadOnly) return null;
  state.select([key]);
  return { kind: 'edge', key };
}

function isNode({ nodes }: EditorState, id: string): boolean {
  return nodes.some((node) => node.id === id);
}
