import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { ExecutionError, ExecutionStatus } from './executions.ts';
import { FolderName } from './folders.ts';
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
  Sentence,
  Timestamp,
  VersionNumber,
} from './forms.ts';
import { TEMPLATE_CATEGORIES } from './template-categories.ts';

export const WORKFLOW_STATUSES = ['draft', 'active', 'inactive', 'archived'] as const;
export const WorkflowStatus = Type.Enum([...WORKFLOW_STATUSES], { type: 'string' });
export type WorkflowStatus = Static<typeof WorkflowStatus>;

/** Orders of the list: newest first, by name, last changed first, last run first. */
export const WORKFLOW_SORTS = ['created', 'name', 'updated', 'last_run'] as const;
export type WorkflowSort = (typeof WORKFLOW_SORTS)[number];

/** One execution in a workflow's row of recent ones. */
export const RecentRun = Closed({
  id: Id,
  status: ExecutionStatus,
  created_at: Timestamp,
  /** From start to end; null if it hasn't ended or never started. */
  duration_ms: Nullable(Type.Integer({ minimum: 0 })),
  /** It ran an unsaved draft. */
  is_trial: Type.Boolean(),
});
export type RecentRun = Static<typeof RecentRun>;

/** The last execution, as shown in a row of the list. */
export const LastRun = Closed({
  ...RecentRun.properties,
  completed_at: Nullable(Timestamp),
  is_test_mode: Type.Boolean(),
  /** Null unless it failed. */
  error: Nullable(ExecutionError),
});
export type LastRun = Static<typeof LastRun>;

/** Why a saved flow can't be activated or executed. */
export const FlowProblem = Closed({
  /** JSON Pointer that begins with `/flow_data`. */
  pointer: Type.String(),
  /** Null if no single node is responsible. */
  node_id: Nullable(Type.String()),
  code: Type.String(),
  message: Type.String(),
  ...explanation,
});

export type FlowProblem = Static<typeof FlowProblem>;

/** By node id: the handles of its outgoing edges as configured; empty for an unknown node type. */
export const NodeHandles = Type.Record(Type.String(), Type.Array(Type.String()));

const summary = {
  id: Id,
  name: Type.String(),
  description: Type.String(),
  status: WorkflowStatus,
  tags: Type.Array(Type.String()),
  is_test_mode: Type.Boolean(),
  /** Type of the saved version's first trigger node, null if it has none, and those of the others, each once. */
  trigger_type: Nullable(Type.String()),
  other_triggers: Type.Array(Type.String()),
  /** The saved version. */
  version: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** A workflow as shown in the list. */
export const WorkflowItem = Closed({
  ...summary,
  /** Null: in no folder. */
  folder_id: Nullable(Id),
  /** Whether the user marked it. */
  is_favourite: Type.Boolean(),
  /** Whether the user has an unsaved draft. */
  has_draft: Type.Boolean(),
  /** The last 20 executions, latest first. */
  last_runs: Type.Array(RecentRun),
  /** The details of the first of them; null: it never ran. */
  last_run: Nullable(LastRun),
});
export type WorkflowItem = Static<typeof WorkflowItem>;

/** The author of a version. */
export const VersionAuthor = Closed({
  kind: Type.Enum(['user', 'api_key'], { type: 'string' }),
  /** Name of the person or of the key. */
  name: Type.String(),
  /** It is the current user. */
  is_me: Type.Boolean(),
});
export type VersionAuthor = Static<typeof VersionAuthor>;

/** A saved version of a workflow, as listed in the history. */
export const VersionItem = Closed({
  version: Id,
  created_at: Timestamp,
  /** Null: saved from the command line, or its author was deleted. */
  author: Nullable(VersionAuthor),
  /** The author's message. */
  message: Nullable(Type.String()),
  /** Pinned by a user, to be found again. */
  pinned: Type.Boolean(),
  /** The version this one restores. */
  restored_from: Nullable(Id),
  /** The saved version, which triggers and the public API run. */
  is_current: Type.Boolean(),
});
export type VersionItem = Static<typeof VersionItem>;

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
  /** What prevents the saved version from being activated. */
  problems: Type.Array(FlowProblem),
  handles: NodeHandles,
  /** When and by whom the saved version was created. */
  saved: VersionItem,
  has_draft: Type.Boolean(),
  /** Null: in no folder. */
  folder_id: Nullable(Id),
  /** Whether the user marked it. */
  is_favourite: Type.Boolean(),
  /** Other users with an unsaved draft, last changed first. */
  other_drafts: Type.Array(Closed({ name: Type.String(), updated_at: Timestamp })),
});
export type WorkflowDetail = Static<typeof WorkflowDetail>;

const Name = Type.Unsafe<string>({ type: 'string', 'x-name': [1, 255] });
const Description = Type.String({ maxLength: 10_000 });
/** Of one workflow. */
export const MAX_TAGS = 50;
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: MAX_TAGS,
  uniqueItems: true,
});
/** As many as a page of a list may have. */
const MAX_CONCURRENT = 200;
/** Accepted and ignored, so that an export can be posted unchanged. */
const Ignored = Type.Optional(AnyJson);

