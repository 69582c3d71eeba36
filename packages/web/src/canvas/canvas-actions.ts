import type {
  Connection,
  FinalConnectionState,
  IsValidConnection,
  OnNodeDrag,
  ReactFlowInstance,
} from '@xyflow/react';
import type { TFunction } from 'i18next';
import type { DragEvent, MouseEvent as ReactMouseEvent } from 'react';
import { notifyWarning } from '../ui/notify.ts';
import { insideFrame } from './change-nodes.ts';
import { findConnectionFault } from './connection-rules.ts';
import type { CanvasEdge, CanvasNode } from './display.ts';
import type { AddPlace, NewConnection, Point } from './editor-state.ts';
import { handlesOf, withBodies } from './flow-value.ts';
import { freePlace, plainSize } from './geometry.ts';
import { layOut } from './layout.ts';
import type { EditorStore } from './store.ts';
import { animationMs } from './use-bring-into-view.ts';

/** What the palette was opened for: without a place, after the selected node or in the middle. */
export interface PaletteRequest {
  readonly place?: AddPlace;
}

/** Media type of a node's type while it is dragged from the palette. */
export const DRAGGED_TYPE = 'application/x-millrace-node-type';

/** What the actions work on. */
interface Surroundings {
  readonly store: EditorStore;
  readonly flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  readonly t: TFunction;
  readonly openPalette: (request: PaletteRequest) => void;
  readonly setDropTarget: (loopId: string | null) => void;
  /** Tells those who do not see the picture. */
  readonly setAnnouncement: (text: string) => void;
}

