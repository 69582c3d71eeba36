import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { ExecutionError } from './executions.ts';
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
  VersionNumber,
} from './forms.ts';

export const WORKFLOW_STATUSES = ['draft', 'active', 'inactive', 'archived'] as const;
export const WorkflowStatus = Type.Enum([...WORKFLOW_STATUSES], { type: 'string' });
export type WorkflowStatus = Static<typeof WorkflowStatus>;

/** Statuses of executions; those of the contract. */
const RUN_STATUSES = ['queued', 'running', 'waiting_async', 'completed', 'failed', 'cancelled'] as const;

/** One execution in the strip of a workflow's last ones. */
export const RecentRun = Closed({
  id: Id,
  status: Type.Enum([...RUN_STATUSES], { type: 'string' }),
  created_at: Timestamp,
  /** From start to end; null while it has not ended, or never started. */
  duration_ms: Nullable(Type.Integer({ minimum: 0 })),
  /** It ran an unsaved draft. */
  is_trial: Type.Boolean(),
});
export type RecentRun = Static<typeof RecentRun>;

/** The last execution, with what a row of the list tells of it. */
export const LastRun = Closed({
  ...RecentRun.properties,
  completed_at: Nullable(Timestamp),
  is_test_mode: Type.Boolean(),
  /** Null unless it failed. */
  error: Nullable(ExecutionError),
});
export type LastRun = Static<typeof LastRun>;

/** Why a saved flow cannot be activated or executed. */
export const FlowProblem = Closed({
  /** JSON Pointer that begins with `/flow_data`. */
  pointer: Type.String(),
  /** Null when no single node is to blame. */
  node_id: Nullable(Type.String()),
  code: Type.String(),
  message: Type.String(),
  ...explanation,
});

export type FlowProblem = Static<typeof FlowProblem>;

/** By node id: the handles its edges leave from as it is configured; empty for a node whose type is not known. */
export const NodeHandles = Type.Record(Type.String(), Type.Array(Type.String()));

const summary = {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  status: WorkflowStatus,
  tags: Type.Array(Type.String()),
  is_test_mode: Type.Boolean(),
  /** Type of the saved version's trigger node; null while it has none. */
  trigger_type: Nullable(Type.String()),
  /** The saved version. */
  version: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A workflow as the list shows it. */
export const WorkflowItem = Closed({
  ...summary,
  /** Whether I have a draft that is not saved. */
  has_draft: Type.Boolean(),
  /** The last 20 executions, latest first. */
  last_runs: Type.Array(RecentRun),
  /** The first of them, told in full; null: it never ran. */
  last_run: Nullable(LastRun),
});
export type WorkflowItem = Static<typeof WorkflowItem>;

/** Who made a version. */
export const VersionAuthor = Closed({
  kind: Type.Enum(['user', 'api_key'], { type: 'string' }),
  /** Name of the person or of the key. */
  name: Type.String(),
  /** It is who asks. */
  is_me: Type.Boolean(),
});
export type VersionAuthor = Static<typeof VersionAuthor>;

/** A saved state of a workflow, as the history lists it. */
export const VersionItem = Closed({
  version: Id,
  created_at: Timestamp,
  /** Null: saved from the command line, or whoever it was is gone. */
  author: Nullable(VersionAuthor),
  /** What its author wrote about it. */
  message: Nullable(Type.String()),
  /** Marked to be found again. */
  pinned: Type.Boolean(),
  /** The version this one repeats. */
  restored_from: Nullable(Id),
  /** It is the saved one: what triggers and the public API run. */
  is_current: Type.Boolean(),
});
export type VersionItem = Static<typeof VersionItem>;

/** A version with its content. */
export const VersionDetail = Closed({
  ...VersionItem.properties,
  flow_data: FlowData,
  problems: Type.Array(FlowProblem),
  handles: NodeHandles,
});
export type VersionDetail = Static<typeof VersionDetail>;

/** A workflow with its saved version. */
export const WorkflowDetail = Closed({
  ...summary,
  flow_data: FlowData,
  /** What keeps the saved version from being activated. */
  problems: Type.Array(FlowProblem),
  handles: NodeHandles,
  /** When and by whom the saved version was made. */
  saved: VersionItem,
  has_draft: Type.Boolean(),
  /** Others who have a draft of it that they have not saved, last changed first. */
  other_drafts: Type.Array(Closed({ name: Type.String(), updated_at: Timestamp })),
});
export type WorkflowDetail = Static<typeof WorkflowDetail>;

const Name = Type.Unsafe<string>({ type: 'string', 'x-name': [1, 255] });
const Description = Type.String({ maxLength: 10_000 });
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 50, uniqueItems: true });
/** Accepted, so that an export can be posted as it is, and ignored. */
const Ignored = Type.Optional(AnyJson);

