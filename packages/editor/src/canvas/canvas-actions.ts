import { fromCanvasId, toCanvasId } from '@millrace/editor-model/canvas-id.ts';
import { insideFrame, placeNextTo } from '@millrace/editor-model/change-nodes.ts';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { AddPlace, NodePreset, Point } from '@millrace/editor-model/editor-state.ts';
import { isLoop, withBodies } from '@millrace/editor-model/flow-value.ts';
import { freePlace, plainSize } from '@millrace/editor-model/geometry.ts';
import { rememberType } from '@millrace/editor-model/recent-types.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import { notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { OnNodeDrag, ReactFlowInstance } from '@xyflow/react';
import type { TFunction } from 'i18next';
import type { DragEvent, MouseEvent as ReactMouseEvent } from 'react';
import type { PastePlace } from './clipboard.ts';
import { createConnectActions } from './connect-actions.ts';
import { animationMs, FIT } from './use-bring-into-view.ts';

/** What the palette was opened for; without a place, after the selected node or in the middle. */
export interface PaletteRequest {
  readonly place?: AddPlace;
}

/** Media type for dragging a node type from the palette. */
export const DRAGGED_TYPE = 'application/x-millrace-node-type';

interface Surroundings {
  readonly store: EditorStore;
  readonly flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  readonly t: TFunction;
  readonly openPalette: (request: PaletteRequest) => void;
  readonly setDropTarget: (loopId: string | null) => void;
  /** Announces to screen readers. */
  readonly setAnnouncement: (text: string) => void;
}

