import { WORKFLOW_STATUSES } from '@millrace/admin-api';
import { freeObject, PAGE_PARAMETERS, pageOf, TIMESTAMP } from '@millrace/http/responses';
import { type Static, Type } from 'typebox';

const STATUS = Type.Enum([...WORKFLOW_STATUSES], { type: 'string' });
const ID = Type.Integer({ minimum: 1, examples: [12] });

const FLOW_EXAMPLE = {
  nodes: [
    { id: 'start', type: 'trigger.webhook', position: { x: 0, y: 0 }, data: {} },
    {
      id: 'greet',
      type: 'core.set',
      position: { x: 240, y: 0 },
      data: { config: { values: { text: 'Hello {{trigger.data.name}}' } } },
    },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'greet' }],
};

const ITEM_EXAMPLE = {
  id: 12,
  name: 'Greet new customers',
  description: 'Says hello.',
  status: 'active',
  tags: ['sales'],
  is_test_mode: false,
  created_at: '2026-11-20T09:30:00.000Z',
  updated_at: '2026-11-20T09:30:00.000Z',
};
const VERSION_EXAMPLE = { version: 3, created_at: '2026-11-20T09:30:00.000Z', restored_from: null };
const page = (item: object) => ({
  data: [item],
  pagination: { next_cursor: 'AAAAAAAAAAzL0d4d2QpnU2fV2cQ1mYkH', has_more: true, limit: 1 },
});

export const EXAMPLES = {
  item: ITEM_EXAMPLE,
  detail: { ...ITEM_EXAMPLE, flow_data: FLOW_EXAMPLE, version: 3, problems: [] },
  page: page(ITEM_EXAMPLE),
  version: { workflow_id: 12, ...VERSION_EXAMPLE, flow_data: FLOW_EXAMPLE },
  versionPage: page(VERSION_EXAMPLE),
  webhook: {
    hash: 'q1X0m5n2b8v7c6x9z4l3k2j1h0g9f8d7s6a5p4o3i2u',
    url: 'https://flows.example/api/v1/webhooks/q1X0m5n2b8v7c6x9z4l3k2j1h0g9f8d7s6a5p4o3i2u',
    method: 'POST',
    workflow_id: 12,
  },
};

const FLOW_DATA = freeObject({
  description:
    'Nodes, edges and settings, in the shape of React Flow: `{nodes: [{id, type, position, data}], edges: [{source, target, sourceHandle}], settings}`. Unknown members are kept.',
  examples: [FLOW_EXAMPLE],
});

const TAGS = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
  maxItems: 50,
  uniqueItems: true,
  examples: [['sales', 'nightly']],
});

const NAME = Type.String({
  'x-name': [1, 255],
  description:
    '1 to 255 characters; leading and trailing white space is removed. Invisible characters and ones that reverse text are refused.',
  examples: ['Greet new customers'],
});
const DESCRIPTION = Type.String({ maxLength: 10_000, examples: ['Says hello.'] });

/** Members of a workflow detail that are accepted in a request and ignored, so that a detail can be sent back unchanged. */
export const READ_ONLY_MEMBERS = ['id', 'created_at', 'updated_at', 'version', 'problems'] as const;

const IGNORED = Type.Optional(Type.Unsafe<unknown>({ description: 'Accepted and ignored.' }));
const readOnly = Object.fromEntries(READ_ONLY_MEMBERS.map((name) => [name, IGNORED])) as Record<
  (typeof READ_ONLY_MEMBERS)[number],
  typeof IGNORED
>;

const writable = {
  description: Type.Optional(DESCRIPTION),
  tags: Type.Optional(TAGS),
  is_test_mode: Type.Optional(
    Type.Boolean({ description: 'Nodes that affect other systems record what they would send.' }),
  ),
  status: Type.Optional(STATUS),
};

const FOLDER = Type.Optional(
  Type.Array(Type.String({ 'x-name': [1, 100] }), {
    maxItems: 2,
    description: 'In exports of the admin area: the names of its folder there. Accepted and ignored.',
    examples: [['Sales', 'Orders']],
  }),
);

