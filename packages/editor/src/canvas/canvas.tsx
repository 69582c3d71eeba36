import '@millrace/ui/i18n/parts/canvas.ts';
import '@millrace/ui/i18n/parts/editor.ts';
import '@xyflow/react/dist/base.css';
import './canvas.css';
import './canvas-parts.css';
import './canvas-forced.css';
import { Skeleton, useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks';
import type { CanvasEdge, CanvasNode, DiffMark } from '@millrace/editor-model/display.ts';
import type { NodePreset } from '@millrace/editor-model/editor-state.ts';
import { useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { useInitialLayout } from '@millrace/editor-model/use-initial-layout.ts';
import { fillingSkeleton, lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { Panel, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createCanvasActions, type PaletteRequest } from './canvas-actions.ts';
import { CanvasKeys } from './canvas-keys.tsx';
import type { MenuRequest } from './canvas-menu.tsx';
import { CanvasPalette } from './canvas-palette.tsx';
import { CanvasToolbar } from './canvas-toolbar.tsx';
import type { Joining } from './connect-dialog.tsx';
import { EdgeActions } from './flow-edge.tsx';
import { DropTarget } from './flow-node.tsx';
import { Picture } from './picture.tsx';
import { animationMs, FIT, useBringIntoView } from './use-bring-into-view.ts';
import { connectorsOf, useConnectors } from './use-connectors.ts';

const CanvasEmpty = lazyPart(async () => (await import('./canvas-empty.tsx')).CanvasEmpty, fillingSkeleton);
const CanvasMenu = lazyPart(async () => (await import('./canvas-menu.tsx')).CanvasMenu);
const ConnectDialog = lazyPart(async () => (await import('./connect-dialog.tsx')).ConnectDialog);
const FlowList = lazyPart(async () => (await import('./flow-list.tsx')).FlowList, fillingSkeleton);

/** In windows this narrow the list is shown first. */
const NARROW = '(max-width: 36em)';
/** In a smaller canvas the minimap would cover the flow. */
const ROOM_FOR_MAP = { width: 600, height: 420 } as const;
const NO_MARKS = {};

export interface CanvasProps {
  marks?: { readonly [nodeId: string]: DiffMark };
  /** A node was opened (click, Enter, list) or added; null: closed. */
  onOpenNode?: (nodeId: string | null, opened?: { readonly isNew: boolean }) => void;
  /** An open node was double-clicked. */
  onWidenNode?: () => void;
  /** A node to bring into view; a new object brings it there again. */
  focus?: { readonly nodeId: string } | null;
}

/** The flow as an editable canvas or list; all changes go through the editor's store. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <CanvasInside {...props} />
    </ReactFlowProvider>
  );
}

function CanvasInside({ marks = NO_MARKS, onOpenNode, onWidenNode, focus = null }: CanvasProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme('light');
  const store = useEditorStore();
  const isEmpty = useEditor((state) => state.nodes.length === 0);
  useConnectors(useEditor((state) => connectorsOf(state.nodes)));
  const frame = useRef<HTMLDivElement>(null);
  const { ref, width, height } = useElementSize<HTMLDivElement>();
  const frameRef = useMergedRef(ref, frame);
  const isNarrow = useMediaQuery(NARROW) ?? false;
  const [view, setView] = useState<'picture' | 'list' | null>(null);
  const [hasMap, setHasMap] = useState(true);
  const [isSelecting, setSelecting] = useState(false);
  const [request, setRequest] = useState<PaletteRequest | null>(null);
  const [menu, setMenu] = useState<MenuRequest | null>(null);
  const [joining, setJoining] = useState<Joining | null>(null);
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const [dropTarget, setDropTarget] = useState<string | null>(null);
  const isPlaced = useInitialLayout();
  const [announcement, setAnnouncement] = useState('');
  const actions = useMemo(
    () => createCanvasActions({ store, flow, t, openPalette: setRequest, setDropTarget, setAnnouncement }),
    [store, flow, t],
  );
  const openNode = useCallback((nodeId: string | null) => onOpenNode?.(nodeId), [onOpenNode]);
  const openNew = (nodeId: string) => onOpenNode?.(nodeId, { isNew: true });
  const add = (type: string, place: PaletteRequest, preset?: NodePreset) => {
    setRequest(null);
    openNew(actions.add(type, place, preset));
  };
  const fit = useCallback(() => void flow.fitView({ ...FIT, duration: animationMs() }), [flow]);
  useBringIntoView(focus, frame, { width, height });
  const edgeActions = useEdgeActions(setRequest);
  const hasRoomForMap = width > ROOM_FOR_MAP.width && height > ROOM_FOR_MAP.height;
  const isList = (view ?? (isNarrow ? 'list' : 'picture')) === 'list';
  const toolbar = (
    <CanvasToolbar
      isList={isList}
      onView={setView}
      hasMap={hasRoomForMap ? hasMap : null}
      onMap={setHasMap}
      isSelecting={isSelecting}
      onSelecting={setSelecting}
      onAdd={() => setRequest({})}
      onTidy={actions.tidy}
      onFit={fit}
    />
  );
  const empty = isEmpty && (
    <CanvasEmpty
      onChoose={(type, label) => add(type, {}, label === undefined ? {} : { label })}
      onSearch={() => setRequest({})}
    />
  );
  return (
    <div ref={frameRef} className="flow-canvas" data-testid="canvas">
      <EdgeActions value={edgeActions}>
        <DropTarget value={dropTarget}>
          {isList ? (
            <FlowList
              {...(onOpenNode === undefined ? {} : { onOpenNode })}
              onAdd={setRequest}
              onConnect={setJoining}
              marks={marks}
              toolbar={toolbar}
              empty={empty}
            />
          ) : !isPlaced ? (
            <Skeleton h="100%" />
          ) : (
            <Picture
              marks={marks}
              actions={actions}
              scheme={scheme}
              hasMap={hasMap && !isEmpty && hasRoomForMap}
              isSelecting={isSelecting}
              onOpenNode={openNode}
              onWidenNode={onWidenNode}
              onMenu={setMenu}
            >
              <Panel position="bottom-left">{toolbar}</Panel>
              {isEmpty && (
                <Panel position="top-center" className="flow-empty-place">
                  {empty}
                </Panel>
              )}
            </Picture>
          )}
        </DropTarget>
      </EdgeActions>
      <CanvasPalette request={request} onAdd={add} onReplaced={openNew} onClose={() => setRequest(null)} />
      {menu !== null && (
        <CanvasMenu
          request={menu}
          onClose={() => setMenu(null)}
          onOpen={openNode}
          onAdd={(place) => setRequest({ place })}
          onConnect={setJoining}
          onTidy={actions.tidy}
          onFit={fit}
        />
      )}
      {joining !== null && <ConnectDialog joining={joining} onClose={() => setJoining(null)} />}
      <CanvasKeys
        isList={isList}
        onPalette={setRequest}
        onMenu={setMenu}
        onTidy={actions.tidy}
        onFit={fit}
        pasteAt={actions.pastePlace}
        onMap={() => setHasMap((has) => !has)}
        {...(onOpenNode === undefined ? {} : { onOpenNode })}
      />
      <output className="flow-visually-hidden" aria-live="polite">
        {announcement}
      </output>
    </div>
  );
}

function useEdgeActions(openPalette: (request: PaletteRequest) => void) {
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  return useMemo(() => {
    if (isReadOnly) return null;
    return {
      insert: (onEdge: string) => openPalette({ place: { onEdge } }),
      remove: (key: string) => store.getState().remove([key]),
    };
  }, [isReadOnly, store, openPalette]);
}
