import type { Flow, FlowNode } from '@millrace/engine';
import { createContext, createElement, type ReactNode, useContext } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';
import { useShallow } from 'zustand/shallow';
import {
  addNode,
  freeId,
  moveAll,
  moveInto,
  newEdge,
  reconnectEdge,
  removeAll,
  replaceTrigger,
  resizeOne,
  rounded,
  type Surroundings,
} from './change-nodes.ts';
import { cutOut, pasteClip } from './clip.ts';
import type { EditorState, KnownType, Point, StickyNote } from './editor-state.ts';
import { edgeKeyOf, type FlowValue, handlesOf, noteKeyOf, putTogether, takeApart } from './flow-value.ts';
import { GAP, measureAll, positionOf } from './geometry.ts';
import { advance, type History, startHistory, stepBack, stepForward } from './history.ts';

export interface EditorOptions {
  readonly flow: Flow;
  readonly nodeTypes?: ReadonlyMap<string, KnownType>;
  readonly isReadOnly?: boolean;
  /** Milliseconds; used to merge changes into one undo step. */
  readonly now?: () => number;
}

export type EditorStore = StoreApi<EditorState>;

export const NEW_NOTE: Pick<StickyNote, 'text' | 'size' | 'colour'> = {
  text: '',
  size: { width: 200, height: 120 },
  colour: 'yellow',
};

/** What an editor starts with besides its flow. */
const NOTHING_SHOWN = {
  selectedIds: [],
  problems: [],
  handles: {},
  runs: {},
  sample: null,
  pins: {},
  offeredCredential: null,
  replacedTrigger: null,
  changeCount: 0,
  placed: {},
  canUndo: false,
  canRedo: false,
};

/** The store of an editor, or of a read-only flow. */
export function createEditorStore({
  flow,
  nodeTypes = new Map(),
  isReadOnly = false,
  now = Date.now,
}: EditorOptions): EditorStore {
  return createStore<EditorState>()((set, get) => {
    let steps: History<FlowValue> = startHistory(takeApart(flow));

    function show(next: History<FlowValue>, extra: Partial<EditorState> = {}): void {
      if (next === steps) {
        set(extra);
        return;
      }
      const before = steps.present.edges;
      steps = next;
      const { nodes, edges, settings } = next.present;
      const { changeCount, selectedIds } = get();
      const wanted = extra.selectedIds ?? selectedIds;
      set({
        ...extra,
        nodes,
        edges,
        settings,
        selectedIds: keepExisting(wanted, next.present, before),
        canUndo: next.past.length > 0,
        canRedo: next.future.length > 0,
        changeCount: changeCount + 1,
      });
    }

    /** All changes of the flow go through here. */
    function change(
      make: (value: FlowValue) => FlowValue,
      { key = null, select }: { readonly key?: string | null; readonly select?: readonly string[] } = {},
    ): void {
      if (get().isReadOnly) return;
      const next = advance(steps, make(steps.present), key, now());
      show(next, select === undefined ? {} : { selectedIds: select });
    }

    function about(): Surroundings {
      const { nodeTypes: types, handles, placed } = get();
      return { nodeTypes: types, handles, placed };
    }

    return {
      ...NOTHING_SHOWN,
      nodes: steps.present.nodes,
      edges: steps.present.edges,
      settings: steps.present.settings,
      nodeTypes,
      isReadOnly,

      changeNode: (id, field, make) =>
        change((value) => changeOne(value, id, make), { key: JSON.stringify([id, field]) }),
      changeSettings: (make) =>
        change((value) => withSettings(value, make(value.settings)), { key: 'settings' }),
      addNode: (type, place, preset) => {
        if (get().isReadOnly) return '';
        const target = place ?? { at: besideAll(steps.present, about()) };
        const { value, id } = addNode(steps.present, type, target, about(), preset);
        change(() => value, { select: [id] });
        return id;
      },
      replaceTrigger: (id, type) => change((value) => replaceTrigger(value, id, type, about())),
      remove: (ids) => change((value) => removeAll(value, ids)),
      select: (ids) => {
        const { selectedIds } = get();
        const isSame = ids.length === selectedIds.length && ids.every((id, at) => id === selectedIds[at]);
        if (!isSame) set({ selectedIds: ids });
      },
      connect: (connection) =>
        change((value) => ({ ...value, edges: [...value.edges, newEdge(value.edges, connection)] })),
      reconnect: (edgeKey, connection) => change((value) => reconnectEdge(value, edgeKey, connection)),
      move: (positions) =>
        change((value) => moveAll(value, positions, get().placed), { key: moveKey(Object.keys(positions)) }),
      resize: (key, size, position) => change((value) => resizeOne(value, key, size, position)),
      moveInto: (ids, parentId) => {
        if (get().isReadOnly) return 0;
        const { value, removedEdges } = moveInto(steps.present, ids, parentId, about());
        // Dragged into a loop: the drop and the change of parent are one step.
        const isDrop = steps.last?.key.startsWith(MOVE) === true;
        change(() => value, { key: isDrop ? (steps.last?.key ?? null) : null });
        return removedEdges;
      },
      paste: (clip, at, parentId) => {
        if (get().isReadOnly) return [];
        const { value, ids } = pasteClip(steps.present, clip, at, parentId);
        change(() => value, { select: ids });
        return ids;
      },
      duplicate: (ids) => {
        const clip = cutOut(steps.present, ids, get().placed);
        if (clip.nodes.length === 0 && clip.notes === undefined) return;
        const inside = placeInLoop(steps.present.nodes, ids, get().placed);
        get().paste(clip, inside?.at, inside?.parentId);
      },
      addNote: (at) => {
        const { settings } = steps.present;
        const note = newNote(settings, at);
        const notes = [...(settings.notes ?? []), note];
        change((value) => withSettings(value, { ...settings, notes }), { select: [noteKeyOf(note)] });
      },
      undo: () => {
        if (!get().isReadOnly) show(stepBack(steps));
      },
      redo: () => {
        if (!get().isReadOnly) show(stepForward(steps));
      },
      replaceFlow: (other) => change(() => takeApart(other)),
      toFlow: () => putTogether(steps.present),
      ...settersOf(set),
    };
  });
}

