import type { FlowProblem } from '@millrace/admin-api';
import { type FlowEdge, type FlowNode, own } from '@millrace/engine';
import { type Edge, type Node, type NodeHandle, Position } from '@xyflow/react';
import type { AboutNode } from './about-node.ts';
import { toCanvasId } from './canvas-id.ts';
import type { EditorState, KnownType, NodeRun, Size, StickyNote } from './editor-state.ts';
import { edgeKeyOf, handlesOf, isLoop, noteKeyOf, titleOf } from './flow-value.ts';
import { HANDLE_ROW, measureAll, NODE_HEIGHT, positionOf } from './geometry.ts';

/** How a node differs from the same node in another version. */
export type DiffMark = 'added' | 'removed' | 'changed';

export interface StepData extends Record<string, unknown> {
  readonly node: FlowNode;
  readonly type: KnownType | undefined;
  readonly title: string;
  /** What it does as configured; null if there is nothing to say. */
  readonly about: AboutNode | null;
  readonly handles: readonly string[];
  readonly problems: readonly FlowProblem[];
  readonly run: NodeRun | undefined;
  readonly mark: DiffMark | undefined;
}
export type StepNode = Node<StepData, 'step'>;
export type LoopNode = Node<StepData, 'loop'>;
export type NoteNode = Node<{ readonly note: StickyNote }, 'note'>;
export type CanvasNode = StepNode | LoopNode | NoteNode;
export type CanvasEdge = Edge<
  {
    readonly isTaken: boolean;
    readonly isDead: boolean;
    /** Canvas id of the loop around it; empty at the top level. */
    readonly loop: string;
  },
  'flow'
>;

/** The state that rendering depends on. */
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

/** Node data collected before rendering. */
type Known = Pick<StepData, 'node' | 'type' | 'title' | 'handles' | 'problems' | 'run' | 'mark'>;

/** Labels in the UI language. */
export interface DrawingLabels {
  /** `handle` is null if it is the only one. */
  readonly nameEdge: (from: string, handle: string | null, to: string) => string;
  readonly aboutNode: (node: FlowNode) => AboutNode | null;
  readonly emptyNote: string;
  /** Accessible names of elements by kind, which React Flow adds to the page. */
  readonly kinds: { readonly [Kind in 'step' | 'loop' | 'note' | 'edge']: KindName };
}
interface KindName {
  readonly 'aria-roledescription': string;
}

const NONE: readonly never[] = [];
const HANDLE_SIZE = 12;
/** Characters of a note used as its name; the rest is read inside it. */
const NOTE_NAME = 80;
/** With more edges than this, only selected ones have draggable ends, which are two more elements each. */
const MANY_EDGES = 200;

/**
 * The nodes for React Flow, parents before children. Unchanged nodes are the same objects as in `former`, so that
 * changing one node re-renders one node and a drag in progress continues.
 */
export function drawNodes(state: Drawn, former: readonly CanvasNode[], labels: DrawingLabels): CanvasNode[] {
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
    const data: Known = {
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
      keepStep(known.get(toCanvasId(node.id)), data, size, isSelected, state) ??
      drawStep({ ...data, about: labels.aboutNode(node) }, size, isSelected, state, labels)
    );
  });
  const notes = (state.settings.notes ?? NONE).map((note) =>
    drawNote(
      note,
      selected.has(noteKeyOf(note)),
      known.get(toCanvasId(noteKeyOf(note))),
      state.isReadOnly,
      labels,
    ),
  );
  return [...notes, ...drawn];
}

