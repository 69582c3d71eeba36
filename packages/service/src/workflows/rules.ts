import {
  type Flow,
  findProblems,
  type JsonValue,
  type NodeRegistry,
  triggerTypeOf,
  validateStructure,
} from '@millrace/engine';
import { ApiError, validationError } from '@millrace/errors/errors';
import type { WorkflowStatus } from './workflow.ts';

/** A `flow_data` that may be saved. */
export interface CheckedFlow {
  readonly flow: Flow;
  readonly triggerType: string | null;
}

/**
 * Checks the structure every saved flow must have.
 * @throws ApiError 422 with a pointer per mistake
 */
export function checkFlow(value: JsonValue, registry: NodeRegistry, maxNodes: number): CheckedFlow {
  const errors = validateStructure(value, { maxNodes });
  if (errors.length > 0) throw validationError(errors);
  const flow = value as Flow;
  return { flow, triggerType: triggerTypeOf(flow, registry) };
}

/**
 * Refuses to activate an unfinished flow.
 * @throws ApiError 422 with one error per problem
 */
export function refuseProblems(flow: Flow, registry: NodeRegistry): void {
  const problems = findProblems(flow, registry);
  if (problems.length === 0) return;
  throw validationError(problems.map(({ pointer, code, message }) => ({ pointer, code, message })));
}

const TRANSITIONS: Readonly<Record<WorkflowStatus, readonly WorkflowStatus[]>> = {
  draft: ['draft', 'active', 'inactive'],
  active: ['active', 'inactive'],
  inactive: ['inactive', 'active'],
  archived: ['archived', 'inactive'],
};

/**
 * Refuses changes of status that do not exist.
 * @throws ApiError 422 on `status`
 */
export function checkTransition(from: WorkflowStatus, to: WorkflowStatus): void {
  if (TRANSITIONS[from].includes(to)) return;
  const reachable = TRANSITIONS[from].filter((status) => status !== from).join(' or ');
  const archiving = to === 'archived' ? '; DELETE archives a workflow' : '';
  throw validationError([
    {
      pointer: '/status',
      code: 'invalid_transition',
      message: `cannot go from ${from} to ${to}; it can become ${reachable}${archiving}`,
    },
  ]);
}

/** 409 for a change to an archived workflow. */
export function archivedError(): ApiError {
  return new ApiError(
    'workflow_archived',
    'The workflow is archived. Restore it first: PUT with nothing but {"status": "inactive"}.',
  );
}