/** A value a template needs before it can be used. */
export const TemplateStep = Closed({
  var: Type.String(),
  description: Type.String(),
  /** Its default. */
  value: AnyJson,
  /** The id of a credential of one of these types; null: any other value. */
  credential_types: Nullable(Type.Array(Type.String())),
  /** Of each service that the credential is for: its hosts. Names, or `*.` before one; `*` is any. */
  credential_hosts: Type.Array(Type.Array(Type.String())),
  /** What a new one begins with, as the connectors of its nodes say it (`x-new-credential`); null: nothing is known of them. */
  new_credential: Nullable(
    Closed({
      name: Type.String(),
      hosts: Type.Array(Type.String()),
      /** The only host, with variables of `setup` in it: `{{site}}.example.com`. It counts once they are filled in. */
      host: Type.Optional(Type.String()),
      /** By the type of the credential. */
      fields: AnyObject,
    }),
  ),
});
export type TemplateStep = Static<typeof TemplateStep>;

/** A workflow to start from. */
export const Template = Closed({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  /** One or two sentences for the gallery. */
  summary: Type.String(),
  tags: Type.Array(Type.String()),
  categories: Type.Array(Type.Enum([...TEMPLATE_CATEGORIES], { type: 'string' })),
  trigger_type: Nullable(Type.String()),
  /** Distinct types of its nodes, in order. */
  node_types: Type.Array(Type.String()),
  setup: Type.Array(TemplateStep),
  /** Workflows created along with it. */
  companions: Type.Array(Closed({ name: Type.String() })),
  /** Trigger data to try it with; the first becomes the workflow's sample. */
  samples: Type.Array(Closed({ name: Type.String(), data: AnyJson })),
  /** For its preview. */
  flow_data: FlowData,
});
export type Template = Static<typeof Template>;

/** What somebody new does first, in this order. */
export const FIRST_STEPS = ['run', 'template', 'key', 'invite'] as const;
export type FirstStep = (typeof FIRST_STEPS)[number];

const NewWorkflow = Closed({
  name: Type.Optional(Name),
  description: Type.Optional(Description),
  tags: Type.Optional(Tags),
  is_test_mode: Type.Optional(Type.Boolean()),
  /** `draft` by default; `active` is refused for a flow with problems. */
  status: Type.Optional(WorkflowStatus),
  flow_data: Type.Optional(AnyObject),
  template: Type.Optional(
    Closed({
      id: Type.String({ maxLength: 100 }),
      /** By the names in `setup`. */
      vars: Type.Optional(AnyObject),
    }),
  ),
  /** Names of the folder it is put into, from the outermost; those that are missing are created. */
  folder: Type.Optional(Type.Array(FolderName, { maxItems: 2 })),
  ...{ id: Ignored, created_at: Ignored, updated_at: Ignored, version: Ignored, problems: Ignored },
});

