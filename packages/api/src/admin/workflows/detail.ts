import type { VersionDetail, WorkflowDetail } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { formatTimestamp, type NodeRegistry, parseJson } from '@millrace/engine';
import { ApiError, notFound } from '@millrace/errors/errors';
import type { Session } from '@millrace/identity/sessions/session';
import { message } from '@millrace/messages';
import { findDraft } from '@millrace/service/drafts/store';
import { findPlaceOf } from '@millrace/service/favourites/store';
import { findVersionItem, listOtherDrafts } from '@millrace/service/workflows/admin-store';
import { type CheckContext, checkFlowData } from '@millrace/service/workflows/flow-check';
import { findWorkflow, type WorkflowDetailRow } from '@millrace/service/workflows/store';
import type { AppDeps } from '../../app-deps.ts';
import { presentSummary, presentVersionDetail, presentVersionItem } from './present.ts';

/** The user and organisation a workflow is presented for. */
export interface Viewer {
  readonly organisationId: number;
  readonly userId: number;
  readonly check: CheckContext;
}

export function viewerOf(
  session: Session,
  organisationId: number,
  { registry, config }: { readonly registry: NodeRegistry; readonly config: AppDeps['config'] },
): Viewer {
  return { organisationId, userId: session.userId, check: { registry, maxNodes: config.limits.nodes } };
}

/** @throws ApiError `not_found` */
export async function requireWorkflow(
  tx: Queryable,
  organisationId: number,
  id: number,
): Promise<WorkflowDetailRow> {
  const row = await findWorkflow(tx, organisationId, id);
  if (row === undefined) throw notFound('workflow');
  return row;
}

/** A workflow as the editor opens it. */
export async function describeWorkflow(
  tx: Queryable,
  viewer: Viewer,
  row: WorkflowDetailRow,
): Promise<WorkflowDetail> {
  const { organisationId, userId } = viewer;
  const flow = parseJson(row.flow_data);
  const saving = { workflowId: row.id, version: row.version };
  const context = { ...viewer.check, saved: saving };
  const { problems, handles } = await checkFlowData(tx, organisationId, flow, context);
  const saved = await findVersionItem(tx, organisationId, row.id, row.version);
  if (saved === undefined) throw new Error(`workflow ${row.id} has no version ${row.version}`);
  const others = await listOtherDrafts(tx, row.id, userId);
  return {
    ...presentSummary(row),
    flow_data: flow,
    problems,
    handles,
    saved: presentVersionItem(saved, { current: row.version, userId }),
    ...(await findPlaceOf(tx, organisationId, userId, row.id)),
    has_draft: (await findDraft(tx, row.id, userId)) !== undefined,
    other_drafts: others.map((draft) => ({
      name: draft.name,
      updated_at: formatTimestamp(draft.updated_at),
    })),
  };
}

/** A version with its content. @throws ApiError `not_found` */
export async function describeVersion(
  tx: Queryable,
  viewer: Viewer,
  workflow: Pick<WorkflowDetailRow, 'id' | 'version'>,
  version: number,
): Promise<VersionDetail> {
  const { organisationId, userId } = viewer;
  const row = await findVersionItem(tx, organisationId, workflow.id, version);
  if (row === undefined) throw notFound('version');
  const context = { ...viewer.check, saved: { workflowId: workflow.id, version } };
  const check = await checkFlowData(tx, organisationId, parseJson(row.flow_data), context);
  return presentVersionDetail(row, { current: workflow.version, userId }, check);
}

/** Refuses to overwrite a version that someone else saved in the meantime. @throws ApiError `version_conflict` with that version */
export async function refuseStaleBase(
  tx: Queryable,
  viewer: Viewer,
  row: WorkflowDetailRow,
  baseVersion: number,
): Promise<void> {
  if (baseVersion === row.version) return;
  const version = await describeVersion(tx, viewer, row, row.version);
  const explanation =
    version.author === null
      ? message('api.version_conflict_unknown', { version: row.version, base: baseVersion })
      : message('api.version_conflict', {
          author: version.author.name,
          version: row.version,
          base: baseVersion,
        });
  throw new ApiError('version_conflict', explanation, { members: { version } });
}