/** What a template asks for before it is of use. */
export const TemplateStep = Closed({
  var: Type.String(),
  description: Type.String(),
  /** What it is set to while nothing else is given. */
  value: AnyJson,
  /** It is the id of a credential of one of these types; null: any other value. */
  credential_types: Nullable(Type.Array(Type.String())),
});
export type TemplateStep = Static<typeof TemplateStep>;

/** A workflow to begin with. */
export const Template = Closed({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  /** One or two sentences for the gallery. */
  summary: Type.String(),
  tags: Type.Array(Type.String()),
  trigger_type: Nullable(Type.String()),
  /** Types of its nodes, each once, in their order. */
  node_types: Type.Array(Type.String()),
  setup: Type.Array(TemplateStep),
  /** Workflows that are created with it. */
  companions: Type.Array(Closed({ name: Type.String() })),
  /** Trigger data to try it with; the first becomes the sample of the workflow. */
  samples: Type.Array(Closed({ name: Type.String(), data: AnyJson })),
  /** For a picture of it. */
  flow_data: FlowData,
});
export type Template = Static<typeof Template>;

const NewWorkflow = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  is_test_mode: Type.Optional(Type.Boolean()),
  /** `draft` unless it is `active`, which a flow with problems is refused for. */
  status: Type.Optional(WorkflowStatus),
  flow_data: Type.Optional(AnyObject),
  template: Type.Optional(
    Closed({
      id: Type.String({ maxLength: 100 }),
      /** By the names in `setup`. */
      vars: Type.Optional(AnyObject),
    }),
  ),
  ...{ id: Ignored, created_at: Ignored, updated_at: Ignored, version: Ignored, problems: Ignored },
});

/** The webhook of a workflow. */
export const Webhook = Closed({
  url: Type.String(),
  hash: Type.String(),
  /** A command to try it with; its body is the sample, when there is one. It signs, where that is wanted, with a secret to be put in. */
  curl: Type.String(),
  /** Whether a call starts the workflow now; see `reason`. */
  is_open: Type.Boolean(),
  /** Why no call starts it: the saved version has no webhook trigger, or the workflow is inactive or archived. */
  reason: Nullable(
    Type.Enum(['no_webhook_trigger', 'workflow_inactive', 'workflow_archived'], { type: 'string' }),
  ),
  /** How the saved version's trigger checks signatures; null: it does not. */
  signature: Nullable(
    Closed({
      preset: Type.String(),
      credential_id: Type.Integer(),
      previous_credential_id: Nullable(Type.Integer()),
      tolerance_s: Type.Integer(),
      header: Type.String(),
    }),
  ),
  /** Former hashes that still work, latest first. */
  previous: Type.Array(Closed({ url: Type.String(), hash: Type.String(), valid_until: Timestamp })),
});
export type Webhook = Static<typeof Webhook>;

