import { aboutNode } from '@millrace/editor-model/about-node.ts';
import { fromCanvasId } from '@millrace/editor-model/canvas-id.ts';
import { insideFrame } from '@millrace/editor-model/change-nodes.ts';
import {
  type CanvasEdge,
  type CanvasNode,
  type DiffMark,
  type DrawingLabels,
  type Drawn,
  drawEdges,
  drawNodes,
  withHandlesAtBorder,
} from '@millrace/editor-model/display.ts';
import type { EditorState, Point } from '@millrace/editor-model/editor-state.ts';
import { NONE_LIFTED } from '@millrace/editor-model/far-places.ts';
import { createPlaces } from '@millrace/editor-model/places.ts';
import { useEditorState, useEditorStore } from '@millrace/editor-model/store.ts';
import { applyNodeChanges, type EdgeChange, type NodeChange, useStoreApi } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useTranslation } from 'react-i18next';
import { type Lift, liftNodes } from './lifted.ts';
import { useEdgeRouting } from './use-edge-routing.ts';

/** A flow with more nodes than this is large: those out of sight aren't rendered, and what is dragged is lifted. */
export const MANY = 150;

/**
 * The nodes and edges for React Flow. A drag updates only this state until the drop reaches the store, so that dragging
 * one node among hundreds re-renders one node and is one undo step.
 */
export function useDrawing(marks: { readonly [nodeId: string]: DiffMark }) {
  const store = useEditorStore();
  const parts: Omit<Drawn, 'marks'> = useEditorState(
    'nodes',
    'edges',
    'settings',
    'nodeTypes',
    'selectedIds',
    'problems',
    'handles',
    'runs',
    'placed',
    'isReadOnly',
  );
  const labels = useDrawingLabels();
  const [drawn, setDrawn] = useState(() => {
    const nodes = drawNodes({ ...parts, marks }, [], labels);
    const edges = drawEdges({ ...parts, marks }, [], labels);
    return { parts, marks, words: labels, nodes, edges, ground: nodes };
  });
  let { nodes, edges, ground } = drawn;
  if (drawn.parts !== parts || drawn.marks !== marks || drawn.words !== labels) {
    // A language change affects every label.
    const former = drawn.words === labels ? drawn : { nodes: [], edges: [] };
    nodes = drawNodes({ ...parts, marks }, former.nodes, labels);
    edges = drawEdges({ ...parts, marks }, former.edges, labels);
    // Not during a drag: other edges make way when the node is dropped.
    if (!isSameGround(nodes, ground)) ground = nodes;
    setDrawn({ parts, marks, words: labels, nodes, edges, ground });
  }

  const dragged = useRef(new Set<string>());
  const select = useCallback(
    (changes: readonly { readonly id: string; readonly selected: boolean }[]) => {
      if (changes.length === 0) return;
      const ids = new Set(store.getState().selectedIds);
      for (const { id, selected } of changes) {
        const key = fromCanvasId(id);
        if (selected) ids.add(key);
        else ids.delete(key);
      }
      store.getState().select([...ids]);
    },
    [store],
  );
  const routing = useEdgeRouting(ground, edges);
  const flow = useStoreApi<CanvasNode, CanvasEdge>();
  const lift = useRef<Lift | null>(null);
  const [lifted, setLifted] = useState(NONE_LIFTED);
  useEffect(() => () => lift.current?.drop(), []);
  const shown = useRef({ nodes, edges, routing });
  useEffect(() => {
    shown.current = { nodes, edges, routing };
  }, [nodes, edges, routing]);
  /** @returns whether this step of a drag has been shown */
  const moveLifted = useCallback(
    (positions: ReadonlyMap<string, Point>): boolean => {
      if (lift.current === null && shown.current.nodes.length > MANY) {
        const raised = liftNodes({ flow, ...shown.current }, [...positions.keys()]);
        if (raised !== null) flushSync(() => setLifted(raised.ids));
        lift.current = raised;
      }
      lift.current?.move(positions);
      return lift.current !== null;
    },
    [flow],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const steps = stepsOf(changes);
      if (steps !== null && moveLifted(steps)) {
        for (const id of steps.keys()) dragged.current.add(id);
        return;
      }
      const resized = new Set(changes.flatMap((change) => (change.type === 'dimensions' ? [change.id] : [])));
      const apply = () =>
        setDrawn((now) => {
          const nodes = applyNodeChanges(changes, now.nodes);
          if (resized.size === 0) return { ...now, nodes };
          return {
            ...now,
            nodes: nodes.map((node) => (resized.has(node.id) ? withHandlesAtBorder(node) : node)),
          };
        });
      // Otherwise a step of a drag is drawn in two frames: edges that move in this one, and nodes, which React Flow takes over afterwards.
      if (changes.some((change) => change.type === 'position' && change.dragging === true)) flushSync(apply);
      else if (lift.current !== null && changes.some(({ type }) => type === 'position')) {
        flushSync(() => {
          apply();
          setLifted(NONE_LIFTED);
        });
        lift.current.drop();
        lift.current = null;
      } else apply();
      select(changes.filter((change) => change.type === 'select'));
      const moved: { [id: string]: Point } = Object.create(null);
      for (const change of changes) {
        if (change.type !== 'position' || change.position === undefined) continue;
        if (change.dragging === true) dragged.current.add(change.id);
        else {
          const id = fromCanvasId(change.id);
          // A drag may leave its loop; the arrow keys stay inside the frame.
          const isInside = !dragged.current.delete(change.id) && isInLoop(store.getState().nodes, id);
          moved[id] = isInside ? insideFrame(change.position) : change.position;
        }
      }
      if (Object.keys(moved).length > 0) store.getState().move(moved);
    },
    [store, select, moveLifted],
  );
  const onEdgesChange = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => select(changes.filter((change) => change.type === 'select')),
    [select],
  );
  const [place] = useState(createPlaces);
  return { nodes: place(nodes), edges, lifted, routing, onNodesChange, onEdgesChange };
}

