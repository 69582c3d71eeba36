import { EXECUTION_STATUSES, NODE_STATUSES } from '@millrace/engine';
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
  Timestamp,
} from './forms.ts';

export const ExecutionStatus = Type.Enum([...EXECUTION_STATUSES], { type: 'string' });
const NodeStatus = Type.Enum([...NODE_STATUSES], { type: 'string' });
/** Iteration index of each loop around a node, outermost first. */
const Iteration = Type.Array(Type.Integer({ minimum: 0 }));
const NodeError = Closed({
  code: Type.String(),
  message: Type.String(),
  ...explanation,
  /** For a loop: the iteration in which something failed. */
  iteration: Type.Optional(Iteration),
});
export const ExecutionError = Closed({ ...NodeError.properties, node_id: Nullable(Type.String()) });
const Tokens = Type.Integer({ minimum: 0 });
const Waiting = Closed({
  for: Type.String(),
  until: Nullable(Timestamp),
  /** With `for: host`. */
  host: Type.Optional(Type.String()),
});
const LogLine = Closed({ level: Type.String(), text: Type.String() });
const Duration = Nullable(Type.Integer({ minimum: 0 }));

/** An execution as in the lists of the public API, except for the version. */
const itemFields = {
  id: Id,
  workflow_id: Id,
  /** Below 0: a trial of an unsaved draft. */
  workflow_version: Type.Integer(),
  status: ExecutionStatus,
  display_name: Type.String(),
  trigger_type: Type.String(),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  duration_ms: Duration,
  consumed_ai_tokens: Tokens,
  is_test_mode: Type.Boolean(),
  parent: Nullable(Closed({ execution_id: Id, node_id: Type.String() })),
  error: Type.Optional(ExecutionError),
  /** While its workflow's rate or debounce keeps it in the queue, probably until then. */
  hold: Type.Optional(
    Closed({ reason: Type.Enum(['rate', 'debounce'], { type: 'string' }), until: Timestamp }),
  ),
  /** Why the service itself cancelled it, and for which execution. */
  cancellation: Type.Optional(
    Closed({
      code: Type.String(),
      execution_id: Nullable(Id),
      message: Type.String(),
      ...explanation,
    }),
  ),
};

/** An execution as shown in lists. */
export const ExecutionItem = Closed({
  ...itemFields,
  /** Null if the workflow was deleted. */
  workflow_name: Nullable(Type.String()),
  /** The execution that this one repeats. */
  rerun_of: Nullable(Id),
});
export type ExecutionItem = Static<typeof ExecutionItem>;

export const SPAN_KINDS = ['run', 'retry', 'delay', 'signal', 'host'] as const;
/** A period of a node's run: an attempt, or a wait for the next attempt, a time, a signal or its turn to call a host. */
export const NodeSpan = Closed({
  kind: Type.Enum([...SPAN_KINDS], { type: 'string' }),
  /** The node's attempts, counted from 1. */
  attempt: Type.Integer({ minimum: 0 }),
  started_at: Timestamp,
  /** Null while in progress. */
  ended_at: Nullable(Timestamp),
  /** The attempt's error. */
  error: Type.Optional(NodeError),
});
export type NodeSpan = Static<typeof NodeSpan>;

/** The progress of one run of a node. */
const runProgress = {
  status: NodeStatus,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  duration_ms: Duration,
  attempts: Type.Integer({ minimum: 0 }),
  consumed_ai_tokens: Tokens,
  error: Type.Optional(NodeError),
};
/** The same for a run that may be in progress. */
const runFields = {
  node_id: Type.String(),
  ...runProgress,
  waiting: Type.Optional(Waiting),
};

/** When one or several consecutive iterations were running. */
export const IterationSpan = Closed({
  started_at: Timestamp,
  ended_at: Timestamp,
  count: Type.Integer({ minimum: 1 }),
  failed: Type.Integer({ minimum: 0 }),
});
export type IterationSpan = Static<typeof IterationSpan>;

/** The state of a node, without potentially large values. */
export const NodeSummary = Closed({
  ...runFields,
  /** For a loop and a node inside one: the number of iterations; the other members describe the last one. */
  iterations: Type.Optional(Type.Integer({ minimum: 0 })),
  /** The enclosing loop. */
  loop_id: Nullable(Type.String()),
  /** Characters of the output's JSON. */
  output_size: Type.Integer({ minimum: 0 }),
  /** Nothing was sent because of test mode; the output contains the request. */
  is_dry_run: Type.Boolean(),
  log_lines: Type.Integer({ minimum: 0 }),
  /** It didn't run in this execution: a rerun has copied its output. */
  is_taken_over: Type.Boolean(),
  /** Top level only; for nodes inside loops see the iterations. */
  spans: Type.Array(NodeSpan),
  /**
   * For a loop: its completed iterations; for a node inside one: its runs. If there are many, adjacent ones are merged. Runs of nodes
   * without external effects aren't kept individually.
   */
  iteration_spans: Type.Array(IterationSpan),
});
export type NodeSummary = Static<typeof NodeSummary>;

