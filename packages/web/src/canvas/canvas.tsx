import '@xyflow/react/dist/base.css';
import './canvas.css';
import { Button, useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMediaQuery, useMergedRef } from '@mantine/hooks';
import { Panel, ReactFlowProvider, useReactFlow } from '@xyflow/react';
import { Plus, Workflow } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../ui/states.tsx';
import { createCanvasActions, type PaletteRequest } from './canvas-actions.ts';
import { CanvasKeys } from './canvas-keys.tsx';
import { CanvasToolbar } from './canvas-toolbar.tsx';
import type { CanvasEdge, CanvasNode, DiffMark } from './display.ts';
import { EdgeActions } from './flow-edge.tsx';
import { FlowList } from './flow-list.tsx';
import { DropTarget } from './flow-node.tsx';
import { Palette } from './palette.tsx';
import { Picture } from './picture.tsx';
import { useEditor, useEditorStore } from './store.ts';
import { useBringIntoView } from './use-bring-into-view.ts';

/** In a window as narrow as this it begins as a list. */
const NARROW = '(max-width: 36em)';
/** Smaller than this the map would cover what it shows. */
const ROOM_FOR_MAP = { width: 600, height: 420 } as const;
const NO_MARKS = {};

export interface CanvasProps {
  readonly marks?: { readonly [nodeId: string]: DiffMark };
  /** A node was chosen (click, Enter, list); null: none is any more. */
  readonly onOpenNode?: (nodeId: string | null) => void;
  /** A node to be brought into view; another object brings it there again. */
  readonly focus?: { readonly nodeId: string } | null;
}

/** The flow as a picture that can be changed, or as a list; everything that is done goes to the editor's store. */
export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <CanvasInside {...props} />
    </ReactFlowProvider>
  );
}

function CanvasInside({ marks = NO_MARKS, onOpenNode, focus = null }: CanvasProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme('light');
  const store = useEditorStore();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const isEmpty = useEditor((state) => state.nodes.length === 0);
  const frame = useRef<HTMLDivElement>(null);
  const { ref, width, height } = useElementSize<HTMLDivElement>();
  const frameRef = useMergedRef(ref, frame);
  const isNarrow = useMediaQuery(NARROW) ?? false;
  const [view, setView] = useState<'picture' | 'list' | null>(null);
  const [hasMap, setHasMap] = useState(true);
  const [request, setRequest] = useState<PaletteRequest | null>(null);
  const flow = useReactFlow<CanvasNode, CanvasEdge>();
  const [dropTarget, setDropTarget] = useState<string | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const actions = useMemo(
    () => createCanvasActions({ store, flow, t, openPalette: setRequest, setDropTarget, setAnnouncement }),
    [store, flow, t],
  );
  const openNode = useCallback((nodeId: string | null) => onOpenNode?.(nodeId), [onOpenNode]);
  useBringIntoView(focus, frame, { width, height });
  const edgeActions = useMemo(
    () =>
      isReadOnly
        ? null
        : {
            insert: (onEdge: string) => setRequest({ place: { onEdge } }),
            remove: (key: string) => store.getState().remove([key]),
          },
    [isReadOnly, store],
  );
  const hasRoomForMap = width > ROOM_FOR_MAP.width && height > ROOM_FOR_MAP.height;
  const isList = (view ?? (isNarrow ? 'list' : 'picture')) === 'list';
  const toolbar = (
    <CanvasToolbar
      isList={isList}
      onView={setView}
      hasMap={hasMap}
      onMap={setHasMap}
      onAdd={() => setRequest({})}
      onTidy={actions.tidy}
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
              marks={marks}
              toolbar={toolbar}
            />
          ) : (
            <Picture
              marks={marks}
              actions={actions}
              scheme={scheme}
              hasMap={hasMap && !isEmpty && hasRoomForMap}
              onOpenNode={openNode}
            >
              <Panel position="bottom-left">{toolbar}</Panel>
              {isEmpty && (
                <Panel position="top-center" className="flow-empty">
                  <EmptyState
                    icon={Workflow}
                    title={t('editor.emptyTitle')}
                    action={
                      !isReadOnly && (
                        <Button leftSection={<Plus size={14} />} onClick={() => setRequest({})}>
                          {t('editor.emptyAction')}
                        </Button>
                      )
                    }
                  >
                    {t('editor.emptyHint')}
                  </EmptyState>
                </Panel>
              )}
            </Picture>
          )}
        </DropTarget>
      </EdgeActions>
      {request !== null && (
        <Palette
          request={request}
          onClose={() => setRequest(null)}
          onChoose={(type) => {
            setRequest(null);
            const id = actions.add(type, request);
            onOpenNode?.(id);
          }}
        />
      )}
      <CanvasKeys
        isList={isList}
        onPalette={setRequest}
        onTidy={actions.tidy}
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
