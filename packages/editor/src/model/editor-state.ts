import type { FlowProblem, NodeSummary, NodeType } from '@millrace/admin-api';
import type { Flow, FlowEdge, FlowNode, FlowSettings, JsonObject, JsonValue } from '@millrace/engine';

export type { NodeType };

/** What became of a node in the execution that the canvas shows. */
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

/** A note on the canvas; kept in the flow's `settings.notes` and never executed. */
export type StickyNote = {
  readonly id: string;
  readonly text: string;
  readonly position: Point;
  readonly size: Size;
  readonly colour: 'yellow' | 'blue' | 'green' | 'grey';
};

/** Everything the editor shows and changes; one store for each editor that is open. */
export interface EditorState {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly settings: FlowSettings & { readonly notes?: readonly StickyNote[] };
  readonly nodeTypes: ReadonlyMap<string, NodeType>;
  readonly selectedIds: readonly string[];
  /** What the service found at the last check, and the handles each node has as it is configured. */
  readonly problems: readonly FlowProblem[];
  readonly handles: { readonly [nodeId: string]: readonly string[] };
  /** By node: the execution that is shown on the canvas; empty when none is. */
  readonly runs: { readonly [nodeId: string]: NodeRun };
  /** What the trigger was or will be called with, for previews; null when there is none. */
  readonly sample: JsonValue;
  /** By node: the outputs that I have pinned, which runs of single nodes take. */
  readonly pins: { readonly [nodeId: string]: JsonObject };
  readonly isReadOnly: boolean;
  /** Counts up with every change of the flow, undo and redo included; drafts are kept by it. */
  readonly changeCount: number;

  /** Where nodes without a position in the flow are shown; never saved. */
  readonly placed: { readonly [nodeId: string]: Point };
  readonly canUndo: boolean;
  readonly canRedo: boolean;

  /** Changes a node; changes of one node with the same `field` shortly after each other are one step of undo. */
  readonly changeNode: (id: string, field: string, change: (node: FlowNode) => FlowNode) => void;
  readonly changeSettings: (change: (settings: EditorState['settings']) => EditorState['settings']) => void;
  /** @returns id of the new node, which is selected */
  readonly addNode: (type: string, place?: AddPlace) => string;
  /** Nodes by id, edges and notes by their keys (`edgeKeyOf`, `noteKeyOf`); a loop goes with what is inside it. */
  readonly remove: (ids: readonly string[]) => void;
  readonly select: (ids: readonly string[]) => void;
  /** Joins two nodes; must have passed `findConnectionFault`. */
  readonly connect: (connection: NewConnection) => void;
  /** Another beginning or end for an edge; must have passed `findConnectionFault`. */
  readonly reconnect: (edgeKey: string, connection: NewConnection) => void;
  /** New positions of nodes and notes, relative to the loop that a node is in; all are one step of undo. */
  readonly move: (positions: { readonly [idOrNoteKey: string]: Point }) => void;
  /** New size of a loop or note. */
  readonly resize: (idOrNoteKey: string, size: Size, position: Point) => void;
  /** Takes nodes into a loop, or out of all (null); edges that would lead across are removed: how many. */
  readonly moveInto: (ids: readonly string[], parentId: string | null) => number;
  /** Adds copies and selects them. @returns their ids */
  readonly paste: (clip: FlowClip, at?: Point, parentId?: string) => readonly string[];
  /** Copies beside the originals. */
  readonly duplicate: (ids: readonly string[]) => void;
  readonly addNote: (at: Point) => void;
  readonly place: (positions: EditorState['placed']) => void;
  readonly allowChanges: (isAllowed: boolean) => void;
  /** Other types are known, because the catalogue has been read. */
  readonly showNodeTypes: (nodeTypes: EditorState['nodeTypes']) => void;
  readonly undo: () => void;
  readonly redo: () => void;
  /** Another flow takes the place of all; one step of undo. */
  readonly replaceFlow: (flow: Flow) => void;
  /** The flow as it is saved. */
  readonly toFlow: () => Flow;
  readonly showProblems: (problems: readonly FlowProblem[], handles: EditorState['handles']) => void;
  readonly showRuns: (runs: EditorState['runs']) => void;
  readonly showSample: (sample: JsonValue) => void;
  readonly showPins: (pins: EditorState['pins']) => void;
}

/** Where a new node goes; positions are relative to `parentId`. */
export type AddPlace =
  | { readonly at: Point; readonly parentId?: string }
  /** Key of the edge. */
  | { readonly onEdge: string }
  /** Joined to this node; `at`: there instead of beside it. */
  | { readonly after: string; readonly handle?: string; readonly at?: Point };

export interface NewConnection {
  readonly source: string;
  readonly target: string;
  readonly sourceHandle?: string | null;
}

/** Nodes, the edges between them and notes, as they are copied. */
export interface FlowClip {
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
  readonly notes?: readonly StickyNote[];
}