/** What people do on the picture with the pointer, and what comes of it. */
export function createCanvasActions({
  store,
  flow,
  t,
  openPalette,
  setDropTarget,
  setAnnouncement,
}: Surroundings) {
  let pointer: Point | null = null;
  const tell = (text: string) => {
    setAnnouncement(text);
    notifyWarning(text);
  };
  const isValidConnection: IsValidConnection<CanvasEdge> = (connection) =>
    findConnectionFault(store.getState(), connectionOf(connection)) === null;
  const join = (connection: NewConnection) => {
    const fault = findConnectionFault(store.getState(), connection);
    if (fault === null) store.getState().connect(connection);
    else tell(t(`editor.connect.${fault}`));
  };
  const onConnectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
    const { fromNode, fromHandle, toNode, isValid } = state;
    if (fromNode === null || fromHandle === null || isValid === true) return;
    const isForward = fromHandle.type === 'source';
    const over = toNode?.id ?? nodeUnder(event);
    if (over !== null) {
      const handle = isForward ? (fromHandle.id ?? null) : null;
      join(
        isForward
          ? { source: fromNode.id, target: over, sourceHandle: handle }
          : { source: over, target: fromNode.id, sourceHandle: firstHandle(over) },
      );
      return;
    }
    if (!isForward) return;
    const at = flow.screenToFlowPosition(pointOf(event));
    const parent = store.getState().nodes.find(({ id }) => id === fromNode.id)?.parentId ?? null;
    const origin = parent === null ? { x: 0, y: 0 } : originOf(parent);
    openPalette({
      place: {
        after: fromNode.id,
        ...(fromHandle.id == null ? {} : { handle: fromHandle.id }),
        at: { x: at.x - origin.x, y: at.y - origin.y - 26 },
      },
    });
  };
  const firstHandle = (id: string): string | null => {
    const { nodes: all, handles, nodeTypes } = store.getState();
    const node = all.find((each) => each.id === id);
    return node === undefined ? null : (handlesOf(node, handles, nodeTypes)[0] ?? null);
  };
  const originOf = (id: string): Point =>
    flow.getInternalNode(id)?.internals.positionAbsolute ?? { x: 0, y: 0 };

  /** The innermost loop at a point, other than those that are being moved. */
  const loopAt = (point: Point, moving: ReadonlySet<string>): string | null => {
    let found: string | null = null;
    for (const node of flow.getNodes()) {
      if (node.type !== 'loop' || moving.has(node.id)) continue;
      const at = originOf(node.id);
      const isInside =
        point.x >= at.x &&
        point.y >= at.y &&
        point.x <= at.x + (node.width ?? 0) &&
        point.y <= at.y + (node.height ?? 0);
      // What is inside comes later than what is around it.
      if (isInside) found = node.id;
    }
    return found;
  };
  const targetOf = (node: CanvasNode, dragged: readonly CanvasNode[]): string | null => {
    const at = originOf(node.id);
    const middle = { x: at.x + (node.width ?? 0) / 2, y: at.y + Math.min(node.height ?? 0, 60) / 2 };
    return loopAt(
      middle,
      withBodies(
        store.getState().nodes,
        dragged.map(({ id }) => id),
      ),
    );
  };
  const onNodeDrag: OnNodeDrag<CanvasNode> = (_event, node, dragged) => {
    if (node.type === 'note') return;
    const target = targetOf(node, dragged);
    setDropTarget(target === (node.parentId ?? null) ? null : target);
  };
  const onNodeDragStop: OnNodeDrag<CanvasNode> = (_event, node, dragged) => {
    setDropTarget(null);
    const steps = dragged.filter(({ type }) => type !== 'note');
    if (node.type === 'note' || steps.length === 0) return;
    const target = targetOf(node, dragged);
    const siblings = steps.filter(({ parentId }) => parentId === node.parentId);
    if (target !== (node.parentId ?? null)) {
      const removed = store.getState().moveInto(
        siblings.map(({ id }) => id),
        target,
      );
      if (removed > 0) tell(t('editor.edgesRemoved', { count: removed }));
      return;
    }
    const inside = siblings.filter(({ parentId }) => parentId !== undefined);
    store.getState().move(Object.fromEntries(inside.map(({ id, position }) => [id, insideFrame(position)])));
  };

  /** Where the canvas's own middle is. */
  const middle = (): Point => {
    const box = document.querySelector('.flow-canvas .react-flow')?.getBoundingClientRect();
    if (box === undefined) return { x: 0, y: 0 };
    return flow.screenToFlowPosition({ x: box.x + box.width / 2 - 92, y: box.y + box.height / 2 - 26 });
  };
  /** At or below a point where nothing is yet. */
  const freeAtTop = (wanted: Point): Point =>
    freePlace(
      wanted,
      plainSize(1),
      flow
        .getNodes()
        .filter(({ parentId }) => parentId === undefined)
        .map(({ position, width = 0, height = 0 }) => ({ position, size: { width, height } })),
    );
  const add = (type: string, request: PaletteRequest): string => {
    const state = store.getState();
    const isTrigger = state.nodeTypes.get(type)?.kind === 'trigger';
    const [selected, ...others] = state.selectedIds.filter((id) =>
      state.nodes.some((node) => node.id === id),
    );
    const after = selected !== undefined && others.length === 0 && !isTrigger ? { after: selected } : null;
    const id = state.addNode(type, request.place ?? after ?? { at: freeAtTop(middle()) });
    setAnnouncement(t('editor.added', { title: state.nodeTypes.get(type)?.title ?? type }));
    return id;
  };

  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(DRAGGED_TYPE) || store.getState().isReadOnly) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    setDropTarget(loopAt(flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }), new Set()));
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    setDropTarget(null);
    if (type === '') return;
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX - 40, y: event.clientY - 20 });
    const isTrigger = store.getState().nodeTypes.get(type)?.kind === 'trigger';
    const parentId = isTrigger ? null : loopAt(at, new Set());
    if (parentId === null) store.getState().addNode(type, { at });
    else {
      const origin = originOf(parentId);
      store
        .getState()
        .addNode(type, { at: insideFrame({ x: at.x - origin.x, y: at.y - origin.y }), parentId });
    }
  };

  const tidy = () => {
    const { nodes: all, edges, handles, nodeTypes, move } = store.getState();
    move(layOut(all, edges, (node) => handlesOf(node, handles, nodeTypes)));
    setAnnouncement(t('editor.tidied'));
    requestAnimationFrame(() => void flow.fitView({ padding: 0.15, maxZoom: 1, duration: animationMs() }));
  };

  return {
    add,
    isValidConnection,
    onConnect: (connection: Connection) => join(connectionOf(connection)),
    onConnectEnd,
    onDragOver,
    onDrop,
    onMouseMove: (event: ReactMouseEvent) => {
      pointer = { x: event.clientX, y: event.clientY };
    },
    onNodeDrag,
    onNodeDragStop,
    /** Where what is pasted goes: at the pointer, while it is over the canvas. */
    pastePlace: (): Point | undefined => {
      const box = document.querySelector('.flow-canvas .react-flow')?.getBoundingClientRect();
      const at = pointer;
      if (box === undefined || at === null) return undefined;
      const isOver = at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom;
      return isOver ? flow.screenToFlowPosition(at) : undefined;
    },
    tidy,
  };
}

export type CanvasActions = ReturnType<typeof createCanvasActions>;

function connectionOf(connection: Connection | CanvasEdge): NewConnection {
  return {
    source: connection.source,
    target: connection.target,
    sourceHandle: connection.sourceHandle ?? null,
  };
}

function pointOf(event: MouseEvent | TouchEvent): Point {
  const at = 'changedTouches' in event ? event.changedTouches[0] : event;
  return { x: at?.clientX ?? 0, y: at?.clientY ?? 0 };
}

/** A node counts as hit when the connection is dropped anywhere on it; a loop's frame only at its head. */
function nodeUnder(event: MouseEvent | TouchEvent): string | null {
  const { x, y } = pointOf(event);
  const hit = document.elementFromPoint(x, y);
  if (hit?.closest('.flow-loop') != null && hit.closest('.flow-loop-head') === null) return null;
  return hit?.closest('.react-flow__node')?.getAttribute('data-id') ?? null;
}
