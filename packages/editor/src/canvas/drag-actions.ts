import { fromCanvasId, toCanvasId } from '@millrace/editor-model/canvas-id.ts';
import { insideFrame } from '@millrace/editor-model/change-nodes.ts';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { Point } from '@millrace/editor-model/editor-state.ts';
import { isLoop, withBodies } from '@millrace/editor-model/flow-value.ts';
import { type InLoop, innermostAt } from '@millrace/editor-model/geometry.ts';
import { rememberType } from '@millrace/editor-model/recent-types.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import type { OnNodeDrag, ReactFlowInstance } from '@xyflow/react';
import type { DragEvent } from 'react';

/** Media type for dragging a node type from the palette. */
export const DRAGGED_TYPE = 'application/x-millrace-node-type';

interface Surroundings {
  readonly store: EditorStore;
  readonly flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  readonly setDropTarget: (id: string | null) => void;
  readonly reportRemoved: (edges: number) => void;
}

/** Drags nodes into and out of loops, and node types from the palette onto the canvas. */
export function createDragActions({ store, flow, setDropTarget, reportRemoved }: Surroundings) {
  /** Store ids of the dragged nodes and their contents. */
  let moving: ReadonlySet<string> = new Set();

  const originOf = (id: string): Point =>
    flow.getInternalNode(toCanvasId(id))?.internals.positionAbsolute ?? { x: 0, y: 0 };
  /** The innermost loop at a point of the canvas. */
  const loopAt = (point: Point, ignored: ReadonlySet<string> = new Set()): InLoop | null => {
    const loops = store.getState().nodes.filter((node) => isLoop(node) && !ignored.has(node.id));
    const frames = loops.map(({ id }) => {
      const { width = 0, height = 0 } = flow.getInternalNode(toCanvasId(id))?.measured ?? {};
      return { id, position: originOf(id), size: { width, height } };
    });
    return innermostAt(frames, point);
  };
  const targetOf = ({ id, width = 0, height = 0 }: CanvasNode): string | null => {
    const { x, y } = originOf(fromCanvasId(id));
    return loopAt({ x: x + width / 2, y: y + Math.min(height, 60) / 2 }, moving)?.id ?? null;
  };

  const onNodeDragStart: OnNodeDrag<CanvasNode> = (_event, _node, dragged) => {
    moving = withBodies(
      store.getState().nodes,
      dragged.map(({ id }) => fromCanvasId(id)),
    );
  };
  const onNodeDrag: OnNodeDrag<CanvasNode> = (_event, node) => {
    if (node.type === 'note') return;
    const target = targetOf(node);
    setDropTarget(target === parentOf(node) ? null : target);
  };
  const onNodeDragStop: OnNodeDrag<CanvasNode> = (_event, node, dragged) => {
    setDropTarget(null);
    const steps = dragged.filter(({ type }) => type !== 'note');
    if (node.type === 'note' || steps.length === 0) return;
    const target = targetOf(node);
    const siblings = steps
      .filter(({ parentId }) => parentId === node.parentId)
      .map((each) => ({ ...each, id: fromCanvasId(each.id) }));
    if (target !== parentOf(node)) {
      const removed = store.getState().moveInto(
        siblings.map(({ id }) => id),
        target,
      );
      if (removed > 0) reportRemoved(removed);
      return;
    }
    const inside = siblings.filter(({ parentId }) => parentId !== undefined);
    store.getState().move(Object.fromEntries(inside.map(({ id, position }) => [id, insideFrame(position)])));
  };

  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(DRAGGED_TYPE) || store.getState().isReadOnly) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    setDropTarget(edgeUnder(event) ?? loopAt(at)?.id ?? null);
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    setDropTarget(null);
    if (type === '') return;
    rememberType(type);
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX - 40, y: event.clientY - 20 });
    const { addNode, nodeTypes } = store.getState();
    const isTrigger = nodeTypes.get(type)?.kind === 'trigger';
    const onEdge = isTrigger ? null : edgeUnder(event);
    const loop = isTrigger ? null : loopAt(at);
    if (onEdge !== null) addNode(type, { onEdge });
    else if (loop !== null) addNode(type, { at: insideFrame(loop.at), parentId: loop.id });
    else addNode(type, { at });
  };
  return { loopAt, onNodeDragStart, onNodeDrag, onNodeDragStop, onDragOver, onDrop };
}

function parentOf({ parentId }: CanvasNode): string | null {
  return parentId === undefined ? null : fromCanvasId(parentId);
}

/** Key of the edge under an item dragged from the palette. */
function edgeUnder({ target }: DragEvent): string | null {
  const edge = target instanceof Element ? target.closest('.react-flow__edge') : null;
  const id = edge?.getAttribute('data-id');
  return id == null ? null : fromCanvasId(id);
}
