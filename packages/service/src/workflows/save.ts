import { randomBytes } from 'node:crypto';
import type { WorkflowStatus } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import {
  canonicalJson,
  type Flow,
  type JsonText,
  type JsonValue,
  type NodeRegistry,
  parseJson,
  stringifyJson,
  triggerTypeOf,
} from '@millrace/engine';
import { notFound, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { refuseMissingCredentials } from '../credentials/references.ts';
import { keepSchedule, SCHEDULE_TRIGGER } from '../schedules/keep.ts';
import { archivedError, type CheckedFlow, checkTransition, refuseProblems } from './rules.ts';
import {
  findVersion,
  findWorkflow,
  insertVersion,
  insertWorkflow,
  lockWorkflow,
  updateWorkflow,
  type WorkflowChange,
  type WorkflowDetailRow,
} from './store.ts';
import type { NewWorkflow, WorkflowPatch } from './workflow.ts';

/** Who saves: an API key's principal, a signed-in user, or the operator, who is neither. */
export interface Author {
  readonly organisationId: number;
  /** `api_keys.id`; null for users and the operator. */
  readonly apiKeyId: number | null;
  /** `users.id` of a signed-in user. */
  readonly userId?: number;
  /** Their message about the version this creates. */
  readonly message?: string;
}

export const WEBHOOK_HASH_BYTES = 32;

/**
 * The status of a new workflow. A detail sent back as it was read may have any status: one that can't be set at once becomes
 * a draft; a detail is recognised by its `id`.
 * @throws ApiError 422 on `status`
 */
export function initialStatus(body: NewWorkflow): 'draft' | 'active' {
  const { status = 'draft' } = body;
  if (status === 'draft' || status === 'active') return status;
  if (body.id !== undefined) return 'draft';
  throw validationError([
    { pointer: '/status', code: 'invalid_value', message: message('service.status_of_new') },
  ]);
}

/** Stores a new workflow as version 1. The flow must have been checked, and have no problems if it is to be active. */
export async function createWorkflow(
  tx: Queryable,
  author: Author,
  body: NewWorkflow,
  flow: CheckedFlow,
): Promise<WorkflowDetailRow> {
  const row = await insertWorkflow(tx, {
    organisationId: author.organisationId,
    name: body.name.trim(),
    description: body.description ?? '',
    status: initialStatus(body),
    tags: body.tags ?? [],
    isTestMode: body.is_test_mode ?? false,
    triggerType: flow.triggerType,
    webhookHash: randomBytes(WEBHOOK_HASH_BYTES).toString('base64url'),
    flowData: stringifyJson(flow.flow),
    apiKeyId: author.apiKeyId,
    userId: author.userId ?? null,
  });
  await keepInStep(tx, row, null);
  return row;
}

/** The workflow, locked until the transaction ends. @throws ApiError `not_found` */
export async function readLockedWorkflow(
  tx: Queryable,
  author: Author,
  id: number,
): Promise<WorkflowDetailRow> {
  const { organisationId } = author;
  const isThere = await lockWorkflow(tx, organisationId, id);
  // Read by a separate statement, which sees changes that were just committed.
  const row = isThere ? await findWorkflow(tx, organisationId, id) : undefined;
  if (row === undefined) throw notFound('workflow');
  return row;
}

/**
 * Applies a partial update to a locked workflow; nothing is written if nothing differs.
 * @param flow the checked `flow_data` of the body; null if it has none
 * @throws ApiError `workflow_archived`, 422 for an unreachable status or problems that prevent activation
 */
export async function changeWorkflow(
  tx: Queryable,
  author: Author,
  row: WorkflowDetailRow,
  body: WorkflowPatch,
  flow: CheckedFlow | null,
  registry: NodeRegistry,
): Promise<WorkflowDetailRow> {
  const status = body.status ?? row.status;
  const isNewFlow = flow !== null && !isSameJson(flow.flow, parseJson(row.flow_data));
  const change = mergeChange(row, body, status, isNewFlow ? flow : null);
  const differs = isNewFlow || differsBesideStatus(row, change);
  checkTransition(row.status, status);
  if (row.status === 'archived' && differs) throw archivedError();
  if (status === 'active' && (isNewFlow || row.status !== 'active')) {
    const next = isNewFlow ? flow.flow : parseJson(row.flow_data);
    refuseProblems(next, registry);
    await refuseMissingCredentials(tx, author.organisationId, next, registry);
  }
  if (!differs && status === row.status) return row;
  if (!isNewFlow) return writeChange(tx, row, change, row.flow_data);
  const flowData = stringifyJson(flow.flow);
  await appendVersion(tx, author, row, flowData, null);
  return writeChange(tx, row, change, flowData);
}

/**
 * Appends a copy of an earlier version and makes it the saved one.
 * @throws ApiError `not_found` for the version, `workflow_archived`, 422 if the workflow is active and that version has
 * problems
 */
export async function restoreVersion(
  tx: Queryable,
  author: Author,
  row: WorkflowDetailRow,
  version: number,
  registry: NodeRegistry,
): Promise<WorkflowDetailRow> {
  const source = await findVersion(tx, author.organisationId, row.id, version);
  if (source === undefined) throw notFound('version');
  if (row.status === 'archived') throw archivedError();
  const flow = parseJson(source.flow_data);
  if (row.status === 'active') {
    refuseProblems(flow, registry);
    await refuseMissingCredentials(tx, author.organisationId, flow, registry);
  }
  await appendVersion(tx, author, row, source.flow_data, version);
  const change = {
    ...currentState(row),
    version: row.version + 1,
    triggerType: triggerTypeOf(flow, registry),
  };
  return writeChange(tx, row, change, source.flow_data);
}

/** Archives a locked workflow; does nothing if it is already archived. Running executions continue. */
export async function archiveWorkflow(tx: Queryable, row: WorkflowDetailRow): Promise<WorkflowDetailRow> {
  if (row.status === 'archived') return row;
  return writeChange(tx, row, { ...currentState(row), status: 'archived' }, row.flow_data);
}

function currentState(row: WorkflowDetailRow): WorkflowChange {
  const { name, description, status, tags, version } = row;
  return {
    name,
    description,
    status,
    tags,
    version,
    isTestMode: row.is_test_mode,
    triggerType: row.trigger_type,
  };
}

function mergeChange(
  row: WorkflowDetailRow,
  body: WorkflowPatch,
  status: WorkflowStatus,
  newFlow: CheckedFlow | null,
): WorkflowChange {
  return {
    name: body.name?.trim() ?? row.name,
    description: body.description ?? row.description,
    status,
    tags: body.tags ?? row.tags,
    isTestMode: body.is_test_mode ?? row.is_test_mode,
    version: newFlow === null ? row.version : row.version + 1,
    triggerType: newFlow === null ? row.trigger_type : newFlow.triggerType,
  };
}

function differsBesideStatus(row: WorkflowDetailRow, change: WorkflowChange): boolean {
  return (
    change.name !== row.name ||
    change.description !== row.description ||
    change.isTestMode !== row.is_test_mode ||
    !isSameJson(change.tags, row.tags)
  );
}

function isSameJson(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

async function appendVersion(
  tx: Queryable,
  author: Author,
  row: WorkflowDetailRow,
  flowData: JsonText<Flow>,
  restoredFrom: number | null,
): Promise<void> {
  await insertVersion(tx, {
    workflowId: row.id,
    version: row.version + 1,
    organisationId: author.organisationId,
    flowData,
    apiKeyId: author.apiKeyId,
    userId: author.userId ?? null,
    restoredFrom,
    message: author.message ?? null,
  });
}

async function writeChange(
  tx: Queryable,
  row: WorkflowDetailRow,
  change: WorkflowChange,
  flowData: JsonText<Flow>,
): Promise<WorkflowDetailRow> {
  const updatedAt = await updateWorkflow(tx, row.id, change);
  const changed = {
    ...row,
    name: change.name,
    description: change.description,
    status: change.status,
    tags: change.tags,
    is_test_mode: change.isTestMode,
    version: change.version,
    trigger_type: change.triggerType,
    flow_data: flowData,
    updated_at: updatedAt,
  };
  await keepInStep(tx, changed, row.trigger_type);
  return changed;
}

/** @param triggerBefore the trigger's type before the change; null for a new workflow */
async function keepInStep(
  tx: Queryable,
  row: WorkflowDetailRow,
  triggerBefore: string | null,
): Promise<void> {
  const { id, status, trigger_type: triggerType, flow_data: flowData } = row;
  if (triggerType !== SCHEDULE_TRIGGER && triggerBefore !== SCHEDULE_TRIGGER) return;
  await keepSchedule(tx, { id, status, triggerType, flowData });
}