/** Of what is shown beside the flow. */
function settersOf(set: EditorStore['setState']) {
  return {
    showProblems: (problems, handles) => set({ problems, handles }),
    showRuns: (runs) => set({ runs }),
    showSample: (sample) => set({ sample }),
    askForTrigger: (id) => set({ replacedTrigger: id }),
    offerCredential: (offer) => set({ offeredCredential: offer }),
    showPins: (pins) => set({ pins }),
    place: (placed) => set({ placed }),
    allowChanges: (isAllowed) => set({ isReadOnly: !isAllowed }),
    showNodeTypes: (types) => set({ nodeTypes: types }),
  } satisfies Partial<EditorState>;
}

const MOVE = 'move ';

/** Repeatedly nudging the same nodes with the arrow keys is one step. */
function moveKey(ids: readonly string[]): string {
  return MOVE + JSON.stringify(ids.toSorted());
}

function changeOne(value: FlowValue, id: string, make: (node: FlowNode) => FlowNode): FlowValue {
  const at = value.nodes.findIndex((node) => node.id === id);
  const node = value.nodes[at];
  if (node === undefined) return value;
  const changed = make(node);
  return changed === node ? value : { ...value, nodes: value.nodes.with(at, changed) };
}

/** The part of the selection that still exists. An edge without an id is keyed by index, which may now be another edge's. */
function keepExisting(
  ids: readonly string[],
  { nodes, edges, settings }: FlowValue,
  before: FlowValue['edges'],
): readonly string[] {
  if (ids.length === 0) return ids;
  const same = edges.map((edge, index) => edge.id !== undefined || edge === before[index]);
  const known = new Set([
    ...nodes.map(({ id }) => id),
    ...edges.map(edgeKeyOf).filter((_key, index) => same[index]),
    ...(settings.notes ?? []).map(noteKeyOf),
  ]);
  const kept = ids.filter((id) => known.has(id));
  return kept.length === ids.length ? ids : kept;
}

function newNote({ notes }: EditorState['settings'], at: Point): StickyNote {
  const id = freeId('note', new Set(notes?.map((note) => note.id)));
  return { id, ...NEW_NOTE, position: rounded(at) };
}

function withSettings(value: FlowValue, settings: EditorState['settings']): FlowValue {
  return settings === value.settings ? value : { ...value, settings };
}

/** Where copies of nodes go that are all from one loop: they stay in it. */
function placeInLoop(nodes: readonly FlowNode[], ids: readonly string[], placed: EditorState['placed']) {
  const copied = nodes.filter(({ id }) => ids.includes(id));
  const [first] = copied;
  if (first?.parentId == null || copied.some(({ parentId }) => parentId !== first.parentId)) return null;
  const { x, y } = positionOf(first, placed);
  return { at: { x: x + 32, y: y + 32 }, parentId: first.parentId };
}

/** To the right of everything at top level. */
function besideAll(value: FlowValue, { nodeTypes, handles, placed }: Surroundings) {
  const sizes = measureAll({
    nodes: value.nodes,
    placed,
    handleCount: (node) => handlesOf(node, handles, nodeTypes).length,
  });
  const top = value.nodes.filter(({ parentId }) => parentId == null);
  const ends = top.map((node) => positionOf(node, placed).x + (sizes.get(node.id)?.width ?? 0) + GAP.x);
  return { x: Math.max(0, ...ends), y: Math.min(...top.map((node) => positionOf(node, placed).y), 0) };
}

export function everythingIn({ nodes, edges, settings }: EditorState): readonly string[] {
  return [...nodes.map(({ id }) => id), ...edges.map(edgeKeyOf), ...(settings.notes ?? []).map(noteKeyOf)];
}

const EditorContext = createContext<EditorStore | null>(null);

/** Provides the editor's store to its descendants. */
export function EditorProvider({ store, children }: { store: EditorStore; children: ReactNode }) {
  return createElement(EditorContext.Provider, { value: store }, children);
}

/** Selects part of the editor's state; re-renders when it changes. */
export function useEditor<Part>(selector: (state: EditorState) => Part): Part {
  return useStore(useEditorStore(), selector);
}

/** Selects members of the editor's state by name; re-renders when one of them changes. */
export function useEditorState<Name extends keyof EditorState>(...names: Name[]): Pick<EditorState, Name> {
  return useEditor(useShallow((state) => pick(state, names)));
}

export function pick<Whole, Name extends keyof Whole>(
  whole: Whole,
  names: readonly Name[],
): Pick<Whole, Name> {
  return Object.fromEntries(names.map((name) => [name, whole[name]])) as Pick<Whole, Name>;
}

/** The store itself, for code that reads it only in event handlers. */
export function useEditorStore(): EditorStore {
  const store = useContext(EditorContext);
  if (store === null) throw new Error('there is no EditorProvider above this component');
  return store;
}
