import '@xyflow/react/dist/base.css';
import './canvas.css';
import { Button, useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import {
  Background,
  BackgroundVariant,
  ConnectionLineType,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  SelectionMode,
} from '@xyflow/react';
import { Plus, Workflow } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '../ui/states.tsx';
import { CanvasKeys } from './canvas-keys.tsx';
import { CanvasToolbar } from './canvas-toolbar.tsx';
import type { CanvasEdge, CanvasNode, DiffMark } from './display.ts';
import { EdgeActions, FlowEdgeView } from './flow-edge.tsx';
import { FlowList } from './flow-list.tsx';
import { DropTarget, LoopNodeView, StepNodeView } from './flow-node.tsx';
import { NoteNodeView } from './note-node.tsx';
import { Palette } from './palette.tsx';
import { useEditor, useEditorStore } from './store.ts';
import { useBringIntoView } from './use-bring-into-view.ts';
import { type PaletteRequest, useCanvasActions } from './use-canvas-actions.ts';
import { useDrawing } from './use-drawing.ts';

const NODE_VIEWS = { step: StepNodeView, loop: LoopNodeView, note: NoteNodeView };
const EDGE_VIEWS = { flow: FlowEdgeView };
const FIT = { padding: 0.15, maxZoom: 1 } as const;
const MULTI_SELECTION_KEYS = ['Shift', 'Meta', 'Control'];
/** Narrower than this it begins as a list, and has no map. */
const NARROW = 560;
/** Lower than this the map would cover what it shows. */
const LOW = 420;
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
  const isNarrow = width > 0 && width < NARROW;
  const [view, setView] = useState<'picture' | 'list' | null>(null);
  const [hasMap, setHasMap] = useState(true);
  const [request, setRequest] = useState<PaletteRequest | null>(null);
  const { nodes, edges, onNodesChange, onEdgesChange } = useDrawing(marks);
  const actions = useCanvasActions({ openPalette: setRequest, nodes });
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
        <DropTarget value={actions.dropTarget}>
          {isList ? (
            <FlowList
              {...(onOpenNode === undefined ? {} : { onOpenNode })}
              onAdd={setRequest}
              toolbar={toolbar}
            />
          ) : (
            <ReactFlow<CanvasNode, CanvasEdge>
              nodes={nodes}
              edges={edges}
              onNodesChange={onNodesChange}
              onEdgesChange={onEdgesChange}
              nodeTypes={NODE_VIEWS}
              edgeTypes={EDGE_VIEWS}
              colorMode={scheme}
              ariaLabelConfig={{
                'node.a11yDescription.default': t('editor.a11y.node'),
                'node.a11yDescription.keyboardDisabled': t('editor.a11y.node'),
                'edge.a11yDescription.default': t('editor.a11y.edge'),
                'minimap.ariaLabel': t('editor.map'),
                'handle.ariaLabel': t('editor.a11y.handle'),
              }}
              fitView
              fitViewOptions={FIT}
              minZoom={0.1}
              maxZoom={2}
              nodesDraggable={!isReadOnly}
              nodesConnectable={!isReadOnly}
              deleteKeyCode={null}
              selectionKeyCode="Shift"
              multiSelectionKeyCode={MULTI_SELECTION_KEYS}
              selectionMode={SelectionMode.Partial}
              connectionLineType={ConnectionLineType.Bezier}
              connectionRadius={24}
              elevateNodesOnSelect={false}
              isValidConnection={actions.isValidConnection}
              onConnect={actions.onConnect}
              onConnectEnd={actions.onConnectEnd}
              onNodeDrag={actions.onNodeDrag}
              onNodeDragStop={actions.onNodeDragStop}
              onDragOver={actions.onDragOver}
              onDrop={actions.onDrop}
              onMouseMove={actions.onMouseMove}
              onNodeClick={(_event, node) => onOpenNode?.(node.type === 'note' ? null : node.id)}
              onPaneClick={() => onOpenNode?.(null)}
              proOptions={{ hideAttribution: true }}
              // Steps are 184 pixels wide; a finer grid than this would not line them up.
              snapToGrid
              snapGrid={[4, 4]}
            >
              <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
              {hasMap && !isNarrow && !isEmpty && height > LOW && (
                <MiniMap<CanvasNode>
                  pannable
                  zoomable
                  position="bottom-right"
                  nodeClassName={(node) => `flow-map-${node.type ?? 'step'}`}
                />
              )}
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
            </ReactFlow>
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
        {actions.announcement}
      </output>
    </div>
  );
}
