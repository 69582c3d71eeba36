import type { Draft } from '@millrace/admin-api';
import type { Queryable } from '@millrace/database/database';
import { type Flow, formatTimestamp, parseJson } from '@millrace/engine';
import { ApiError } from '@millrace/errors/errors';
import { message } from '@millrace/messages';
import { type DraftRow, findDraft } from '@millrace/service/drafts/store';
import { checkFlowData } from '@millrace/service/workflows/flow-check';
import type { Viewer } from './detail.ts';

/** The current user's draft, or null. */
export async function describeDraft(
  tx: Queryable,
  viewer: Viewer,
  workflowId: number,
): Promise<Draft | null> {
  const row = await findDraft(tx, workflowId, viewer.userId);
  return row === undefined ? null : present(tx, viewer, row);
}

async function present(tx: Queryable, viewer: Viewer, row: DraftRow): Promise<Draft> {
  const flow = parseJson(row.flow_data) as Flow;
  return {
    flow_data: flow,
    base_version: row.base_version,
    revision: row.revision,
    updated_at: formatTimestamp(row.updated_at),
    ...(await checkFlowData(tx, viewer.organisationId, flow, viewer.check)),
  };
}

/** @param draft the current one; null: it was saved or discarded */
export function draftConflict(draft: Draft | null): ApiError {
  const explanation = message(draft === null ? 'api.draft_gone' : 'api.draft_changed');
  return new ApiError('draft_conflict', explanation, { members: { draft } });
}

/** Refuses to discard a draft the user hasn't seen. @throws ApiError `draft_conflict` with that draft */
export async function refuseUnseenDraft(
  tx: Queryable,
  viewer: Viewer,
  workflowId: number,
  revision: number,
): Promise<void> {
  const draft = await findDraft(tx, workflowId, viewer.userId);
  if (draft === undefined || draft.revision === revision) return;
  throw draftConflict(await present(tx, viewer, draft));
}
