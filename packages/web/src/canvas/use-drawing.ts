import { applyNodeChanges, type EdgeChange, type NodeChange } from '@xyflow/react';
import { useCallback, useEffect, useState } from 'react';
import { useShallow } from 'zustand/shallow';
import {
  type CanvasEdge,
  type CanvasNode,
  type DiffMark,
  type Drawn,
  drawEdges,
  drawNodes,
} from './display.ts';
import type { Point } from './editor-state.ts';
import { handlesOf } from './flow-value.ts';
import { layOut } from './layout.ts';
import { useEditor, useEditorStore } from './store.ts';

/**
 * What React Flow draws. While something is dragged it is moved here only; the store hears of it when it is let go,
 * so that a drag of one node among hundreds draws one node and is one step of undo.
 */
export function useDrawing(marks: { readonly [nodeId: string]: DiffMark }) {
  const store = useEditorStore();
  const parts = useEditor(
    useShallow(
      (state): Omit<Drawn, 'marks'> => ({
        nodes: state.nodes,
        edges: state.edges,
        settings: state.settings,
        nodeTypes: state.nodeTypes,
        selectedIds: state.selectedIds,
        problems: state.problems,
        handles: state.handles,
        runs: state.runs,
        placed: state.placed,
        isReadOnly: state.isReadOnly,
      }),
    ),
  );
  usePlaces();
  const [drawn, setDrawn] = useState(() => ({
    parts,
    marks,
    nodes: drawNodes({ ...parts, marks }, []),
    edges: drawEdges({ ...parts, marks }, []),
  }));
  let { nodes, edges } = drawn;
  if (drawn.parts !== parts || drawn.marks !== marks) {
    nodes = drawNodes({ ...parts, marks }, nodes);
    edges = drawEdges({ ...parts, marks }, edges);
    setDrawn({ parts, marks, nodes, edges });
  }

  const select = useCallback(
    (changes: readonly { readonly id: string; readonly selected: boolean }[]) => {
      if (changes.length === 0) return;
      const ids = new Set(store.getState().selectedIds);
      for (const { id, selected } of changes) {
        if (selected) ids.add(id);
        else ids.delete(id);
      }
      store.getState().select([...ids]);
    },
    [store],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      setDrawn((now) => ({ ...now, nodes: applyNodeChanges(changes, now.nodes) }));
      select(changes.filter((change) => change.type === 'select'));
      const moved: { [id: string]: Point } = Object.create(null);
      for (const change of changes) {
        const isDone = change.type === 'position' && change.dragging !== true;
        if (isDone && change.position !== undefined) moved[change.id] = change.position;
      }
      if (Object.keys(moved).length > 0) store.getState().move(moved);
    },
    [store, select],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => select(changes.filter((change) => change.type === 'select')),
    [select],
  );
  return { nodes, edges, onNodesChange, onEdgesChange };
}

/** Nodes that the flow gives no position are shown where a layout would put them; the flow is not changed by it. */
function usePlaces(): void {
  const store = useEditorStore();
  const needed = useEditor((state) =>
    state.nodes.some(({ id, position }) => position === undefined && !Object.hasOwn(state.placed, id)),
  );
  useEffect(() => {
    if (!needed) return;
    const { nodes, edges, handles, nodeTypes, place } = store.getState();
    place(layOut(nodes, edges, (node) => handlesOf(node, handles, nodeTypes)));
  }, [needed, store]);
}
