import { findProblemsWork, formatTimestamp, type NodeRegistry, parseJson } from '@millrace/engine';
import { inEnglish } from '@millrace/messages/english';
import { finishInTurns } from '@millrace/runtime/turns';
import type {
  VersionDetailRow,
  VersionRow,
  WorkflowDetailRow,
  WorkflowRow,
} from '@millrace/service/workflows/store';
import type { VersionDetail, VersionItem, WorkflowDetail, WorkflowItem } from './schema.ts';

/** A workflow as lists show it. */
export function presentItem(row: WorkflowRow): WorkflowItem {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    tags: [...row.tags],
    is_test_mode: row.is_test_mode,
    created_at: formatTimestamp(row.created_at),
    updated_at: formatTimestamp(row.updated_at),
  };
}

/** A workflow with its saved version and the problems that prevent its activation. */
export async function presentDetail(row: WorkflowDetailRow, registry: NodeRegistry): Promise<WorkflowDetail> {
  const flow = parseJson(row.flow_data);
  const problems = await finishInTurns(findProblemsWork(flow, registry));
  return {
    ...presentItem(row),
    flow_data: flow,
    version: row.version,
    problems: problems.map((problem) => ({
      ...problem,
      message: inEnglish(problem.message),
    })),
  };
}

/** A version as lists show it. */
export function presentVersion(row: VersionRow): VersionItem {
  return {
    version: row.version,
    created_at: formatTimestamp(row.created_at),
    restored_from: row.restored_from,
  };
}

export function presentVersionDetail(workflowId: number, row: VersionDetailRow): VersionDetail {
  return { workflow_id: workflowId, ...presentVersion(row), flow_data: parseJson(row.flow_data) };
}
