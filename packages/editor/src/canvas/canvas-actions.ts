import { placeNextTo } from '@millrace/editor-model/change-nodes.ts';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { AddPlace, NodePreset, Point } from '@millrace/editor-model/editor-state.ts';
import { freePlace, plainSize } from '@millrace/editor-model/geometry.ts';
import { rememberType } from '@millrace/editor-model/recent-types.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import { notifyFailure, notifyWarning } from '@millrace/ui/components/notify.ts';
import type { ReactFlowInstance } from '@xyflow/react';
import type { TFunction } from 'i18next';
import type { MouseEvent as ReactMouseEvent } from 'react';
import type { PastePlace } from './clipboard.ts';
import { createConnectActions } from './connect-actions.ts';
import { createDragActions } from './drag-actions.ts';
import { animationMs, FIT } from './use-bring-into-view.ts';

/** What the palette was opened for; without a place, after the selected node or in the middle. */
export interface PaletteRequest {
  readonly place?: AddPlace;
}

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
  const { loopAt, ...dragging } = createDragActions({
    store,
    flow,
    setDropTarget,
    reportRemoved: (count) => warn(t('editor.edgesRemoved', { count })),
  });

  /** The middle of the visible canvas. */
  const middle = (): Point => {
    const box = canvasBox();
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

  return {
    ...connecting,
    ...dragging,
    add: (type: string, request: PaletteRequest, preset: NodePreset = {}): string => {
      const state = store.getState();
      const isTrigger = state.nodeTypes.get(type)?.kind === 'trigger';
      const [selected, ...others] = state.selectedIds.filter((id) =>
        state.nodes.some((node) => node.id === id),
      );
      const isNext = selected !== undefined && others.length === 0 && !isTrigger;
      const next = isNext ? placeNextTo(state.nodes, selected) : null;
      const id = state.addNode(type, request.place ?? next ?? { at: freeAtTop(middle()) }, preset);
      rememberType(type);
      setAnnouncement(t('editor.added', { title: state.nodeTypes.get(type)?.title ?? type }));
      return id;
    },
    onMouseMove: (event: ReactMouseEvent) => {
      pointer = { x: event.clientX, y: event.clientY };
    },
    /** Where to paste: at the pointer while it is over the canvas. */
    pastePlace: (): PastePlace | undefined => {
      const box = canvasBox();
      const at = pointer;
      if (box === undefined || at === null) return undefined;
      const isOver = at.x >= box.left && at.x <= box.right && at.y >= box.top && at.y <= box.bottom;
      if (!isOver) return undefined;
      const place = flow.screenToFlowPosition(at);
      const inLoop = loopAt(place);
      return inLoop === null ? { at: place } : { at: place, inLoop };
    },
    tidy: () => void arrange().catch(notifyFailure),
  };
}

export type CanvasActions = ReturnType<typeof createCanvasActions>;

function canvasBox(): DOMRect | undefined {
  return document.querySelector('.flow-canvas .react-flow')?.getBoundingClientRect();
}
