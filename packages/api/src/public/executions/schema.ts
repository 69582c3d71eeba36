import { EXECUTION_STATUSES, NODE_STATUSES } from '@millrace/engine';
import { FieldErrorSchema, freeObject, PAGE_PARAMETERS, pageOf, TIMESTAMP } from '@millrace/http/responses';
import { MAX_BATCH_ITEMS } from '@millrace/service/executions/batch';
import { type Static, Type } from 'typebox';

/** `waiting_async` appears in responses but isn't a filter. */
export const FILTER_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export const RERUN_FROM = ['start', 'failed_node'] as const;

const ID = Type.Integer({ minimum: 1, examples: [4711] });
const OBJECT = freeObject();
const STATUS = Type.Enum([...EXECUTION_STATUSES], { type: 'string' });
const TIME_OR_NULL = Type.Union([TIMESTAMP, Type.Null()]);
const TOKENS = Type.Integer({ minimum: 0 });

const itemMembers = {
  id: ID,
  workflow_id: ID,
  workflow_version: Type.Integer({
    minimum: 0,
    description: 'The version of the workflow it runs; 0 is a trial of an unsaved draft.',
  }),
  status: STATUS,
  display_name: Type.String(),
  trigger_type: Type.String({
    description:
      'What started it: `api`, `webhook`, `schedule`, `poll` (a trigger that polls or listens), `form`, `chat`, `manual` (a person in the admin area, or the command line), `flow` (a node of another execution) or `error` (the failure of another).',
  }),
  created_at: TIMESTAMP,
  started_at: TIME_OR_NULL,
  completed_at: TIME_OR_NULL,
  duration_ms: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  consumed_ai_tokens: TOKENS,
  is_test_mode: Type.Boolean(),
  parent: Type.Union(
    [Type.Object({ execution_id: ID, node_id: Type.String() }, { additionalProperties: false }), Type.Null()],
    { description: 'Extension: the execution and its node that started this one; null for none.' },
  ),
  error: Type.Optional(
    Type.Object(
      {
        code: Type.String(),
        message: Type.String(),
        node_id: Type.Union([Type.String(), Type.Null()], {
          description: "Null if it doesn't concern a single node.",
        }),
      },
      { description: 'With status `failed` only.', additionalProperties: false },
    ),
  ),
  hold: Type.Optional(
    Type.Object(
      {
        reason: Type.Enum(['rate', 'debounce'], { type: 'string' }),
        until: TIMESTAMP,
      },
      {
        description:
          "Extension: while it is `queued` because of its workflow's `settings.rate` or `settings.debounce`, and probably until then.",
        additionalProperties: false,
      },
    ),
  ),
  cancellation: Type.Optional(
    Type.Object(
      {
        code: Type.String({ examples: ['replaced_by_newer_start'] }),
        message: Type.String(),
        execution_id: Type.Union([ID, Type.Null()], {
          description: 'The execution that made it superfluous.',
        }),
      },
      {
        description: 'Extension: why it is `cancelled`, if the service itself cancelled it.',
        additionalProperties: false,
      },
    ),
  ),
};

export const NodeOutput = Type.Object(
  {
    status: Type.Enum([...NODE_STATUSES], { type: 'string' }),
    output: OBJECT,
    consumed_ai_tokens: TOKENS,
    started_at: TIME_OR_NULL,
    completed_at: TIME_OR_NULL,
    error: Type.Optional(
      Type.Object({ code: Type.String(), message: Type.String() }, { additionalProperties: false }),
    ),
    attempts: Type.Optional(
      Type.Integer({ minimum: 2, description: 'How often it was started, if more than once.' }),
    ),
    iterations: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'For a node inside a loop: the number of iterations. The last one is shown.',
      }),
    ),
    log: Type.Optional(
      Type.Array(
        Type.Object(
          {
            level: Type.Enum(['debug', 'info', 'warn', 'error'], { type: 'string' }),
            text: Type.String(),
          },
          { additionalProperties: false },
        ),
        { description: "Extension: what the node's code wrote to its console." },
      ),
    ),
    waiting: Type.Optional(
      Type.Object(
        {
          for: Type.Enum(['delay', 'retry', 'signal', 'host'], { type: 'string' }),
          until: TIME_OR_NULL,
          host: Type.Optional(
            Type.String({
              description: 'With `for: host`: the host that it may not call yet, with its port.',
            }),
          ),
        },
        {
          description:
            'Extension, with status `waiting` only: what it waits for (a time, its next attempt, someone else, or its turn to call a host) and until when at most; null: no limit.',
          additionalProperties: false,
        },
      ),
    ),
  },
  { additionalProperties: false },
);

export type NodeOutput = Static<typeof NodeOutput>;

