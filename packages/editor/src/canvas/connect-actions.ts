import { fromCanvasId, toCanvasId } from '@millrace/editor-model/canvas-id.ts';
import { type ConnectionFault, findConnectionFault } from '@millrace/editor-model/connection-rules.ts';
import type { CanvasEdge, CanvasNode } from '@millrace/editor-model/display.ts';
import type { AddPlace, NewConnection, Point } from '@millrace/editor-model/editor-state.ts';
import { handlesOf } from '@millrace/editor-model/flow-value.ts';
import type { EditorStore } from '@millrace/editor-model/store.ts';
import type { Connection, FinalConnectionState, IsValidConnection, ReactFlowInstance } from '@xyflow/react';

interface Surroundings {
  readonly store: EditorStore;
  readonly flow: ReactFlowInstance<CanvasNode, CanvasEdge>;
  /** Lets the user choose the node to add. */
  readonly openPalette: (place: AddPlace) => void;
  readonly reportFault: (fault: ConnectionFault) => void;
  /** Announces that a handle was clicked and that the other end is expected. */
  readonly announceStart: (from: End['type']) => void;
}

/** A handle in React Flow's terms. */
export interface End {
  readonly nodeId: string;
  readonly type: 'source' | 'target';
  readonly id?: string | null;
}

/** Connects nodes by dragging from a handle, and reconnects edges by dragging one of their ends. */
export function createConnectActions({
  store,
  flow,
  openPalette: askWhat,
  reportFault: tellFault,
  announceStart: tellStart,
}: Surroundings) {
  /** Key of the edge whose end is being dragged. */
  let pulled: string | null = null;
  /** Whether the two clicked handles could be connected. */
  let hasJoined = false;

  const join = (connection: NewConnection) => {
    const fault = findConnectionFault(store.getState(), connection, pulled);
    if (fault !== null) tellFault(fault);
    else if (pulled === null) store.getState().connect(connection);
    else store.getState().reconnect(pulled, connection);
  };

  /** The source handle to use: the requested one if the node has it, else its first. */
  const leave = (id: string, wanted: string | null): string | null => {
    const { nodes, handles, nodeTypes } = store.getState();
    const node = nodes.find((each) => each.id === id);
    const known = node === undefined ? [] : handlesOf(node, handles, nodeTypes);
    return known.find((handle) => handle === wanted) ?? known[0] ?? null;
  };

  /** Connects a handle with a node; the direction depends on the handle. */
  const joinTo = (from: End, over: string): void => {
    const [fixed, other] = [fromCanvasId(from.nodeId), fromCanvasId(over)];
    const handle = from.id == null ? null : fromCanvasId(from.id);
    if (from.type === 'source') join({ source: fixed, target: other, sourceHandle: handle });
    else join({ source: other, target: fixed, sourceHandle: leave(other, handleOfPulled()) });
  };
  /** Handles a connection dropped on a node but not on a handle. @returns whether there was a node */
  const joinUnder = (event: MouseEvent | TouchEvent, state: FinalConnectionState): boolean => {
    const { fromNode, fromHandle, toNode } = state;
    const over = toNode?.id ?? nodeUnder(event);
    if (fromNode === null || fromHandle === null || over === null) return false;
    joinTo({ nodeId: fromNode.id, type: fromHandle.type, id: fromHandle.id ?? null }, over);
    return true;
  };
  /** Lets the user choose a node to add where a connection from `from` was to end. */
  const addAt = ({ nodeId, id = null }: Pick<End, 'nodeId' | 'id'>, event: MouseEvent | TouchEvent): void => {
    const at = flow.screenToFlowPosition(pointOf(event));
    const parentId = flow.getInternalNode(nodeId)?.parentId;
    const origin =
      (parentId === undefined ? null : flow.getInternalNode(parentId)?.internals.positionAbsolute) ?? NOWHERE;
    askWhat({
      after: fromCanvasId(nodeId),
      ...(id === null ? {} : { handle: fromCanvasId(id) }),
      at: { x: at.x - origin.x, y: at.y - origin.y - 26 },
    });
  };
  const handleOfPulled = (): string | null => {
    const edge = pulled === null ? undefined : flow.getEdge(toCanvasId(pulled));
    return edge?.sourceHandle == null ? null : fromCanvasId(edge.sourceHandle);
  };

  const isValidConnection: IsValidConnection<CanvasEdge> = (connection) =>
    findConnectionFault(store.getState(), connectionOf(connection), pulled) === null;

  return {
    isValidConnection,
    onConnect: (connection: Connection) => {
      hasJoined = true;
      join(connectionOf(connection));
    },
    joinTo,
    startClick: (from: End['type']) => {
      hasJoined = false;
      tellStart(from);
    },
    /** React Flow has connected the handles, unless that would be invalid, which it doesn't report. On the empty canvas, a node is added. */
    endClick: (from: End, event: MouseEvent | TouchEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const handle = target?.closest('.react-flow__handle') ?? null;
      if (from.type === 'source' && target?.classList.contains('react-flow__pane') === true)
        addAt(from, event);
      const nodeId = handle?.getAttribute('data-nodeid');
      if (hasJoined || handle === null || nodeId == null) return;
      const [fixed, other] = [fromCanvasId(from.nodeId), fromCanvasId(nodeId)];
      const isSame = other === fixed || handle.classList.contains(from.type);
      if (isSame) return;
      const id = handle.getAttribute('data-handleid') ?? from.id ?? null;
      const [source, sink] = from.type === 'source' ? [fixed, other] : [other, fixed];
      join({ source, target: sink, sourceHandle: id === null ? null : fromCanvasId(id) });
    },
    onConnectEnd: (event: MouseEvent | TouchEvent, state: FinalConnectionState) => {
      const { fromNode, fromHandle, isValid } = state;
      if (pulled !== null || fromNode === null || fromHandle === null || isValid === true) return;
      if (joinUnder(event, state) || fromHandle.type !== 'source') return;
      addAt({ nodeId: fromNode.id, id: fromHandle.id ?? null }, event);
    },
    onReconnectStart: (_event: unknown, edge: CanvasEdge) => {
      pulled = fromCanvasId(edge.id);
    },
    onReconnect: (_edge: CanvasEdge, connection: Connection) => join(connectionOf(connection)),
    onReconnectEnd: (
      event: MouseEvent | TouchEvent,
      _edge: CanvasEdge,
      _fixed: unknown,
      state: FinalConnectionState,
    ) => {
      // Dropped on the empty canvas, the edge stays as it was.
      if (state.isValid !== true) joinUnder(event, state);
      pulled = null;
    },
  };
}

const NOWHERE: Point = { x: 0, y: 0 };

function connectionOf({ source, target, sourceHandle }: Connection | CanvasEdge): NewConnection {
  return {
    source: fromCanvasId(source),
    target: fromCanvasId(target),
    sourceHandle: sourceHandle == null ? null : fromCanvasId(sourceHandle),
  };
}

function pointOf(event: MouseEvent | TouchEvent): Point {
  const at = 'changedTouches' in event ? event.changedTouches[0] : event;
  return { x: at?.clientX ?? 0, y: at?.clientY ?? 0 };
}

/** Dropping anywhere on a node counts; on a loop's frame, only its header. */
function nodeUnder(event: MouseEvent | TouchEvent): string | null {
  const { x, y } = pointOf(event);
  const hit = document.elementFromPoint(x, y);
  if (hit?.closest('.flow-loop') != null && hit.closest('.flow-loop-head') === null) return null;
  return hit?.closest('.react-flow__node')?.getAttribute('data-id') ?? null;
}