/** A node's question to a person. */
export const Approval = Closed({
  id: Id,
  execution_id: Id,
  workflow_id: Id,
  display_name: Type.String(),
  is_test_mode: Type.Boolean(),
  node_id: Type.String(),
  title: Type.String(),
  message: Type.String(),
  choices: Type.Array(Closed({ id: Type.String(), label: Type.String() })),
  /** What to fill in with the decision. */
  fields: Type.Array(
    Closed({
      name: Type.String(),
      label: Type.String(),
      type: Type.String(),
      required: Type.Boolean(),
      help: Type.String(),
      choices: Type.Array(Type.String()),
      /** Filled in beforehand. */
      value: Type.String(),
      /** The only choice that it is asked for with; null: any. */
      only_with: Nullable(Type.String()),
    }),
  ),
  created_at: Timestamp,
  expires_at: Timestamp,
  /** Null until decided. */
  decision: Nullable(
    Closed({
      choice: Type.String(),
      comment: Type.String(),
      decided_at: Timestamp,
      via: Type.Enum(['link', 'member', 'chat'], { type: 'string' }),
      /** E-mail address of a member, or the name that was typed in; null for none. */
      decided_by: Nullable(Type.String()),
      /** What was entered, by the names of the fields. */
      values: AnyObject,
    }),
  ),
});
export type Approval = Static<typeof Approval>;

/** Who started an execution: the person, key or webhook caller. */
export const ExecutionOrigin = Closed({
  api_key: Nullable(Closed({ id: Id, name: Type.String(), key_id: Type.String(), last_four: Type.String() })),
  /** Null for executions started by the service itself. */
  source_ip: Nullable(Type.String()),
});
export type ExecutionOrigin = Static<typeof ExecutionOrigin>;

/** One execution with the state of its nodes; outputs are read one by one. */
export const ExecutionDetail = Closed({
  execution: ExecutionItem,
  input_data: AnyJson,
  /** What the templates of `settings.search_keys` came to, by name. */
  search_keys: Type.Record(Type.String(), Type.String()),
  /** Ordered by start. */
  nodes: Type.Array(NodeSummary),
  /** The first 1,000 started by its nodes. */
  children: Type.Array(
    Closed({ execution_id: Id, node_id: Type.String(), workflow_id: Id, status: ExecutionStatus }),
  ),
  /** Open questions and callback addresses it waits for; at most 100 in total. */
  approvals: Type.Array(Approval),
  callbacks: Type.Array(Closed({ node_id: Type.String(), iteration: Iteration, expires_at: Timestamp })),
  /** Questions that were answered, and those that nobody answered in time; the latest 100, in the order of asking. */
  decisions: Type.Array(Approval),
  /** Reruns of this one, latest first; at most 100. */
  reruns: Type.Array(Closed({ execution_id: Id, status: ExecutionStatus })),
  /** Null for roles that may not read the audit log. */
  origin: Nullable(ExecutionOrigin),
});
export type ExecutionDetail = Static<typeof ExecutionDetail>;

/** The output of one node, in its last run or in one iteration. */
export const NodeRunDetail = Closed({
  ...runFields,
  iteration: Nullable(Iteration),
  output: AnyObject,
  /** For an iteration of a loop: its result, which need not be an object. */
  result: Type.Optional(AnyJson),
  log: Type.Array(LogLine),
});
export type NodeRunDetail = Static<typeof NodeRunDetail>;

/** A node output record of the public API, with its node id and, inside a loop, its iteration. */
export const StreamedNode = Closed({
  node_id: Type.String(),
  iteration: Type.Optional(Iteration),
  status: NodeStatus,
  output: AnyObject,
  consumed_ai_tokens: Tokens,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  error: Type.Optional(NodeError),
  attempts: Type.Optional(Type.Integer({ minimum: 2 })),
  iterations: Type.Optional(Type.Integer({ minimum: 0 })),
  log: Type.Optional(Type.Array(LogLine)),
  waiting: Type.Optional(Waiting),
});
export type StreamedNode = Static<typeof StreamedNode>;

/** One run of a node inside a loop; for a loop itself: one of its iterations. */
export const NodeIteration = Closed({ iteration: Iteration, ...runProgress });
export type NodeIteration = Static<typeof NodeIteration>;

const ComparedNode = Closed({
  status: NodeStatus,
  duration_ms: Duration,
  attempts: Type.Integer({ minimum: 0 }),
  consumed_ai_tokens: Tokens,
  output_size: Type.Integer({ minimum: 0 }),
  error: Type.Optional(NodeError),
});

/** A node in two executions; null where it is missing. */
export const NodeComparison = Closed({
  node_id: Type.String(),
  a: Nullable(ComparedNode),
  b: Nullable(ComparedNode),
  is_same_output: Type.Boolean(),
});
export type NodeComparison = Static<typeof NodeComparison>;