/** Schemas of responses, by their name in the OpenAPI document. */
export const ExecutionItem = Type.Object(itemMembers, { $id: 'ExecutionItem', additionalProperties: false });
export type ExecutionItem = Static<typeof ExecutionItem>;
export const ExecutionDetail = Type.Object(
  {
    ...itemMembers,
    children: Type.Array(
      Type.Object(
        { execution_id: ID, node_id: Type.String(), workflow_id: ID },
        { additionalProperties: false },
      ),
      { description: 'Extension: the executions that its nodes started, the oldest first, at most 1,000.' },
    ),
    input_data: freeObject({
      description:
        'What the trigger received. A webhook body that isn\'t an object is shown as `{"data": <body>}`.',
    }),
    node_outputs: Type.Record(Type.String(), NodeOutput, {
      description: "By node ID; nodes that haven't started yet are absent.",
    }),
  },
  { $id: 'ExecutionDetail', additionalProperties: false },
);
export type ExecutionDetail = Static<typeof ExecutionDetail>;
export const StartReceipt = Type.Object(
  {
    execution_id: ID,
    status: Type.Literal('running'),
    polling_url: Type.String({ format: 'uri' }),
    started_at: TIMESTAMP,
  },
  { $id: 'StartReceipt', additionalProperties: false },
);

const Count = Type.Integer({ minimum: 0, maximum: MAX_BATCH_ITEMS });
/** In a union, members that all alternatives have are in each of them: clients generated from it can tell them apart. */
export const BatchReceipt = Type.Object(
  {
    started: Count,
    replayed: Count,
    refused: Count,
    data: Type.Array(
      Type.Union([
        Type.Object(
          {
            outcome: Type.Enum(['started', 'replayed'], {
              type: 'string',
              description:
                '`replayed`: a start with the same idempotency key was accepted before; this is its receipt.',
            }),
            receipt: Type.Ref('StartReceipt#'),
          },
          { additionalProperties: false },
        ),
        Type.Object(
          {
            outcome: Type.Literal('refused'),
            problem: Type.Object(
              { code: Type.String(), detail: Type.String(), errors: Type.Array(FieldErrorSchema) },
              { additionalProperties: false },
            ),
          },
          { additionalProperties: false },
        ),
      ]),
      { description: 'One entry for each item, in order.' },
    ),
  },
  { $id: 'BatchReceipt', additionalProperties: false },
);

export const EXECUTION_SCHEMAS = [ExecutionItem, ExecutionDetail, StartReceipt, BatchReceipt] as const;
export const ExecutionPage = pageOf(Type.Ref('ExecutionItem#'));

export const ExecuteBody = Type.Object(
  {
    input_data: Type.Optional(
      freeObject({
        description: 'The workflow reads it as `{{trigger.data.<field>}}`; `{}` if absent.',
        examples: [{ name: 'Ada' }],
      }),
    ),
    trigger: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          'Extension: the node id of the trigger to start at, in a workflow with several. Absent: the manual start, else the first trigger.',
        examples: ['start'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type ExecuteBody = Static<typeof ExecuteBody>;

export const BatchBody = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          ...ExecuteBody.properties,
          idempotency_key: Type.Optional(
            Type.String({
              pattern: '^[\\x21-\\x7e]{1,255}$',
              description:
                'As the Idempotency-Key header of a single start, and in the same namespace: 1 to 255 visible ASCII characters.',
              examples: ['order-4711'],
            }),
          ),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MAX_BATCH_ITEMS },
    ),
    mode: Type.Optional(
      Type.Enum(['all', 'each'], {
        type: 'string',
        default: 'all',
        description:
          "`all`: nothing starts if an item is refused. `each`: the items that aren't refused start.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type BatchBody = Static<typeof BatchBody>;

export const RerunBody = Type.Object(
  {
    from: Type.Enum([...RERUN_FROM], {
      type: 'string',
      description:
        "`start`: the saved version of the workflow with the same input. `failed_node`: the same version; successful nodes that don't depend on a failed one aren't run again.",
    }),
    version: Type.Optional(
      Type.Enum(['same', 'saved'], {
        type: 'string',
        description:
          'With `failed_node`: `same` is the version that failed, the default; `saved` is the one saved now, in which nodes that have changed since run again, too.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type RerunBody = Static<typeof RerunBody>;

export const CancelBody = Type.Object({}, { additionalProperties: false });

const MOMENT = { format: 'date-time', examples: ['2026-11-20T09:30:00Z'] };

export const ListExecutionsQuery = Type.Object(
  {
    workflow_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Only executions of this workflow.',
      }),
    ),
    status: Type.Optional(Type.Enum([...FILTER_STATUSES], { type: 'string' })),
    created_after: Type.Optional(
      Type.String({ ...MOMENT, description: 'Only executions accepted at or after this time; any offset.' }),
    ),
    created_before: Type.Optional(
      Type.String({ ...MOMENT, description: 'Only executions accepted at or before this time; any offset.' }),
    ),
    ...PAGE_PARAMETERS,
  },
  { additionalProperties: false },
);
export type ListExecutionsQuery = Static<typeof ListExecutionsQuery>;

export const ReadExecutionQuery = Type.Object(
  {
    wait: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 60,
        description:
          'Extension: seconds to wait for the execution to end; the response comes as soon as it has.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type ReadExecutionQuery = Static<typeof ReadExecutionQuery>;
