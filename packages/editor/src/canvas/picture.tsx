import { useMediaQuery } from '@mantine/hooks';
import {
  Background,
  BackgroundVariant,
  ConnectionLineType,
  MiniMap,
  type NodeMouseHandler,
  ReactFlow,
  SelectionMode,
  useStore,
  useStoreApi,
} from '@xyflow/react';
import { type MouseEvent, memo, type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FINGER } from '../model/canvas-id.ts';
import type { CanvasEdge, CanvasNode, DiffMark } from '../model/display.ts';
import { useEditor } from '../model/store.ts';
import type { CanvasActions } from './canvas-actions.ts';
import type { MenuRequest } from './canvas-menu.tsx';
import { FlowEdgeView } from './flow-edge.tsx';
import { LoopNodeView, StepNodeView } from './flow-node.tsx';
import { kindClass } from './node-icon.tsx';
import { NoteNodeView } from './note-node.tsx';
import { useContextMenus } from './use-context-menus.ts';
import { useDrawing } from './use-drawing.ts';
import { useTouch } from './use-touch.ts';

const NODE_VIEWS = { step: StepNodeView, loop: LoopNodeView, note: NoteNodeView };
const EDGE_VIEWS = { flow: FlowEdgeView };
const FIT = { padding: 0.15, maxZoom: 1 } as const;
const MULTI_SELECTION_KEYS = ['Shift', 'Meta', 'Control'];
/** Nodes are 184 pixels wide; a coarser grid would not line them up. */
const GRID: [number, number] = [4, 4];
const MAP_SIZE = { width: 168, height: 116 };
const PRO_OPTIONS = { hideAttribution: true };
/** Below these, what nobody could read is left out. */
const FAR = 0.45;
const TINY = 0.3;

/** Of more nodes than this, those out of sight are left out of the page; Tab then reaches those in sight. */
const MANY = 150;

/** Of the arrow keys. */
type Direction = 'left' | 'right' | 'up' | 'down';

const mapClass = (node: CanvasNode) =>
  node.type === 'step' ? `flow-map-step ${kindClass(node.data.type)}` : `flow-map-${node.type}`;

/**
 * The picture. It draws anew with every step of a drag, so whatever it hands on stays the same object: React Flow
 * would otherwise draw each of its nodes anew.
 */
