import { randomBytes } from 'node:crypto';
import { refuseMissingCredentials } from '@millrace/credentials/references';
import type { Queryable } from '@millrace/database/database';
import {
  canonicalJson,
  type Flow,
  type JsonValue,
  type NodeRegistry,
  parseJson,
  stringifyJson,
} from '@millrace/engine';
import { notFound, validationError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { registry as catalogue } from '@millrace/nodes';
import { isOwnTrigger, ownNamesIn } from '@millrace/own-connectors/names';
import { pinTypes, pinTypesOf, typesToCheck, typesToRun } from '@millrace/own-connectors/types';
import { isPolling, syncPolling } from '@millrace/polling/sync';
import { SCHEDULE_TRIGGER, syncSchedules } from '../schedules/sync.ts';
import {
  archivedError,
  type CheckedFlow,
  checkTransition,
  refuseProblems,
  type TriggerTypes,
  triggerTypesOf,
} from './rules.ts';
import {
  findVersion,
  findWorkflow,
  insertVersion,
  insertWorkflow,
  lockWorkflow,
  updateWorkflow,
  type WorkflowDetailRow,
} from './store.ts';
import { triggersIn } from './trigger-types.ts';
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
function initialStatus(body: NewWorkflow): 'draft' | 'active' {
  const { status = 'draft' } = body;
  if (status === 'draft' || status === 'active') return status;
  if (body.id !== undefined) return 'draft';
  throw validationError([
    { pointer: '/status', code: 'invalid_value', message: message('service.status_of_new') },
  ]);
}

/**
 * Refuses to activate a flow that has problems or names credentials the organisation doesn't have.
 * @throws ApiError 422 with one error per problem
 */
async function refuseUnfinished(
  tx: Queryable,
  organisationId: number,
  flow: Flow,
  registry: NodeRegistry,
): Promise<void> {
  await refuseProblems(flow, registry);
  await refuseMissingCredentials(tx, organisationId, flow, registry);
}

/**
 * Stores a new workflow as version 1.
 * @param templateId the template it is made from
 * @throws ApiError 422 on `status`, and for an active workflow that isn't finished
 */
export async function createWorkflow(
  tx: Queryable,
  author: Author,
  body: NewWorkflow,
  flow: CheckedFlow,
  registry: NodeRegistry,
  templateId: string | null = null,
): Promise<WorkflowDetailRow> {
  const status = initialStatus(body);
  if (status === 'active') await refuseUnfinished(tx, author.organisationId, flow.flow, registry);
  const row = await insertWorkflow(tx, {
    organisationId: author.organisationId,
    name: body.name.trim(),
    description: body.description ?? '',
    status,
    tags: body.tags ?? [],
    isTestMode: body.is_test_mode ?? false,
    triggerType: flow.triggers.first,
    otherTriggers: flow.triggers.others,
    webhookHash: randomBytes(WEBHOOK_HASH_BYTES).toString('base64url'),
    flowData: stringifyJson(flow.flow),
    apiKeyId: author.apiKeyId,
    userId: author.userId ?? null,
    folderId: body.folder_id ?? null,
    templateId,
  });
  await pin(tx, author, row, registry);
  await syncTriggers(tx, row, []);
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
  const change: WorkflowDetailRow = {
    ...row,
    name: body.name?.trim() ?? row.name,
    description: body.description ?? row.description,
    status,
    tags: body.tags ?? row.tags,
    is_test_mode: body.is_test_mode ?? row.is_test_mode,
    ...(isNewFlow ? { flow_data: stringifyJson(flow.flow), ...columnsOf(flow.triggers) } : {}),
  };
  if (!isNewFlow) return changeRest(tx, author, { row, change }, registry);
  checkTransition(row.status, status);
  if (row.status === 'archived') throw archivedError();
  if (status === 'active') {
    await refuseUnfinished(tx, author.organisationId, parseJson(change.flow_data), registry);
  }
  return appendVersion(tx, author, { row, change }, { registry });
}

/** A workflow before and after a change. */
interface RowChange {
  readonly row: WorkflowDetailRow;
  readonly change: WorkflowDetailRow;
}

/** Applies a change that leaves the flow as it is. */
async function changeRest(
  tx: Queryable,
  author: Author,
  { row, change: asked }: RowChange,
  registry: NodeRegistry,
): Promise<WorkflowDetailRow> {
  const { status } = asked;
  const differs = differsBesideStatus(row, asked);
  checkTransition(row.status, status);
  if (row.status === 'archived' && differs) throw archivedError();
  const change =
    status === 'active' && row.status !== 'active'
      ? await checkForActivation(tx, author, asked, registry)
      : asked;
  if (!differs && status === row.status) return row;
  return writeChange(tx, row, change);
}

/**
 * Checks a workflow that becomes active, with the connectors it will run with, which may have been uploaded after it was saved.
 */
async function checkForActivation(
  tx: Queryable,
  author: Author,
  row: WorkflowDetailRow,
  registry: NodeRegistry,
): Promise<WorkflowDetailRow> {
  const { organisationId } = author;
  const types = await typesToCheck(registry, tx, versionOf(row), row.flow_data);
  const flow = parseJson(row.flow_data);
  await refuseUnfinished(tx, organisationId, flow, types);
  if (ownNamesIn(row.flow_data).length === 0) return row;
  await pin(tx, author, row, types);
  return { ...row, ...columnsOf(triggerTypesOf(flow, types)) };
}

function versionOf({ id, version }: WorkflowDetailRow) {
  return { workflowId: id, version };
}

function pin(tx: Queryable, author: Author, row: WorkflowDetailRow, types: NodeRegistry): Promise<void> {
  return pinTypes(tx, author.organisationId, versionOf(row), row.flow_data, types);
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
  const types = await typesToCheck(registry, tx, { workflowId: row.id, version }, source.flow_data);
  if (row.status === 'active') await refuseUnfinished(tx, author.organisationId, flow, types);
  const { flow_data } = source;
  const change = { ...row, flow_data, ...columnsOf(triggerTypesOf(flow, types)) };
  return appendVersion(tx, author, { row, change }, { registry: types, restoredFrom: version });
}

/** Archives a locked workflow; does nothing if it is already archived. Running executions continue. */
export async function archiveWorkflow(tx: Queryable, row: WorkflowDetailRow): Promise<WorkflowDetailRow> {
  if (row.status === 'archived') return row;
  return writeChange(tx, row, { ...row, status: 'archived' });
}

function differsBesideStatus(row: WorkflowDetailRow, change: WorkflowDetailRow): boolean {
  return (
    change.name !== row.name ||
    change.description !== row.description ||
    change.is_test_mode !== row.is_test_mode ||
    !isSameJson(change.tags, row.tags)
  );
}

function isSameJson(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** @param change its flow becomes the next version */
async function appendVersion(
  tx: Queryable,
  author: Author,
  { row, change }: RowChange,
  {
    registry,
    restoredFrom = null,
  }: { readonly registry: NodeRegistry; readonly restoredFrom?: number | null },
): Promise<WorkflowDetailRow> {
  const version = row.version + 1;
  await insertVersion(tx, {
    workflowId: row.id,
    version,
    organisationId: author.organisationId,
    flowData: change.flow_data,
    apiKeyId: author.apiKeyId,
    userId: author.userId ?? null,
    restoredFrom,
    message: author.message ?? null,
  });
  const next = { ...change, version };
  if (restoredFrom !== null) await pinTypesOf(tx, versionOf(next), restoredFrom, next.flow_data);
  await pin(tx, author, next, registry);
  return writeChange(tx, row, next);
}

/**
 * Saves a workflow's flow again, as a version that runs with the newest revisions of the organisation's connectors.
 * @param types of the organisation
 * @throws ApiError `workflow_archived`, 422 if it is active and would have problems
 */
export async function renewTypes(
  tx: Queryable,
  author: Author,
  row: WorkflowDetailRow,
  types: NodeRegistry,
): Promise<WorkflowDetailRow> {
  if (row.status === 'archived') throw archivedError();
  const flow = parseJson(row.flow_data);
  if (row.status === 'active') await refuseUnfinished(tx, author.organisationId, flow, types);
  const change = { ...row, ...columnsOf(triggerTypesOf(flow, types)) };
  return appendVersion(tx, author, { row, change }, { registry: types });
}

async function writeChange(
  tx: Queryable,
  row: WorkflowDetailRow,
  change: WorkflowDetailRow,
): Promise<WorkflowDetailRow> {
  const changed = await updateWorkflow(tx, change);
  await syncTriggers(tx, changed, triggersIn(row));
  return changed;
}

function columnsOf({ first, others }: TriggerTypes) {
  return { trigger_type: first, other_triggers: others };
}

/** @param triggersBefore the types of the triggers before the change */
async function syncTriggers(
  tx: Queryable,
  row: WorkflowDetailRow,
  triggersBefore: readonly string[],
): Promise<void> {
  const { id, status, flow_data: flowData } = row;
  const saved = { id, status, flowData };
  const triggers = [...triggersIn(row), ...triggersBefore];
  if (triggers.includes(SCHEDULE_TRIGGER)) await syncSchedules(tx, saved);
  if (!triggers.some((each) => isPolling(each, catalogue) || isOwnTrigger(each))) return;
  const types = await typesToRun(catalogue, tx, versionOf(row), flowData);
  await syncPolling(tx, saved, types.registry);
}