export const WORKFLOW_ENDPOINTS = {
  'GET /orgs/:org/workflows': {
    access: 'viewer',
    summary: 'Workflows, newest first',
    query: Closed({
      ...pageQuery,
      /** Words that name, description or a tag contain, in any case. */
      search: Type.Optional(Type.String({ maxLength: 200 })),
      /** Absent: all but archived ones. */
      status: Type.Optional(Type.Enum([...WORKFLOW_STATUSES, 'all'], { type: 'string' })),
      /** Exactly this tag. */
      tag: Type.Optional(Type.String({ maxLength: 64 })),
    }),
    answer: PageOf(WorkflowItem),
  },
  'GET /orgs/:org/workflow-tags': {
    access: 'viewer',
    summary: 'The tags that workflows have, in alphabetical order, at most 1,000',
    answer: Closed({ tags: Type.Array(Type.String()) }),
  },
  'POST /orgs/:org/workflows': {
    access: 'editor',
    isExact: true,
    summary:
      'Create a workflow: from `flow_data` (an export as it is, too), from a template, or an empty one. `name` is needed unless a template has one',
    body: NewWorkflow,
    takesFlow: true,
    answer: Closed({
      workflow: WorkflowDetail,
      /** What was created with it. */
      companions: Type.Array(Closed({ id: Id, name: Type.String() })),
    }),
  },
  'GET /orgs/:org/templates': {
    access: 'viewer',
    isExact: true,
    summary: 'Workflows to begin with',
    answer: Closed({ items: Type.Array(Template) }),
  },
  'GET /orgs/:org/workflows/:id': {
    access: 'viewer',
    isExact: true,
    summary: 'A workflow with its saved version',
    answer: WorkflowDetail,
  },
  'PUT /orgs/:org/workflows/:id': {
    access: 'editor',
    isExact: true,
    summary:
      'Change what is not the flow; 412 when it has changed since `updated_at`. An archived one takes status inactive only',
    body: Closed({
      updated_at: Timestamp,
      name: Type.Optional(Name),
      description: Type.Optional(Description),
      tags: Type.Optional(Tags),
      is_test_mode: Type.Optional(Type.Boolean()),
      /** 422 with one error per problem when it is to become active and has problems. */
      status: Type.Optional(WorkflowStatus),
    }),
    answer: WorkflowDetail,
  },
  'POST /orgs/:org/workflows/:id/duplicate': {
    access: 'editor',
    isExact: true,
    summary: 'Make a draft with the same saved flow, description, tags and test mode',
    body: Closed({ name: Name }),
    answer: WorkflowDetail,
  },
  'POST /orgs/:org/workflows/:id/archive': {
    access: 'editor',
    isExact: true,
    summary: 'Archive it: nothing starts it any more; running executions go on',
    answer: WorkflowDetail,
  },
  'POST /orgs/:org/workflows/:id/restore': {
    access: 'editor',
    isExact: true,
    summary: 'Bring an archived one back, as inactive',
    answer: WorkflowDetail,
  },
  'DELETE /orgs/:org/workflows/:id': {
    access: 'org_admin',
    summary:
      'Delete an archived workflow for good, with versions, drafts and executions. 409 workflow_not_archived; 409 workflow_running while executions have not ended',
    body: Closed({
      /** Its name, typed; 422 when it is another. */
      name: Type.String({ maxLength: 1_000 }),
    }),
  },
  'GET /orgs/:org/workflows/:id/export': {
    access: 'viewer',
    summary: 'The saved workflow as `POST /workflows` accepts it; credentials are named by their ids only',
    query: Closed({ version: Type.Optional(VersionNumber) }),
    file: 'application/json',
  },
  'GET /orgs/:org/workflows/:id/webhook': {
    access: 'viewer',
    summary: 'URL and settings of the webhook',
    answer: Webhook,
  },
  'POST /orgs/:org/workflows/:id/webhook/regenerate': {
    access: 'editor',
    summary: 'Make a new hash; the one before works for 24 hours more unless it is to end now',
    body: Closed({ ends_previous_now: Type.Optional(Type.Boolean()) }),
    answer: Webhook,
  },
  'POST /orgs/:org/schedule-previews': {
    access: 'viewer',
    summary: 'The next ten fire times of a schedule trigger with this config',
    body: Closed({ config: AnyObject }),
    answer: Closed({
      /** Empty when it never fires or the config is not valid. */
      fires: Type.Array(Timestamp),
      /** IANA name of the zone whose clock it follows; null when the config is not valid. */
      timezone: Nullable(Type.String()),
      /** What is wrong with the config; pointers lead into it. */
      faults: Type.Array(
        Closed({ pointer: Type.String(), code: Type.String(), message: Type.String(), ...explanation }),
      ),
    }),
  },
} as const satisfies Endpoints;
