import type { JsonObject } from '@millrace/engine';
import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import {
  AnyJson,
  AnyObject,
  Closed,
  explanation,
  FlowData,
  Id,
  Nullable,
  PageOf,
  pageQuery,
  Revision,
  Sentence,
  Timestamp,
  VersionNumber,
} from './forms.ts';
import { FlowProblem, NodeHandles, VersionDetail, VersionItem, WorkflowDetail } from './workflows.ts';

const NodeId = Type.String({ minLength: 1, maxLength: 1_000 });

const outline = {
  type: Type.String(),
  title: Type.String(),
  /** Name of a Lucide icon. */
  icon: Type.String(),
  kind: Type.Enum(['trigger', 'pure', 'effect', 'loop'], { type: 'string' }),
  /** Its group in the palette: the part of its type before the first dot, or the name of its service. */
  group: Type.String(),
  /** The palette offers a newer version instead. */
  is_replaced: Type.Optional(Type.Literal(true)),
  /** Handles of outgoing edges while nothing is configured; `error` is added by on_error: branch. */
  handles: Type.Array(Type.String()),
  /** The config of a new node: its required members that have a default, and those that it begins with. */
  first_config: AnyObject,
};

/** What a flow shows of a node type, and what a new node of it is made of. */
export const NodeTypeOutline = Closed({
  ...outline,
  /** Of triggers only, which an empty workflow offers. */
  description: Type.Optional(Type.String()),
});
export type NodeTypeOutline = Static<typeof NodeTypeOutline>;

/** A node type as its form, its help and the palette need it. */
export const NodeType = Closed({
  ...outline,
  description: Type.String(),
  /** Other words people look for it by. */
  synonyms: Type.Array(Type.String()),
  /** JSON Schema; `x-credential` marks members that contain the id of a credential of one of these types, `x-form` is the layout. */
  config_schema: AnyObject,
  examples: Type.Array(Closed({ title: Type.String(), config: AnyObject })),
  /** What an output looks like, from its examples; null if they have none. */
  output_example: Nullable(AnyObject),
  /** Default timeout of one attempt in milliseconds; null for no limit. */
  default_timeout_ms: Nullable(Type.Integer()),
  /** Default attempts. */
  default_retry: Closed({
    max_attempts: Type.Integer(),
    backoff_ms: Type.Integer(),
    max_backoff_ms: Type.Integer(),
  }),
});
export type NodeType = Static<typeof NodeType>;

export const TextTable = Type.Record(Type.String(), Type.String());

/** The result of checking a flow. */
export const FlowCheck = Closed({
  /** Prevents activating or running it; empty while there are structure errors. */
  problems: Type.Array(FlowProblem),
  handles: NodeHandles,
  /** Prevents even saving it, but a draft may have them. Pointers begin with `/flow_data`. */
  structure_errors: Type.Array(
    Closed({
      pointer: Type.String(),
      field: Type.String(),
      code: Type.String(),
      message: Type.String(),
      ...explanation,
    }),
  ),
});
export type FlowCheck = Static<typeof FlowCheck>;

const draftState = {
  /** Incremented with every change; 0 means no draft. */
  revision: Revision,
  updated_at: Timestamp,
  ...FlowCheck.properties,
};

/** The user's unsaved changes. Nobody else sees them, and no trigger runs them. */
export const Draft = Closed({
  flow_data: FlowData,
  /** The version it is based on. Lower than the workflow's: someone has saved since. */
  base_version: Id,
  ...draftState,
});
export type Draft = Static<typeof Draft>;

/** Members of a 409 `draft_conflict` besides those of every problem. */
export const DraftConflict = Type.Object({
  /** The current one; null: it was saved or discarded. */
  draft: Nullable(Draft),
});
export type DraftConflict = Static<typeof DraftConflict>;

/** Members of a 409 `version_conflict` besides those of every problem. */
export const VersionConflict = Type.Object({
  /** The version saved by someone else. */
  version: VersionDetail,
});
export type VersionConflict = Static<typeof VersionConflict>;

/** Trigger input kept for building the workflow. */
export const Sample = Closed({
  /** Incremented with every new sample. */
  revision: Id,
  /** `webhook`: a call received while someone was listening; `manual`: entered by a person. */
  source: Type.Enum(['webhook', 'manual'], { type: 'string' }),
  received_at: Timestamp,
  /** The data templates read as `{{trigger.data}}`. */
  data: AnyJson,
  /** The call's headers by lower-case name, without those that may contain secrets. Null unless a webhook. */
  headers: Nullable(Type.Record(Type.String(), Type.String())),
  /** The execution started by the call; null unless a webhook. */
  execution_id: Nullable(Id),
  /** The call repeated an event: the execution is that of the first call, and this one started nothing. */
  is_repeat: Type.Boolean(),
});
export type Sample = Static<typeof Sample>;

