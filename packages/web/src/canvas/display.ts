import type { FlowEdge, FlowNode, Problem } from '@millrace/engine';
import { type Edge, type Node, type NodeHandle, Position } from '@xyflow/react';
import type { EditorState, NodeRun, NodeType, Size, StickyNote } from './editor-state.ts';
import { edgeKeyOf, handlesOf, isLoop, noteKeyOf, own, titleOf } from './flow-value.ts';
import { HANDLE_ROW, measureAll, NODE_HEIGHT, positionOf } from './geometry.ts';

/** How a node differs from the same node of another version. */
export type DiffMark = 'added' | 'removed' | 'changed';

export interface StepData extends Record<string, unknown> {
  readonly node: FlowNode;
  readonly type: NodeType | undefined;
  readonly title: string;
  readonly handles: readonly string[];
  readonly problems: readonly Problem[];
  readonly run: NodeRun | undefined;
  readonly mark: DiffMark | undefined;
}
export type StepNode = Node<StepData, 'step'>;
export type LoopNode = Node<StepData, 'loop'>;
export type NoteNode = Node<{ readonly note: StickyNote }, 'note'>;
/** What React Flow draws. */
export type CanvasNode = StepNode | LoopNode | NoteNode;
export type CanvasEdge = Edge<{ readonly isTaken: boolean; readonly isDead: boolean }, 'flow'>;

/** What drawing depends on. */
export type Drawn = Pick<
  EditorState,
  | 'nodes'
  | 'edges'
  | 'settings'
  | 'nodeTypes'
  | 'selectedIds'
  | 'problems'
  | 'handles'
  | 'runs'
  | 'placed'
  | 'isReadOnly'
> & { readonly marks: { readonly [nodeId: string]: DiffMark } };

const NONE: readonly never[] = [];
const HANDLE_SIZE = 12;

/**
 * The nodes to draw, loops before what is inside of them. What would look the same is the same object as in `former`,
 * so that a change of one node draws one node, and a drag that is under way goes on.
 */
export function drawNodes(state: Drawn, former: readonly CanvasNode[]): CanvasNode[] {
  const known = new Map(former.map((node) => [node.id, node]));
  const selected = new Set(state.selectedIds);
  const inUse = Map.groupBy(state.edges, ({ source }) => source);
  const problems = Map.groupBy(state.problems, ({ node_id }) => node_id);
  const handles = new Map(
    state.nodes.map((node) => {
      const used = (inUse.get(node.id) ?? NONE).map((edge) => edge.sourceHandle ?? 'out');
      return [node.id, handlesOf(node, state.handles, state.nodeTypes, used)];
    }),
  );
  const sizes = measureAll({
    nodes: state.nodes,
    placed: state.placed,
    handleCount: ({ id }) => handles.get(id)?.length ?? 1,
  });
  const drawn = outermostFirst(state.nodes).map((node) => {
    const data: StepData = {
      node,
      type: state.nodeTypes.get(node.type),
      title: titleOf(node, state.nodeTypes),
      handles: handles.get(node.id) ?? NONE,
      problems: problems.get(node.id) ?? NONE,
      run: own(state.runs, node.id),
      mark: own(state.marks, node.id),
    };
    const size = sizes.get(node.id) ?? { width: 0, height: 0 };
    const isSelected = selected.has(node.id);
    return (
      keepStep(known.get(node.id), data, size, isSelected, state) ?? drawStep(data, size, isSelected, state)
    );
  });
  const notes = (state.settings.notes ?? NONE).map((note) =>
    drawNote(note, selected.has(noteKeyOf(note)), known.get(noteKeyOf(note)), state.isReadOnly),
  );
  return [...notes, ...drawn];
}

/** The edges to draw; the same objects as far as nothing changed. */
export function drawEdges(state: Drawn, former: readonly CanvasEdge[]): CanvasEdge[] {
  const known = new Map(former.map((edge) => [edge.id, edge]));
  const selected = new Set(state.selectedIds);
  const hasRun = Object.keys(state.runs).length > 0;
  const ids = new Set(state.nodes.map(({ id }) => id));
  return state.edges.flatMap((edge, index) => {
    if (!ids.has(edge.source) || !ids.has(edge.target)) return [];
    const id = edgeKeyOf(edge, index);
    const isSelected = selected.has(id);
    const isTaken = hasRun && wasTaken(edge, state.runs);
    const isDead = hasRun && !isTaken;
    const old = known.get(id);
    const isSame =
      old !== undefined &&
      old.source === edge.source &&
      old.target === edge.target &&
      old.sourceHandle === (edge.sourceHandle ?? 'out') &&
      (old.selected ?? false) === isSelected &&
      old.data?.isTaken === isTaken &&
      old.data.isDead === isDead;
    return isSame
      ? old
      : {
          id,
          type: 'flow' as const,
          source: edge.source,
          target: edge.target,
          sourceHandle: edge.sourceHandle ?? 'out',
          selected: isSelected,
          data: { isTaken, isDead },
        };
  });
}