export const WORKFLOW_ENDPOINTS = {
  'GET /orgs/:org/workflows': {
    access: 'viewer',
    summary: 'Workflows in the given order; by default newest first',
    query: Closed({
      ...pageQuery,
      /** Words in name, description or a tag, case-insensitive. */
      search: Type.Optional(Type.String({ maxLength: 200 })),
      /** Absent: all except archived ones. */
      status: Type.Optional(Type.Enum([...WORKFLOW_STATUSES, 'all'], { type: 'string' })),
      /** Exact match. */
      tag: Type.Optional(Type.String({ maxLength: 64 })),
      /** Those directly in it; `none`: those in no folder. */
      folder: Type.Optional(Type.String({ pattern: '^([1-9][0-9]{0,14}|none)$' })),
      /** Only those the user marked. */
      favourites: Type.Optional(Type.Boolean()),
      sort: Type.Optional(Type.Enum([...WORKFLOW_SORTS], { type: 'string' })),
    }),
    response: PageOf(WorkflowItem),
  },
  'GET /orgs/:org/workflow-tags': {
    access: 'viewer',
    summary: 'The tags that workflows have, in alphabetical order, at most 1,000',
    response: Closed({ tags: Type.Array(Type.String()) }),
  },
  'POST /orgs/:org/workflows': {
    access: 'editor',
    isExact: true,
    summary:
      'Create a workflow: from `flow_data` (also a complete export), from a template, or empty. `name` is required unless a template has one',
    body: NewWorkflow,
    takesFlow: true,
    response: Closed({
      workflow: WorkflowDetail,
      /** Workflows created along with it. */
      companions: Type.Array(Closed({ id: Id, name: Type.String() })),
    }),
  },
  'POST /orgs/:org/import': {
    access: 'editor',
    isExact: true,
    summary:
      'What a workflow of another product, or nodes copied from one, would become; nothing is stored. 422 if it is not known, too large or empty',
    body: Closed({
      /** Its value, or its text: exports may be YAML. */
      content: Type.Union([AnyObject, Type.String()]),
      /** Used if it has no name of its own. */
      name: Type.Optional(Name),
      /** The product it is from. Default: recognised by its content. */
      from: Type.Optional(Type.Enum(['auto', 'n8n', 'dify', 'flowise'], { type: 'string' })),
    }),
    takesFlow: true,
    response: Closed({
      product: Type.String(),
      /** One for each trigger of the original. Empty: nothing in it can be started. */
      workflows: Type.Array(
        Closed({
          name: Type.String(),
          flow_data: FlowData,
          /** What prevents it from being activated as it is. */
          problems: Type.Array(FlowProblem),
        }),
      ),
      /** One for each original node. */
      nodes: Type.Array(
        Closed({
          node: Type.String(),
          type: Type.String(),
          outcome: Type.Enum(['mapped', 'approximated', 'dropped'], { type: 'string' }),
          /** What differs, or why it was dropped. */
          notes: Type.Array(Sentence),
        }),
      ),
    }),
  },
  'GET /orgs/:org/templates': {
    access: 'viewer',
    isExact: true,
    summary: 'Workflows to start from',
    response: Closed({ items: Type.Array(Template) }),
  },
  'GET /orgs/:org/first-steps': {
    access: 'editor',
    summary: 'The first steps that my role allows, and which of them somebody in the organisation has done',
    response: Closed({
      items: Type.Array(
        Closed({ step: Type.Enum([...FIRST_STEPS], { type: 'string' }), is_done: Type.Boolean() }),
      ),
      /** The sample workflow; null if there is none. */
      sample_workflow_id: Nullable(Id),
    }),
  },
  'GET /orgs/:org/workflows/:id': {
    access: 'viewer',
    isExact: true,
    summary: 'A workflow with its saved version',
    response: WorkflowDetail,
  },
  'PUT /orgs/:org/workflows/:id': {
    access: 'editor',
    isExact: true,
    summary:
      'Change anything but the flow; 412 if it has changed since `updated_at`. An archived one only accepts the status inactive',
    body: Closed({
      updated_at: Timestamp,
      name: Type.Optional(Name),
      description: Type.Optional(Description),
      tags: Type.Optional(Tags),
      is_test_mode: Type.Optional(Type.Boolean()),
      /** 422 with one error per problem if it is to become active and has problems. */
      status: Type.Optional(WorkflowStatus),
    }),
    response: WorkflowDetail,
  },
  'PUT /orgs/:org/workflows/:id/favourite': {
    access: 'viewer',
    summary: 'Mark it for oneself, or remove the mark. 409 too_many_favourites',
    body: Closed({ is_favourite: Type.Boolean() }),
  },
  'POST /orgs/:org/workflow-changes': {
    access: 'editor',
    summary:
      'Change several workflows, one after the other; those that refuse the change stay as they are and are listed',
    body: Closed({
      ids: Type.Array(Id, { minItems: 1, maxItems: MAX_CONCURRENT, uniqueItems: true }),
      change: Type.Union([
        Closed({ kind: Type.Literal('archive') }),
        Closed({ kind: Type.Literal('tag'), add: Tags, remove: Tags }),
        /** Null: out of their folders. */
        Closed({ kind: Type.Literal('move'), folder_id: Nullable(Id) }),
      ]),
    }),
    response: Closed({
      /** How many are as requested now. */
      done: Type.Integer({ minimum: 0 }),
      refused: Type.Array(Closed({ id: Id, code: Type.String(), message: Type.String(), ...explanation })),
    }),
  },
  'POST /orgs/:org/workflows/:id/duplicate': {
    access: 'editor',
    isExact: true,
    summary: 'Create a draft with the same saved flow, description, tags and test mode',
    body: Closed({ name: Name }),
    response: WorkflowDetail,
  },
  'POST /orgs/:org/workflows/:id/archive': {
    access: 'editor',
    isExact: true,
    summary: 'Archive it: nothing starts it any more; running executions continue',
    response: WorkflowDetail,
  },
  'POST /orgs/:org/workflows/:id/restore': {
    access: 'editor',
    isExact: true,
    summary: 'Restore an archived one, as inactive',
    response: WorkflowDetail,
  },
  'DELETE /orgs/:org/workflows/:id': {
    access: 'org_admin',
    summary:
      'Delete an archived workflow for good, with versions, drafts and executions. 409 workflow_not_archived; 409 workflow_running while executions have not ended',
    body: Closed({
      /** Its name, typed as confirmation; 422 if it differs. */
      name: Type.String({ maxLength: 1_000 }),
    }),
  },
  'GET /orgs/:org/workflows/:id/export': {
    access: 'viewer',
    summary: 'The saved workflow as `POST /workflows` accepts it; credentials appear as ids only',
    query: Closed({ version: Type.Optional(VersionNumber) }),
    file: 'application/json',
  },
} as const satisfies Endpoints;