export const CreateWorkflow = Type.Object(
  { name: NAME, flow_data: FLOW_DATA, ...writable, ...readOnly, folder: FOLDER },
  { additionalProperties: false, examples: [{ name: 'Greet new customers', flow_data: FLOW_EXAMPLE }] },
);
export type CreateWorkflow = Static<typeof CreateWorkflow>;

export const UpdateWorkflow = Type.Object(
  { name: Type.Optional(NAME), flow_data: Type.Optional(FLOW_DATA), ...writable, ...readOnly },
  { additionalProperties: false, examples: [{ name: 'Greet customers', status: 'active' }] },
);
export type UpdateWorkflow = Static<typeof UpdateWorkflow>;

const itemMembers = {
  id: ID,
  name: Type.String(),
  description: Type.String(),
  status: STATUS,
  tags: Type.Array(Type.String()),
  is_test_mode: Type.Boolean(),
  created_at: TIMESTAMP,
  updated_at: TIMESTAMP,
};

const Problem = Type.Object(
  {
    pointer: Type.String({ description: 'JSON Pointer into the workflow.' }),
    node_id: Type.Union([Type.String(), Type.Null()], {
      description: "Null if it doesn't concern a single node.",
    }),
    code: Type.String(),
    message: Type.String(),
  },
  { additionalProperties: false },
);

/** Schemas of responses, by their name in the OpenAPI document. */
export const WorkflowItem = Type.Object(itemMembers, { $id: 'WorkflowItem', additionalProperties: false });
export type WorkflowItem = Static<typeof WorkflowItem>;
export const WorkflowDetail = Type.Object(
  {
    ...itemMembers,
    flow_data: FLOW_DATA,
    version: Type.Integer({ minimum: 1, description: 'Raised by every change of `flow_data`.' }),
    problems: Type.Array(Problem, {
      description: 'Problems that prevent the workflow from being activated; empty if there are none.',
    }),
  },
  { $id: 'WorkflowDetail', additionalProperties: false },
);
export type WorkflowDetail = Static<typeof WorkflowDetail>;

const versionMembers = {
  version: Type.Integer({ minimum: 1 }),
  created_at: TIMESTAMP,
  restored_from: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
    description: "The version that this one restores; null if it doesn't restore one.",
  }),
};
export const VersionItem = Type.Object(versionMembers, { $id: 'VersionItem', additionalProperties: false });
export type VersionItem = Static<typeof VersionItem>;
export const VersionDetail = Type.Object(
  { workflow_id: ID, ...versionMembers, flow_data: FLOW_DATA },
  { $id: 'VersionDetail', additionalProperties: false },
);
export type VersionDetail = Static<typeof VersionDetail>;

export const WebhookInfo = Type.Object(
  {
    hash: Type.String({ description: 'Authenticates calls to the webhook; keep it secret.' }),
    url: Type.String({ format: 'uri' }),
    method: Type.Literal('POST'),
    workflow_id: ID,
  },
  { $id: 'WebhookInfo', additionalProperties: false },
);

export const WORKFLOW_SCHEMAS = [
  WorkflowItem,
  WorkflowDetail,
  VersionItem,
  VersionDetail,
  WebhookInfo,
] as const;

export const WorkflowPage = pageOf(Type.Ref('WorkflowItem#'));
export const VersionPage = pageOf(Type.Ref('VersionItem#'));

/** An empty body, which may be omitted. */
export const NoMembers = Type.Object({}, { additionalProperties: false });

export const ListWorkflowsQuery = Type.Object(
  {
    status: Type.Optional(
      Type.Enum([...WORKFLOW_STATUSES], { type: 'string', description: 'Only workflows with this status.' }),
    ),
    ...PAGE_PARAMETERS,
  },
  { additionalProperties: false },
);
export type ListWorkflowsQuery = Static<typeof ListWorkflowsQuery>;

export const ListVersionsQuery = Type.Object({ ...PAGE_PARAMETERS }, { additionalProperties: false });
export type ListVersionsQuery = Static<typeof ListVersionsQuery>;
