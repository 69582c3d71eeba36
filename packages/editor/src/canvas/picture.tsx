import { useMediaQuery } from '@mantine/hooks';
import { FINGER } from '@millrace/editor-model/canvas-id.ts';
import type { CanvasEdge, CanvasNode, DiffMark } from '@millrace/editor-model/display.ts';
import { type EditorStore, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import {
  ConnectionLineType,
  type NodeMouseHandler,
  type OnConnectStartParams,
  type OnNodeDrag,
  ReactFlow,
  SelectionMode,
  useStore,
  useStoreApi,
  type Viewport,
} from '@xyflow/react';
import { type MouseEvent, memo, type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CanvasActions } from './canvas-actions.ts';
import type { MenuRequest } from './canvas-menu.tsx';
import { ConnectHint } from './connect-hint.tsx';
import { FlowEdgeView } from './flow-edge.tsx';
import { FlowMap } from './flow-map.tsx';
import { type Distance, LoopNodeView, StepNodeView, ViewDistance } from './flow-node.tsx';
import { Ground } from './ground.tsx';
import { createHeldViewport } from './held-viewport.ts';
import { NoteNodeView } from './note-node.tsx';
import { FIT } from './use-bring-into-view.ts';
import { useContextMenus } from './use-context-menus.ts';
import { MANY, useDrawing } from './use-drawing.ts';
import { EdgeRouting } from './use-edge-routing.ts';
import { useNearPart } from './use-near-part.ts';
import { useTouch } from './use-touch.ts';

const loadFarView = () => import('./far-view.tsx');
const FarView = lazyPart(async () => (await loadFarView()).FarView);

const NODE_VIEWS = { step: StepNodeView, loop: LoopNodeView, note: NoteNodeView };
const EDGE_VIEWS = { flow: FlowEdgeView };
const ORIGIN: Viewport = { x: 0, y: 0, zoom: 1 };
const MULTI_SELECTION_KEYS = ['Shift', 'Meta', 'Control'];
/** Pixels. Nodes are 184 wide, so a coarser grid wouldn't align them. */
const GRID: [number, number] = [4, 4];
const PRO_OPTIONS = { hideAttribution: true };
/** Zoom levels below which unreadable details aren't rendered. */
const FAR = 0.45;
const TINY = 0.3;

/** What was seen of a flow when its canvas was left for another tab of the page. */
const leftViews = new WeakMap<EditorStore, Viewport>();

const NO_EDGES: CanvasEdge[] = [];

type Direction = 'left' | 'right' | 'up' | 'down';

/** What is going on: the canvas is zoomed or moved, panned with the mouse, or something is being pulled. */
type Motion = '' | 'is-moving' | 'is-panned' | 'is-panned is-pulled' | 'is-pulled';

/**
 * The React Flow canvas. It re-renders on every step of a drag, so its props must keep their identity: React Flow would
 * otherwise re-render every node.
 */
export const Picture = memo(function Picture({
  marks,
  actions,
  scheme,
  hasMap,
  isSelecting,
  onOpenNode,
  onWidenNode,
  onMenu,
  children,
}: {
  marks: { readonly [nodeId: string]: DiffMark };
  actions: CanvasActions;
  scheme: 'light' | 'dark';
  hasMap: boolean;
  /** Dragging draws a selection box, and clicking adds to the selection. */
  isSelecting: boolean;
  onOpenNode: (nodeId: string | null) => void;
  onWidenNode: (() => void) | undefined;
  onMenu: (request: MenuRequest) => void;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  const isReadOnly = useEditor((state) => state.isReadOnly);
  const { nodes, edges, lifted, routing, onNodesChange, onEdgesChange } = useDrawing(marks);
  const store = useEditorStore();
  const [leftView] = useState(() => leftViews.get(store));
  const flow = useStoreApi<CanvasNode, CanvasEdge>();
  const [viewport] = useState(() => createHeldViewport(flow, leftView ?? ORIGIN));
  useEffect(
    () => () => {
      leftViews.set(store, viewport.get());
    },
    [store, viewport],
  );
  const [motion, setMotion] = useState<Motion>('');
  const isLarge = nodes.length > MANY;
  const distance = useStore(
    ({ transform: [, , zoom] }): Distance =>
      zoom < TINY ? (isLarge ? 'overview' : 'tiny') : zoom < FAR ? 'far' : 'near',
  );
  const isLargeAndNear = isLarge && distance !== 'overview';
  const part = useNearPart({ nodes, edges, lifted }, viewport, isLargeAndNear);
  useEffect(() => (isLarge ? loadInReserve(loadFarView) : undefined), [isLarge]);
  const labels = useMemo(
    () => ({
      'node.a11yDescription.default': t(isReadOnly ? 'canvas.onlyOpens' : 'editor.a11y.node'),
      'node.a11yDescription.keyboardDisabled': t(isReadOnly ? 'canvas.onlyOpens' : 'editor.a11y.node'),
      'node.a11yDescription.ariaLiveMessage': ({ direction }: { readonly direction: string }) =>
        t(`canvas.moved.${direction as Direction}`),
      'edge.a11yDescription.default': isReadOnly ? '' : t('editor.a11y.edge'),
      'handle.ariaLabel': t('editor.a11y.handle'),
    }),
    [t, isReadOnly],
  );
  const isFinger = useMediaQuery(FINGER) ?? false;
  const touch = useTouch();
  const { takeClick, ...clicking } = useTapConnect(actions);
  useState(() => keepSizes(flow));
  useEffect(() => flow.setState({ multiSelectionActive: isSelecting }), [flow, isSelecting]);
  const onNodeClick: NodeMouseHandler<CanvasNode> = useCallback(
    (event, node) => {
      if (isSelecting || takeClick(event, node.id)) return;
      onOpenNode(node.type === 'note' ? null : node.data.node.id);
    },
    [onOpenNode, takeClick, isSelecting],
  );
  const onNodeDoubleClick: NodeMouseHandler<CanvasNode> = useCallback(
    (_event, node) => {
      if (node.type !== 'note' && !isSelecting) onWidenNode?.();
    },
    [onWidenNode, isSelecting],
  );
  const menus = useContextMenus(onMenu);
  const onPaneClick = useCallback(() => onOpenNode(null), [onOpenNode]);
  const onMoveStart = useCallback(
    (event: globalThis.MouseEvent | TouchEvent | null) => {
      if (event?.type === 'mousedown') viewport.hold();
      setMotion(event?.type === 'mousedown' ? 'is-panned' : 'is-moving');
    },
    [viewport],
  );
  // A press may still become a click.
  const onMove = useCallback((event: globalThis.MouseEvent | TouchEvent | null) => {
    if (event?.type === 'mousemove') setMotion('is-panned is-pulled');
  }, []);
  const onMoveEnd = useCallback(() => {
    viewport.release();
    setMotion('');
  }, [viewport]);
  const { onNodeDrag, onNodeDragStop } = actions;
  const whileDragging: OnNodeDrag<CanvasNode> = useCallback(
    (...drag) => {
      setMotion('is-pulled');
      onNodeDrag(...drag);
    },
    [onNodeDrag],
  );
  const afterDragging: OnNodeDrag<CanvasNode> = useCallback(
    (...drag) => {
      setMotion('');
      onNodeDragStop(...drag);
    },
    [onNodeDragStop],
  );
  const isTiny = distance === 'tiny' || distance === 'overview';
  return (
    <ViewDistance value={distance}>
      <EdgeRouting value={routing}>
        <ReactFlow<CanvasNode, CanvasEdge>
          className={isTiny ? `${motion} is-tiny` : motion}
          nodes={part.nodes}
          edges={distance === 'overview' ? NO_EDGES : part.edges}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          nodeTypes={NODE_VIEWS}
          edgeTypes={EDGE_VIEWS}
          colorMode={scheme}
          ariaLabelConfig={labels}
          fitView={leftView === undefined}
          viewport={viewport.given}
          onViewportChange={viewport.change}
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
          onNodeDrag={whileDragging}
          onNodeDragStop={afterDragging}
          onDragOver={actions.onDragOver}
          onDrop={actions.onDrop}
          onMouseMove={actions.onMouseMove}
          onNodeClick={onNodeClick}
          onNodeDoubleClick={onNodeDoubleClick}
          onPaneClick={onPaneClick}
          {...menus}
          onMoveStart={onMoveStart}
          onMove={onMove}
          onMoveEnd={onMoveEnd}
          // Empty elements that come and go at the border of the picture would cost more than they do. Near, Tab reaches only what is rendered.
          onlyRenderVisibleElements={isLargeAndNear && !part.isPart}
          proOptions={PRO_OPTIONS}
          snapToGrid
          snapGrid={GRID}
        >
          {/* Far away the dots are a grey haze. And a layer is painted at its full size first: the ground would be a hundred times what is seen. */}
          {!isTiny && <Ground />}
          {distance === 'overview' && <FarView nodes={nodes} edges={edges} lifted={lifted} />}
          {hasMap && <FlowMap nodes={nodes} viewport={viewport} label={t('editor.map')} />}
          <ConnectHint />
          {children}
        </ReactFlow>
      </EdgeRouting>
    </ViewDistance>
  );
});

/**
 * Connecting without dragging: click one handle, then another, or the empty canvas for a new node. On touch screens the second tap may be on the whole
 * node; with a mouse, where handles are clicked by mistake more easily, clicking a node opens it.
 */
function useTapConnect({ joinTo, startClick, endClick }: CanvasActions) {
  const flow = useStoreApi();
  return useMemo(() => {
    const cancel = () => flow.setState({ connectionClickStartHandle: null });
    return {
      onClickConnectStart: (_event: unknown, { handleType }: OnConnectStartParams) =>
        startClick(handleType ?? 'source'),
      onClickConnectEnd: (event: globalThis.MouseEvent | TouchEvent) => {
        const from = flow.getState().connectionClickStartHandle;
        if (from !== null) endClick(from, event);
      },
      /** @returns whether the click was part of a connection */
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

/**
 * Keeps the computed sizes and handles of nodes. React Flow would measure each node that comes into sight, and forget the handles of those that
 * are drawn without them because they are far away, and with the handles their edges.
 */
function keepSizes(flow: ReturnType<typeof useStoreApi<CanvasNode, CanvasEdge>>): void {
  flow.setState({
    updateNodeInternals: () => {
      const { fitViewQueued, nodes, setNodes } = flow.getState();
      if (fitViewQueued) setNodes(nodes);
    },
  });
}
