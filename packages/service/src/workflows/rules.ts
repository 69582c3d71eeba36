import type { WorkflowStatus } from '@millrace/admin-api';
import {
  type Flow,
  findProblemsWork,
  type JsonValue,
  type NodeRegistry,
  type Problem,
  triggersOf,
  validateStructure,
} from '@millrace/engine';
import { ApiError, validationError } from '@millrace/errors/errors';
import { type Message, message } from '@millrace/messages';
import { finishInTurns } from '@millrace/runtime/turns';

/** A `flow_data` that may be saved. */
export interface CheckedFlow {
  readonly flow: Flow;
  readonly triggers: TriggerTypes;
}

/** The types of a flow's triggers, each once: the first one's, and the others. */
export interface TriggerTypes {
  readonly first: string | null;
  readonly others: readonly string[];
}

export function triggerTypesOf(flow: Flow, registry: NodeRegistry): TriggerTypes {
  const [first = null, ...others] = new Set(triggersOf(flow, registry).map(({ type }) => type));
  return { first, others };
}

/**
 * Checks the structure every saved flow must have.
 * @throws ApiError 422 with a pointer per error
 */
export function checkFlow(value: JsonValue, registry: NodeRegistry, maxNodes: number): CheckedFlow {
  const errors = validateStructure(value, { maxNodes });
  refuse(errors);
  const flow = value as Flow;
  return { flow, triggers: triggerTypesOf(flow, registry) };
}

/**
 * Refuses to activate an unfinished flow.
 * @throws ApiError 422 with one error per problem
 */
export async function refuseProblems(flow: Flow, registry: NodeRegistry): Promise<void> {
  refuse(await finishInTurns(findProblemsWork(flow, registry)));
}

/** @throws ApiError 422 unless the list is empty */
function refuse(problems: readonly Pick<Problem, 'pointer' | 'code' | 'message'>[]): void {
  if (problems.length === 0) return;
  throw validationError(
    problems.map(({ pointer, code, message: said }) => ({ pointer, code, message: said })),
  );
}

const TRANSITIONS: Readonly<Record<WorkflowStatus, readonly WorkflowStatus[]>> = {
  draft: ['draft', 'active', 'inactive'],
  active: ['active', 'inactive'],
  inactive: ['inactive', 'active'],
  archived: ['archived', 'inactive'],
};

const STATUS_MESSAGES: { readonly [S in WorkflowStatus]: Message } = {
  draft: message('service.workflow_draft'),
  active: message('service.workflow_active'),
  inactive: message('service.workflow_inactive'),
  archived: message('service.workflow_archived'),
};

/**
 * Refuses invalid status changes.
 * @throws ApiError 422 on `status`
 */
export function checkTransition(from: WorkflowStatus, to: WorkflowStatus): void {
  if (TRANSITIONS[from].includes(to)) return;
  const possible = TRANSITIONS[from].filter((status) => status !== from);
  const fault = message(
    to === 'archived' ? 'service.status_transition_archive' : 'service.status_transition',
    {
      from: STATUS_MESSAGES[from],
      to: STATUS_MESSAGES[to],
      possible: possible.map((status) => STATUS_MESSAGES[status]),
    },
  );
  throw validationError([{ pointer: '/status', code: 'invalid_transition', message: fault }]);
}

/** 409 for a change to an archived workflow. */
export function archivedError(): ApiError {
  return new ApiError('workflow_archived', message('service.change_archived'));
}
