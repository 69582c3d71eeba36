import type { Approval, ExecutionDetail } from '@millrace/admin-api';
import { formatTimestamp, type JsonObject, parseJson } from '@millrace/engine';
import type {
  DecidedApprovalRow,
  DecidedBy,
  OpenWaitRow,
  PendingApprovalRow,
  UndecidedApprovalRow,
} from '@millrace/service/callbacks/store';
import { choicesOf, fieldsOf } from '@millrace/service/callbacks/use';
import type { FormField } from '@millrace/triggers';

/** A node's question to a person, decided or not. */
export function presentApproval(
  row: PendingApprovalRow | DecidedApprovalRow | UndecidedApprovalRow,
): Approval {
  return {
    id: row.id,
    execution_id: row.execution_id,
    workflow_id: row.workflow_id,
    display_name: row.display_name,
    is_test_mode: row.is_test_mode,
    node_id: row.node_id,
    title: row.title,
    message: row.message,
    choices: choicesOf(row),
    fields: fieldsOf(row).map(presentField),
    created_at: formatTimestamp(row.created_at),
    expires_at: formatTimestamp(row.expires_at),
    decision: 'decided_by' in row && row.decided_by !== null ? presentDecision(row) : null,
  };
}

function presentField({ name, label, type, required, help, choices, value, only_with: only }: FormField) {
  return { name, label, type, required, help, choices: [...choices], value, only_with: only ?? null };
}

function presentDecision(row: DecidedApprovalRow): NonNullable<Approval['decision']> {
  const by = parseJson(row.decided_by);
  return {
    choice: row.decision,
    comment: row.comment,
    decided_at: formatTimestamp(row.used_at),
    via: by.via,
    decided_by: whoseName(by),
    values: row.answers === null ? {} : (parseJson(row.answers) as JsonObject),
  };
}

/** A callback an execution waits for, without its address, which only the node knows. */
export function presentCallback(row: OpenWaitRow): ExecutionDetail['callbacks'][number] {
  return { node_id: row.node_id, iteration: row.iteration, expires_at: formatTimestamp(row.expires_at) };
}

function whoseName(by: DecidedBy): string | null {
  switch (by.via) {
    case 'member':
      return by.email;
    case 'link':
      return by.name;
    case 'chat':
      return null;
  }
}