/** The edges for React Flow; unchanged ones are the same objects. */
export function drawEdges(state: Drawn, former: readonly CanvasEdge[], labels: DrawingLabels): CanvasEdge[] {
  const known = new Map(former.map((edge) => [edge.id, edge]));
  const selected = new Set(state.selectedIds);
  const hasRun = Object.keys(state.runs).length > 0;
  const isFew = state.edges.length <= MANY_EDGES;
  const titles = new Map(state.nodes.map((node) => [node.id, titleOf(node, state.nodeTypes)]));
  const loops = new Map(state.nodes.map(({ id, parentId }) => [id, parentId]));
  return state.edges.flatMap((edge, index) => {
    const [from, to] = [titles.get(edge.source), titles.get(edge.target)];
    if (from === undefined || to === undefined) return [];
    const key = edgeKeyOf(edge, index);
    const id = toCanvasId(key);
    const source = toCanvasId(edge.source);
    const target = toCanvasId(edge.target);
    const handle = edge.sourceHandle ?? 'out';
    const sourceHandle = toCanvasId(handle);
    const isSelected = selected.has(key);
    const reconnectable = !state.isReadOnly && (isFew || isSelected);
    const ariaLabel = labels.nameEdge(from, handle === 'out' ? null : handle, to);
    const isTaken = hasRun && wasTaken(edge, state.runs);
    const isDead = hasRun && !isTaken;
    const around = loops.get(edge.source);
    const loop = typeof around === 'string' && loops.has(around) ? toCanvasId(around) : '';
    const old = known.get(id);
    const isSame =
      old !== undefined &&
      old.source === source &&
      old.target === target &&
      old.sourceHandle === sourceHandle &&
      old.ariaLabel === ariaLabel &&
      old.reconnectable === reconnectable &&
      (old.selected ?? false) === isSelected &&
      old.data?.isTaken === isTaken &&
      old.data.isDead === isDead &&
      old.data.loop === loop;
    return isSame
      ? old
      : {
          id,
          type: 'flow' as const,
          source,
          target,
          sourceHandle,
          ariaLabel,
          domAttributes: labels.kinds.edge,
          reconnectable,
          selected: isSelected,
          data: { isTaken, isDead, loop },
        };
  });
}

function wasTaken(edge: FlowEdge, runs: EditorState['runs']): boolean {
  const [from, to] = [own(runs, edge.source)?.status, own(runs, edge.target)?.status];
  return (from === 'success' || from === 'failed') && to !== undefined && to !== 'skipped';
}

function drawStep(
  data: StepData,
  size: Size,
  isSelected: boolean,
  state: Drawn,
  { kinds }: DrawingLabels,
): CanvasNode {
  const { node, title, about } = data;
  const shared = {
    id: toCanvasId(node.id),
    position: positionOf(node, state.placed),
    data,
    ariaLabel: about === null ? title : `${title}, ${about.whole}`,
    ...size,
    // Computed, not measured, so that everything is in place from the first frame.
    measured: size,
    handles: handlePlaces(data, size),
    selected: isSelected,
    draggable: !state.isReadOnly,
    connectable: !state.isReadOnly,
    ...(typeof node.parentId === 'string' && state.nodes.some(({ id }) => id === node.parentId)
      ? { parentId: toCanvasId(node.parentId) }
      : {}),
  };
  return isLoop(node)
    ? { ...shared, type: 'loop', domAttributes: kinds.loop }
    : { ...shared, type: 'step', domAttributes: kinds.step };
}

/** Distance from the node's top to the middle of its handle. */
export function handleTop(index: number, count: number, isLoopNode: boolean): number {
  if (isLoopNode) return 22 + index * HANDLE_ROW;
  return count === 1 ? NODE_HEIGHT / 2 : NODE_HEIGHT + index * HANDLE_ROW + HANDLE_ROW / 2;
}

/** Handle positions for off-screen nodes, which aren't measured. */
function handlePlaces({ node, type, handles }: StepData, { width }: Size): NodeHandle[] {
  const at = (y: number) => ({ y: y - HANDLE_SIZE / 2, width: HANDLE_SIZE, height: HANDLE_SIZE });
  const out = handles.map(
    (id, index): NodeHandle => ({
      id: toCanvasId(id),
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

/** A loop whose frame is being resized, with its handles at the new border. */
export function withHandlesAtBorder(node: CanvasNode): CanvasNode {
  if (node.type !== 'loop' || node.width === undefined || node.height === undefined) return node;
  return { ...node, handles: handlePlaces(node.data, { width: node.width, height: node.height }) };
}

function keepStep(
  old: CanvasNode | undefined,
  data: Known,
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
  { kinds, emptyNote }: DrawingLabels,
): CanvasNode {
  const isSame = old?.type === 'note' && old.data.note === note && old.draggable === !isReadOnly;
  if (isSame) return old.selected === isSelected ? old : { ...old, selected: isSelected };
  return {
    id: toCanvasId(noteKeyOf(note)),
    type: 'note',
    position: note.position,
    data: { note },
    ariaLabel: note.text.trim() === '' ? emptyNote : note.text.slice(0, NOTE_NAME),
    domAttributes: kinds.note,
    ...note.size,
    measured: note.size,
    zIndex: -1,
    selected: isSelected,
    draggable: !isReadOnly,
    connectable: false,
  };
}

/** React Flow requires parents before their children. */
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
