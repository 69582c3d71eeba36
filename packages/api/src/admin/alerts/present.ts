import type { AlertMessage, AlertRule } from '@millrace/admin-api';
import type { IncidentRow, MessageRow } from '@millrace/alerts/message-store';
import type { RuleRow } from '@millrace/alerts/rule-store';
import { toForm } from '@millrace/alerts/rules';
import { parseJson, readError } from '@millrace/engine';
import { presentError } from '../executions/present-error.ts';

/** A rule as displayed. */
export function presentRule(row: RuleRow): AlertRule {
  return {
    id: row.id,
    ...toForm(row),
    workflow_name: row.workflow_name,
    created_at: row.created_at.toISOString(),
    waiting: row.waiting,
    next_message_at: row.waiting === 0 ? null : row.next_message_at.toISOString(),
  };
}

/** @param incidents those of this message and of others */
export function presentAlert(row: MessageRow, incidents: readonly IncidentRow[]): AlertMessage {
  const { id, rule_id, rule_name, kind, channel, is_test, occurrences, status, attempts } = row;
  return {
    ...{ id, rule_id, rule_name, kind, channel, is_test, occurrences, status, attempts },
    incidents: incidents
      .filter((incident) => incident.message_id === id)
      .map((incident) => ({
        name: incident.name,
        workflow_id: incident.workflow_id,
        execution_id: incident.execution_id,
        occurrences: incident.occurrences,
        first_at: incident.first_at.toISOString(),
        last_at: incident.last_at.toISOString(),
      })),
    next_attempt_at: status === 'pending' ? row.due_at.toISOString() : null,
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
    error: row.error === null ? null : presentError(readError(parseJson(row.error))),
  };
}