function wasTaken(edge: FlowEdge, runs: EditorState['runs']): boolean {
  const [from, to] = [own(runs, edge.source)?.status, own(runs, edge.target)?.status];
  return (from === 'success' || from === 'failed') && to !== undefined && to !== 'skipped';
}

function drawStep(data: StepData, size: Size, isSelected: boolean, state: Drawn): CanvasNode {
  const { node } = data;
  const shared = {
    id: node.id,
    position: positionOf(node, state.placed),
    data,
    ...size,
    // Known without looking at the page, so that all of it is in its place from the first moment.
    measured: size,
    handles: handlePlaces(data, size),
    selected: isSelected,
    draggable: !state.isReadOnly,
    connectable: !state.isReadOnly,
    ...(typeof node.parentId === 'string' && state.nodes.some(({ id }) => id === node.parentId)
      ? { parentId: node.parentId }
      : {}),
  };
  return isLoop(node) ? { ...shared, type: 'loop' } : { ...shared, type: 'step' };
}

/** Distance from the node's top to the middle of its handle. */
export function handleTop(index: number, count: number, isLoopNode: boolean): number {
  if (isLoopNode) return 22 + index * HANDLE_ROW;
  return count === 1 ? NODE_HEIGHT / 2 : NODE_HEIGHT + index * HANDLE_ROW + HANDLE_ROW / 2;
}

/** Where edges begin and end, for nodes that are out of sight and so not measured. */
function handlePlaces({ node, type, handles }: StepData, { width }: Size): NodeHandle[] {
  const at = (y: number) => ({ y: y - HANDLE_SIZE / 2, width: HANDLE_SIZE, height: HANDLE_SIZE });
  const out = handles.map(
    (id, index): NodeHandle => ({
      id,
      type: 'source',
      position: Position.Right,
      x: width - HANDLE_SIZE / 2,
      ...at(handleTop(index, handles.length, isLoop(node))),
    }),
  );
  if (type?.kind === 'trigger') return out;
  const into = at(isLoop(node) ? 22 : NODE_HEIGHT / 2);
  return [{ type: 'target', position: Position.Left, x: -HANDLE_SIZE / 2, ...into }, ...out];
}

function keepStep(
  old: CanvasNode | undefined,
  data: StepData,
  size: Size,
  isSelected: boolean,
  state: Drawn,
): CanvasNode | null {
  if (old === undefined || old.type === 'note') return null;
  const before = old.data;
  const isSame =
    before.node === data.node &&
    before.type === data.type &&
    before.title === data.title &&
    before.mark === data.mark &&
    old.width === size.width &&
    old.height === size.height &&
    old.draggable === !state.isReadOnly &&
    before.handles.join('\n') === data.handles.join('\n') &&
    isSameRun(before.run, data.run) &&
    before.problems.length === data.problems.length &&
    before.problems.every((problem, at) => problem.message === data.problems[at]?.message) &&
    (data.node.position !== undefined || old.position === positionOf(data.node, state.placed));
  if (!isSame) return null;
  return (old.selected ?? false) === isSelected ? old : { ...old, selected: isSelected };
}

function isSameRun(a: NodeRun | undefined, b: NodeRun | undefined): boolean {
  if (a === b) return true;
  return (
    a !== undefined &&
    b !== undefined &&
    a.status === b.status &&
    a.started_at === b.started_at &&
    a.completed_at === b.completed_at &&
    a.attempts === b.attempts &&
    a.iterations === b.iterations &&
    a.error?.message === b.error?.message
  );
}

function drawNote(
  note: StickyNote,
  isSelected: boolean,
  old: CanvasNode | undefined,
  isReadOnly: boolean,
): CanvasNode {
  const isSame = old?.type === 'note' && old.data.note === note && old.draggable === !isReadOnly;
  if (isSame) return old.selected === isSelected ? old : { ...old, selected: isSelected };
  return {
    id: noteKeyOf(note),
    type: 'note',
    position: note.position,
    data: { note },
    ...note.size,
    measured: note.size,
    zIndex: -1,
    selected: isSelected,
    draggable: !isReadOnly,
    connectable: false,
  };
}

/** React Flow wants a loop before what is inside of it. */
export function outermostFirst(nodes: readonly FlowNode[]): readonly FlowNode[] {
  if (nodes.every(({ parentId }) => typeof parentId !== 'string')) return nodes;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const depthOf = (node: FlowNode): number => {
    let depth = 0;
    let at: FlowNode | undefined = node;
    while (typeof at?.parentId === 'string' && depth <= nodes.length) {
      depth += 1;
      at = byId.get(at.parentId);
    }
    return depth;
  };
  return nodes
    .map((node) => ({ node, depth: depthOf(node) }))
    .toSorted((a, b) => a.depth - b.depth)
    .map(({ node }) => node);
}
