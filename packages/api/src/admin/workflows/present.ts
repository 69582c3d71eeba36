import type { FlowCheck, LastRun, VersionDetail, VersionItem, WorkflowItem } from '@millrace/admin-api';
import { type Flow, formatTimestamp, type JsonText, parseJson } from '@millrace/engine';
import type { RecentRunRow, VersionItemRow } from '@millrace/service/workflows/admin-store';
import type { WorkflowItemRow } from '@millrace/service/workflows/list-store';
import type { WorkflowDetailRow, WorkflowRow } from '@millrace/service/workflows/store';
import { presentExecutionError } from '../executions/present-error.ts';

/** Shared by list and detail of a workflow. */
export function presentSummary(
  row: WorkflowRow & Pick<WorkflowDetailRow, 'trigger_type' | 'other_triggers'>,
) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    tags: [...row.tags],
    is_test_mode: row.is_test_mode,
    trigger_type: row.trigger_type,
    other_triggers: [...row.other_triggers],
    version: row.version,
    created_at: formatTimestamp(row.created_at),
    updated_at: formatTimestamp(row.updated_at),
  };
}

/** @param runs its last executions, latest first */
export function presentWorkflowItem(row: WorkflowItemRow, runs: readonly RecentRunRow[]): WorkflowItem {
  const [last] = runs;
  return {
    ...presentSummary(row),
    folder_id: row.folder_id,
    is_favourite: row.is_favourite,
    has_draft: row.has_draft,
    last_runs: runs.map(presentRun),
    last_run: last === undefined ? null : presentLastRun(last),
  };
}

function presentRun(row: RecentRunRow) {
  const { started_at: startedAt, completed_at: completedAt } = row;
  return {
    id: row.id,
    status: row.status,
    created_at: formatTimestamp(row.created_at),
    duration_ms:
      startedAt === null || completedAt === null ? null : completedAt.getTime() - startedAt.getTime(),
    is_trial: row.workflow_version < 0,
  };
}

function presentLastRun(row: RecentRunRow): LastRun {
  return {
    ...presentRun(row),
    completed_at: row.completed_at === null ? null : formatTimestamp(row.completed_at),
    is_test_mode: row.is_test_mode,
    error: row.error === null ? null : presentExecutionError(row.error),
  };
}

/** @param of the saved version of its workflow, and the current user */
export function presentVersionItem(
  row: VersionItemRow,
  of: { readonly current: number; readonly userId: number },
): VersionItem {
  return {
    version: row.version,
    created_at: formatTimestamp(row.created_at),
    author: authorOf(row, of.userId),
    message: row.message,
    pinned: row.pinned,
    restored_from: row.restored_from,
    is_current: row.version === of.current,
  };
}

function authorOf(row: VersionItemRow, userId: number): VersionItem['author'] {
  if (row.user_name !== null) return { kind: 'user', name: row.user_name, is_me: row.user_id === userId };
  return row.key_name === null ? null : { kind: 'api_key', name: row.key_name, is_me: false };
}

export function presentVersionDetail(
  row: VersionItemRow & { readonly flow_data: JsonText<Flow> },
  of: { readonly current: number; readonly userId: number },
  check: FlowCheck,
): VersionDetail {
  const { problems, handles } = check;
  return {
    ...presentVersionItem(row, of),
    flow_data: parseJson(row.flow_data),
    problems,
    handles,
  };
}