export const Picture = memo(function Picture({
  marks,
  actions,
  scheme,
  hasMap,
  isSelecting,
  onOpenNode,
  onMenu,
  children,
}: {
  marks: { readonly [nodeId: string]: DiffMark };
  actions: CanvasActions;
  scheme: 'light' | 'dark';
  hasMap: boolean;
  /** A drag draws a box around what is to be selected, and a click adds to what is. */
  isSelecting: boolean;
  onOpenNode: (nodeId: string | null) => void;
  onMenu: (request: MenuRequest) => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const { nodes, edges, onNodesChange, onEdgesChange } = useDrawing(marks);
  const [motion, setMotion] = useState<'' | 'is-moving' | 'is-moving is-pulled'>('');
  const distance = useStore(({ transform: [, , zoom] }) =>
    zoom < TINY ? 'is-far is-tiny' : zoom < FAR ? 'is-far' : '',
  );
  const labels = useMemo(
    () => ({
      'node.a11yDescription.default': t(isReadOnly ? 'canvas.onlyOpens' : 'editor.a11y.node'),
      'node.a11yDescription.keyboardDisabled': t(isReadOnly ? 'canvas.onlyOpens' : 'editor.a11y.node'),
      'node.a11yDescription.ariaLiveMessage': ({ direction }: { readonly direction: string }) =>
        t(`canvas.moved.${direction as Direction}`),
      'edge.a11yDescription.default': isReadOnly ? '' : t('editor.a11y.edge'),
      'minimap.ariaLabel': t('editor.map'),
      'handle.ariaLabel': t('editor.a11y.handle'),
    }),
    [t, isReadOnly],
  );
  const isFinger = useMediaQuery(FINGER) ?? false;
  const touch = useTouch();
  const { takeClick, ...clicking } = useTapConnect(actions);
  const flow = useStoreApi();
  useEffect(() => flow.setState({ multiSelectionActive: isSelecting }), [flow, isSelecting]);
  const onNodeClick: NodeMouseHandler<CanvasNode> = useCallback(
    (event, node) => {
      if (isSelecting || takeClick(event, node.id)) return;
      onOpenNode(node.type === 'note' ? null : node.data.node.id);
    },
    [onOpenNode, takeClick, isSelecting],
  );
  const menus = useContextMenus(onMenu);
  const onPaneClick = useCallback(() => onOpenNode(null), [onOpenNode]);
  const onMoveStart = useCallback(() => setMotion('is-moving'), []);
  // A press of the button may still become a click.
  const onMove = useCallback((event: globalThis.MouseEvent | TouchEvent | null) => {
    if (event?.type === 'mousemove') setMotion('is-moving is-pulled');
  }, []);
  const onMoveEnd = useCallback(() => setMotion(''), []);
  return (
    <ReactFlow<CanvasNode, CanvasEdge>
      className={`${motion} ${distance}`}
      nodes={nodes}
      edges={edges}
      onNodesChange={onNodesChange}
      onEdgesChange={onEdgesChange}
      nodeTypes={NODE_VIEWS}
      edgeTypes={EDGE_VIEWS}
      colorMode={scheme}
      ariaLabelConfig={labels}
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
      connectionDragThreshold={isFinger ? 8 : 1}
      {...clicking}
      {...(isReadOnly
        ? {}
        : {
            onReconnect: actions.onReconnect,
            onReconnectStart: actions.onReconnectStart,
            onReconnectEnd: actions.onReconnectEnd,
          })}
      reconnectRadius={isFinger ? 15 : 7}
      selectionOnDrag={isSelecting}
      panOnDrag={!isSelecting}
      {...touch}
      onNodeDragStart={actions.onNodeDragStart}
      onNodeDrag={actions.onNodeDrag}
      onNodeDragStop={actions.onNodeDragStop}
      onDragOver={actions.onDragOver}
      onDrop={actions.onDrop}
      onMouseMove={actions.onMouseMove}
      onNodeClick={onNodeClick}
      onPaneClick={onPaneClick}
      {...menus}
      onMoveStart={onMoveStart}
      onMove={onMove}
      onMoveEnd={onMoveEnd}
      onlyRenderVisibleElements={nodes.length > MANY}
      proOptions={PRO_OPTIONS}
      snapToGrid
      snapGrid={GRID}
    >
      <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
      {hasMap && (
        <MiniMap<CanvasNode>
          pannable
          zoomable
          position="bottom-right"
          nodeClassName={mapClass}
          style={MAP_SIZE}
        />
      )}
      {children}
    </ReactFlow>
  );
});

/**
 * Connecting without dragging: a click on one handle, then on another. A finger may choose the whole node instead of
 * its handle; with a mouse, where a handle is clicked by mistake more easily, a node stays something to be opened.
 */
function useTapConnect({ joinTo, startClick, endClick }: CanvasActions) {
  const flow = useStoreApi();
  return useMemo(() => {
    const cancel = () => flow.setState({ connectionClickStartHandle: null });
    return {
      onClickConnectStart: startClick,
      onClickConnectEnd: (event: globalThis.MouseEvent | TouchEvent) => {
        const from = flow.getState().connectionClickStartHandle;
        if (from !== null) endClick(from, event.target);
      },
      /** @returns whether the click meant a connection */
      takeClick: (event: MouseEvent, nodeId: string): boolean => {
        if (
          event.target instanceof Element &&
          event.target.closest('.react-flow__handle.connectable') !== null
        ) {
          return true;
        }
        const from = flow.getState().connectionClickStartHandle;
        cancel();
        if (from === null || !matchMedia(FINGER).matches) return false;
        joinTo(from, nodeId);
        return true;
      },
    };
  }, [flow, joinTo, startClick, endClick]);
}
