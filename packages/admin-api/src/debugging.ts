import { type Static, Type } from 'typebox';
import type { Endpoints } from './endpoint.ts';
import { ExecutionStatus } from './executions.ts';
import { Closed, Id, Nullable } from './forms.ts';

const NodeIds = Type.Array(Type.String());

/** An execution as a basis for changing its workflow. */
export const DebugData = Closed({
  workflow_id: Id,
  status: ExecutionStatus,
  /** Nodes whose outputs can be pinned. */
  pinned: NodeIds,
  /** Those of them in whose output a secret has been masked. */
  masked: NodeIds,
  /** Nodes that succeeded and whose outputs can't be pinned. */
  left_out: Type.Array(
    Closed({
      node_id: Type.String(),
      /** `deleted`: the workflow as the user edits it no longer has the node. */
      reason: Type.Enum(['too_large', 'over_limit', 'in_loop', 'deleted'], { type: 'string' }),
    }),
  ),
  /** Nodes to which the user has pinned something else, which would be lost. */
  replaces: NodeIds,
  /** A rerun from the failed node with the saved version: what becomes of the nodes that succeeded. Null unless it failed. */
  rerun: Nullable(Closed({ kept: NodeIds, again: NodeIds })),
});
export type DebugData = Static<typeof DebugData>;

export const DEBUGGING_ENDPOINTS = {
  'GET /orgs/:org/executions/:execution/debug': {
    access: 'editor',
    summary: 'What the editor can take over from an execution, and what a rerun with the saved version keeps',
    response: DebugData,
  },
  'PUT /orgs/:org/executions/:execution/pins': {
    access: 'editor',
    summary:
      "Pin the outputs of an execution's nodes that have ended, instead of all that I have pinned in its workflow; see `pinned` and `replaces` of its debug data",
  },
} as const satisfies Endpoints;
