import type { FlowProblem, NodeSummary, NodeType, NodeTypeOutline } from '@millrace/admin-api';
import type { Flow, FlowEdge, FlowNode, FlowSettings, JsonObject, JsonValue } from '@millrace/engine';

import type { OfferedCredential } from './curl.ts';

export type { NodeType };

/** A node type: its outline, and everything else once something has needed it. */
export type KnownType = NodeTypeOutline & Partial<NodeType>;

/** Whether all of a node type is there, as forms and the palette need it. */
export function isWhole(type: KnownType | undefined): type is NodeType {
  return type?.config_schema !== undefined;
}

/** A node's result in the execution shown on the canvas. */
export type NodeRun = Pick<NodeSummary, 'status'> &
  Partial<
    Pick<
      NodeSummary,
      'started_at' | 'completed_at' | 'attempts' | 'consumed_ai_tokens' | 'iterations' | 'error'
    >
  > & { readonly output?: JsonObject };

export type Point = {
  readonly x: number;
  readonly y: number;
};

export type Size = {
  readonly width: number;
  readonly height: number;
};

/** A note on the canvas; kept as `notes` in the settings of the flow, and never executed. */
export type StickyNote = {
  readonly id: string;
  readonly text: string;
  readonly position: Point;
  readonly size: Size;
  readonly colour: 'yellow' | 'blue' | 'green' | 'grey';
};

/** A credential for the request of a node. */
export interface NodeCredential {
  readonly nodeId: string;
  readonly credential: OfferedCredential;
}

/** The editor's state and actions; one store per open editor. */
export interface EditorState {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings: FlowSettings & { readonly notes?: readonly StickyNote[] };
  readonly nodeTypes: ReadonlyMap<string, KnownType>;
  readonly selectedIds: readonly string[];
  /** Problems from the service's last check, and each node's handles as configured. */
  readonly problems: readonly FlowProblem[];
  readonly handles: { readonly [nodeId: string]: readonly string[] };
  /** By node: the execution shown on the canvas; empty if none. */
  readonly runs: { readonly [nodeId: string]: NodeRun };
  /** The trigger's actual or expected input, for previews; null if there is none. */
  readonly sample: JsonValue;
  /** By node: the user's pinned outputs, which single-node runs use. */
  readonly pins: { readonly [nodeId: string]: JsonObject };
  /** A secret that was pasted with a node and isn't stored yet; null: none. */
  readonly offeredCredential: NodeCredential | null;
  /** The trigger that another is being chosen for in the palette; null: none. */
  readonly replacedTrigger: string | null;
  readonly isReadOnly: boolean;
  /** Incremented on every change of the flow, including undo and redo; drafts are saved based on it. */
  readonly changeCount: number;

  /** Display positions of nodes without one in the flow; never saved. */
  readonly placed: { readonly [nodeId: string]: Point };
  readonly canUndo: boolean;
  readonly canRedo: boolean;

  /** Changes a node; changes of one node with the same `field` in quick succession are one undo step. */
  readonly changeNode: (id: string, field: string, change: (node: FlowNode) => FlowNode) => void;
  readonly changeSettings: (change: (settings: EditorState['settings']) => EditorState['settings']) => void;
  /** @returns id of the new node, which is selected */
  readonly addNode: (type: string, place?: AddPlace, preset?: NodePreset) => string;
  /** Puts another trigger in the place of one; its id and connections stay. */
  readonly replaceTrigger: (id: string, type: string) => void;
  /** Nodes by id, edges and notes by key (`edgeKeyOf`, `noteKeyOf`); a loop is removed with its contents. */
  readonly remove: (ids: readonly string[]) => void;
  readonly select: (ids: readonly string[]) => void;
  /** Connects two nodes; must have passed `findConnectionFault`. */
  readonly connect: (connection: NewConnection) => void;
  /** Changes an edge's source or target; must have passed `findConnectionFault`. */
  readonly reconnect: (edgeKey: string, connection: NewConnection) => void;
  /** New positions of nodes and notes, relative to the node's loop; together one undo step. */
  readonly move: (positions: { readonly [idOrNoteKey: string]: Point }) => void;
  readonly resize: (idOrNoteKey: string, size: Size, position: Point) => void;
  /**
   * Moves nodes into a loop, or out of all loops (null). @returns the number of edges removed because they would cross
   * the border
   */
  readonly moveInto: (ids: readonly string[], parentId: string | null) => number;
  /** Adds copies and selects them. @returns their ids */
  readonly paste: (clip: FlowClip, at?: Point, parentId?: string) => readonly string[];
  /** Copies next to the originals. */
  readonly duplicate: (ids: readonly string[]) => void;
  readonly addNote: (at: Point) => void;
  readonly place: (positions: EditorState['placed']) => void;
  readonly allowChanges: (isAllowed: boolean) => void;
  /** Sets the node types once the catalogue has loaded. */
  readonly showNodeTypes: (nodeTypes: EditorState['nodeTypes']) => void;
  readonly undo: () => void;
  readonly redo: () => void;
  /** Replaces the whole flow; one undo step. */
  readonly replaceFlow: (flow: Flow) => void;
  /** The flow in the format it is saved in. */
  readonly toFlow: () => Flow;
  /** Opens the palette for another trigger in the place of this one; null closes it. */
  readonly askForTrigger: (id: string | null) => void;
  readonly offerCredential: (offer: NodeCredential | null) => void;
  readonly showProblems: (problems: readonly FlowProblem[], handles: EditorState['handles']) => void;
  readonly showRuns: (runs: EditorState['runs']) => void;
  readonly showSample: (sample: JsonValue) => void;
  readonly showPins: (pins: EditorState['pins']) => void;
}

/** What a new node starts with, besides what its type requires. */
export interface NodePreset {
  readonly label?: string;
  readonly config?: JsonObject;
}

/** Where to add a node; positions are relative to `parentId`. */
export type AddPlace =
  | { readonly at: Point; readonly parentId?: string }
  /** Key of the edge. */
  | { readonly onEdge: string }
  /** Connected to this node; with `at`, at that position instead of next to it. */
  | { readonly after: string; readonly handle?: string; readonly at?: Point };

export interface NewConnection {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string | null;
}

/** Copied nodes, the edges between them, and notes. */
export interface FlowClip {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly notes?: readonly StickyNote[];
}
