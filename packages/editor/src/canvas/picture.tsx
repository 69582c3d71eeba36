import { useMediaQuery } from '@mantine/hooks';
import { FINGER } from '@millrace/editor-model/canvas-id.ts';
import type { CanvasEdge, CanvasNode, DiffMark } from '@millrace/editor-model/display.ts';
import { type EditorStore, useEditor, useEditorStore } from '@millrace/editor-model/store.ts';
import { lazyPart } from '@millrace/ui/components/lazy-part.tsx';
import { loadInReserve } from '@millrace/ui/components/load-in-reserve.ts';
import {
  ConnectionLineType,
  ReactFlow,
  type ReactFlowProps,
  SelectionMode,
  useStore,
  useStoreApi,
  type Viewport,
} from '@xyflow/react';
import { memo, type ReactNode, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CanvasActions } from './canvas-actions.ts';
import type { MenuRequest } from './canvas-menu.tsx';
import { ConnectHint } from './connect-hint.tsx';
import { FlowEdgeView } from './flow-edge.tsx';
import { FlowMap } from './flow-map.tsx';
import { type Distance, LoopNodeView, StepNodeView, ViewDistance } from './flow-node.tsx';
import { Ground } from './ground.tsx';
import { createHeldViewport, type FlowApi } from './held-viewport.ts';
import { NoteNodeView } from './note-node.tsx';
import { FIT } from './use-bring-into-view.ts';
import { useClicks } from './use-clicks.ts';
import { useContextMenus } from './use-context-menus.ts';
import { MANY, useDrawing } from './use-drawing.ts';
import { EdgeRouting } from './use-edge-routing.ts';
import { useMotion } from './use-motion.ts';
import { useNearPart } from './use-near-part.ts';
import { useTouch } from './use-touch.ts';

const loadFarView = () => import('./far-view.tsx');
const FarView = lazyPart(async () => (await loadFarView()).FarView);

const SETTINGS = {
  nodeTypes: { step: StepNodeView, loop: LoopNodeView, note: NoteNodeView },
  edgeTypes: { flow: FlowEdgeView },
  fitViewOptions: FIT,
  minZoom: 0.1,
  maxZoom: 2,
  deleteKeyCode: null,
  selectionKeyCode: 'Shift',
  multiSelectionKeyCode: ['Shift', 'Meta', 'Control'],
  selectionMode: SelectionMode.Partial,
  connectionLineType: ConnectionLineType.Bezier,
  connectionRadius: 24,
  elevateNodesOnSelect: false,
  proOptions: { hideAttribution: true },
  snapToGrid: true,
  /** Pixels. Nodes are 184 wide, so a coarser grid wouldn't align them. */
  snapGrid: [4, 4],
} satisfies ReactFlowProps<CanvasNode, CanvasEdge>;
const ORIGIN: Viewport = { x: 0, y: 0, zoom: 1 };
/** Zoom levels below which unreadable details aren't rendered. */
const FAR = 0.45;
const TINY = 0.3;

/** What was seen of a flow when its canvas was left for another tab of the page. */
const leftViews = new WeakMap<EditorStore, Viewport>();

const NO_EDGES: CanvasEdge[] = [];

type Direction = 'left' | 'right' | 'up' | 'down';

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
  const labels = useLabels(isReadOnly);
  const { nodes, edges, lifted, routing, onNodesChange, onEdgesChange } = useDrawing(marks);
  const flow = useStoreApi<CanvasNode, CanvasEdge>();
  const { viewport, isFirstView } = useHeldViewport(flow);
  const isLarge = nodes.length > MANY;
  const distance = useStore(
    ({ transform: [, , zoom] }): Distance =>
      zoom < TINY ? (isLarge ? 'overview' : 'tiny') : zoom < FAR ? 'far' : 'near',
  );
  const isLargeAndNear = isLarge && distance !== 'overview';
  const part = useNearPart({ nodes, edges, lifted }, viewport, isLargeAndNear);
  useEffect(() => (isLarge ? loadInReserve(loadFarView) : undefined), [isLarge]);
  const isFinger = useMediaQuery(FINGER) ?? false;
  const touch = useTouch();
  useState(() => keepSizes(flow));
  useEffect(() => flow.setState({ multiSelectionActive: isSelecting }), [flow, isSelecting]);
  const clicks = useClicks({ actions, isSelecting, onOpenNode, onWidenNode });
  const menus = useContextMenus(onMenu);
  const { motion, moving } = useMotion(viewport, actions);
  const isTiny = distance === 'tiny' || distance === 'overview';
  return (
    <ViewDistance value={distance}>
      <EdgeRouting value={routing}>
        <ReactFlow<CanvasNode, CanvasEdge>
          {...SETTINGS}
          className={isTiny ? `${motion} is-tiny` : motion}
          nodes={part.nodes}
          edges={distance === 'overview' ? NO_EDGES : part.edges}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          colorMode={scheme}
          ariaLabelConfig={labels}
          fitView={isFirstView}
          viewport={viewport.given}
          onViewportChange={viewport.change}
          nodesDraggable={!isReadOnly}
          nodesConnectable={!isReadOnly}
          isValidConnection={actions.isValidConnection}
          onConnect={actions.onConnect}
          onConnectEnd={actions.onConnectEnd}
          connectionDragThreshold={isFinger ? 8 : 1}
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
          onNodeDragStart={actions.onNodeDragStart}
          onDragOver={actions.onDragOver}
          onDrop={actions.onDrop}
          onMouseMove={actions.onMouseMove}
          {...touch}
          {...clicks}
          {...menus}
          {...moving}
          // Empty elements that come and go at the border of the picture would cost more than they do. Near, Tab reaches only what is rendered.
          onlyRenderVisibleElements={isLargeAndNear && !part.isPart}
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

/** A flow that was left for another tab of the page is seen as it was then. */
function useHeldViewport(flow: FlowApi) {
  const store = useEditorStore();
  const [leftView] = useState(() => leftViews.get(store));
  const [viewport] = useState(() => createHeldViewport(flow, leftView ?? ORIGIN));
  useEffect(
    () => () => {
      leftViews.set(store, viewport.get());
    },
    [store, viewport],
  );
  return { viewport, isFirstView: leftView === undefined };
}

function useLabels(isReadOnly: boolean) {
  const { t } = useTranslation();
  return useMemo(
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
}

/**
 * Keeps the computed sizes and handles of nodes. React Flow would measure each node that comes into sight, and forget the handles of those that
 * are drawn without them because they are far away, and with the handles their edges.
 */
function keepSizes(flow: FlowApi): void {
  flow.setState({
    updateNodeInternals: () => {
      const { fitViewQueued, nodes, setNodes } = flow.getState();
      if (fitViewQueued) setNodes(nodes);
    },
  });
}