/** Pointer actions on the canvas and their effects. */
export function createCanvasActions({
  store,
  flow,
  t,
  openPalette,
  setDropTarget,
  setAnnouncement,
}: Surroundings) {
  let pointer: Point | null = null;
  const warn = (text: string) => {
    setAnnouncement(text);
    notifyWarning(text);
  };
  const connecting = createConnectActions({
    store,
    flow,
    openPalette: (place) => openPalette({ place }),
    reportFault: (fault) => warn(t(`editor.connect.${fault}`)),
    announceStart: (from) =>
      setAnnouncement(t(from === 'source' ? 'canvas.chooseNext' : 'canvas.chooseOtherEnd')),
  });
  const originOf = (id: string): Point =>
    flow.getInternalNode(toCanvasId(id))?.internals.positionAbsolute ?? { x: 0, y: 0 };

  /** The innermost loop at a point, ignoring dragged ones. */
  const loopAt = (point: Point, draggedIds: ReadonlySet<string>): string | null => {
    let found: { readonly id: string; readonly area: number } | null = null;
    for (const node of store.getState().nodes) {
      if (!isLoop(node) || draggedIds.has(node.id)) continue;
      const { x, y } = originOf(node.id);
      const { width = 0, height = 0 } = flow.getInternalNode(toCanvasId(node.id))?.measured ?? {};
      const isInside = point.x >= x && point.y >= y && point.x <= x + width && point.y <= y + height;
      const area = width * height;
      if (isInside && (found === null || area < found.area)) found = { id: node.id, area };
    }
    return found?.id ?? null;
  };
  /** Store ids of the dragged nodes and their contents. */
  let moving: ReadonlySet<string> = new Set();
  const targetOf = (node: CanvasNode): string | null => {
    const at = originOf(fromCanvasId(node.id));
    return loopAt({ x: at.x + (node.width ?? 0) / 2, y: at.y + Math.min(node.height ?? 0, 60) / 2 }, moving);
  };
  const parentOf = ({ parentId }: CanvasNode) => (parentId === undefined ? null : fromCanvasId(parentId));
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
      if (removed > 0) warn(t('editor.edgesRemoved', { count: removed }));
      return;
    }
    const inside = siblings.filter(({ parentId }) => parentId !== undefined);
    store.getState().move(Object.fromEntries(inside.map(({ id, position }) => [id, insideFrame(position)])));
  };

  /** The middle of the visible canvas. */
  const middle = (): Point => {
    const box = document.querySelector('.flow-canvas .react-flow')?.getBoundingClientRect();
    if (box === undefined) return { x: 0, y: 0 };
    return flow.screenToFlowPosition({ x: box.x + box.width / 2 - 92, y: box.y + box.height / 2 - 26 });
  };
  /** The first free position at or below a point. */
  const freeAtTop = (wanted: Point): Point =>
    freePlace(
      wanted,
      plainSize(1),
      flow
        .getNodes()
        .filter(({ parentId }) => parentId === undefined)
        .map(({ position, width = 0, height = 0 }) => ({ position, size: { width, height } })),
    );
  const add = (type: string, request: PaletteRequest, preset: NodePreset = {}): string => {
    const state = store.getState();
    const isTrigger = state.nodeTypes.get(type)?.kind === 'trigger';
    const [selected, ...others] = state.selectedIds.filter((id) =>
      state.nodes.some((node) => node.id === id),
    );
    const next =
      selected !== undefined && others.length === 0 && !isTrigger ? placeNextTo(state.nodes, selected) : null;
    const id = state.addNode(type, request.place ?? next ?? { at: freeAtTop(middle()) }, preset);
    rememberType(type);
    setAnnouncement(t('editor.added', { title: state.nodeTypes.get(type)?.title ?? type }));
    return id;
  };

  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(DRAGGED_TYPE) || store.getState().isReadOnly) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    setDropTarget(edgeUnder(event) ?? loopAt(at, new Set()));
  };
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(DRAGGED_TYPE);
    setDropTarget(null);
    if (type === '') return;
    rememberType(type);
    event.preventDefault();
    const at = flow.screenToFlowPosition({ x: event.clientX - 40, y: event.clientY - 20 });
    const isTrigger = store.getState().nodeTypes.get(type)?.kind === 'trigger';
    const onEdge = isTrigger ? null : edgeUnder(event);
    const parentId = isTrigger ? null : loopAt(at, new Set());
    if (onEdge !== null) store.getState().addNode(type, { onEdge });
    else if (parentId === null) store.getState().addNode(type, { at });
    else {
      const origin = originOf(parentId);
      store
        .getState()
        .addNode(type, { at: insideFrame({ x: at.x - origin.x, y: at.y - origin.y }), parentId });
    }
  };

  const arrange = async () => {
    // Loaded on first use: most visitors never need it.
    const { selectedTogether, tidyUp } = await import('@millrace/editor-model/arrange.ts');
    const state = store.getState();
    const isPart = selectedTogether(state).length > 0;
    state.move(tidyUp(state));
    setAnnouncement(t(isPart ? 'canvas.tidiedSome' : 'editor.tidied'));
    if (isPart) return;
    requestAnimationFrame(() => void flow.fitView({ ...FIT, duration: animationMs() }));
  };
  const tidy = () => void arrange().catch(notifyFailure);

  return {
    add,
    ...connecting,
    onDragOver,
    onDrop,
    onMouseMove: (event: ReactMouseEvent) => {
      pointer = { x: event.clientX, y: event.clientY };
    },
    onNodeDragStart,
    onNodeDrag,
    onNodeDragStop,
    /** Where to paste: at the pointer while it is over the canvas. */
    pastePlace: (): PastePlace | undefined => {
      const box = document.querySelector('.flow-canvas .react-flow')?.getBoundingClientRect();
      const at = pointer;
      if (box === undefined || at === null) return undefined;
      const isOver = at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom;
      if (!isOver) return undefined;
      const place = flow.screenToFlowPosition(at);
      const id = loopAt(place, new Set());
      if (id === null) return { at: place };
      const origin = originOf(id);
      return { at: place, inLoop: { id, at: { x: place.x - origin.x, y: place.y - origin.y } } };
    },
    tidy,
  };
}

export type CanvasActions = ReturnType<typeof createCanvasActions>;

/** Key of the edge under an item dragged from the palette. */
function edgeUnder({ target }: DragEvent): string | null {
  const edge = target instanceof Element ? target.closest('.react-flow__edge') : null;
  const id = edge?.getAttribute('data-id');
  return id == null ? null : fromCanvasId(id);
}