/** Input of an execution, to choose from. */
export const PastInput = Closed({
  execution_id: Id,
  status: Type.String(),
  display_name: Type.String(),
  trigger_type: Type.String(),
  created_at: Timestamp,
  input_bytes: Type.Integer({ minimum: 0 }),
  /** Absent if larger than 65,536 bytes; can still be run with `input_of`. */
  input: Type.Optional(AnyJson),
});
export type PastInput = Static<typeof PastInput>;

/** An output the user has pinned to a node, for running single nodes. */
export const Pin = Closed({ node_id: NodeId, output: AnyObject, pinned_at: Timestamp });
export type Pin = Static<typeof Pin>;

export const EDITOR_ENDPOINTS = {
  'GET /node-types': {
    access: 'signed_in',
    isExact: true,
    isFixed: true,
    summary: 'All node types, in the order of the palette',
    response: Closed({ items: Type.Array(NodeType) }),
  },
  'GET /node-types/outline': {
    access: 'signed_in',
    isExact: true,
    isFixed: true,
    summary: 'What a flow shows of all node types',
    response: Closed({ items: Type.Array(NodeTypeOutline) }),
  },
  'GET /connectors/outline': {
    access: 'signed_in',
    isExact: true,
    isFixed: true,
    summary: 'What a flow shows of the node types of connectors, with their titles in Japanese',
    response: Closed({ items: Type.Array(NodeTypeOutline), ja: Closed({ nodes: TextTable }) }),
  },
  'GET /connectors': {
    access: 'signed_in',
    isExact: true,
    isFixed: true,
    summary: 'The node types of connectors, by service, with their texts in Japanese',
    response: Closed({
      items: Type.Array(NodeType),
      /** By the English text, or by a type and what it is for. */
      ja: Closed({ nodes: TextTable, choices: TextTable }),
    }),
  },
  'GET /limits': {
    access: 'signed_in',
    summary: 'Limits of what the service accepts',
    response: Closed({
      /** Maximum bytes of a request that contains a workflow: import, save, draft. */
      flow_body_bytes: Type.Integer({ minimum: 1 }),
    }),
  },
  'POST /orgs/:org/flow-checks': {
    access: 'viewer',
    summary: 'Problems and handles of a flow; nothing is stored',
    body: Closed({ flow_data: AnyObject }),
    takesFlow: true,
    response: FlowCheck,
  },

  'GET /orgs/:org/workflows/:id/draft': {
    access: 'editor',
    isExact: true,
    summary: 'My draft',
    response: Closed({ draft: Nullable(Draft) }),
  },
  'PUT /orgs/:org/workflows/:id/draft': {
    access: 'editor',
    isExact: true,
    summary:
      'Keep my draft. 409 draft_conflict (see DraftConflict) when another tab has changed it since `revision`; 409 workflow_archived',
    body: Closed({
      flow_data: AnyObject,
      base_version: VersionNumber,
      /** Of the draft that was changed; 0: there was none. */
      revision: Revision,
    }),
    takesFlow: true,
    response: Closed(draftState),
  },
  'DELETE /orgs/:org/workflows/:id/draft': {
    access: 'editor',
    summary: 'Discard my draft',
  },

  'GET /orgs/:org/workflows/:id/versions': {
    access: 'viewer',
    summary: 'Saved versions, newest first',
    query: Closed({
      ...pageQuery,
      /** Only pinned ones. */
      pinned: Type.Optional(Type.Boolean()),
    }),
    response: PageOf(VersionItem),
  },
  'POST /orgs/:org/workflows/:id/versions': {
    access: 'editor',
    isExact: true,
    summary:
      'Save: create a version and remove my draft. Saving an unchanged flow creates none. 409 version_conflict (see VersionConflict) if someone has saved since `base_version`; 409 draft_conflict (see DraftConflict) when I have a draft that is not at `draft_revision`; 422 when it is active and the flow has problems',
    body: Closed({
      flow_data: AnyObject,
      base_version: VersionNumber,
      /** Of the draft that is saved; 0: there was none. Absent: discard the draft, whatever its content. */
      draft_revision: Type.Optional(Revision),
      message: Type.Optional(Type.String({ maxLength: 1_000 })),
    }),
    takesFlow: true,
    response: WorkflowDetail,
  },
  'GET /orgs/:org/workflows/:id/versions/:version': {
    access: 'viewer',
    isExact: true,
    summary: 'A version with its content',
    response: VersionDetail,
  },
  'POST /orgs/:org/workflows/:id/versions/:version/restore': {
    access: 'editor',
    isExact: true,
    summary: 'Save that version again as the latest one. 409 version_conflict as when saving',
    body: Closed({
      base_version: VersionNumber,
      /** Also discards the user's draft, which would hide what was restored. */
      discards_draft: Type.Optional(Type.Boolean()),
    }),
    response: WorkflowDetail,
  },
  'PUT /orgs/:org/workflows/:id/versions/:version/pin': {
    access: 'editor',
    summary: 'Pin a version to the top of the history, or unpin it',
    body: Closed({ pinned: Type.Boolean() }),
    response: VersionItem,
  },

  'POST /orgs/:org/workflows/:id/run': {
    access: 'editor',
    startsExecutions: true,
    summary:
      'Start an execution by hand. 422 if the flow has structure errors, the input does not match its input_schema, or `only_node` cannot be run alone',
    body: Closed({
      /** An unsaved draft: the execution is a trial. Without this and `version`: the saved version. */
      flow_data: Type.Optional(AnyObject),
      version: Type.Optional(VersionNumber),
      /** `trigger.data`; `{}` if absent. */
      input: Type.Optional(AnyJson),
      /** Uses the input of this execution of the workflow instead. */
      input_of: Type.Optional(Id),
      /** The node of the trigger to start at. Absent: the manual start, else the first one. A part of a flow starts where it can. */
      trigger: Type.Optional(NodeId),
      /** Default: the workflow's setting. */
      is_test_mode: Type.Optional(Type.Boolean()),
      /**
       * Runs only this node; the nodes it reads count as completed with their pinned outputs. The execution is a trial of a flow that
       * consists of the trigger, the nodes it reads, and the node itself, with its body if it is a loop.
       */
      only_node: Type.Optional(NodeId),
      /** By node id: outputs used instead of running the node; only for nodes outside of loops. */
      pinned_outputs: Type.Optional(
        Type.Unsafe<{ readonly [nodeId: string]: JsonObject }>({
          type: 'object',
          additionalProperties: { type: 'object' },
        }),
      ),
      /**
       * Runs this top-level node again, and all that depends on it or has changed, with the input of the execution `outputs_of`; all other
       * nodes that succeeded in it are kept.
       */
      from_node: Type.Optional(NodeId),
      /** An execution: with `only_node`, its outputs are used for nodes that aren't pinned. */
      outputs_of: Type.Optional(Id),
    }),
    takesFlow: true,
    response: Closed({ execution_id: Id }),
  },
  'GET /orgs/:org/workflows/:id/pins': {
    access: 'editor',
    isExact: true,
    summary: 'The outputs I have pinned; nobody else sees them, and only runs of single nodes use them',
    response: Closed({ items: Type.Array(Pin) }),
  },
  'PUT /orgs/:org/workflows/:id/pins': {
    access: 'editor',
    summary:
      'Pin an output to a node, or remove it. 422 for more than 262,144 bytes; beyond 100 pins, the oldest are dropped',
    body: Closed({
      node_id: Type.String({ minLength: 1, maxLength: 1_000, pattern: '^[^\\u0000]*$' }),
      /** Null: unpins it. */
      output: Nullable(AnyObject),
    }),
  },
  'GET /orgs/:org/workflows/:id/inputs': {
    access: 'viewer',
    isExact: true,
    summary: 'What to run it with: the sample, and the inputs of the last 20 executions, newest first',
    query: Closed({
      /** An execution whose input is listed, too, if it is older. */
      with: Type.Optional(Id),
    }),
    response: Closed({ sample: Nullable(Sample), executions: Type.Array(PastInput) }),
  },

  'GET /orgs/:org/workflows/:id/sample': {
    access: 'viewer',
    isExact: true,
    summary: 'The sample of the trigger, shared by everyone who edits the workflow',
    response: Closed({ sample: Nullable(Sample) }),
  },
  'PUT /orgs/:org/workflows/:id/sample': {
    access: 'editor',
    isExact: true,
    summary: 'Set the sample',
    body: Closed({ data: AnyJson }),
    takesFlow: true,
    response: Sample,
  },
  'POST /orgs/:org/workflows/:id/sample-listener': {
    access: 'editor',
    summary:
      'Listen for a sample for two minutes from now. The next call of the webhook becomes the sample, its receipt says captured, it starts the workflow as usual, and the listening ends. 404 no_webhook_trigger, 409 workflow_inactive or workflow_archived when the saved workflow takes no calls',
    response: Closed({
      until: Timestamp,
      /** For `after` of the events. 0: no sample yet. */
      revision: Revision,
    }),
  },
  'DELETE /orgs/:org/workflows/:id/sample-listener': {
    access: 'editor',
    summary: 'Stop listening',
  },
  'GET /orgs/:org/workflows/:id/sample-listener/events': {
    access: 'editor',
    isExact: true,
    summary: 'The call as it arrives; the stream ends with it, or when the listening ends',
    query: Closed({
      /** Only a sample with a higher revision. */
      after: Revision,
    }),
    events: {
      /** At the start and on each extension. */
      listening: Closed({ until: Timestamp }),
      /** A call was refused, and why; the listening goes on. */
      refused: Closed({ at: Timestamp, status: Type.Integer(), code: Type.String(), ...Sentence.properties }),
      sample: Sample,
      /** Listening has expired or was stopped. */
      ended: Closed({}),
    },
  },
} as const satisfies Endpoints;