const Started = Closed({ execution_id: Id });

/** Maximum rows of a file that are started by one request. */
const MAX_IMPORTED_ROWS = 1_000;

export const EXECUTION_ENDPOINTS = {
  'GET /orgs/:org/executions/events': {
    access: 'viewer',
    summary: 'Executions of the organisation as they change',
    events: {
      /** Their current state. Several changes in quick succession are reported once. */
      changed: Closed({ items: Type.Array(ExecutionItem) }),
      /** There were more changes than reported: read the list again. */
      missed: Closed({}),
    },
  },
  'GET /orgs/:org/executions/compare': {
    access: 'viewer',
    summary: 'Two executions node by node',
    query: Closed({ a: Id, b: Id }),
    response: Closed({
      a: ExecutionItem,
      b: ExecutionItem,
      is_same_input: Type.Boolean(),
      nodes: Type.Array(NodeComparison),
    }),
  },
  'GET /orgs/:org/executions/:execution': {
    access: 'viewer',
    isExact: true,
    summary: 'One execution with the state of its nodes',
    response: ExecutionDetail,
  },
  'GET /orgs/:org/executions/:execution/flow': {
    access: 'viewer',
    isExact: true,
    summary: 'The workflow in the version that the execution runs',
    response: Closed({
      workflow_id: Id,
      version: Type.Integer(),
      /** The current saved version. */
      current_version: Type.Integer(),
      flow_data: FlowData,
    }),
  },
  'GET /orgs/:org/executions/:execution/events': {
    access: 'viewer',
    isExact: true,
    summary: 'Follow an execution; the stream ends when it does',
    events: {
      /** As in the public API: the list item. */
      execution: Closed(itemFields),
      node: StreamedNode,
    },
  },
  'GET /orgs/:org/executions/:execution/nodes/:node': {
    access: 'viewer',
    isExact: true,
    summary: 'Output and log of a node: of its last run, or of one iteration (`0`, in nested loops `0,3`)',
    query: Closed({ iteration: Type.Optional(Type.String({ pattern: '^\\d{1,9}(,\\d{1,9}){0,99}$' })) }),
    response: NodeRunDetail,
  },
  'GET /orgs/:org/executions/:execution/nodes/:node/iterations': {
    access: 'viewer',
    summary: 'Runs of a node inside a loop, or iterations of a loop, in order',
    query: Closed({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
      /** How many to skip. They are in memory by then, so this costs nothing. */
      skip: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      status: Type.Optional(NodeStatus),
    }),
    response: Closed({ items: Type.Array(NodeIteration), total: Type.Integer({ minimum: 0 }) }),
  },
  'POST /orgs/:org/workflows/:id/import': {
    access: 'editor',
    summary: 'Start an execution for each row of a part of a file',
    takesBatch: true,
    startsExecutions: true,
    body: Closed({
      /** The same for all parts of a file: a row that is sent again isn't started again. */
      import_id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
      /** Number of the first of these rows. */
      first_row: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
      inputs: Type.Array(AnyObject, { minItems: 1, maxItems: MAX_IMPORTED_ROWS }),
    }),
    response: Closed({
      /** In the order of the inputs. */
      rows: Type.Array(
        Closed({
          /** Null: refused. */
          execution_id: Nullable(Id),
          errors: Type.Array(Closed({ field: Type.String(), message: Type.String(), ...explanation })),
        }),
      ),
    }),
  },
  'POST /orgs/:org/executions/:execution/cancel': {
    access: 'editor',
    summary: 'Cancel an execution that has not ended',
  },
  'POST /orgs/:org/executions/:execution/rerun': {
    access: 'editor',
    startsExecutions: true,
    summary:
      'Rerun an execution that has ended: from the start with the currently saved version, or from the failed node',
    body: Closed({
      from: Type.Enum(['start', 'failed_node'], { type: 'string' }),
      /** With `from: start`: replaces the original input. */
      input_data: Type.Optional(AnyJson),
      /** With `from: failed_node`: the version that failed (the default), or the currently saved one, in which changed nodes run again, too. */
      version: Type.Optional(Type.Enum(['same', 'saved'], { type: 'string' })),
    }),
    response: Started,
  },
  'GET /orgs/:org/approvals': {
    access: 'viewer',
    isExact: true,
    summary: 'Pending or decided approvals, newest first',
    query: Closed({
      ...pageQuery,
      state: Type.Optional(Type.Enum(['pending', 'decided'], { type: 'string' })),
    }),
    response: PageOf(Approval),
  },
  'POST /orgs/:org/approvals/:approval/decision': {
    access: 'editor',
    summary: 'Decide; the execution continues. The first decision counts',
    body: Closed({
      choice: Type.String({ minLength: 1, maxLength: 200 }),
      comment: Type.Optional(Type.String({ maxLength: 5_000 })),
      /** By the names of the fields: a text, several choices, or whether a box is ticked. */
      values: Type.Optional(AnyObject),
    }),
  },
} as const satisfies Endpoints;