function useDrawingLabels(): DrawingLabels {
  const { t } = useTranslation();
  return useMemo(
    (): DrawingLabels => ({
      nameEdge: (from, handle, to) =>
        handle === null ? t('canvas.edgeName', { from, to }) : t('canvas.edgeNameBy', { from, handle, to }),
      aboutNode: (node) => aboutNode(node, t),
      emptyNote: t('canvas.emptyNote'),
      kinds: {
        step: { 'aria-roledescription': t('canvas.kind.node') },
        loop: { 'aria-roledescription': t('canvas.kind.loop') },
        note: { 'aria-roledescription': t('canvas.kind.note') },
        edge: { 'aria-roledescription': t('canvas.kind.edge') },
      },
    }),
    [t],
  );
}

/** Where nodes are dragged to, if these changes are a step of a drag and nothing else. */
function stepsOf(changes: readonly NodeChange<CanvasNode>[]): ReadonlyMap<string, Point> | null {
  const steps = new Map<string, Point>();
  for (const change of changes) {
    if (change.type !== 'position' || change.dragging !== true || change.position === undefined) return null;
    steps.set(change.id, change.position);
  }
  return steps.size === 0 ? null : steps;
}

/** Whether the same nodes are at the same places. */
function isSameGround(a: readonly CanvasNode[], b: readonly CanvasNode[]): boolean {
  return (
    a.length === b.length &&
    a.every((one, at) => {
      const other = b[at];
      return (
        one === other ||
        (other !== undefined &&
          one.id === other.id &&
          one.parentId === other.parentId &&
          one.position.x === other.position.x &&
          one.position.y === other.position.y &&
          one.width === other.width &&
          one.height === other.height)
      );
    })
  );
}

function isInLoop(nodes: EditorState['nodes'], id: string): boolean {
  return nodes.find((node) => node.id === id)?.parentId != null;
}
